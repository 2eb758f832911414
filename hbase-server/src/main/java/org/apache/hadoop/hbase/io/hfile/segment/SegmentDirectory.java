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

import org.apache.yetus.audience.InterfaceAudience;

/**
 * Where a {@link SegmentStore} says what became of its entries: the index and the dictionary of
 * files, with their counts, stand behind it. The store knows places; which of them is the one of a
 * block, only the directory knows.
 * <p>
 * All methods are thread-safe, none of them reads or writes a device, and none of them calls the
 * store, except for {@link SegmentStore#freed} with the place of an entry that is replaced.
 * Entries that are taken out by anyone but the store ({@code evictBlock}, a sweep of dropped
 * files) are reported by {@link SegmentStore#freed} as well; what the store itself takes out by the
 * methods below is not.
 */
@InterfaceAudience.Private
interface SegmentDirectory {

  /** What {@link #accesses} and {@link #removed} return for a place that is no block's. */
  int NOT_HERE = -1;

  /**
   * A block is readable at this place from now on. Called by the thread that inserts it.
   * @return false if it is not wanted any more, since its file was dropped or the index is full
   */
  boolean stored(CachedFile file, long blockOffset, long location);

  /**
   * A block was found at this place, which a former process has written.
   * @return false if there is no use for it: the block is known at another place, which is newer
   */
  boolean recovered(String fileName, long blockOffset, long location);

  /** Returns the encoded name of the region that a file belongs to, null if it is not known. */
  String regionOf(String fileName);

  /**
   * A former process knew the region of a file, some of whose blocks it has written.
   * @param region its encoded name
   */
  void regionRecovered(String fileName, String region);

  /** A former process knew of a file that it was complete; its blocks were recovered before. */
  void completeRecovered(CompleteFile file);

  /** Whether all blocks of a file are known to be stored. */
  boolean isComplete(String fileName);

  /**
   * Returns the access bits of a block.
   * @return {@link #NOT_HERE} if this is not the block's place, as for files that were dropped
   */
  int accesses(String fileName, long blockOffset, long location);

  /**
   * A block has been written again elsewhere.
   * @param from where it was; if it is there no more, {@code to} is not taken
   * @return whether {@code to} is the block's place now
   */
  boolean moved(String fileName, long blockOffset, long from, long to);

  /**
   * What is at this place is about to be overwritten, or is not what was written there. If it is
   * the place of the block, be its file dropped or not, the block is forgotten.
   * @return the block's access bits, {@link #NOT_HERE} if there was nothing to forget
   */
  int removed(String fileName, long blockOffset, long location);

  /**
   * Whether blocks of files that no region reads are about to be removed, so that a segment is free
   * soon without an eviction of live blocks. Called before a segment is reclaimed. True for at most
   * a second in a row, so that a reclaim may wait for it.
   */
  boolean isFreeingOrphans();

  /** Returns the bytes of the blocks of in-memory families, about. */
  long inMemoryBytes();

  /**
   * Forgets every block in these segments, because what is in them cannot be told. Called by a
   * background thread; may walk all of the index.
   * @param first the first segment
   * @param end   the first segment that is not meant
   */
  void forgetSegments(int first, int end);

  /**
   * As {@link #removed}, for all entries of a segment.
   * @return how many of them were the places of their blocks
   */
  default int removeAll(SegmentFooter footer, int segment) {
    int removed = 0;
    for (int i = 0; i < footer.count(); i++) {
      if (
        footer.length(i) > 0 && removed(footer.name(i), footer.blockOffset(i),
          footer.location(segment, i)) != NOT_HERE
      ) {
        removed++;
      }
    }
    return removed;
  }
}
