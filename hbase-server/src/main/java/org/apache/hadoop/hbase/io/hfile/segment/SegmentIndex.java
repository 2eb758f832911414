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

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.LongAdder;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Where each block is: a map from file number and block offset to {@link Location}, outside the
 * heap, of {@value IndexPartition#SLOT_BYTES} bytes a slot. With the slots that are empty it comes
 * to less than 20 bytes a block once it is filled, to less than {@value #MAX_BLOCK_BYTES} when
 * blocks are replaced by others, and its objects on the heap to less than a tenth of a byte.
 * <p>
 * The map is cut into partitions by file and stretch of {@value #STRETCH_BYTES} bytes of it, so
 * that the blocks of a file are found by a walk over few of them. Each is a hash table of its own
 * ({@link IndexPartition}), which a look-up reads without a lock, in two places at most, and which
 * grows when it needs to: so the longest wait of a writer is for the copy of one partition,
 * whatever the size of the whole, and nobody else waits at all.
 * <p>
 * Thread-safe. File numbers are from 1 to {@link #MAX_FILE_ID}, offsets from 0 to
 * {@link #MAX_OFFSET}; others are an {@link IllegalArgumentException} for a writer and absent for a
 * reader.
 */
@InterfaceAudience.Private
public final class SegmentIndex {
  /** The largest number of a file; the smallest is 1. */
  public static final int MAX_FILE_ID = IndexKey.MAX_FILE_ID;
  /** The largest offset of a block in its file, 1 TB less one byte. */
  public static final long MAX_OFFSET = IndexKey.MAX_OFFSET;

  private static final int STRETCH_BITS = 25;
  private static final int STRETCH_BYTES = 1 << STRETCH_BITS;
  private static final int BLOCKS_PER_PARTITION = 4096;
  private static final int MAX_PARTITIONS = 1 << 17;
  /**
   * Bytes in pages that a block takes at most. A table has grown by an eighth at 92 %, and so is 82
   * % full at least while it fills: 19.5 bytes. Blocks that are replaced in the order in which they
   * came leave tables which have not shrunk yet: up to 23 were measured.
   */
  private static final int MAX_BLOCK_BYTES = 24;
  /** For the tables that are copied at a time, 20 pages each, and for pages to shrink with. */
  private static final long SLACK_BYTES = 2L << 20;
  private static final long MIN_BUDGET_BYTES = 4L << 20;

  /** Chooses all; with it the number of what is chosen is known beforehand. */
  static final Filter ALL = (file, offset, location) -> true;

  private static final int SNAPSHOT_MAGIC = 0x5347_4958;
  private static final int SNAPSHOT_VERSION = 1;
  private static final byte BYTE_ORDER =
    (byte) (ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? 1 : 2);

  private final PagePool pool;
  private final IndexPartition[] partitions;
  private final LongAdder size = new LongAdder();
  private final LongAdder refused = new LongAdder();

  /** Takes blocks. */
  @InterfaceAudience.Private
  @FunctionalInterface
  public interface Visitor {
    void visit(int fileId, long offset, long location);
  }

  /** Chooses blocks. */
  @InterfaceAudience.Private
  @FunctionalInterface
  public interface Filter {
    boolean test(int fileId, long offset, long location);
  }

  /**
   * Makes an empty index.
   * @param expectedBlocks about how many blocks there will be; with far more of them, a growing
   *                       partition takes longer to copy
   */
  public SegmentIndex(long expectedBlocks) {
    this(expectedBlocks, new PagePool());
  }

  SegmentIndex(long expectedBlocks, PagePool pool) {
    this.pool = pool;
    int wanted = 1;
    while (wanted < MAX_PARTITIONS && (long) wanted * BLOCKS_PER_PARTITION < expectedBlocks) {
      wanted <<= 1;
    }
    partitions = new IndexPartition[wanted];
    for (int i = 0; i < wanted; i++) {
      partitions[i] = new IndexPartition(pool);
    }
  }

  /**
   * Returns the memory outside the heap that an index of so many blocks needs at most, in bytes: 24
   * for each block, 2 MB for tables that are being copied, and 4 MB at least.
   */
  static long maxBytesFor(long expectedBlocks) {
    return PagePool.bytesOfSlabsFor(
      Math.max(MIN_BUDGET_BYTES, expectedBlocks * MAX_BLOCK_BYTES + SLACK_BYTES));
  }

  /** Returns where a block is, or {@link Location#ABSENT}. Takes no lock. */
  public long get(int fileId, long offset) {
    return IndexKey.isBlock(fileId, offset)
      ? partitionOf(fileId, offset).get(IndexKey.mix(IndexKey.block(fileId, offset)))
      : Location.ABSENT;
  }

  /**
   * Notes where a block is.
   * @return where it was, {@link Location#ABSENT} if it was not there before,
   *         {@link Location#REFUSED} if it is not there now, for there is no memory
   */
  public long put(int fileId, long offset, long location) {
    return put(fileId, offset, location, true);
  }

  /**
   * Notes where a block is if that is not known yet.
   * @return where it is by another's word, or as for {@link #put}
   */
  public long putIfAbsent(int fileId, long offset, long location) {
    return put(fileId, offset, location, false);
  }

  private long put(int fileId, long offset, long location, boolean replaces) {
    check(fileId, offset);
    if (!Location.isPresent(location)) {
      throw new IllegalArgumentException("No location: " + location);
    }
    long key = IndexKey.mix(IndexKey.block(fileId, offset));
    IndexPartition partition = partitionOf(fileId, offset);
    partition.lock();
    try {
      long slot = partition.find(key);
      if (slot == IndexPartition.NOWHERE) {
        if (!partition.add(key, location)) {
          refused.increment();
          return Location.REFUSED;
        }
        size.increment();
        return Location.ABSENT;
      }
      long former = IndexPartition.location(slot);
      if (replaces) {
        partition.setLocation(slot, location);
      }
      return former;
    } finally {
      partition.unlock();
    }
  }

  /**
   * Notes that a block is elsewhere now, if it was where the caller thinks it was.
   * @param expected where it was, whatever its access count
   * @param location where it is, with the access count it is to have
   */
  public boolean replace(int fileId, long offset, long expected, long location) {
    check(fileId, offset);
    if (!Location.isPresent(location)) {
      throw new IllegalArgumentException("No location: " + location);
    }
    IndexPartition partition = partitionOf(fileId, offset);
    partition.lock();
    try {
      long slot = partition.find(IndexKey.mix(IndexKey.block(fileId, offset)));
      if (
        slot == IndexPartition.NOWHERE
          || !Location.isSamePlace(IndexPartition.location(slot), expected)
      ) {
        return false;
      }
      partition.setLocation(slot, location);
      return true;
    } finally {
      partition.unlock();
    }
  }

  /**
   * Forgets a block, if it is where the caller thinks it is.
   * @param expected where it is, whatever its access count
   * @return the location that was forgotten, {@link Location#ABSENT} if none was
   */
  public long remove(int fileId, long offset, long expected) {
    return remove(fileId, offset, expected, false);
  }

  /** Forgets a block and returns where it was, {@link Location#ABSENT} if it was not there. */
  public long remove(int fileId, long offset) {
    return remove(fileId, offset, Location.ABSENT, true);
  }

  private long remove(int fileId, long offset, long expected, boolean anywhere) {
    if (!IndexKey.isBlock(fileId, offset)) {
      return Location.ABSENT;
    }
    IndexPartition partition = partitionOf(fileId, offset);
    partition.lock();
    try {
      long slot = partition.find(IndexKey.mix(IndexKey.block(fileId, offset)));
      if (slot == IndexPartition.NOWHERE) {
        return Location.ABSENT;
      }
      long location = IndexPartition.location(slot);
      if (!anywhere && !Location.isSamePlace(location, expected)) {
        return Location.ABSENT;
      }
      partition.clear(slot);
      partition.shrink();
      size.decrement();
      return location;
    } finally {
      partition.unlock();
    }
  }

  /**
   * Notes that a block was asked for. A hint: does nothing if the block has moved, if it was asked
   * for often enough, or if a writer is at work in its partition.
   * @param location where it is, as {@link #get} said
   */
  public void touch(int fileId, long offset, long location) {
    if (Location.access(location) == Location.MAX_ACCESS || !IndexKey.isBlock(fileId, offset)) {
      return;
    }
    IndexPartition partition = partitionOf(fileId, offset);
    if (partition.tryLock()) {
      try {
        long slot = partition.find(IndexKey.mix(IndexKey.block(fileId, offset)));
        if (slot != IndexPartition.NOWHERE) {
          long now = IndexPartition.location(slot);
          if (Location.isSamePlace(now, location) && Location.access(now) < Location.MAX_ACCESS) {
            partition.setLocation(slot, Location.withAccess(now, Location.access(now) + 1));
          }
        }
      } finally {
        partition.unlock();
      }
    }
  }

  /**
   * Visits the blocks of a file. One that comes or goes meanwhile may be missed, or visited though
   * it is gone. The visitor is called without a lock. Costs one partition's walk for each
   * {@value #STRETCH_BYTES} bytes of the file.
   * @param from the least offset
   * @param to   the largest offset
   */
  public void forEachOf(int fileId, long from, long to, Visitor visitor) {
    forEachStretch(fileId, from, to,
      (partition, filter) -> forEachIn(partition, filter, visitor));
  }

  private interface StretchVisitor {
    void visit(IndexPartition partition, Filter filter);
  }

  private void forEachStretch(int fileId, long from, long to, StretchVisitor visitor) {
    long first = Math.max(0, from);
    long last = Math.min(to, MAX_OFFSET);
    if (fileId < 1 || fileId > MAX_FILE_ID || first > last) {
      return;
    }
    for (long stretch = first >>> STRETCH_BITS; stretch <= last >>> STRETCH_BITS; stretch++) {
      long begin = Math.max(first, stretch << STRETCH_BITS);
      long end = Math.min(last, (stretch + 1 << STRETCH_BITS) - 1);
      visitor.visit(partitionOf(fileId, begin),
        (id, offset, location) -> id == fileId && offset >= begin && offset <= end);
    }
  }

  /** Visits all blocks, with no more than a partition's copied at a time; else as forEachOf. */
  public void forEach(Visitor visitor) {
    for (IndexPartition partition : partitions) {
      forEachIn(partition, ALL, visitor);
    }
  }

  /** Returns in how many parts {@link #forEachIn} visits all blocks. */
  public int getPartitionCount() {
    return partitions.length;
  }

  /** Visits the blocks of one partition, as {@link #forEach} does. */
  public void forEachIn(int partition, Visitor visitor) {
    forEachIn(partitions[partition], ALL, visitor);
  }

  private static void forEachIn(IndexPartition partition, Filter filter, Visitor visitor) {
    if (partition.isEmpty()) {
      return;
    }
    long[] entries;
    partition.lock();
    try {
      entries = partition.collect(filter, false);
    } finally {
      partition.unlock();
    }
    tell(entries, visitor);
  }

  /**
   * Forgets blocks of one partition.
   * @param filter whether a block is to be forgotten; called with the partition's lock, so it is to
   *               be short and not to use the index
   * @param gone   told of each block that was forgotten, without a lock
   * @return how many were forgotten
   */
  public int removeIn(int partition, Filter filter, Visitor gone) {
    return removeIn(partitions[partition], filter, gone);
  }

  /**
   * Forgets the blocks of a file, at the cost of {@link #forEachOf}.
   * @param from the least offset
   * @param to   the largest offset
   * @param gone told of each block that was forgotten, without a lock
   * @return how many were forgotten
   */
  public int removeOf(int fileId, long from, long to, Visitor gone) {
    int[] removed = new int[1];
    forEachStretch(fileId, from, to,
      (partition, filter) -> removed[0] += removeIn(partition, filter, gone));
    return removed[0];
  }

  private int removeIn(IndexPartition partition, Filter filter, Visitor gone) {
    if (partition.isEmpty()) {
      return 0;
    }
    long[] removed;
    partition.lock();
    try {
      removed = partition.collect(filter, true);
      partition.shrink();
    } finally {
      partition.unlock();
    }
    size.add(-removed.length / 2);
    tell(removed, gone);
    return removed.length / 2;
  }

  private static void tell(long[] entries, Visitor visitor) {
    for (int i = 0; i < entries.length; i += 2) {
      visitor.visit(IndexKey.fileOf(entries[i]), IndexKey.offsetOf(entries[i]), entries[i + 1]);
    }
  }

  /** Forgets all blocks. The memory is kept for those that come. */
  public void clear() {
    for (IndexPartition partition : partitions) {
      partition.lock();
      try {
        size.add(-partition.size());
        partition.clear();
      } finally {
        partition.unlock();
      }
    }
  }

  /** Returns the number of blocks. */
  public long size() {
    return size.sum();
  }

  /** Returns the memory outside the heap, in bytes, that which waits to be used included. */
  public long getOffHeapBytes() {
    return pool.getBytes();
  }

  /** Returns what {@link #getOffHeapBytes} can reach, in bytes. */
  public long getMaxOffHeapBytes() {
    return pool.getMaxBytes();
  }

  /**
   * Returns how many blocks were not put, for there was no memory: the pool is at its budget, or
   * direct memory at the reserve for others.
   */
  public long getRefusedCount() {
    return refused.sum();
  }

  /** For tests that take the memory. */
  PagePool pool() {
    return pool;
  }

  /** Returns about what the index takes of the heap, in bytes. */
  public long getHeapBytes() {
    long bytes = pool.getHeapBytes() + (long) partitions.length * Long.BYTES;
    for (IndexPartition partition : partitions) {
      bytes += partition.getHeapBytes();
    }
    return bytes;
  }

  /**
   * Writes all blocks as they are in memory, each partition with a checksum.
   * @throws IOException if the output does
   */
  public void writeTo(DataOutput out) throws IOException {
    out.writeInt(SNAPSHOT_MAGIC);
    out.writeInt(SNAPSHOT_VERSION);
    out.writeByte(BYTE_ORDER);
    out.writeInt(partitions.length);
    for (IndexPartition partition : partitions) {
      partition.lock();
      try {
        partition.writeTo(out);
      } finally {
        partition.unlock();
      }
    }
  }

  /**
   * Reads what {@link #writeTo} has written into an index that is empty and that nobody else uses.
   * @throws IOException if it is not that, or if it was written by an index with another number of
   *                     partitions or on another kind of machine; the index is empty then
   */
  public void readFrom(DataInput in) throws IOException {
    boolean read = false;
    try {
      if (in.readInt() != SNAPSHOT_MAGIC || in.readInt() != SNAPSHOT_VERSION) {
        throw new IOException("Not an index of segments, or of another version");
      }
      if (in.readByte() != BYTE_ORDER || in.readInt() != partitions.length) {
        throw new IOException("An index of another machine or of another number of partitions");
      }
      for (IndexPartition partition : partitions) {
        partition.lock();
        try {
          partition.readFrom(in);
        } finally {
          partition.unlock();
        }
        size.add(partition.size());
      }
      read = true;
    } finally {
      if (!read) {
        clear();
      }
    }
  }

  private IndexPartition partitionOf(int fileId, long offset) {
    long stretch = IndexKey.block(fileId, offset) >>> STRETCH_BITS;
    return partitions[(int) (IndexKey.mix(stretch) >>> 32) & partitions.length - 1];
  }

  private static void check(int fileId, long offset) {
    if (!IndexKey.isBlock(fileId, offset)) {
      throw new IllegalArgumentException("No block: file " + fileId + ", offset " + offset);
    }
  }

}
