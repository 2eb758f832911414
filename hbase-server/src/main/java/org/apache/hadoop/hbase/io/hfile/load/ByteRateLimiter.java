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
package org.apache.hadoop.hbase.io.hfile.load;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Limits the rate at which several threads together read or write bytes. A thread waits until the
 * preceding transfers have been paid for by time, in FIFO order, so that threads that transfer a
 * block each alternate. Idle time is not accumulated, except for a short burst, which compensates
 * for waits that end late and for slow devices. Thread-safe.
 */
@InterfaceAudience.Private
public final class ByteRateLimiter {
  private static final double NANOS = TimeUnit.SECONDS.toNanos(1);

  /** The clock of a limiter, and its timed wait. */
  @InterfaceAudience.Private
  public interface Clock {
    Clock SYSTEM = new Clock() {
      @Override
      public long nanos() {
        return System.nanoTime();
      }

      @Override
      public long await(Condition condition, long nanos) throws InterruptedException {
        return condition.awaitNanos(nanos);
      }
    };

    /** Returns the time, as {@link System#nanoTime()}. */
    long nanos();

    /** Waits, and returns the remaining time, as {@link Condition#awaitNanos}. */
    long await(Condition condition, long nanos) throws InterruptedException;
  }

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  /** The waiting threads, in FIFO order. */
  private final Deque<Object> turns = new ArrayDeque<>();
  private final long burstMillis;
  private final Clock clock;
  /** Written under the lock, as are the next two fields. */
  private volatile long bytesPerSecond;
  /**
   * Bytes that were transferred and not paid for yet; negative values may be transferred at once.
   */
  private double owed;
  private long paidUntil;

  /**
   * Creates a limiter without a limit until {@link #setLimit}.
   * @param burstMillis burst after a pause, in milliseconds of the limit
   */
  public ByteRateLimiter(long burstMillis) {
    this(burstMillis, Clock.SYSTEM);
  }

  /**
   * Creates a limiter with another clock.
   * @param burstMillis burst after a pause, in milliseconds of the limit
   */
  public ByteRateLimiter(long burstMillis, Clock clock) {
    this.burstMillis = burstMillis;
    this.clock = clock;
    this.paidUntil = clock.nanos();
  }

  /**
   * Sets the limit. Takes effect at once, also for waiting threads.
   * @param newBytesPerSecond the limit; 0 for none
   */
  public void setLimit(long newBytesPerSecond) {
    lock.lock();
    try {
      pay();
      bytesPerSecond = newBytesPerSecond;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Returns the limit in bytes per second, 0 if there is none. */
  public long getLimit() {
    return bytesPerSecond;
  }

  /** Returns whether there is a limit. */
  public boolean isLimited() {
    return bytesPerSecond > 0;
  }

  /**
   * Waits until this many bytes may be transferred.
   * @throws InterruptedException if the thread is interrupted; nothing is charged then
   */
  public void acquire(long bytes) throws InterruptedException {
    acquire(bytes, () -> false);
  }

  /**
   * Waits until this many bytes may be transferred.
   * @param cancelled ends the wait; checked at its start and after each {@link #wake}
   * @throws InterruptedException if cancelled, or the thread is interrupted; nothing is charged
   *                              then
   */
  public void acquire(long bytes, BooleanSupplier cancelled) throws InterruptedException {
    lock.lockInterruptibly();
    Object turn = new Object();
    turns.addLast(turn);
    try {
      while (true) {
        if (cancelled.getAsBoolean()) {
          throw new InterruptedException("Cancelled while waiting for the rate limit");
        }
        pay();
        if (bytesPerSecond == 0) {
          return;
        }
        if (turns.peekFirst() != turn) {
          // Waits without a limit: threads ahead wait as long as the rate requires, and each thread
          // that leaves, is cancelled or changes the rate signals.
          changed.await();
        } else if (owed > 0) {
          clock.await(changed, (long) Math.ceil(owed / bytesPerSecond * NANOS));
        } else {
          owed += bytes;
          return;
        }
      }
    } finally {
      turns.remove(turn);
      changed.signalAll();
      lock.unlock();
    }
  }

  /** Makes all waiting threads check whether they have been cancelled. */
  public void wake() {
    lock.lock();
    try {
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private void pay() {
    long now = clock.nanos();
    double paid = (now - paidUntil) / NANOS * bytesPerSecond;
    paidUntil = now;
    owed = bytesPerSecond == 0
      ? 0
      : Math.max(owed - paid, -burstMillis / 1000.0 * bytesPerSecond);
  }
}
