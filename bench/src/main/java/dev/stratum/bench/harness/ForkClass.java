/*
 * Licensed to the Apache Software Foundation (ASF) under one
 * or more contributor license agreements.  See the NOTICE file
 * distributed with this work for additional information
 * regarding copyright ownership.  The ASF licenses this file
 * to you under the Apache License, Version 2.0 (the
 * "License"); you may not use this file except in compliance
 * with the License.  You may obtain a copy of the License at
 *
 *     http://www.apache.org/licenses/LICENSE-2.0
 *
 * Unless required by applicable law or agreed to in writing, software
 * distributed under the License is distributed on an "AS IS" BASIS,
 * WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
 * See the License for the specific language governing permissions and
 * limitations under the License.
 */
package dev.stratum.bench.harness;

/**
 * Tells the sides apart: both run the same benchmarks, and stock has none of these classes. Each is
 * found by its name, because the benchmarks are compiled for both.
 */
public enum ForkClass {
  COMPOSITE_BUCKET_CACHE("io.hfile.composite.CompositeBucketCache"),
  SEGMENT_CACHE("io.hfile.segment.SegmentCache"),
  FILE_SEGMENT_DEVICE("io.hfile.segment.device.FileSegmentDevice"),
  SEGMENT_READER("io.hfile.segment.store.SegmentReader"),
  HDFS_PACKET_POOL("fs.HdfsPacketPool");

  private final Class<?> found;

  ForkClass(String name) {
    found = find("org.apache.hadoop.hbase." + name);
  }

  private static Class<?> find(String name) {
    try {
      return Class.forName(name, false, ForkClass.class.getClassLoader());
    } catch (ClassNotFoundException e) {
      return null;
    }
  }

  /** Returns whether this side has the class. */
  public boolean isPresent() {
    return found != null;
  }

  /**
   * Returns the class.
   * @throws IllegalStateException if this side is stock
   */
  public Class<?> get() {
    if (found == null) {
      throw new IllegalStateException(this + " is on the fork alone");
    }
    return found;
  }
}
