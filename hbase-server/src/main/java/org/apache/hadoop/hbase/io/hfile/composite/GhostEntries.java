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

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.stream.IntStream;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Estimates how many more hits a cache with admission by frequency would have if it had more
 * items of one size: hashes of the most frequently requested entries that it does not hold, and the
 * number of requests for each.
 * <p>
 * An entry replaces one of {@value #WAYS} that was requested less often, by the sketch of the
 * cache. So ghost entries are those that the cache would admit next, also while a loop or a
 * scan requests more than would fit. The sketch alone does not tell what they are worth: it has no
 * list of them, its counts end at {@value FrequencySketch#MAX_FREQUENCY}, and they do not age while
 * only entries at that maximum are requested.
 * <p>
 * An entry takes 12 bytes. Thread-safe. A race loses a ghost entry or a request. After N. Megiddo
 * and D. Modha, "ARC: a self-tuning, low overhead replacement cache" (hits of entries that are not
 * cached); G. Einziger, R. Friedman and B. Manes, "TinyLFU: a highly efficient cache admission
 * policy".
 */
@InterfaceAudience.Private
final class GhostEntries {

  static final int WAYS = 4;
  static final int SLOTS = 1 << 12;
  private static final int MAX_SLOTS = 1 << 19;
  private static final int SLOTS_PER_ITEM = 4;
  /** An entry that ties replaces another once in so many times. */
  private static final int TIES_PER_REPLACEMENT = 32;
  private static final long NONE = 0;
  private static final long PRIME = 0x9E37_79B9_7F4A_7C15L;

  private final FrequencySketch sketch;
  private final AtomicLongArray slots;
  /** The requests for the entry of each slot. */
  private final AtomicIntegerArray requests;

  /**
   * Makes several entries for each of so many items.
   * @param sketch of the cache, which the callers of this class increment
   */
  GhostEntries(FrequencySketch sketch, int items) {
    int size = (int) Math.max(SLOTS, Math.min(MAX_SLOTS, (long) SLOTS_PER_ITEM * items));
    this.sketch = sketch;
    this.slots = new AtomicLongArray(size);
    this.requests = new AtomicIntegerArray(size);
  }

  /**
   * An entry was requested that the cache does not hold.
   * @param hash of {@link FrequencySketch}
   */
  void onMiss(long hash) {
    int set = set(hash);
    for (int slot = set; slot < set + WAYS; slot++) {
      if (slots.get(slot) == hash) {
        requests.lazySet(slot, requests.get(slot) + 1);
        return;
      }
    }
    add(hash, set);
  }

  /** Returns the first slot of the hash's set. */
  private int set(long hash) {
    long sets = slots.length() / WAYS;
    return (int) ((hash * PRIME >>> Integer.SIZE) * sets >>> Integer.SIZE) * WAYS;
  }

  private void add(long hash, int set) {
    int lowest = Integer.MAX_VALUE;
    int victim = set;
    for (int slot = set; slot < set + WAYS; slot++) {
      long other = slots.get(slot);
      if (other == hash) {
        return;
      }
      int frequency = other == NONE ? -1 : sketch.frequency(other);
      if (frequency < lowest) {
        lowest = frequency;
        victim = slot;
      }
    }
    int frequency = sketch.frequency(hash);
    if (frequency > lowest || frequency == lowest && isLucky()) {
      requests.set(victim, 0);
      slots.set(victim, hash);
    }
  }

  private static boolean isLucky() {
    return ThreadLocalRandom.current().nextInt(TIES_PER_REPLACEMENT) == 0;
  }

  /**
   * Returns how often each entry was requested since it is kept, the highest count first. The first
   * request for an entry is not counted, as more items would not have made it a hit.
   */
  long[] counts() {
    // The counts are negated, since numbers can only be sorted in ascending order.
    return IntStream.range(0, requests.length()).map(slot -> -requests.get(slot))
      .filter(count -> count < 0).sorted().mapToLong(count -> -count).toArray();
  }
}
