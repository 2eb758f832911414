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
package org.apache.hadoop.hbase.regionserver.read.cache;

import org.apache.yetus.audience.InterfaceAudience;

/**
 * Notes that a compaction has dropped delete markers. A compaction writes and replaces files in one
 * thread, which notes it here in between.
 */
@InterfaceAudience.Private
public final class DroppedMarkers {
  private static final ThreadLocal<Boolean> DROPPED = new ThreadLocal<>();

  private DroppedMarkers() {
  }

  /** Notes that this thread drops a marker. */
  public static void note() {
    if (DROPPED.get() == null) {
      DROPPED.set(true);
    }
  }

  /** Returns whether this thread has dropped a marker since the last call. */
  static boolean getAndClear() {
    boolean dropped = DROPPED.get() != null;
    if (dropped) {
      DROPPED.remove();
    }
    return dropped;
  }
}
