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
package org.apache.hadoop.hbase.io.hfile.segment;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Counts each successful write to a device, whatever it writes: pieces of segments, footers,
 * superblocks, probes.
 */
@InterfaceAudience.Private
final class CountedDevice implements SegmentDevice {
  private final SegmentDevice device;
  private final SegmentStoreMetrics metrics;

  CountedDevice(SegmentDevice device, SegmentStoreMetrics metrics) {
    this.device = device;
    this.metrics = metrics;
  }

  /** Returns an opener whose devices count their writes. */
  static Opener counting(Opener opener, SegmentStoreMetrics metrics) {
    return new Opener() {
      @Override
      public SegmentDevice open(String path, long size) throws IOException {
        return new CountedDevice(opener.open(path, size), metrics);
      }

      @Override
      public SegmentDevice reopen(String path, long size, SegmentDevice former)
        throws IOException {
        return new CountedDevice(opener.reopen(path, size,
          former == null ? null : ((CountedDevice) former).device), metrics);
      }
    };
  }

  @Override
  public long size() {
    return device.size();
  }

  @Override
  public void read(ByteBuffer to, long position) throws IOException {
    device.read(to, position);
  }

  @Override
  public void write(ByteBuffer from, long position) throws IOException {
    int length = from.remaining();
    device.write(from, position);
    metrics.writes.increment();
    metrics.writtenBytes.add(length);
  }

  @Override
  public void sync() throws IOException {
    long start = System.nanoTime();
    device.sync();
    metrics.syncs.increment();
    metrics.syncNanos.add(System.nanoTime() - start);
  }

  @Override
  public boolean isMade() {
    return device.isMade();
  }

  @Override
  public void restoreSize() throws IOException {
    device.restoreSize();
  }

  @Override
  public long usableSpace() throws IOException {
    return device.usableSpace();
  }

  @Override
  public void close() throws IOException {
    device.close();
  }

  @Override
  public String toString() {
    return device.toString();
  }
}
