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
package org.apache.hadoop.hbase.io.hfile.bucket;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Whether a device is to be asked at all, as a circuit breaker has it: after
 * {@value #FAILURES_IN_A_ROW} failures in a row the device is bypassed, so that one whose every
 * access takes seconds to fail holds up only those who are at it already. From then on one thread
 * tries it, after pauses that double, and either finds that it works or, when the outage has lasted
 * longer than is tolerated, disables it.
 * <p>
 * Reads, writes and syncs are counted apart: a device that takes what is written, and fails to keep
 * or to return it, must not pass for one that works. A trial is not the real thing either. So only
 * real accesses end an outage; if they fail again after a successful trial, it goes on from where
 * it began.
 * <p>
 * Thread-safe. A success costs one or two volatile reads.
 */
@InterfaceAudience.Private
final class DeviceHealth {

  enum State {
    /** In use. */
    WORKING,
    /** Not to be asked for the moment; what is on it may be used again. */
    BYPASSED,
    /** Not to be asked until it has proved to work; what is on it is given up. */
    DISABLED
  }

  static final int FAILURES_IN_A_ROW = 3;
  static final long FIRST_PAUSE_MS = 100;
  static final long LONGEST_PAUSE_MS = 10_000;

  /** Failures of one kind of access since the last success of that kind. */
  private static final class Failures {
    private volatile boolean any;
    private int inThisTerm;
    private long first;
    private long last;
  }

  private final long toleratedNanos;
  private final LongSupplier clock;
  private final Failures reads = new Failures();
  private final Failures writes = new Failures();
  private final Failures syncs = new Failures();
  private volatile State state = State.WORKING;
  private volatile int term;
  private long outageStart;
  private long pauseMs = FIRST_PAUSE_MS;

  /**
   * @param toleratedMs how long an outage may last before the device is disabled, in milliseconds
   * @param nanoClock   as {@link System#nanoTime()}
   */
  DeviceHealth(long toleratedMs, LongSupplier nanoClock) {
    this.toleratedNanos = TimeUnit.MILLISECONDS.toNanos(toleratedMs);
    this.clock = nanoClock;
  }

  State state() {
    return state;
  }

  boolean isWorking() {
    return state == State.WORKING;
  }

  /**
   * Returns the number of the present term, to be taken before an access. A term ends when the
   * device is found to work again: what began before it and fails after it tells nothing new.
   */
  int term() {
    return term;
  }

  void readSucceeded() {
    succeeded(reads);
  }

  void writeSucceeded() {
    succeeded(writes);
  }

  /**
   * To be told of a read that failed.
   * @param termAtStart the {@link #term} when it began
   * @return whether this is what makes the device be bypassed; the caller starts the trials
   */
  boolean readFailed(int termAtStart) {
    return failed(reads, termAtStart);
  }

  void syncSucceeded() {
    succeeded(syncs);
  }

  /** To be told of a sync that failed, as {@link #readFailed}. */
  boolean syncFailed(int termAtStart) {
    return failed(syncs, termAtStart);
  }

  /** To be told of a write that failed, as {@link #readFailed}. */
  boolean writeFailed(int termAtStart) {
    return failed(writes, termAtStart);
  }

  private void succeeded(Failures failures) {
    if (failures.any) {
      synchronized (this) {
        failures.any = false;
        failures.inThisTerm = 0;
        if (!reads.any && !writes.any && !syncs.any) {
          pauseMs = FIRST_PAUSE_MS;
        }
      }
    }
  }

  private synchronized boolean failed(Failures failures, int termAtStart) {
    if (state != State.WORKING || termAtStart != term) {
      return false;
    }
    long now = clock.getAsLong();
    if (!failures.any || now - failures.last > toleratedNanos) {
      // The last outage is over, or too long ago to be the same one.
      failures.first = now;
    }
    failures.any = true;
    failures.last = now;
    if (++failures.inThisTerm < FAILURES_IN_A_ROW) {
      return false;
    }
    outageStart = failures.first;
    state = State.BYPASSED;
    return true;
  }

  /**
   * Returns how long to wait before the next trial of a bypassed device, in milliseconds: twice as
   * long each time, and not beyond the moment when it is to be disabled.
   */
  synchronized long nextPauseMs() {
    long pause = pauseMs;
    pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
    long left =
      TimeUnit.NANOSECONDS.toMillis(toleratedNanos - (clock.getAsLong() - outageStart)) + 1;
    return Math.max(1, Math.min(pause, left));
  }

  /**
   * Disables a bypassed device if its outage has lasted longer than is tolerated.
   * @return whether the device is disabled now
   */
  synchronized boolean disableIfNotTolerated() {
    if (state == State.BYPASSED && clock.getAsLong() - outageStart > toleratedNanos) {
      state = State.DISABLED;
    }
    return state == State.DISABLED;
  }

  /** A trial has succeeded: a new term begins. */
  synchronized void works() {
    if (state == State.DISABLED) {
      // Nothing of what was on it is left, nor is what it did.
      reads.any = false;
      writes.any = false;
      syncs.any = false;
      pauseMs = FIRST_PAUSE_MS;
    }
    reads.inThisTerm = 0;
    writes.inThisTerm = 0;
    syncs.inThisTerm = 0;
    term++;
    state = State.WORKING;
  }

  /** Returns for how long the present outage has lasted, in milliseconds. */
  synchronized long outageMs() {
    return TimeUnit.NANOSECONDS.toMillis(clock.getAsLong() - outageStart);
  }
}
