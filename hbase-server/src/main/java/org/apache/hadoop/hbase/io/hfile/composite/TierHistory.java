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

import java.util.ArrayList;
import java.util.List;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Counts of moves between the tiers during the last hour: a ring that is filled at intervals. Its
 * size is fixed. Thread-safe.
 */
@InterfaceAudience.Private
public final class TierHistory {

  /** The counts. */
  @InterfaceAudience.Private
  public enum Count {
    /** Lookups served by L1. */
    FIRST_HITS,
    /** Lookups served by L2. */
    SECOND_HITS,
    /** Lookups that found the block in neither tier. */
    MISSES,
    /** Data blocks promoted to L1. */
    PROMOTIONS,
    /** Data blocks found in L2 that were not admitted to L1. */
    REJECTED_PROMOTIONS,
    /** Data blocks evicted from L1 for others. */
    DEMOTIONS
  }

  private static final int COUNTS = Count.values().length;

  /** The counts of some seconds. */
  @InterfaceAudience.Private
  public static final class Sample {
    private final long time;
    private final long millis;
    private final long[] counts;

    private Sample(long time, long millis, long[] counts) {
      this.time = time;
      this.millis = millis;
      this.counts = counts;
    }

    /** Returns when the sample ended, in milliseconds since 1970. */
    public long getTime() {
      return time;
    }

    /** Returns how many milliseconds it covers. */
    public long getMillis() {
      return millis;
    }

    public long get(Count count) {
      return counts[count.ordinal()];
    }

    /** Returns this sample and the one right after it as one. */
    public Sample and(Sample next) {
      long[] sums = new long[COUNTS];
      for (int i = 0; i < COUNTS; i++) {
        sums[i] = counts[i] + next.counts[i];
      }
      return new Sample(next.time, millis + next.millis, sums);
    }
  }

  private final long[] times;
  private final long[] nanos;
  private final long[][] totals;
  private int size;
  private int next;

  /** @param samples how many samples to keep */
  TierHistory(int samples) {
    // A sample lies between two readings.
    this.times = new long[samples + 1];
    this.nanos = new long[samples + 1];
    this.totals = new long[samples + 1][COUNTS];
  }

  /**
   * Takes a reading.
   * @param time     milliseconds since 1970, to show
   * @param nanoTime the same moment on a clock that is never set
   * @param counts   a total for each {@link Count}, since whenever it was
   */
  synchronized void add(long time, long nanoTime, long[] counts) {
    times[next] = time;
    nanos[next] = nanoTime;
    System.arraycopy(counts, 0, totals[next], 0, COUNTS);
    next = (next + 1) % times.length;
    size = Math.min(size + 1, times.length);
  }

  /** Returns the samples, the oldest first. */
  public synchronized List<Sample> getSamples() {
    List<Sample> samples = new ArrayList<>();
    for (int i = 1; i < size; i++) {
      int to = (next - size + i + times.length) % times.length;
      int from = (to - 1 + times.length) % times.length;
      long[] counts = new long[COUNTS];
      for (int c = 0; c < COUNTS; c++) {
        counts[c] = Math.max(0, totals[to][c] - totals[from][c]);
      }
      samples.add(new Sample(times[to], (nanos[to] - nanos[from]) / 1_000_000, counts));
    }
    return samples;
  }
}
