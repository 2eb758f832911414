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
package org.apache.hadoop.hbase.io.hfile.composite;

import java.util.concurrent.atomic.LongAdder;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The keys and sizes of the data blocks in L1, and a cheap way to find one that is seldom accessed:
 * the least frequent of a small sample. There is no order to maintain, so a hit costs nothing here.
 * <p>
 * A hash table in parts; each part is three arrays with open addressing (linear probing, deletion
 * by shifting back) under a lock of its own, held for a few hundred nanoseconds. Each block takes
 * 16 bytes of array at a load of 3/16 to 3/4, about 30 on average; the key is the caller's object.
 * A part grows and shrinks with what it holds, in one go.
 * <p>
 * Each part has a standing victim, found by looking at {@value #SAMPLE} blocks, which candidates
 * are compared with until it leaves or has turned away {@value #REJECTIONS_PER_VICTIM}: turning a
 * candidate away costs one look at the sketch and, but for one in
 * {@value #REJECTIONS_PER_VICTIM}, takes no lock. Thread-safe.
 */
@InterfaceAudience.Private
final class VictimSampler {

  /** How many blocks are looked at to find a victim. */
  static final int SAMPLE = 8;
  /** After so many a standing victim is looked for anew, as the first may have become hot. */
  static final int REJECTIONS_PER_VICTIM = 16;

  private static final int BLOCKS_PER_PART = 512;
  private static final int MAX_PARTS = 64;
  private static final int MIN_SLOTS = 16;
  /** Marks the size of a block that is being evicted, which is not to be a victim again. */
  private static final int LEAVING = 1 << 31;
  /** The size argument that selects victims of any size. */
  static final int ANY_SIZE = 0;
  /**
   * The maximum number of slots examined for blocks of one size, of which there may be very few.
   */
  private static final int MAX_SAMPLED = 256;

  /** A block as a possible victim. */
  static final class Victim {
    final BlockCacheKey key;
    final long hash;
    final int size;
    /** Races lose a count now and then, which only lengthens a victim's stay. */
    private int rejections;

    private Victim(BlockCacheKey key, long hash, int size) {
      this.key = key;
      this.hash = hash;
      this.size = size;
    }

    boolean isOf(int wanted) {
      return wanted == ANY_SIZE || wanted == size;
    }
  }

  private final FrequencySketch sketch;
  private final Part[] parts;
  private final LongAdder count = new LongAdder();

  /**
   * @param sketch         tells how often blocks are accessed
   * @param expectedBlocks about how many blocks there will be; only decides the number of parts
   * @param seed           of the random choice of blocks to look at
   */
  VictimSampler(FrequencySketch sketch, long expectedBlocks, long seed) {
    this.sketch = sketch;
    long wanted = Math.max(1, Math.min(MAX_PARTS, expectedBlocks / BLOCKS_PER_PART));
    this.parts = new Part[(int) Long.highestOneBit(wanted)];
    for (int i = 0; i < parts.length; i++) {
      parts[i] = new Part(FrequencySketch.hash(seed + i) | 1);
    }
  }

  /** Adds a block, unless it is there already. Returns whether it was added. */
  boolean add(BlockCacheKey key, long hash, int size) {
    Part part = home(hash);
    synchronized (part) {
      if (part.find(key, hash) >= 0) {
        return false;
      }
      part.add(key, hash, size);
    }
    count.increment();
    return true;
  }

  /** Removes a block. Returns its size, or 0 if it is not there. */
  int remove(BlockCacheKey key, long hash) {
    Part part = home(hash);
    int size;
    synchronized (part) {
      int slot = part.find(key, hash);
      if (slot < 0) {
        return 0;
      }
      size = part.sizes[slot] & ~LEAVING;
      part.remove(slot);
    }
    count.decrement();
    return size;
  }

  boolean contains(BlockCacheKey key, long hash) {
    Part part = home(hash);
    synchronized (part) {
      return part.find(key, hash) >= 0;
    }
  }

  long count() {
    return count.sum();
  }

  int parts() {
    return parts.length;
  }

  /**
   * Whether a candidate of this frequency is rejected at once: it is not accessed more often
   * than the standing victim that it would meet, by more than the margin.
   * @param size of the victims, or {@link #ANY_SIZE}; without a victim of that size a candidate is
   *             turned away as well
   */
  boolean rejects(long hash, int frequency, int margin, int size) {
    Part part = opponents(hash);
    Victim victim = part.victim;
    if (victim == null || !victim.isOf(size)) {
      synchronized (part) {
        victim = part.next(null, size);
        part.victim = victim;
      }
      if (victim == null) {
        return size != ANY_SIZE;
      }
    }
    if (frequency > sketch.frequency(victim.hash) + margin) {
      return false;
    }
    if (++victim.rejections >= REJECTIONS_PER_VICTIM) {
      part.victim = null;
    }
    return true;
  }

  /**
   * Takes victims for a candidate: so many that they free the bytes, and only if together, and by
   * more than the margin, they are accessed less often than the candidate. They are marked as
   * leaving; the caller evicts each, or calls {@link #stays} for it.
   * @param hash      the candidate's
   * @param frequency the candidate's, or Integer.MAX_VALUE if it is to win in any case
   * @param margin    by how much more the candidate is to be accessed, at least 0
   * @param size      of the victims, or {@link #ANY_SIZE}
   * @param bytes     how much is to be freed
   * @param victims   where to put them; has room for as many as may be taken
   * @return how many were taken; 0 if the candidate loses
   */
  int takeFor(BlockCacheKey candidate, long hash, int frequency, int margin, int size, long bytes,
    Victim[] victims) {
    Part part = opponents(hash);
    synchronized (part) {
      long freed = 0;
      int sum = margin;
      int taken = 0;
      while (freed < bytes && taken < victims.length) {
        Victim victim = part.next(candidate, size);
        if (victim == null) {
          break;
        }
        sum += sketch.frequency(victim.hash);
        if (sum >= frequency) {
          // It is the one that the next candidate will meet.
          part.victim = victim;
          break;
        }
        part.mark(victim, LEAVING);
        victims[taken++] = victim;
        freed += victim.size;
      }
      if (freed >= bytes) {
        return taken;
      }
      for (int i = 0; i < taken; i++) {
        part.mark(victims[i], 0);
      }
      return 0;
    }
  }

  /**
   * Takes a victim for no particular candidate, marked as leaving.
   * @param number selects the part; successive calls pass successive numbers
   * @return null if that part has none
   */
  Victim take(int number) {
    Part part = parts[number & (parts.length - 1)];
    synchronized (part) {
      Victim victim = part.next(null, ANY_SIZE);
      if (victim != null) {
        part.mark(victim, LEAVING);
      }
      return victim;
    }
  }

  /** A victim could not be evicted: it may become one again. */
  void stays(Victim victim) {
    Part part = home(victim.hash);
    synchronized (part) {
      part.mark(victim, 0);
    }
  }

  private Part home(long hash) {
    return parts[(int) (hash >>> 40) & (parts.length - 1)];
  }

  /**
   * Where a candidate looks for victims: not the part that it would be in, so that a part which
   * holds too much has the coldest victims, loses most, and the parts stay level.
   */
  private Part opponents(long hash) {
    return parts[(int) (hash >>> 50) & (parts.length - 1)];
  }

  private final class Part {
    private BlockCacheKey[] keys = new BlockCacheKey[MIN_SLOTS];
    private long[] hashes = new long[MIN_SLOTS];
    private int[] sizes = new int[MIN_SLOTS];
    private int used;
    private long random;
    private volatile Victim victim;

    Part(long seed) {
      this.random = seed;
    }

    int find(BlockCacheKey key, long hash) {
      int mask = keys.length - 1;
      for (int slot = (int) hash & mask; keys[slot] != null; slot = (slot + 1) & mask) {
        if (hashes[slot] == hash && keys[slot].equals(key)) {
          return slot;
        }
      }
      return -1;
    }

    void add(BlockCacheKey key, long hash, int size) {
      if (used >= keys.length / 4 * 3) {
        rehash(keys.length * 2);
      }
      put(key, hash, size);
      used++;
    }

    private void put(BlockCacheKey key, long hash, int size) {
      int mask = keys.length - 1;
      int slot = (int) hash & mask;
      while (keys[slot] != null) {
        slot = (slot + 1) & mask;
      }
      keys[slot] = key;
      hashes[slot] = hash;
      sizes[slot] = size;
    }

    void remove(int slot) {
      int mask = keys.length - 1;
      int hole = slot;
      for (int next = (hole + 1) & mask; keys[next] != null; next = (next + 1) & mask) {
        int wanted = (int) hashes[next] & mask;
        // May move back into the hole if its wanted slot is not after the hole.
        if (((next - wanted) & mask) >= ((next - hole) & mask)) {
          keys[hole] = keys[next];
          hashes[hole] = hashes[next];
          sizes[hole] = sizes[next];
          hole = next;
        }
      }
      keys[hole] = null;
      used--;
      if (keys.length > MIN_SLOTS && used < keys.length * 3 / 16) {
        rehash(keys.length / 2);
      }
    }

    private void rehash(int slots) {
      BlockCacheKey[] oldKeys = keys;
      long[] oldHashes = hashes;
      int[] oldSizes = sizes;
      keys = new BlockCacheKey[slots];
      hashes = new long[slots];
      sizes = new int[slots];
      for (int i = 0; i < oldKeys.length; i++) {
        if (oldKeys[i] != null) {
          put(oldKeys[i], oldHashes[i], oldSizes[i]);
        }
      }
    }

    void mark(Victim block, int mark) {
      int slot = find(block.key, block.hash);
      if (slot >= 0) {
        sizes[slot] = (sizes[slot] & ~LEAVING) | mark;
      }
    }

    /** Returns the standing victim if it is still there, or finds one; it is standing no more. */
    Victim next(BlockCacheKey spared, int size) {
      Victim standing = victim;
      victim = null;
      if (standing != null && standing.isOf(size) && !standing.key.equals(spared)) {
        int slot = find(standing.key, standing.hash);
        if (slot >= 0 && sizes[slot] > 0) {
          return standing;
        }
      }
      return sample(spared, size);
    }

    private Victim sample(BlockCacheKey spared, int size) {
      random ^= random << 13;
      random ^= random >>> 7;
      random ^= random << 17;
      int mask = keys.length - 1;
      int slot = (int) (random >>> 20) & mask;
      int best = -1;
      int lowest = Integer.MAX_VALUE;
      int seen = 0;
      int last = size == ANY_SIZE ? mask : Math.min(mask, MAX_SAMPLED);
      for (int i = 0; i <= last && seen < SAMPLE; i++, slot = (slot + 1) & mask) {
        // The size of a block that is leaving is negative.
        boolean suits = size == ANY_SIZE ? sizes[slot] > 0 : sizes[slot] == size;
        if (keys[slot] != null && suits && !keys[slot].equals(spared)) {
          seen++;
          int frequency = sketch.frequency(hashes[slot]);
          if (frequency < lowest) {
            lowest = frequency;
            best = slot;
          }
        }
      }
      return best < 0 ? null : new Victim(keys[best], hashes[best], sizes[best]);
    }
  }
}
