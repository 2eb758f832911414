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

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLongArray;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * A histogram of the times that a tier takes to return a block. The last minute is summed up at
 * intervals, so that all readers of the percentiles see equal values and none resets them.
 * <p>
 * Times are counted in buckets of a sixteenth of a power of two: a percentile is the upper end of
 * its bucket and at most 6.25 % above the true value. To time a read takes about 50 ns, most of it
 * for reading the clock twice: little beside a read from a device, but most of a read from memory.
 * So a tier in memory has one read in so many timed, chosen at random, which is as good for
 * percentiles. Recording adds 1 to one counter. Thread-safe.
 */
@InterfaceAudience.Private
final class ReadLatencyHistogram {

  /** What {@link #start} returns for a read that is not timed. */
  static final long NOT_TIMED = 0;

  private static final int SUB_BUCKET_BITS = 4;
  private static final int SUB_BUCKETS = 1 << SUB_BUCKET_BITS;
  /** All times from 2^40 ns, which is 18 minutes, share the last bucket. */
  private static final int MAX_BITS = 40;
  private static final int BUCKETS = (MAX_BITS - SUB_BUCKET_BITS + 1) * SUB_BUCKETS;
  /** Threads share counters by their number, so that few wait for another's cache line. */
  private static final int STRIPES = 8;
  private static final Summary NOTHING = new Summary(0, 0, 0, 0, 0, 0, 0);

  private final int mask;
  private final int window;
  private final AtomicLongArray[] stripes = new AtomicLongArray[STRIPES];
  private final Deque<long[]> earlier = new ArrayDeque<>();
  private volatile Summary summary = NOTHING;

  /** The times of the last minute, in nanoseconds. */
  static final class Summary {
    /** How many reads were timed since the start. */
    final long total;
    /** How many reads were timed in the last minute; the others are 0 if none was. */
    final long count;
    final long median;
    final long p95;
    final long p99;
    final long p999;
    final long max;

    private Summary(long total, long count, long median, long p95, long p99, long p999,
      long max) {
      this.total = total;
      this.count = count;
      this.median = median;
      this.p95 = p95;
      this.p99 = p99;
      this.p999 = p999;
      this.max = max;
    }
  }

  /**
   * @param oneIn  how many reads there are for each that is timed, a power of two; 1 times all
   * @param window how many calls of {@link #roll} make up the time that a summary is about
   */
  ReadLatencyHistogram(int oneIn, int window) {
    if (Integer.bitCount(oneIn) != 1 || window < 1) {
      throw new IllegalArgumentException("1 in " + oneIn + ", window of " + window);
    }
    this.mask = oneIn - 1;
    this.window = window;
    for (int i = 0; i < STRIPES; i++) {
      stripes[i] = new AtomicLongArray(BUCKETS);
    }
    earlier.add(new long[BUCKETS]);
  }

  /** Returns the moment for {@link #end}, or {@link #NOT_TIMED}. */
  long start() {
    if (mask != 0 && (ThreadLocalRandom.current().nextInt() & mask) != 0) {
      return NOT_TIMED;
    }
    // NOT_TIMED is 0, so a time must not be.
    return System.nanoTime() | 1;
  }

  /** Records the time of a read that found a block. Reads that found none are not recorded. */
  void end(long start) {
    if (start != NOT_TIMED) {
      record(System.nanoTime() - start);
    }
  }

  void record(long nanos) {
    stripes[(int) Thread.currentThread().getId() & (STRIPES - 1)].getAndIncrement(bucketOf(nanos));
  }

  static int bucketOf(long nanos) {
    if (nanos < SUB_BUCKETS) {
      return (int) Math.max(0, nanos);
    }
    int shift = Long.SIZE - 1 - SUB_BUCKET_BITS - Long.numberOfLeadingZeros(nanos);
    return Math.min(BUCKETS - 1, (int) (shift * SUB_BUCKETS + (nanos >>> shift)));
  }

  /** Returns the longest time that falls into a bucket. */
  static long upperEnd(int bucket) {
    if (bucket < 2 * SUB_BUCKETS) {
      return bucket;
    }
    int shift = bucket / SUB_BUCKETS - 1;
    return ((long) (bucket % SUB_BUCKETS + SUB_BUCKETS + 1) << shift) - 1;
  }

  /** Sums up what was timed since the window began. To be called at regular intervals. */
  synchronized void roll() {
    long[] now = new long[BUCKETS];
    for (AtomicLongArray stripe : stripes) {
      for (int i = 0; i < BUCKETS; i++) {
        now[i] += stripe.get(i);
      }
    }
    long[] before = earlier.peekFirst();
    long[] counts = new long[BUCKETS];
    long total = 0;
    long count = 0;
    for (int i = 0; i < BUCKETS; i++) {
      total += now[i];
      counts[i] = now[i] - before[i];
      count += counts[i];
    }
    earlier.addLast(now);
    if (earlier.size() > window) {
      earlier.removeFirst();
    }
    summary = new Summary(total, count, valueAt(counts, count, 0.5), valueAt(counts, count, 0.95),
      valueAt(counts, count, 0.99), valueAt(counts, count, 0.999), valueAt(counts, count, 1));
  }

  /** Returns the value that this part of all counted ones does not exceed, 0 if there is none. */
  private static long valueAt(long[] counts, long count, double quantile) {
    long rank = (long) Math.ceil(quantile * count);
    int bucket = 0;
    for (long passed = counts[0]; passed < rank; passed += counts[bucket]) {
      bucket++;
    }
    return upperEnd(bucket);
  }

  /** Returns the last minute, as it was summed up a few seconds ago at most. */
  Summary getSummary() {
    return summary;
  }
}
