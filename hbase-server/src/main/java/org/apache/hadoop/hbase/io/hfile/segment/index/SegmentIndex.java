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

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.LongAdder;
import org.apache.hadoop.hbase.io.hfile.segment.device.Location;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * An off-heap map from file number and block offset to {@link Location}, with
 * {@value IndexPartition#SLOT_BYTES} bytes per slot. Including empty slots it takes less than 20
 * bytes per block once it is filled, less than {@value #MAX_BLOCK_BYTES} when blocks are replaced
 * by others, and less than a tenth of a byte per block on the heap.
 * <p>
 * The map is partitioned by file and by intervals of {@value #INTERVAL_BYTES} bytes of a file, so
 * that the blocks of a file are found by a scan of few partitions. Each partition is a hash table
 * of its own ({@link IndexPartition}). A lookup reads at most two buckets of it without a lock. A
 * table grows when it needs to, so the longest wait of a writer is for the copy of one partition,
 * whatever the size of the whole, and no other thread waits.
 * <p>
 * Thread-safe. File numbers are from 1 to {@link #MAX_FILE_ID}, offsets from 0 to
 * {@link #MAX_OFFSET}; for other values, a write throws {@link IllegalArgumentException} and a
 * lookup returns absent.
 */
@InterfaceAudience.Private
public final class SegmentIndex {
  /** Maximum file number; the minimum is 1. */
  public static final int MAX_FILE_ID = IndexKey.MAX_FILE_ID;
  /** Maximum offset of a block in its file, 1 TB less one byte. */
  public static final long MAX_OFFSET = IndexKey.MAX_OFFSET;

  private static final int INTERVAL_BITS = 25;
  private static final int INTERVAL_BYTES = 1 << INTERVAL_BITS;
  private static final int BLOCKS_PER_PARTITION = 4096;
  private static final int MAX_PARTITIONS = 1 << 17;
  /**
   * Maximum number of bytes in pages per block. A table grows by an eighth at 92 %, and so is at
   * least 82 % full while it fills: 19.5 bytes. Blocks that are replaced in insertion order leave
   * tables that have not shrunk yet: up to 23 bytes were measured.
   */
  private static final int MAX_BLOCK_BYTES = 24;
  /**
   * The bytes for the tables that are copied at a time, 20 pages each, and for pages that shrinking
   * needs.
   */
  private static final long SLACK_BYTES = 2L << 20;
  private static final long MIN_BUDGET_BYTES = 4L << 20;

  private static final int SNAPSHOT_MAGIC = 0x5347_4958;
  private static final int SNAPSHOT_VERSION = 1;
  private static final byte BYTE_ORDER =
    (byte) (ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? 1 : 2);

  private final PagePool pool;
  private final IndexPartition[] partitions;
  private final LongAdder size = new LongAdder();
  private final LongAdder refused = new LongAdder();

  /** Receives blocks. */
  @InterfaceAudience.Private
  @FunctionalInterface
  public interface Visitor {
    void visit(int fileId, long offset, long location);
  }

  /**
   * Creates an empty index.
   * @param expectedBlocks approximate number of blocks; with far more of them, a growing partition
   *                       takes longer to copy
   */
  public SegmentIndex(long expectedBlocks) {
    this(expectedBlocks, new PagePool());
  }

  public SegmentIndex(long expectedBlocks, PagePool pool) {
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
   * Returns the maximum off-heap memory of an index of this many blocks, in bytes: 24 for each
   * block, 2 MB for tables that are being copied, and at least 4 MB.
   */
  public static long maxBytesFor(long expectedBlocks) {
    return PagePool.bytesOfSlabsFor(
      Math.max(MIN_BUDGET_BYTES, expectedBlocks * MAX_BLOCK_BYTES + SLACK_BYTES));
  }

  /** Returns the location of a block, or {@link Location#ABSENT}. Takes no lock. */
  public long get(int fileId, long offset) {
    return IndexKey.isBlock(fileId, offset)
      ? partitionOf(fileId, offset).get(IndexKey.mix(IndexKey.block(fileId, offset)))
      : Location.ABSENT;
  }

  /**
   * Sets the location of a block.
   * @return the former location, {@link Location#ABSENT} if there was none,
   *         {@link Location#REFUSED} if the block was not added because no memory is available
   */
  public long put(int fileId, long offset, long location) {
    return put(fileId, offset, location, true);
  }

  /**
   * Sets the location of a block if it is absent.
   * @return the existing location, {@link Location#ABSENT} if there was none,
   *         {@link Location#REFUSED} if the block was not added because no memory is available
   */
  public long putIfAbsent(int fileId, long offset, long location) {
    return put(fileId, offset, location, false);
  }

  private long put(int fileId, long offset, long location, boolean replaces) {
    check(fileId, offset);
    if (!Location.isPresent(location)) {
      throw new IllegalArgumentException("Invalid location: " + location);
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
   * Replaces the location of a block, if it is the expected one.
   * @param expected the current location; its access count is ignored
   * @param location the new location, with its access count
   */
  public boolean replace(int fileId, long offset, long expected, long location) {
    check(fileId, offset);
    if (!Location.isPresent(location)) {
      throw new IllegalArgumentException("Invalid location: " + location);
    }
    IndexPartition partition = partitionOf(fileId, offset);
    partition.lock();
    try {
      long slot = partition.find(IndexKey.mix(IndexKey.block(fileId, offset)));
      if (
        slot == IndexPartition.NOWHERE
          || !Location.isSame(IndexPartition.location(slot), expected)
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
   * Removes a block, if its location is the expected one.
   * @param expected the current location; its access count is ignored
   * @return the removed location, {@link Location#ABSENT} if none was removed
   */
  public long remove(int fileId, long offset, long expected) {
    return remove(fileId, offset, expected, false);
  }

  /** Removes a block and returns its location, {@link Location#ABSENT} if it was absent. */
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
      if (!anywhere && !Location.isSame(location, expected)) {
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
   * Counts a request for a block. A hint: does nothing if the block has moved, if its access count
   * is at the maximum, or if a writer is active in its partition.
   * @param location the location returned by {@link #get}
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
          if (Location.isSame(now, location) && Location.access(now) < Location.MAX_ACCESS) {
            partition.setLocation(slot, Location.withAccess(now, Location.access(now) + 1));
          }
        }
      } finally {
        partition.unlock();
      }
    }
  }

  /**
   * Visits the blocks of a file. A block that is inserted or removed concurrently may be missed, or
   * visited after its removal. The visitor is called without a lock. Scans one partition for each
   * {@value #INTERVAL_BYTES} bytes of the file.
   * @param from the minimum offset
   * @param to   the maximum offset
   */
  public void forEachOf(int fileId, long from, long to, Visitor visitor) {
    forEachInterval(fileId, from, to,
      (partition, filter) -> forEachIn(partition, filter, visitor));
  }

  /** Selects blocks. */
  @FunctionalInterface
  public interface Filter {
    /**
     * Selects all blocks; recognized by {@link IndexPartition#collect}, which then knows the number
     * of results beforehand.
     */
    Filter ALL = (file, offset, location) -> true;

    boolean test(int fileId, long offset, long location);
  }

  private interface IntervalVisitor {
    void visit(IndexPartition partition, Filter filter);
  }

  private void forEachInterval(int fileId, long from, long to, IntervalVisitor visitor) {
    long first = Math.max(0, from);
    long last = Math.min(to, MAX_OFFSET);
    if (fileId < 1 || fileId > MAX_FILE_ID || first > last) {
      return;
    }
    for (long interval = first >>> INTERVAL_BITS; interval <= last >>> INTERVAL_BITS; interval++) {
      long begin = Math.max(first, interval << INTERVAL_BITS);
      long end = Math.min(last, (interval + 1 << INTERVAL_BITS) - 1);
      visitor.visit(partitionOf(fileId, begin),
        (id, offset, location) -> id == fileId && offset >= begin && offset <= end);
    }
  }

  /**
   * Visits all blocks, and holds a copy of one partition at a time. A block that is inserted or
   * removed concurrently may be missed, or visited after its removal. The visitor is called without
   * a lock.
   */
  public void forEach(Visitor visitor) {
    for (IndexPartition partition : partitions) {
      forEachIn(partition, Filter.ALL, visitor);
    }
  }

  /** Returns the number of partitions, for {@link #forEachIn}. */
  public int getPartitionCount() {
    return partitions.length;
  }

  /** Visits the blocks of one partition, with the guarantees of {@link #forEach}. */
  public void forEachIn(int partition, Visitor visitor) {
    forEachIn(partitions[partition], Filter.ALL, visitor);
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
   * Removes blocks of one partition.
   * @param filter selects the blocks to remove; called with the partition's lock, so it must be
   *               short and must not use the index
   * @param gone   receives each removed block, without a lock
   * @return the number of removed blocks
   */
  public int removeIn(int partition, Filter filter, Visitor gone) {
    return removeIn(partitions[partition], filter, gone);
  }

  /**
   * Removes the blocks of a file, at the cost of {@link #forEachOf}.
   * @param from the minimum offset
   * @param to   the maximum offset
   * @param gone receives each removed block, without a lock
   * @return the number of removed blocks
   */
  public int removeOf(int fileId, long from, long to, Visitor gone) {
    int[] removed = new int[1];
    forEachInterval(fileId, from, to,
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

  /** Removes all blocks. The memory is kept for later blocks. */
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

  /** Returns the off-heap memory in bytes, including unused pages. */
  public long getOffHeapBytes() {
    return pool.getBytes();
  }

  /** Returns the maximum of {@link #getOffHeapBytes}, in bytes. */
  public long getMaxOffHeapBytes() {
    return pool.getMaxBytes();
  }

  /**
   * Returns the number of blocks that were not added because no memory was available: the pool is
   * at its budget, or direct memory is at the reserve for others.
   */
  public long getRefusedCount() {
    return refused.sum();
  }

  /** Returns the pool, for tests that exhaust the memory. */
  public PagePool pool() {
    return pool;
  }

  /**
   * Writes all blocks as they are in memory, each partition with a checksum.
   * @throws IOException if writing fails
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
   * Reads the output of {@link #writeTo} into an empty index that no other thread uses.
   * @throws IOException if the input is invalid, or was written by an index with another number of
   *                     partitions or on another kind of machine; the index is empty then
   */
  public void readFrom(DataInput in) throws IOException {
    boolean read = false;
    try {
      if (in.readInt() != SNAPSHOT_MAGIC || in.readInt() != SNAPSHOT_VERSION) {
        throw new IOException("Not a segment index, or one of another version");
      }
      if (in.readByte() != BYTE_ORDER || in.readInt() != partitions.length) {
        throw new IOException("The index has another byte order or number of partitions");
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
    long interval = IndexKey.block(fileId, offset) >>> INTERVAL_BITS;
    return partitions[(int) (IndexKey.mix(interval) >>> 32) & partitions.length - 1];
  }

  private static void check(int fileId, long offset) {
    if (!IndexKey.isBlock(fileId, offset)) {
      throw new IllegalArgumentException("Invalid block: file " + fileId + ", offset " + offset);
    }
  }

}
