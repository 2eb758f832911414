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
package org.apache.hadoop.hbase.io.hfile.load;

import java.util.Arrays;
import org.apache.hadoop.hbase.io.hfile.composite.HotBlockCache;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Hot blocks of one output that are handed over after the commit, in the order of their offsets.
 * Takes 16 bytes for each. Not thread-safe.
 */
@InterfaceAudience.Private
final class DeferredBlocks {
  private static final int IN_L1 = HotBlockCache.MAX_ACCESSES + 1;

  private long[] offsets = new long[16];
  private int[] sizes = new int[16];
  private int[] heat = new int[16];
  private int count;

  void add(long offset, int onDiskSize, int accesses, boolean inL1) {
    if (count == offsets.length) {
      offsets = Arrays.copyOf(offsets, 2 * count);
      sizes = Arrays.copyOf(sizes, 2 * count);
      heat = Arrays.copyOf(heat, 2 * count);
    }
    offsets[count] = offset;
    sizes[count] = onDiskSize;
    heat[count++] = accesses | (inL1 ? IN_L1 : 0);
  }

  int count() {
    return count;
  }

  /** Adds the bytes of the blocks in the file, by their accesses. */
  void addTo(long[] bytes) {
    for (int i = 0; i < count; i++) {
      bytes[accesses(i)] += sizes[i];
    }
  }

  long offset(int i) {
    return offsets[i];
  }

  /** Returns the size in the file, with the header, in bytes. */
  int onDiskSize(int i) {
    return sizes[i];
  }

  int accesses(int i) {
    return heat[i] & HotBlockCache.MAX_ACCESSES;
  }

  boolean isInL1(int i) {
    return (heat[i] & IN_L1) != 0;
  }
}
