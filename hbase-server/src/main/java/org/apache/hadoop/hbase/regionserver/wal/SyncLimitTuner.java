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
package org.apache.hadoop.hbase.regionserver.wal;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Chooses the maximum number of syncs that a WAL has in flight: the number with the shortest mean
 * wait of writers for their syncs. Of two numbers that are equally good it chooses the smaller one,
 * which costs less CPU time on this server and on the DataNodes.
 * <p>
 * It compares the number with the next smaller or larger one in {@value #PAIRS} pairs of short,
 * alternating periods, by the median of the ratios of their mean waits. A change of the load or a
 * stalled sync therefore affects one pair only. No measurement is kept: while a DataNode is slow,
 * the number is the best one with a slow DataNode. The comparison is repeated after a pause, which
 * doubles while the number stays, and when the mean wait has changed by half.
 * <p>
 * Thread-safe. Invariant: only the thread that has the lock ends a period and changes the limit,
 * and no thread waits for the lock. A wait that ends with a period may be counted in the next one.
 */
@InterfaceAudience.Private
final class SyncLimitTuner {
  static final long MIN_PERIOD_NS = TimeUnit.MILLISECONDS.toNanos(50);
  static final long MAX_PERIOD_NS = TimeUnit.SECONDS.toNanos(1);
  /** A period lasts as many mean waits, at least until it has as many waits. */
  private static final int PERIOD_WAITS = 3;
  static final int MIN_WAITS = 32;
  static final int PAIRS = 4;
  static final long MIN_PAUSE_NS = TimeUnit.SECONDS.toNanos(1);
  static final long MAX_PAUSE_NS = TimeUnit.MINUTES.toNanos(1);

  /** A larger limit has to be better than this, or the two would alternate. */
  private static final double GAIN = 0.97;
  /** The ratio of two mean waits between which the load has changed. */
  private static final double CHANGE = 1.5;
  private static final int MAX_LIMIT = 8;

  private final int[] limits;
  private final Lock ending;
  private final LongAdder waits;
  private final LongAdder waitedNs = new LongAdder();
  private final LongAdder changes = new LongAdder();
  private volatile int limit;
  private volatile long periodStart;
  private volatile long periodEnd;

  // Written by the thread that has the lock.
  private volatile int chosen;
  private volatile double meanWaitNs;

  // Guarded by the lock.
  /** The index of the limit that is compared; that of the chosen one during a pause. */
  private int candidate;
  /** The periods of a comparison that have ended. */
  private int periods;
  private double ofChosen;
  private final double[] ratios = new double[PAIRS];
  private int direction = -1;
  /** How many neighbours were compared since the limit changed or a pause ended. */
  private int refused;
  private long pauseNs = MIN_PAUSE_NS;
  private long pauseEnd;
  /** The mean wait of the first period of a pause, 0 if none has ended. */
  private double usual;
  private int unusual;

  /** @param max the limit without this class, 1 at least, or {@link SyncLimit#NONE} */
  SyncLimitTuner(int max, long nowNs) {
    this(max, nowNs, new ReentrantLock(), new LongAdder());
  }

  SyncLimitTuner(int max, long nowNs, Lock ending, LongAdder waits) {
    this.ending = ending;
    this.waits = waits;
    int[] all = new int[Integer.SIZE];
    int count = 0;
    for (int i = 1; i < max && i <= MAX_LIMIT; i *= 2) {
      all[count++] = i;
    }
    all[count++] = max;
    limits = Arrays.copyOf(all, count);
    chosen = count - 1;
    candidate = chosen;
    limit = max;
    periodStart = nowNs;
    periodEnd = nowNs + MIN_PERIOD_NS;
    pauseEnd = nowNs;
  }

  /** Returns the maximum number of syncs in flight now. */
  int limit() {
    return limit;
  }

  /** Returns the limit without that of a comparison. */
  int chosenLimit() {
    return limits[chosen];
  }

  /** Returns how often the chosen limit has changed. */
  long changes() {
    return changes.sum();
  }

  /** Returns the mean wait of the last period, in microseconds. */
  long waitMicros() {
    return Math.round(meanWaitNs / 1_000);
  }

  /**
   * Records that a writer has waited for a sync. May change the limit.
   * @param startNs when it began to wait, as {@link System#nanoTime()}
   */
  void waited(long startNs, long nowNs) {
    if (startNs - periodStart >= 0) {
      waitedNs.add(nowNs - startNs);
      waits.increment();
    }
    if (nowNs - periodEnd >= 0 && ending.tryLock()) {
      try {
        if (nowNs - periodEnd >= 0 && waits.sum() >= MIN_WAITS) {
          endPeriod((double) waitedNs.sumThenReset() / waits.sumThenReset(), nowNs);
        }
      } finally {
        ending.unlock();
      }
    }
  }

  private void endPeriod(double meanWait, long nowNs) {
    meanWaitNs = meanWait;
    long wait = (long) meanWait;
    if (candidate == chosen) {
      pause(meanWait, nowNs);
    } else {
      compare(meanWait, nowNs);
    }
    int next = limits[periods % 2 == 0 ? chosen : candidate];
    // Until then, writers wait for syncs of the last period too.
    long settled = next == limit ? 0 : 2 * Math.min(wait, MAX_PERIOD_NS);
    limit = next;
    periodStart = nowNs + settled;
    periodEnd = periodStart
      + Math.max(MIN_PERIOD_NS, Math.min(PERIOD_WAITS * wait, MAX_PERIOD_NS));
  }

  private void pause(double meanWait, long nowNs) {
    if (usual == 0) {
      usual = meanWait;
    }
    boolean changed = meanWait > usual * CHANGE || meanWait * CHANGE < usual;
    unusual = changed ? unusual + 1 : 0;
    if (unusual > 1) {
      pauseNs = MIN_PAUSE_NS;
    }
    if (unusual > 1 || nowNs - pauseEnd >= 0) {
      startComparison(nowNs);
    }
  }

  /** Compares with the neighbour in the direction, or in the other one if there is none. */
  private void startComparison(long nowNs) {
    if (limits.length == 1) {
      startPause(nowNs);
      return;
    }
    if (chosen + direction < 0 || chosen + direction == limits.length) {
      direction = -direction;
      refused++;
    }
    if (refused > 1) {
      startPause(nowNs);
      return;
    }
    candidate = chosen + direction;
    periods = 0;
  }

  private void startPause(long nowNs) {
    refused = 0;
    usual = 0;
    unusual = 0;
    candidate = chosen;
    periods = 0;
    pauseEnd = nowNs + pauseNs;
    pauseNs = Math.min(2 * pauseNs, MAX_PAUSE_NS);
  }

  private void compare(double meanWait, long nowNs) {
    if (periods % 2 == 0) {
      ofChosen = meanWait;
    } else {
      ratios[periods / 2] = meanWait / ofChosen;
    }
    periods++;
    if (periods < 2 * PAIRS) {
      return;
    }
    Arrays.sort(ratios);
    double median = (ratios[PAIRS / 2 - 1] + ratios[PAIRS / 2]) / 2;
    if (median <= (direction < 0 ? 1 : GAIN)) {
      chosen = candidate;
      changes.increment();
      refused = 0;
      pauseNs = MIN_PAUSE_NS;
    } else {
      direction = -direction;
      refused++;
    }
    startComparison(nowNs);
  }
}
