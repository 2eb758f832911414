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
package org.apache.hadoop.hbase.io.hfile.segment.index;

import org.apache.yetus.audience.InterfaceAudience;

/**
 * The interface through which a {@code SegmentStore} reports what happened to its entries;
 * implemented by the index and the list of files. The store knows locations; only the directory
 * knows which location is the current one of a block.
 * <p>
 * All methods are thread-safe, none of them reads or writes a device, and none of them calls the
 * store, except for {@code SegmentStore.freed} with the location of a replaced entry. Entries that
 * are removed by other callers than the store ({@code evictBlock}, a sweep of dropped files) are
 * also reported to {@code SegmentStore.freed}; entries that the store itself removes by the methods
 * below are not.
 */
@InterfaceAudience.Private
public interface SegmentDirectory {

  /**
   * Result of {@link #accesses} and {@link #removed} for a location that is not the block's current
   * one.
   */
  int NOT_HERE = -1;

  /**
   * Adds a block that is readable at this location from now on. Called by the inserting thread.
   * @return false if it is not added, since its file was dropped or the index is full
   */
  boolean stored(CachedFile file, long blockOffset, long location);

  /**
   * Adds a block that a former process has written at this location.
   * @return false if it is not added, because the block is known at another, newer location
   */
  boolean recovered(String fileName, long blockOffset, long location);

  /** Returns the encoded name of the region that a file belongs to, null if it is not known. */
  String regionOf(String fileName);

  /**
   * Sets the region of a file as a former process has recorded it with the file's blocks.
   * @param region its encoded name
   */
  void regionRecovered(String fileName, String region);

  /**
   * Marks a file as complete that a former process has recorded as complete; its blocks were
   * recovered before.
   */
  void completeRecovered(CompleteFile file);

  /** Returns whether all blocks of a file are known to be stored. */
  boolean isComplete(String fileName);

  /**
   * Returns the access bits of a block.
   * @return {@link #NOT_HERE} if this is not the block's current location, as for dropped files
   */
  int accesses(String fileName, long blockOffset, long location);

  /**
   * Moves a block that was rewritten.
   * @param from its former location; if that is not its current one, {@code to} is not used
   * @return whether {@code to} is the block's current location now
   */
  boolean moved(String fileName, long blockOffset, long from, long to);

  /**
   * Removes the entry at a location that is about to be overwritten or is damaged. If it is the
   * current location of the block, whether its file was dropped or not, the block is removed.
   * @return the block's access bits, {@link #NOT_HERE} if nothing was removed
   */
  int removed(String fileName, long blockOffset, long location);

  /**
   * Returns whether blocks of files that no region reads are about to be removed, so that a segment
   * is free soon without an eviction of live blocks. Called before a segment is reclaimed. True for
   * at most eleven seconds in a row, so that a reclaim may wait for it.
   */
  boolean isFreeingOrphans();

  /** Returns the approximate size of the blocks of in-memory families, in bytes. */
  long inMemoryBytes();

  /**
   * Removes every block in these segments, because their content is unknown. Called by a background
   * thread; may scan the whole index.
   * @param first the first segment
   * @param end   the last segment, exclusive
   */
  void forgetSegments(int first, int end);
}
