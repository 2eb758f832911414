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

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.hbase.io.hfile.composite.OrphanFiles;
import org.apache.hadoop.hbase.io.hfile.segment.device.EntryTrailer;
import org.apache.hadoop.hbase.io.hfile.segment.device.Location;
import org.apache.yetus.audience.InterfaceAudience;

import org.apache.hbase.thirdparty.com.google.common.hash.Hashing;

/**
 * A file some of whose blocks are cached: its number in {@link SegmentIndex}, and counts of its
 * stored blocks. A file is live until it is dropped or has no more blocks. A later file of the same
 * name gets another number, so that index entries left over from the former file are unreachable.
 * Created by {@link CachedFiles}. Thread-safe.
 */
@InterfaceAudience.Private
public final class CachedFile implements OrphanFiles.File {
  static final int CATEGORIES = 4;
  /** The number of values that {@link #counts} returns. */
  static final int COUNTS = 2 * CATEGORIES + 1;

  /**
   * Maximum number of bytes that an entry has beyond its block's size in its file: trailer and
   * alignment. Not counted in a region's cached bytes, which callers divide by the size of the
   * region's files.
   */
  public static final int ENTRY_OVERHEAD = EntryTrailer.SIZE + Location.UNIT;

  private final CachedFiles files;
  private final String name;
  private final int id;
  private final long hashHigh;
  private final long hashLow;

  // All counts are guarded by this object's monitor.
  private final long[] blocks = new long[CATEGORIES];
  private final long[] bytes = new long[CATEGORIES];
  private long inMemoryBytes;
  private long maxOffset;
  private boolean fullyCached;
  private int pins;
  private long droppedBlocks;
  private boolean forgotten;

  // Written with the monitor held.
  private volatile boolean live = true;
  private volatile String region;
  private volatile boolean insertedInto;

  CachedFile(CachedFiles files, String name, int id) {
    this.files = files;
    this.name = name;
    this.id = id;
    ByteBuffer hash = hash(name);
    this.hashHigh = hash.getLong();
    this.hashLow = hash.getLong();
  }

  private static ByteBuffer hash(String name) {
    return ByteBuffer
      .wrap(Hashing.murmur3_128().hashString(name, StandardCharsets.UTF_8).asBytes());
  }

  /** Returns the {@link #hashHigh} of a file with this name. */
  public static long hashHigh(String name) {
    return hash(name).getLong();
  }

  @Override
  public String name() {
    return name;
  }

  /** Returns the file's number in the index, 1 or more. */
  public int id() {
    return id;
  }

  /** Returns the first half of the name's 128-bit murmur3 hash. */
  public long hashHigh() {
    return hashHigh;
  }

  /** Returns the second half of the name's 128-bit murmur3 hash. */
  public long hashLow() {
    return hashLow;
  }

  /**
   * Records that this process has inserted a block of the file. Until then all of its blocks may
   * stem from a former process.
   */
  public void insertedInto() {
    if (!insertedInto) {
      insertedInto = true;
    }
  }

  @Override
  public boolean isInsertedInto() {
    return insertedInto;
  }

  /** Returns whether blocks are looked up under the file's name. */
  public boolean isLive() {
    return live;
  }

  /**
   * Keeps the file, even without a block, until {@link #release}. Returns false if it is not live.
   */
  synchronized boolean pin() {
    if (live) {
      pins++;
    }
    return live;
  }

  /**
   * Keeps the number of a dropped file, even without a block, until {@link #release}.
   * @return false if it has no blocks any more, and its number may be that of another file
   */
  synchronized boolean pinDropped() {
    if (!forgotten) {
      pins++;
    }
    return !forgotten;
  }

  /**
   * Releases the file. Must be called once for each file that {@link CachedFiles#acquire} returned.
   */
  public void release() {
    synchronized (this) {
      pins--;
    }
    forgetIfEmpty();
  }

  /**
   * Counts a block that is about to be added to the index.
   * @param location the block's location
   * @return false if the file was dropped and the block must not be added
   */
  public boolean onInsert(long offset, long location) {
    int category = Location.category(location);
    int length = Location.length(location);
    synchronized (this) {
      if (!live) {
        return false;
      }
      blocks[category]++;
      bytes[category] += length;
      maxOffset = Math.max(maxOffset, offset);
      files.count(category, 1, length);
      files.countRegion(region, length - ENTRY_OVERHEAD);
      countInMemory(location, length);
      return true;
    }
  }

  /** Uncounts a block that was removed from the index. */
  void onRemove(long location) {
    synchronized (this) {
      uncount(location);
      if (live) {
        notFullyCached();
      }
    }
    forgetIfEmpty();
  }

