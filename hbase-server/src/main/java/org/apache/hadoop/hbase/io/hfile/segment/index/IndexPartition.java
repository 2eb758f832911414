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
import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.hadoop.hbase.io.hfile.segment.device.Location;
import org.apache.hadoop.hbase.unsafe.HBasePlatformDependent;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * A part of {@link SegmentIndex}: an off-heap hash table from keys to locations.
 * <p>
 * <b>Layout.</b> The table consists of pages of {@link PagePool} with {@value #BUCKETS_PER_PAGE}
 * buckets each. A bucket has {@value #BUCKET_SLOTS} keys followed by their {@value #BUCKET_SLOTS}
 * locations, two adjacent cache lines. A key has two candidate buckets and is in one of them, so
 * that a lookup, hit or miss, reads at most two buckets, however full the table is (cuckoo hashing
 * with buckets: Dietzfelbinger and Weidling 2007; a reader concurrent with writers: Fan, Andersen,
 * Kaminsky, MemC3, NSDI 2013). If both are full, one of their keys moves to its other bucket. A
 * removed slot is simply empty: there are no tombstones, and churn does not degrade the table. It
 * grows by an eighth when it is {@value #MAX_FILLED_PERCENT} % full.
 * <p>
 * <b>Reading.</b> {@link #get} takes no lock, writes nothing and allocates nothing. Writers hold
 * the partition's lock. They ensure that a reader that has not seen a consistent state finds the
 * partition's version changed, in which case the reader retries:
 * <ul>
 * <li>a new key: location first, then key, into an empty slot: the reader finds all of it or
 * nothing;</li>
 * <li>another location under a key: one write;</li>
 * <li>a removal: version, then key. A slot can only be reused for another key after that, so a
 * location that was read between two reads of the same key is that key's, or the version has
 * changed;</li>
 * <li>a key that moves to its other bucket: the copy, then the version, then the removal of the
 * original. A reader that checked the target too early and the source too late has read the version
 * before it changed;</li>
 * <li>a new table: the table, then the version; then the pages of the former one are returned, and
 * may contain anything. They stay readable ({@link PagePool}), and values read from them are
 * discarded.</li>
 * </ul>
 * A reader retries only if a writer made progress meanwhile, so reads are lock-free.
 * <p>
 * The Javadoc of a method says whether it requires the lock, which is this object itself. Memory
 * that readers and writers share is accessed only through {@link #read}, {@link #write},
 * {@link #version}, {@link #changed} and the two methods for the table. Tests override these to
 * interleave threads; production code overrides nothing.
 */
@InterfaceAudience.Private
class IndexPartition extends ReentrantLock {
  private static final long serialVersionUID = 1L;

  static final int SLOT_BYTES = 16;
  private static final int BUCKET_SLOTS = 8;
  static final int BUCKET_BYTES = BUCKET_SLOTS * SLOT_BYTES;
  static final int LOCATIONS = BUCKET_SLOTS * Long.BYTES;
  private static final int BUCKETS_PER_PAGE = PagePool.PAGE_BYTES / BUCKET_BYTES;
  private static final int SLOTS_PER_PAGE = BUCKETS_PER_PAGE * BUCKET_SLOTS;
  private static final int MAX_FILLED_PERCENT = 92;
  /**
   * A table shrinks below this; low enough that it does not shrink right after it grew, or grow
   * right after it shrank.
   */
  private static final int MIN_FILLED_PERCENT = 50;
  private static final int SHRUNK_PERCENT = 80;
  /** Maximum number of buckets that a search for an empty slot visits; 146 are within two moves. */
  private static final int SEARCHED_BUCKETS = 512;
  private static final ThreadLocal<int[]> SEARCHED =
    ThreadLocal.withInitial(() -> new int[2 * SEARCHED_BUCKETS]);

  static final long EMPTY = 0;
  static final int NOWHERE = -1;
  private static final Table NO_SLOTS = new Table(new long[0]);

  /** The slots of a partition. The object is immutable, the content of its pages is not. */
  static final class Table {
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

    /**
     * Returns the first bucket of a key. The half of the key that it is computed from is spread
     * over all buckets.
     */
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

  private final transient PagePool pool;
  private transient volatile Table currentTable = NO_SLOTS;
  private volatile int currentVersion;
  /** Number of keys in the table; guarded by the lock. */
  private int count;

  IndexPartition(PagePool pool) {
    this.pool = pool;
  }

  /** Returns the location of a key, {@link Location#ABSENT} if it is absent. Takes no lock. */
  long get(long key) {
    while (true) {
      int before = version();
      Table seen = table();
      long found = Location.ABSENT;
      if (seen.buckets > 0) {
        found = get(seen.address(seen.firstBucket(key)), key);
        if (found == Location.ABSENT) {
          found = get(seen.address(seen.secondBucket(key)), key);
        }
      }
      if (version() == before) {
        return found;
      }
    }
  }

  private long get(long bucket, long key) {
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

  /** Returns the address of a key's slot, {@link #NOWHERE} if absent. Requires the lock. */
  long find(long key) {
    Table current = currentTable;
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

  /** Adds a key that is absent. Requires the lock. */
  boolean add(long key, long location) {
    if ((count + 1L) * 100 > (long) currentTable.slots() * MAX_FILLED_PERCENT) {
      // If no memory is available, the table may become fuller.
      resize(larger(), true);
    }
    long slot = freeSlotFor(key);
    while (slot == NOWHERE) {
      if (!resize(larger(), true)) {
        return false;
      }
      slot = freeSlotFor(key);
    }
    write(slot + LOCATIONS, location);
    write(slot, key);
    count++;
    return true;
  }

  private int larger() {
    int pages = currentTable.pages.length;
    return pages + Math.max(1, pages >> 3);
  }

  /** Empties a slot. Requires the lock. */
  void clear(long slot) {
    changed();
    write(slot, EMPTY);
    count--;
  }

  /** Releases memory if the table is far too large. Requires the lock. */
  void shrink() {
    Table current = currentTable;
    if (count == 0) {
      if (current.buckets > 0) {
        install(NO_SLOTS);
      }
    } else if (count * 100L < (long) current.slots() * MIN_FILLED_PERCENT) {
      int enough = (int) (count * 100L / SHRUNK_PERCENT / SLOTS_PER_PAGE) + 1;
      if (enough < current.pages.length) {
        resize(enough, false);
      }
    }
  }

  private void install(Table next) {
    Table former = currentTable;
    setTable(next);
    changed();
    pool.give(former.pages);
  }

  /** Moves to a table of that many pages, or of more. Returns false if no memory is available. */
  private boolean resize(int pages, boolean grows) {
    for (int wanted = pages;; wanted += Math.max(1, wanted >> 3)) {
      long[] taken = grows ? pool.takeToGrow(wanted) : pool.take(wanted);
      if (taken == null) {
        return false;
      }
      Table next = new Table(taken);
      if (copyTo(next)) {
        install(next);
        return true;
      }
      // This was not observed in practice, since a new table is far from full.
      pool.give(taken);
    }
  }

  private boolean copyTo(Table next) {
    Table current = currentTable;
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
    return currentTable.buckets == 0 ? NOWHERE : freeSlotFor(currentTable, key, true);
  }

  /** Returns an empty slot for a key; moves other keys if necessary. */
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
    // This chooses roughly the emptier bucket: slots are filled in order from the first.
    return inFirst - where.address(first) <= inSecond - where.address(second)
      ? inFirst
      : inSecond;
  }

  /**
   * Frees a slot in one of two full buckets.
   * @return the freed slot, {@link #NOWHERE} if none could be freed
   */
  private long moveAway(Table where, int first, int second, boolean readers) {
    long freed = moveOne(where, first, readers);
    if (freed == NOWHERE) {
      freed = moveOne(where, second, readers);
    }
    return freed == NOWHERE ? moveSeveral(where, first, second, readers) : freed;
  }

  /** Moves a key whose other bucket has an empty slot; nearly always one of the eight keys has. */
  private long moveOne(Table where, int bucket, boolean readers) {
    long address = where.address(bucket);
    for (long slot = address; slot < address + LOCATIONS; slot += Long.BYTES) {
      int other = where.otherBucket(HBasePlatformDependent.getLong(slot), bucket);
      long free = other == bucket ? NOWHERE : slotOf(where.address(other), EMPTY);
      if (free != NOWHERE) {
        move(slot, free, readers);
        return slot;
      }
    }
    return NOWHERE;
  }

  /**
   * Searches, breadth first, for the shortest sequence of moves that frees a slot. Performs the
   * moves in reverse order, so that no key is without a slot at any moment.
   */
  private long moveSeveral(Table where, int first, int second, boolean readers) {
    int[] buckets = SEARCHED.get();
    // The predecessor of a bucket, stored behind the buckets: position in the search * slots +
    // slot.
    int from = SEARCHED_BUCKETS;
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
        for (int step = at; step >= starts; step = buckets[from + step] / BUCKET_SLOTS) {
          long source = where.address(buckets[buckets[from + step] / BUCKET_SLOTS])
            + buckets[from + step] % BUCKET_SLOTS * Long.BYTES;
          move(source, free, readers);
          free = source;
        }
        return free;
      }
      for (int i = 0; i < BUCKET_SLOTS && known < SEARCHED_BUCKETS; i++) {
        int next = where.otherBucket(HBasePlatformDependent.getLong(bucket + i * Long.BYTES),
          buckets[at]);
        // A sequence that visits the same bucket twice would move a key that has moved already.
        if (!contains(buckets, known, next)) {
          buckets[known] = next;
          buckets[from + known++] = at * BUCKET_SLOTS + i;
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

  /** Returns blocks and locations, alternating, and optionally removes them. Requires the lock. */
  long[] collect(SegmentIndex.Filter filter, boolean remove) {
    long[] entries = new long[filter == SegmentIndex.Filter.ALL ? 2 * count : 32];
    int collected = 0;
    Table current = currentTable;
    for (int bucket = 0; bucket < current.buckets; bucket++) {
      long address = current.address(bucket);
      for (long slot = address; slot < address + LOCATIONS; slot += Long.BYTES) {
        long mixed = HBasePlatformDependent.getLong(slot);
        if (mixed == EMPTY) {
          continue;
        }
        long block = IndexKey.unmix(mixed);
        long location = HBasePlatformDependent.getLong(slot + LOCATIONS);
        if (filter.test(IndexKey.fileOf(block), IndexKey.offsetOf(block), location)) {
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

  /** Returns whether there is no key. Takes no lock. */
  boolean isEmpty() {
    return currentTable == NO_SLOTS;
  }

  /** Returns the number of keys. Requires the lock. */
  int size() {
    return count;
  }

  /** Returns the location in a slot. Requires the lock. */
  static long location(long slot) {
    return HBasePlatformDependent.getLong(slot + LOCATIONS);
  }

  /** Replaces the location in a slot. Requires the lock. */
  void setLocation(long slot, long location) {
    write(slot + LOCATIONS, location);
  }

  /** Removes all keys. Requires the lock. */
  void clear() {
    count = 0;
    shrink();
  }

  /** Writes the table as it is in memory, with a checksum. Requires the lock. */
  void writeTo(DataOutput out) throws IOException {
    long[] pages = currentTable.pages;
    out.writeInt(pages.length);
    out.writeInt(count);
    IndexPages.write(out, pages);
  }

  /**
   * Reads the output of {@link #writeTo}. Requires the lock, and a table without keys.
   * @throws IOException if the input is invalid; the table has no keys then
   */
  void readFrom(DataInput in) throws IOException {
    int pageCount = in.readInt();
    int keyCount = in.readInt();
    if (pageCount < 0 || keyCount < 0 || keyCount > (long) pageCount * SLOTS_PER_PAGE) {
      throw new IOException("Invalid index partition: " + pageCount + " pages, " + keyCount);
    }
    long[] pages = IndexPages.read(in, pool, pageCount, keyCount);
    count = keyCount;
    install(keyCount == 0 ? NO_SLOTS : new Table(pages));
    if (keyCount == 0) {
      pool.give(pages);
    }
  }

  /** Reads a value; later reads and writes are not reordered before this read. */
  long read(long address) {
    return HBasePlatformDependent.getLongVolatile(null, address);
  }

  /** Writes a value; earlier writes are not reordered after this write. */
  void write(long address, long value) {
    HBasePlatformDependent.putOrderedLong(null, address, value);
  }

  int version() {
    return currentVersion;
  }

  /** Increments the version. Requires the lock, so that there is one writer. */
  void changed() {
    currentVersion = currentVersion + 1;
  }

  Table table() {
    return currentTable;
  }

  void setTable(Table next) {
    currentTable = next;
  }
}
