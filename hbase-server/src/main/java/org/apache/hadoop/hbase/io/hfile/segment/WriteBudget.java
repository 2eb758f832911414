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

import java.util.concurrent.TimeUnit;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Paces writes so that no more bytes are written than so many a second, over all devices: each
 * write has the moment when it may begin, one behind the other. A write that begins late, since
 * the device or the scheduler had it wait, may be made up for by the next ones, but no more than
 * {@value #CREDIT_MS} ms, which is what a device without a limit would hardly notice. So the
 * limit holds over any time that is much longer. Thread-safe.
 */
@InterfaceAudience.Private
final class WriteBudget {
  static final long CREDIT_MS = 100;

  private static final long CREDIT = TimeUnit.MILLISECONDS.toNanos(CREDIT_MS);
  private static final long LONGEST_SLEEP = TimeUnit.MILLISECONDS.toNanos(100);

  /** What a budget knows of time. */
  @InterfaceAudience.Private
  interface Clock {
    Clock SYSTEM = new Clock() {
      @Override
      public long nanos() {
        return System.nanoTime();
      }

      @Override
      public void sleep(long nanos) throws InterruptedException {
        TimeUnit.NANOSECONDS.sleep(nanos);
      }
    };

    long nanos();

    void sleep(long nanos) throws InterruptedException;
  }

  private final Clock clock;
  private volatile long bytesPerSecond;
  private long next;

  /** @param bytesPerSecond 0 for no limit */
  WriteBudget(long bytesPerSecond, Clock clock) {
    this.clock = clock;
    setLimit(bytesPerSecond);
  }

  /** Sets the limit, also for those who wait; 0 is none. */
  synchronized void setLimit(long newBytesPerSecond) {
    bytesPerSecond = newBytesPerSecond;
    next = clock.nanos();
  }

  boolean isLimited() {
    return bytesPerSecond > 0;
  }

  /** Waits until so many bytes may be written. */
  void acquire(int bytes) throws InterruptedException {
    long start;
    synchronized (this) {
      long limit = bytesPerSecond;
      if (limit == 0) {
        return;
      }
      long earliest = clock.nanos() - CREDIT;
      start = next - earliest < 0 ? earliest : next;
      next = start + (long) ((double) bytes * TimeUnit.SECONDS.toNanos(1) / limit);
    }
    long limitAtStart = bytesPerSecond;
    long wait = start - clock.nanos();
    while (wait > 0 && bytesPerSecond == limitAtStart) {
      clock.sleep(Math.min(wait, LONGEST_SLEEP));
      wait = start - clock.nanos();
    }
  }
}
