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
package org.apache.hadoop.hbase.io.hfile.prefetch;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Limits the bytes that several threads read together. Whoever reads waits until what was read
 * before has been paid by time, in the order of asking, so that threads that read blocks get a
 * block each in turn. What was not used is forgotten but for {@link #BURST_MILLIS}, which only make
 * up for waits that end late: there is no burst after a pause. Thread-safe.
 */
@InterfaceAudience.Private
final class ReadRate {

  /** How much may be read at once after a pause, in milliseconds of the rate. */
  static final long BURST_MILLIS = 20;

  private static final double NANOS = TimeUnit.SECONDS.toNanos(1);

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  /** Who waits, by the order of asking. */
  private final Deque<Object> turns = new ArrayDeque<>();
  private long bytesPerSecond;
  /** Bytes that were let through and not paid yet; below 0 they may be read at once. */
  private double owed;
  private long paidUntil = System.nanoTime();

  /**
   * Takes effect at once, for those that wait too.
   * @param bytesPerSecond the limit; 0 for none
   */
  void set(long bytesPerSecond) {
    lock.lock();
    try {
      pay();
      this.bytesPerSecond = bytesPerSecond;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Returns the limit, 0 if there is none. */
  long get() {
    lock.lock();
    try {
      return bytesPerSecond;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits until this many bytes may be read.
   * @param cancelled ends the wait; asked when it begins and after each {@link #wake}
   * @throws InterruptedException if cancelled, or the thread is interrupted; nothing is owed then
   */
  void await(long bytes, BooleanSupplier cancelled) throws InterruptedException {
    lock.lockInterruptibly();
    Object turn = new Object();
    turns.addLast(turn);
    try {
      while (true) {
        if (cancelled.getAsBoolean()) {
          throw new InterruptedException("Cancelled while waiting to read");
        }
        pay();
        if (bytesPerSecond == 0) {
          return;
        }
        if (turns.peekFirst() != turn) {
          // Waits without a limit: those ahead wait as long as the rate says, and whoever leaves,
          // is cancelled or changes the rate signals.
          changed.await();
        } else if (owed > 0) {
          changed.awaitNanos((long) Math.ceil(owed / bytesPerSecond * NANOS));
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

  /** Has all that wait look whether they have been cancelled. */
  void wake() {
    lock.lock();
    try {
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private void pay() {
    long now = System.nanoTime();
    double paid = (now - paidUntil) / NANOS * bytesPerSecond;
    paidUntil = now;
    owed = bytesPerSecond == 0
      ? 0
      : Math.max(owed - paid, -BURST_MILLIS / 1000.0 * bytesPerSecond);
  }
}