  /**
   * Reverts {@link #onInsert} for a block that was not added to the index or that replaced another
   * entry.
   */
  void undoInsert(long location) {
    synchronized (this) {
      uncount(location);
    }
    forgetIfEmpty();
  }

  private void uncount(long location) {
    int category = Location.category(location);
    int length = Location.length(location);
    blocks[category]--;
    bytes[category] -= length;
    if (live) {
      files.count(category, -1, -length);
      files.countRegion(region, ENTRY_OVERHEAD - length);
      countInMemory(location, -length);
    } else {
      files.countDropped(-1);
    }
  }

  private void countInMemory(long location, int length) {
    if (Location.isInMemory(location)) {
      inMemoryBytes += length;
      files.countInMemory(length);
    }
  }

  /**
   * Drops the file: its blocks are no longer found, and those in the index are removed later.
   * Returns false if it was dropped before.
   */
  boolean drop() {
    synchronized (this) {
      if (!live) {
        return false;
      }
      live = false;
      for (int category = 0; category < CATEGORIES; category++) {
        files.count(category, -blocks[category], -bytes[category]);
      }
      files.countRegion(region, -regionBytes());
      files.countInMemory(-inMemoryBytes);
      droppedBlocks = blockCount();
      files.countDropped(droppedBlocks);
      notFullyCached();
    }
    return true;
  }

  /** Forgets a file without blocks, so that there are never more files than blocks. */
  private void forgetIfEmpty() {
    synchronized (this) {
      if (forgotten || pins > 0 || blockCount() > 0) {
        return;
      }
      forgotten = true;
      live = false;
      notFullyCached();
    }
    files.forget(this);
  }

  /** Sets the region that the file belongs to; null if it is not known. */
  public synchronized void setRegion(String regionName) {
    if (live && regionName != null && !regionName.equals(region)) {
      long all = regionBytes();
      files.countRegion(region, -all);
      region = regionName;
      files.countRegion(region, all);
    }
  }

  private long regionBytes() {
    return byteCount() - blockCount() * ENTRY_OVERHEAD;
  }

  @Override
  public String getRegion() {
    return region;
  }

  /**
   * Marks the file as fully cached until one of its blocks is removed.
   * @param dataBlocks the number of data blocks of the file; if another number is stored, the file
   *                   is not marked
   * @param size       the total size of its blocks in bytes, reported to callers
   */
  public synchronized boolean fullyCached(long dataBlocks, String regionName, long size) {
    if (!live || blocks[0] != dataBlocks) {
      return false;
    }
    setRegion(regionName);
    fullyCached = true;
    files.addFullyCached(name, regionName, size);
    return true;
  }

  private void notFullyCached() {
    if (fullyCached) {
      fullyCached = false;
      files.removeFullyCached(name);
    }
  }

  /** Returns the number of blocks in the index. */
  synchronized long blockCount() {
    long sum = 0;
    for (long count : blocks) {
      sum += count;
    }
    return sum;
  }

  /** Returns the number of blocks in the index when the file was dropped. */
  public synchronized long droppedBlockCount() {
    return droppedBlocks;
  }

  /** Returns the bytes taken by the file's blocks in the index. */
  public synchronized long byteCount() {
    long sum = 0;
    for (long count : bytes) {
      sum += count;
    }
    return sum;
  }

  /** Returns the number of data blocks in the index. */
  public synchronized long dataBlockCount() {
    return blocks[0];
  }

  /** Returns an upper bound of the offsets of the file's blocks in the index. */
  public synchronized long maxOffset() {
    return maxOffset;
  }

  synchronized boolean isFullyCached() {
    return fullyCached;
  }

  /** Restores the counts of a former process. */
  synchronized void restore(String regionName, long largest, long[] counts) {
    region = regionName;
    maxOffset = largest;
    inMemoryBytes = counts[2 * CATEGORIES];
    if (live) {
      files.countInMemory(inMemoryBytes);
    }
    for (int category = 0; category < CATEGORIES; category++) {
      blocks[category] = counts[2 * category];
      bytes[category] = counts[2 * category + 1];
      if (live) {
        files.count(category, blocks[category], bytes[category]);
      }
    }
    if (live) {
      files.countRegion(region, regionBytes());
    }
  }

  /**
   * Returns block count and byte count of each category, alternating, then the bytes of in-memory
   * blocks, as expected by {@link #restore}.
   */
  synchronized long[] counts() {
    long[] counts = new long[COUNTS];
    counts[2 * CATEGORIES] = inMemoryBytes;
    for (int category = 0; category < CATEGORIES; category++) {
      counts[2 * category] = blocks[category];
      counts[2 * category + 1] = bytes[category];
    }
    return counts;
  }

  @Override
  public String toString() {
    return name + " (" + id + (live ? ")" : ", dropped)");
  }
}
