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
import java.util.Arrays;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import java.util.zip.CRC32;
import org.apache.hadoop.hbase.unsafe.HBasePlatformDependent;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Where each block is: a map from file number and block offset to {@link Location}, outside the
 * heap, of {@value #SLOT_BYTES} bytes a slot. With the slots that are empty it comes to less than
 * 20 bytes a block, and its objects on the heap to less than a tenth of a byte.
 * <p>
 * <b>Layout.</b> The map is cut into partitions by file and stretch of {@value #STRETCH_BYTES}
 * bytes of it, so that the blocks of a file are found by a walk over few of them. A partition's
 * table is a number of pages of {@link PagePool}, of {@value #BUCKETS_PER_PAGE} buckets each. A
 * bucket has {@value #BUCKET_SLOTS} keys and then their {@value #BUCKET_SLOTS} locations, two cache
 * lines in a row. A key has two buckets and is in one of them, so that a look-up, whether it finds
 * something or not, reads two buckets at most, however full the table is (cuckoo hashing with
 * buckets: Dietzfelbinger and Weidling 2007; a reader beside writers: Fan, Andersen, Kaminsky,
 * MemC3, NSDI 2013). If both are full, one of their keys moves to its other bucket. A removed slot
 * is simply empty: there are no tombstones, and churn does not wear the table out. A table grows by
 * an eighth when it is {@value #FULLEST_PERCENT} % full, each partition when it needs to, so the
 * longest wait is for the copy of one partition, whatever the size of the whole.
 * <p>
 * <b>Reading.</b> {@link #get} takes no lock, writes nothing and allocates nothing. Writers hold
 * the partition's lock and see to it that a reader who saw something else than a moment of the
 * truth finds the partition's version changed, in which case he looks again:
 * <ul>
 * <li>a new key: location first, then key, into an empty slot: the reader finds all of it or
 * nothing;</li>
 * <li>another location under a key: one write;</li>
 * <li>a removal: version, then key. A slot can only be given to another key after that, so a
 * location that was read between two reads of the same key is that key's, or the version has
 * changed;</li>
 * <li>a key that moves to its other bucket: the copy, then the version, then the removal of the
 * original. A reader who looked into the target too early and into the source too late has read the
 * version before it changed;</li>
 * <li>a new table: the table, then the version; then the pages of the former one are given back,
 * and may hold anything. They stay readable ({@link PagePool}), and what was read from them is not
 * used.</li>
 * </ul>
 * A reader looks again only if a writer got on meanwhile, so the whole is lock-free for readers.
 * <p>
 * Thread-safe. File numbers are from 1 to {@link #MAX_FILE_ID}, offsets from 0 to
 * {@link #MAX_OFFSET}; others are an {@link IllegalArgumentException} for a writer and absent for a
 * reader.
 */
@InterfaceAudience.Private
public final class SegmentIndex {
  /** The largest number of a file; the smallest is 1. */
  public static final int MAX_FILE_ID = (1 << 24) - 1;
  /** The largest offset of a block in its file, 1 TB less one byte. */
  public static final long MAX_OFFSET = (1L << 40) - 1;

  private static final int OFFSET_BITS = 40;
  private static final int STRETCH_BITS = 25;
  private static final int STRETCH_BYTES = 1 << STRETCH_BITS;
  private static final int SLOT_BYTES = 16;
  private static final int BUCKET_SLOTS = 8;
  private static final int BUCKET_BYTES = BUCKET_SLOTS * SLOT_BYTES;
  private static final int LOCATIONS = BUCKET_SLOTS * Long.BYTES;
  private static final int BUCKETS_PER_PAGE = PagePool.PAGE_BYTES / BUCKET_BYTES;
  private static final int SLOTS_PER_PAGE = BUCKETS_PER_PAGE * BUCKET_SLOTS;
  private static final int FULLEST_PERCENT = 92;
  /** Below this a table shrinks; far enough from what it is after it grew or shrank. */
  private static final int EMPTIEST_PERCENT = 50;
  private static final int SHRUNK_PERCENT = 80;
  /** How many buckets a search for an empty slot looks at; three moves away there are as many. */
  private static final int SEARCHED_BUCKETS = 1024;
  private static final int BLOCKS_PER_PARTITION = 4096;
  private static final int MAX_PARTITIONS = 1 << 17;

  private static final Filter ALL = (file, offset, location) -> true;
  private static final long EMPTY = 0;
  private static final int NOWHERE = -1;
  private static final Table NO_SLOTS = new Table(new long[0]);

  private static final long MULTIPLIER_1 = 0xbf58476d1ce4e5b9L;
  private static final long MULTIPLIER_2 = 0x94d049bb133111ebL;
  private static final long INVERSE_1 = inverse(MULTIPLIER_1);
  private static final long INVERSE_2 = inverse(MULTIPLIER_2);

  private static final int SNAPSHOT_MAGIC = 0x5347_4958;
  private static final int SNAPSHOT_VERSION = 1;
  private static final byte BYTE_ORDER =
    (byte) (ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? 1 : 2);

  private final PagePool pool;
  private final Partition[] partitions;
  private final LongAdder size = new LongAdder();

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

  /** The slots of a partition; the object never changes, what is in the pages does. */
  private static final class Table {
    private final long[] pages;
    private final int buckets;

    Table(long[] pages) {
      this.pages = pages;
      this.buckets = pages.length * BUCKETS_PER_PAGE;
    }

    int slots() {
      return buckets * BUCKET_SLOTS;
    }

    long address(int bucket) {
      return pages[bucket / BUCKETS_PER_PAGE]
        + bucket % BUCKETS_PER_PAGE * BUCKET_BYTES;
    }

    /** The half of the key that the bucket follows from is spread over all of them. */
    int firstBucket(long key) {
      return (int) ((key >>> 32) * buckets >>> 32);
    }

    int secondBucket(long key) {
      return (int) ((key & 0xffffffffL) * buckets >>> 32);
    }

    int otherBucket(long key, int bucket) {
      int first = firstBucket(key);
      return first == bucket ? secondBucket(key) : first;
    }
  }

  /**
   * One partition. The lock is the writers'; {@code table} and {@code version} are what readers
   * see. The pool is here so that its memory lives as long as somebody reads it.
   */
  private static final class Partition extends ReentrantLock {
    private static final long serialVersionUID = 1L;

    private final transient PagePool pool;
    private transient volatile Table table = NO_SLOTS;
    private volatile int version;
    /** Keys in the table; under the lock. */
    private int count;

    Partition(PagePool pool) {
      this.pool = pool;
    }

    /** Finds a key for a reader, or {@link Location#ABSENT}. */
    long get(long key) {
      while (true) {
        int before = version;
        Table seen = table;
        long found = Location.ABSENT;
        if (seen.buckets > 0) {
          found = get(seen.address(seen.firstBucket(key)), key);
          if (found == Location.ABSENT) {
            found = get(seen.address(seen.secondBucket(key)), key);
          }
        }
        if (version == before) {
          return found;
        }
      }
    }

    private static long get(long bucket, long key) {
      for (long slot = bucket; slot < bucket + LOCATIONS; slot += Long.BYTES) {
        if (read(slot) == key) {
          long location = read(slot + LOCATIONS);
          if (read(slot) == key) {
            return location;
          }
        }
      }
      return Location.ABSENT;
    }

    /** Returns the address of a key's slot, {@link #NOWHERE} if it has none; under the lock. */
    long find(long key) {
      Table current = table;
      if (current.buckets == 0) {
        return NOWHERE;
      }
      long slot = slotOf(current.address(current.firstBucket(key)), key);
      return slot != NOWHERE ? slot : slotOf(current.address(current.secondBucket(key)), key);
    }

    private static long slotOf(long bucket, long key) {
      for (long slot = bucket; slot < bucket + LOCATIONS; slot += Long.BYTES) {
        if (HBasePlatformDependent.getLong(slot) == key) {
          return slot;
        }
      }
      return NOWHERE;
    }

    /** Adds a key that is not there; under the lock. */
    boolean add(long key, long location) {
      if ((count + 1L) * 100 > (long) table.slots() * FULLEST_PERCENT) {
        // If there is no memory, it may become fuller.
        resize(table.pages.length + Math.max(1, table.pages.length >> 3));
      }
      long slot = freeSlotFor(key);
      while (slot == NOWHERE) {
        if (!resize(table.pages.length + Math.max(1, table.pages.length >> 3))) {
          return false;
        }
        slot = freeSlotFor(key);
      }
      write(slot + LOCATIONS, location);
      write(slot, key);
      count++;
      return true;
    }

    /** Empties a slot; under the lock. */
    void clear(long slot) {
      changed();
      write(slot, EMPTY);
      count--;
    }

    /** Gives memory back if there is far too much; under the lock. */
    void shrink() {
      Table current = table;
      if (count == 0) {
        if (current.buckets > 0) {
          install(NO_SLOTS);
        }
      } else if (count * 100L < (long) current.slots() * EMPTIEST_PERCENT) {
        int enough = (int) (count * 100L / SHRUNK_PERCENT / SLOTS_PER_PAGE) + 1;
        if (enough < current.pages.length) {
          resize(enough);
        }
      }
    }

    private void changed() {
      // Nobody else writes it now.
      version = version + 1;
    }

    private void install(Table next) {
      Table former = table;
      table = next;
      changed();
      pool.give(former.pages);
    }

    /** Moves to a table of that many pages, or of more; false if there is no memory. */
    private boolean resize(int pages) {
      for (int wanted = pages;; wanted += Math.max(1, wanted >> 3)) {
        long[] taken = pool.take(wanted);
        if (taken == null) {
          return false;
        }
        Table next = new Table(taken);
        if (copyTo(next)) {
          install(next);
          return true;
        }
        // Never seen, since a new table is far from full.
        pool.give(taken);
      }
    }

    private boolean copyTo(Table next) {
      Table current = table;
      for (int bucket = 0; bucket < current.buckets; bucket++) {
        long address = current.address(bucket);
        for (long slot = address; slot < address + LOCATIONS; slot += Long.BYTES) {
          long key = HBasePlatformDependent.getLong(slot);
          if (key != EMPTY) {
            long free = freeSlotFor(next, key, false);
            if (free == NOWHERE) {
              return false;
            }
            HBasePlatformDependent.putLong(free, key);
            HBasePlatformDependent.putLong(free + LOCATIONS,
              HBasePlatformDependent.getLong(slot + LOCATIONS));
          }
        }
      }
      return true;
    }

    private long freeSlotFor(long key) {
      return table.buckets == 0 ? NOWHERE : freeSlotFor(table, key, true);
    }

    /** Finds a slot for a key, or makes one by moving others. */
    private long freeSlotFor(Table where, long key, boolean readers) {
      int first = where.firstBucket(key);
      int second = where.secondBucket(key);
      long inFirst = slotOf(where.address(first), EMPTY);
      long inSecond = slotOf(where.address(second), EMPTY);
      if (inFirst == NOWHERE && inSecond == NOWHERE) {
        return moveAway(where, first, second, readers);
      }
      if (inFirst == NOWHERE || inSecond == NOWHERE) {
        return inFirst == NOWHERE ? inSecond : inFirst;
      }
      // The emptier one, nearly: the slots are filled from the first on.
      return inFirst - where.address(first) <= inSecond - where.address(second)
        ? inFirst
        : inSecond;
    }

    /**
     * Searches, breadth first, for the shortest row of moves that frees a slot in one of two full
     * buckets, and makes them, the last one first, so that no key is without a slot at any moment.
     * @return the freed slot, {@link #NOWHERE} if none was found
     */
    private long moveAway(Table where, int first, int second, boolean readers) {
      int[] buckets = new int[SEARCHED_BUCKETS];
      // From where one gets to a bucket: position in the search * slots + slot.
      int[] from = new int[SEARCHED_BUCKETS];
      int known = 0;
      buckets[known++] = first;
      if (second != first) {
        buckets[known++] = second;
      }
      int starts = known;
      for (int at = 0; at < known; at++) {
        long bucket = where.address(buckets[at]);
        long free = at < starts ? NOWHERE : slotOf(bucket, EMPTY);
        if (free != NOWHERE) {
          for (int step = at; step >= starts; step = from[step] / BUCKET_SLOTS) {
            long source = where.address(buckets[from[step] / BUCKET_SLOTS])
              + from[step] % BUCKET_SLOTS * Long.BYTES;
            move(source, free, readers);
            free = source;
          }
          return free;
        }
        for (int i = 0; i < BUCKET_SLOTS && known < SEARCHED_BUCKETS; i++) {
          int next = where.otherBucket(HBasePlatformDependent.getLong(bucket + i * Long.BYTES),
            buckets[at]);
          // A row that comes by the same bucket twice would move what is not there any more.
          if (!contains(buckets, known, next)) {
            buckets[known] = next;
            from[known++] = at * BUCKET_SLOTS + i;
          }
        }
      }
      return NOWHERE;
    }

    private static boolean contains(int[] buckets, int known, int bucket) {
      for (int i = 0; i < known; i++) {
        if (buckets[i] == bucket) {
          return true;
        }
      }
      return false;
    }

    private void move(long source, long target, boolean readers) {
      write(target + LOCATIONS, HBasePlatformDependent.getLong(source + LOCATIONS));
      write(target, HBasePlatformDependent.getLong(source));
      if (readers) {
        changed();
      }
      write(source, EMPTY);
    }

    /** Returns blocks and locations in turn, and may remove them; under the lock. */
    long[] collect(Filter filter, boolean remove) {
      long[] entries = new long[filter == ALL ? 2 * count : 32];
      int collected = 0;
      Table current = table;
      for (int bucket = 0; bucket < current.buckets; bucket++) {
        long address = current.address(bucket);
        for (long slot = address; slot < address + LOCATIONS; slot += Long.BYTES) {
          long mixed = HBasePlatformDependent.getLong(slot);
          if (mixed == EMPTY) {
            continue;
          }
          long block = unmix(mixed);
          long location = HBasePlatformDependent.getLong(slot + LOCATIONS);
          if (filter.test(fileOf(block), offsetOf(block), location)) {
            if (collected == entries.length) {
              entries = Arrays.copyOf(entries, 2 * collected);
            }
            entries[collected++] = block;
            entries[collected++] = location;
            if (remove) {
              clear(slot);
            }
          }
        }
      }
      return collected == entries.length ? entries : Arrays.copyOf(entries, collected);
    }
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
    partitions = new Partition[wanted];
    for (int i = 0; i < wanted; i++) {
      partitions[i] = new Partition(pool);
    }
  }

  /** Returns where a block is, or {@link Location#ABSENT}. Takes no lock. */
  public long get(int fileId, long offset) {
    return isKey(fileId, offset)
      ? partitionOf(fileId, offset).get(keyOf(fileId, offset))
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
    long key = keyOf(fileId, offset);
    Partition partition = partitionOf(fileId, offset);
    partition.lock();
    try {
      long slot = partition.find(key);
      if (slot == NOWHERE) {
        if (!partition.add(key, location)) {
          return Location.REFUSED;
        }
        size.increment();
        return Location.ABSENT;
      }
      long former = read(slot + LOCATIONS);
      if (replaces) {
        write(slot + LOCATIONS, location);
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
    Partition partition = partitionOf(fileId, offset);
    partition.lock();
    try {
      long slot = partition.find(keyOf(fileId, offset));
      if (slot == NOWHERE || !Location.isSamePlace(read(slot + LOCATIONS), expected)) {
        return false;
      }
      write(slot + LOCATIONS, location);
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
    if (!isKey(fileId, offset)) {
      return Location.ABSENT;
    }
    Partition partition = partitionOf(fileId, offset);
    partition.lock();
    try {
      long slot = partition.find(keyOf(fileId, offset));
      if (slot == NOWHERE) {
        return Location.ABSENT;
      }
      long location = read(slot + LOCATIONS);
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
    if (Location.access(location) == Location.MAX_ACCESS || !isKey(fileId, offset)) {
      return;
    }
    Partition partition = partitionOf(fileId, offset);
    if (partition.tryLock()) {
      try {
        long slot = partition.find(keyOf(fileId, offset));
        if (slot != NOWHERE) {
          long now = read(slot + LOCATIONS);
          if (Location.isSamePlace(now, location) && Location.access(now) < Location.MAX_ACCESS) {
            write(slot + LOCATIONS, Location.withAccess(now, Location.access(now) + 1));
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
    void visit(Partition partition, Filter filter);
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
    for (Partition partition : partitions) {
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

  private static void forEachIn(Partition partition, Filter filter, Visitor visitor) {
    if (partition.table == NO_SLOTS) {
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

  private int removeIn(Partition partition, Filter filter, Visitor gone) {
    if (partition.table == NO_SLOTS) {
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
      visitor.visit(fileOf(entries[i]), offsetOf(entries[i]), entries[i + 1]);
    }
  }

  /** Forgets all blocks. The memory is kept for those that come. */
  public void clear() {
    for (Partition partition : partitions) {
      partition.lock();
      try {
        size.add(-partition.count);
        partition.count = 0;
        partition.shrink();
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

  /** Returns about what the index takes of the heap, in bytes. */
  public long getHeapBytes() {
    // Array of pages and table; the partition with its lock; the reference to it.
    long bytes = pool.getHeapBytes() + partitions.length * 112L;
    for (Partition partition : partitions) {
      bytes += 40 + (long) partition.table.pages.length * Long.BYTES;
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
    byte[] page = new byte[PagePool.PAGE_BYTES];
    CRC32 sum = new CRC32();
    for (Partition partition : partitions) {
      partition.lock();
      try {
        long[] pages = partition.table.pages;
        out.writeInt(pages.length);
        out.writeInt(partition.count);
        sum.reset();
        for (long address : pages) {
          for (int i = 0; i < page.length; i += Long.BYTES) {
            HBasePlatformDependent.putLong(page, HBasePlatformDependent.arrayBaseOffset(
              byte[].class) + i, HBasePlatformDependent.getLong(address + i));
          }
          sum.update(page, 0, page.length);
          out.write(page);
        }
        out.writeInt((int) sum.getValue());
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
      byte[] page = new byte[PagePool.PAGE_BYTES];
      for (Partition partition : partitions) {
        partition.lock();
        try {
          readPartition(partition, in, page);
        } finally {
          partition.unlock();
        }
        size.add(partition.count);
      }
      read = true;
    } finally {
      if (!read) {
        clear();
      }
    }
  }

  private void readPartition(Partition partition, DataInput in, byte[] page) throws IOException {
    int pageCount = in.readInt();
    int count = in.readInt();
    if (pageCount < 0 || count < 0 || count > (long) pageCount * SLOTS_PER_PAGE) {
      throw new IOException("No partition of an index: " + pageCount + " pages, " + count);
    }
    CRC32 sum = new CRC32();
    // A page at a time: a length that is not to be trusted is not to take all memory.
    long[] pages = new long[Math.min(pageCount, 16)];
    int filled = 0;
    boolean whole = false;
    try {
      int keys = 0;
      while (filled < pageCount) {
        in.readFully(page);
        long[] taken = pool.take(1);
        if (taken == null) {
          throw new IOException("No direct memory for an index of " + pageCount + " pages");
        }
        if (filled == pages.length) {
          pages = Arrays.copyOf(pages, Math.min(pageCount, 2 * filled));
        }
        pages[filled++] = taken[0];
        sum.update(page, 0, page.length);
        for (int i = 0; i < page.length; i += Long.BYTES) {
          long word = HBasePlatformDependent.getLong(page,
            HBasePlatformDependent.arrayBaseOffset(byte[].class) + i);
          HBasePlatformDependent.putLong(taken[0] + i, word);
          keys += word != EMPTY && i % BUCKET_BYTES < LOCATIONS ? 1 : 0;
        }
      }
      if (in.readInt() != (int) sum.getValue() || keys != count) {
        throw new IOException("A partition of an index does not have the sum it had");
      }
      whole = true;
    } finally {
      if (!whole) {
        pool.give(Arrays.copyOf(pages, filled));
      }
    }
    partition.count = count;
    partition.install(count == 0 ? NO_SLOTS : new Table(pages));
    if (count == 0) {
      pool.give(pages);
    }
  }

  private Partition partitionOf(int fileId, long offset) {
    long stretch = blockOf(fileId, offset) >>> STRETCH_BITS;
    return partitions[(int) (mix(stretch) >>> 32) & partitions.length - 1];
  }

  private static boolean isKey(int fileId, long offset) {
    return fileId > 0 && fileId <= MAX_FILE_ID && offset >= 0 && offset <= MAX_OFFSET;
  }

  private static void check(int fileId, long offset) {
    if (!isKey(fileId, offset)) {
      throw new IllegalArgumentException("No block: file " + fileId + ", offset " + offset);
    }
  }

  /** Never {@link #EMPTY}, which only 0 is mixed to. */
  private static long keyOf(int fileId, long offset) {
    return mix(blockOf(fileId, offset));
  }

  private static long blockOf(int fileId, long offset) {
    return (long) fileId << OFFSET_BITS | offset;
  }

  private static int fileOf(long block) {
    return (int) (block >>> OFFSET_BITS);
  }

  private static long offsetOf(long block) {
    return block & MAX_OFFSET;
  }

  /** Every bit of the result depends on every bit of the key, and the key follows from it. */
  static long mix(long key) {
    long x = (key ^ key >>> 30) * MULTIPLIER_1;
    x = (x ^ x >>> 27) * MULTIPLIER_2;
    return x ^ x >>> 31;
  }

  static long unmix(long mixed) {
    long x = (mixed ^ mixed >>> 31 ^ mixed >>> 62) * INVERSE_2;
    x = (x ^ x >>> 27 ^ x >>> 54) * INVERSE_1;
    return x ^ x >>> 30 ^ x >>> 60;
  }

  /** The inverse of an odd number among all long numbers, by Newton's method. */
  private static long inverse(long odd) {
    long inverse = odd;
    for (int correctBits = 3; correctBits < Long.SIZE; correctBits *= 2) {
      inverse *= 2 - odd * inverse;
    }
    return inverse;
  }

  private static long read(long address) {
    return HBasePlatformDependent.getLongVolatile(null, address);
  }

  /** Not before what was written before it. */
  private static void write(long address, long value) {
    HBasePlatformDependent.putOrderedLong(null, address, value);
  }
}
