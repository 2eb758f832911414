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

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.apache.yetus.audience.InterfaceAudience;

import org.apache.hbase.thirdparty.com.google.common.hash.Hashing;

/**
 * A file some of whose blocks are cached: its number in {@link SegmentIndex}, and what is stored of
 * it. It is live until it is dropped or has no more blocks; another one of the same name then gets
 * another number, so that what is left of the former in the index is nobody's. Made by
 * {@link CachedFiles}. Thread-safe.
 */
@InterfaceAudience.Private
public final class CachedFile {
  static final int CATEGORIES = 4;
  /** How many numbers {@link #counts} returns. */
  static final int COUNTS = 2 * CATEGORIES + 1;

  /**
   * What an entry may have more than its block has in its file: tag and alignment. Not counted for
   * the region, whose cached bytes others divide by the bytes of its files.
   */
  static final int ENTRY_OVERHEAD = EntryTrailer.SIZE + Location.UNIT;

  private final CachedFiles files;
  private final String name;
  private final int id;
  private final long hashHigh;
  private final long hashLow;

  // All of these under the object's lock.
  private final long[] blocks = new long[CATEGORIES];
  private final long[] bytes = new long[CATEGORIES];
  private long inMemoryBytes;
  private long maxOffset;
  private boolean fullyCached;
  private int pins;
  private long droppedBlocks;
  private boolean forgotten;

  // Written under the lock.
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

  /** Returns {@link #hashHigh} of a file of this name. */
  static long hashHigh(String name) {
    return hash(name).getLong();
  }

  /** Returns the name of the file, without its directory. */
  public String name() {
    return name;
  }

  /** Returns the file's number in the index, from 1 on. */
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

  /** A block of the file is inserted by this process; what it has may be all of a former one. */
  void insertedInto() {
    if (!insertedInto) {
      insertedInto = true;
    }
  }

  /** Whether this process has inserted a block of the file. */
  boolean isInsertedInto() {
    return insertedInto;
  }

  /** Whether blocks are found under the file's name. */
  public boolean isLive() {
    return live;
  }

  /** Keeps the file, even without a block, until {@link #release}; false if it is not live. */
  synchronized boolean pin() {
    if (live) {
      pins++;
    }
    return live;
  }

  /** To be called once for each file that {@link CachedFiles#acquire} returned. */
  public void release() {
    synchronized (this) {
      pins--;
    }
    forgetIfEmpty();
  }

  /**
   * A block is about to be put into the index.
   * @param location where it is
   * @return false if it is not to be, because the file was dropped
   */
  boolean onInsert(long offset, long location) {
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

  /** A block was taken out of the index. */
  void onRemove(long location) {
    synchronized (this) {
      uncount(location);
      if (live) {
        notFullyCached();
      }
    }
    forgetIfEmpty();
  }

  /** What came was not put into the index after all, or something else was in its place. */
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

  /** Has the file's blocks found no more; those in the index are to go. False if it was so. */
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

  /** A file without blocks is forgotten, so that there are no more files than blocks. */
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

  /** Says which region the file belongs to, null if that is not known. */
  synchronized void setRegion(String regionName) {
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

  String getRegion() {
    return region;
  }

  /**
   * Notes that all blocks of the file are there, until one of them goes.
   * @param dataBlocks how many data blocks the file has; if there are not as many, nothing is noted
   * @param size       the bytes of all its blocks, for those who ask
   */
  synchronized boolean fullyCached(long dataBlocks, String regionName, long size) {
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
  synchronized long droppedBlockCount() {
    return droppedBlocks;
  }

  /** Returns the bytes that the blocks in the index take. */
  synchronized long byteCount() {
    long sum = 0;
    for (long count : bytes) {
      sum += count;
    }
    return sum;
  }

  /** Returns the number of data blocks in the index. */
  synchronized long dataBlockCount() {
    return blocks[0];
  }

  /** Returns an offset that no block in the index is beyond. */
  synchronized long maxOffset() {
    return maxOffset;
  }

  synchronized boolean isFullyCached() {
    return fullyCached;
  }

  /** Takes over what a former process has counted. */
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

  /** Returns blocks and bytes in turn, and the bytes in memory, for {@link #restore}. */
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
