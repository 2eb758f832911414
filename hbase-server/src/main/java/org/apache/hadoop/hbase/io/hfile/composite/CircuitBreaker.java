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

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Decides whether one kind of access to a device is attempted. After a number of consecutive
 * failures, each at a different position, the breaker opens: no access is attempted until a probe
 * succeeds. Failures at one position count as one, so that damage at one does not disable the whole
 * device. Pauses between probes double up to a limit, and a recovery that does not last does not
 * shorten them. A device is probed either by a thread of its own, which waits for
 * {@link #untilProbe}, or by one of its users, which {@link #claim} decides.
 * <p>
 * <b>Invariant.</b> An access reads {@link #term} before it begins; a failure counts only in the
 * term in which its access began, so that failures of accesses begun before a recovery do not count
 * after it.
 * <p>
 * Thread-safe. A success costs a volatile read.
 */
@InterfaceAudience.Private
public final class CircuitBreaker {
  /** The failures that open the breakers of all devices. */
  public static final int FAILURES_IN_A_ROW = 3;
  /** The pause before the first probe, in nanoseconds. */
  public static final long FIRST_PAUSE = TimeUnit.MILLISECONDS.toNanos(100);
  /** The maximum pause between two probes, in nanoseconds. */
  public static final long MAX_PAUSE = TimeUnit.SECONDS.toNanos(10);
  /** A recovery lasts if no failure opens the breaker for this many of the last pauses. */
  private static final int LASTING_PAUSES = 10;

  private final LongSupplier clock;
  /** The positions of the failures since the last success. */
  private final long[] positions;
  private volatile int failures;
  private volatile boolean closed = true;
  private volatile int term;
  private volatile long nextProbe;
  private long pause;
  private long closedAt;

  /**
   * @param failuresInARow failures at different positions that open the breaker, at least 1
   * @param nanoClock      equivalent to {@link System#nanoTime()}
   */
  public CircuitBreaker(int failuresInARow, LongSupplier nanoClock) {
    this.positions = new long[failuresInARow];
    this.clock = nanoClock;
  }

  /** Returns whether accesses are attempted. */
  public boolean isClosed() {
    return closed;
  }

  /** Returns the number of the current term, which ends with a recovery. */
  public int term() {
    return term;
  }

  /** Records a successful access. */
  public void succeeded() {
    if (failures != 0) {
      synchronized (this) {
        failures = 0;
      }
    }
  }

  /**
   * Records a failed access.
   * @param termAtStart {@link #term} when the access began
   * @param position    where it failed; a position counts once until the next success
   * @return whether this failure opens the breaker
   */
  public synchronized boolean failed(int termAtStart, long position) {
    if (!closed || termAtStart != term) {
      return false;
    }
    for (int i = 0; i < failures; i++) {
      if (positions[i] == position) {
        return false;
      }
    }
    positions[failures] = position;
    failures++;
    return failures == positions.length && open();
  }

  /**
   * Opens the breaker regardless of the number of failures.
   * @return whether it was closed
   */
  public synchronized boolean open() {
    if (!closed) {
      return false;
    }
    long now = clock.getAsLong();
    boolean lasted = pause == 0 || now - closedAt > LASTING_PAUSES * pause;
    pause = lasted ? FIRST_PAUSE : Math.min(2 * pause, MAX_PAUSE);
    nextProbe = now + pause;
    failures = 0;
    closed = false;
    return true;
  }

  /** Returns whether an access may be attempted: the breaker is closed, or a probe is due. */
  public boolean mayAttempt() {
    return closed || untilProbe() <= 0;
  }

  /**
   * Returns whether the calling thread attempts its access. If a probe of an open breaker is due,
   * one thread's access is the probe: it {@link #close closes} the breaker if it succeeds. Until
   * then, the probe counts as failed.
   */
  public boolean claim() {
    return closed || untilProbe() <= 0 && claimProbe();
  }

  private synchronized boolean claimProbe() {
    if (!mayAttempt()) {
      return false;
    }
    if (!closed) {
      probeFailed();
    }
    return true;
  }

  /** Returns the nanoseconds until the next probe of an open breaker; 0 or less if it is due. */
  public long untilProbe() {
    return nextProbe - clock.getAsLong();
  }

  /** Records a failed probe: the next one is due after twice the pause. */
  public synchronized void probeFailed() {
    pause = Math.min(2 * pause, MAX_PAUSE);
    nextProbe = clock.getAsLong() + pause;
  }

  /** Records a successful probe: a new term begins. */
  public synchronized void close() {
    term++;
    failures = 0;
    closedAt = clock.getAsLong();
    closed = true;
  }
}
