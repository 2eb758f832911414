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

import org.apache.hadoop.hbase.io.hfile.composite.HotBlockCache;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Selects the hot blocks of a compaction's output that are cached although the cache has no spare
 * space: the hottest of them, up to a number of bytes, first before the commit and then after it.
 * Before it, what is as hot as the last ones that fit is spread evenly over the output, which is
 * written in the order of keys. Not thread-safe.
 */
@InterfaceAudience.Private
final class PeakLimit {
  private final long inputBytes;
  private final long outputLength;
  private long maxBytes;
  /** How many blocks are expected, or how many bytes in the file are left, by their accesses. */
  private long[] expected = new long[HotBlockCache.MAX_ACCESSES + 1];
  private long expectedBlocks;
  /** Bytes of the output so far, hot or not, in the file and in the cache. */
  private long written;
  private long writtenSize;
  private boolean committed;
  /** Bytes of the blocks that were cached before the commit, or after it, and by accesses. */
  private long used;
  private long[] usedByAccesses = new long[HotBlockCache.MAX_ACCESSES + 1];

  /**
   * @param inputBytes   what the blocks of the inputs take in the cache
   * @param peakRatio    the limit of inputs and outputs together, as a multiple of that
   * @param outputLength about the bytes that the outputs will have, in their files
   */
  PeakLimit(long inputBytes, double peakRatio, long outputLength) {
    this.inputBytes = inputBytes;
    this.maxBytes = (long) (inputBytes * (peakRatio - 1));
    this.outputLength = Math.max(1, outputLength);
  }

  /** The output is expected to have one more block that was accessed so often; 0 if never. */
  void expect(int accesses) {
    expected[accesses]++;
    expectedBlocks++;
  }

  /**
   * Notes that a data block was written, hot or not.
   * @param onDiskSize its bytes in the file
   * @param size       its bytes in the cache, about
   */
  void onWritten(int onDiskSize, int size) {
    written += onDiskSize;
    writtenSize += size;
  }

  /** Returns whether a hot block may be cached now; if nothing is expected, as long as any fits. */
  boolean admits(int accesses, int bytes) {
    if (!fits(bytes)) {
      return false;
    }
    double hotter = hotterBytes(accesses);
    if (hotter + expectedBytes(accesses) <= maxBytes) {
      return true;
    }
    double progress = committed ? 1 : Math.min(1, (double) written / outputLength);
    return usedByAccesses[accesses] + bytes <= (maxBytes - hotter) * progress;
  }

  /** Returns whether the hotter blocks take all of the space, whatever the size of a block. */
  boolean isTooCold(int accesses) {
    return hotterBytes(accesses) >= maxBytes;
  }

  private double hotterBytes(int accesses) {
    double hotter = 0;
    for (int i = HotBlockCache.MAX_ACCESSES; i > accesses; i--) {
      hotter += expectedBytes(i);
    }
    return hotter;
  }

  /** Returns the bytes in the cache that blocks accessed so often are expected to take. */
  private double expectedBytes(int accesses) {
    if (expected[accesses] == 0) {
      return 0;
    }
    double inFile =
      committed ? expected[accesses] : (double) expected[accesses] / expectedBlocks * outputLength;
    return written == 0 ? inFile : inFile * writtenSize / written;
  }

  /** Notes that a block was cached, by this limit or because there was spare space for it. */
  void onCached(int accesses, int bytes) {
    used += bytes;
    usedByAccesses[accesses] += bytes;
  }

  /**
   * After the commit, the space of the inputs is left to the outputs.
   * @param deferred bytes in the file of the blocks that are to be cached now, by their accesses
   */
  void onInputsEvicted(long[] deferred) {
    maxBytes += inputBytes - used;
    used = 0;
    usedByAccesses = new long[usedByAccesses.length];
    expected = deferred;
    committed = true;
  }

  /** Returns whether so many bytes fit into the rest, however hot they are. */
  boolean fits(int bytes) {
    return used + bytes <= maxBytes;
  }
}
