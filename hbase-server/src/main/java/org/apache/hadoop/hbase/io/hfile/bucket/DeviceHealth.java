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
import org.apache.hadoop.hbase.io.hfile.CircuitBreaker;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Whether the device of a bucket cache tier is accessed at all. Reads, writes and syncs have a
 * {@link CircuitBreaker} each: a device that takes what is written, and fails to keep or to return
 * it, must not pass for one that works. After {@value #FAILURES_IN_A_ROW} failures in a row of one
 * kind the device is bypassed, so that one whose every access takes seconds to fail holds up only
 * the threads that are in an access already. From then on one thread probes it, and either finds
 * that it works or, when the outage has lasted longer than is tolerated, disables it.
 * <p>
 * A probe is not the real thing, as it may be read from the page cache. So only real accesses end
 * an outage; if they fail again after a successful probe, the outage continues, from its start.
 * <p>
 * Thread-safe. A success costs two volatile reads.
 */
@InterfaceAudience.Private
final class DeviceHealth {

  enum State {
    /** The device is in use. */
    WORKING,
    /** The device is not accessed for the moment; its blocks may be used again. */
    BYPASSED,
    /** The device is not accessed until a probe succeeds; its blocks are dropped. */
    DISABLED
  }

  static final int FAILURES_IN_A_ROW = 3;

  /** One kind of access. */
  private final class Accesses {
    private final CircuitBreaker breaker = new CircuitBreaker(FAILURES_IN_A_ROW, clock);
    /** Whether the last one failed; a return does not change it. */
    private volatile boolean failing;
    private long firstFailure;
    private long lastFailure;
  }

  private final long toleratedNanos;
  private final LongSupplier clock;
  private final Accesses reads;
  private final Accesses writes;
  private final Accesses syncs;
  private volatile State state = State.WORKING;
  /** The kind that has failed while the device is bypassed or disabled. */
  private Accesses failed;
  private long outageStart;
  private long failureCount;

  /**
   * @param toleratedMs how long an outage may last before the device is disabled, in milliseconds
   * @param nanoClock   as {@link System#nanoTime()}
   */
  DeviceHealth(long toleratedMs, LongSupplier nanoClock) {
    this.toleratedNanos = TimeUnit.MILLISECONDS.toNanos(toleratedMs);
    this.clock = nanoClock;
    this.reads = new Accesses();
    this.writes = new Accesses();
    this.syncs = new Accesses();
  }

  State state() {
    return state;
  }

  boolean isWorking() {
    return state == State.WORKING;
  }

  /** Returns the number of the present term, as {@link CircuitBreaker#term}. */
  int term() {
    return reads.breaker.term();
  }

  void readSucceeded() {
    succeeded(reads);
  }

  void writeSucceeded() {
    succeeded(writes);
  }

  void syncSucceeded() {
    succeeded(syncs);
  }

  /**
   * Notes a read that failed.
   * @param termAtStart the {@link #term} when it began
   * @return whether this is what makes the device be bypassed; the caller starts the probes
   */
  boolean readFailed(int termAtStart) {
    return failed(reads, termAtStart);
  }

  /** Notes a write that failed, as {@link #readFailed} does for a read. */
  boolean writeFailed(int termAtStart) {
    return failed(writes, termAtStart);
  }

  /** Notes a sync that failed, as {@link #readFailed} does for a read. */
  boolean syncFailed(int termAtStart) {
    return failed(syncs, termAtStart);
  }

  private void succeeded(Accesses accesses) {
    accesses.breaker.succeeded();
    if (accesses.failing) {
      synchronized (this) {
        accesses.failing = false;
      }
    }
  }

  private synchronized boolean failed(Accesses accesses, int termAtStart) {
    if (state != State.WORKING || termAtStart != term()) {
      return false;
    }
    long now = clock.getAsLong();
    if (!accesses.failing || now - accesses.lastFailure > toleratedNanos) {
      // The last outage is over, or too long ago to be the same one.
      accesses.firstFailure = now;
    }
    accesses.failing = true;
    accesses.lastFailure = now;
    // Each counts, wherever it was: a bucket that fails is soon the place of another block.
    if (!accesses.breaker.failed(termAtStart, failureCount++)) {
      return false;
    }
    failed = accesses;
    outageStart = accesses.firstFailure;
    state = State.BYPASSED;
    return true;
  }

  /**
   * Returns how long to wait before the next probe of a bypassed device, in milliseconds, and not
   * beyond the moment when it is to be disabled.
   */
  synchronized long nextPauseMs() {
    long pause = TimeUnit.NANOSECONDS.toMillis(failed.breaker.untilProbe());
    long left =
      TimeUnit.NANOSECONDS.toMillis(toleratedNanos - (clock.getAsLong() - outageStart)) + 1;
    return Math.max(1, Math.min(pause, left));
  }

  /** A probe has failed: the pause before the next one is doubled. */
  synchronized void probeFailed() {
    failed.breaker.probeFailed();
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

  /** A probe has succeeded: a new term begins. */
  synchronized void works() {
    for (Accesses accesses : new Accesses[] { reads, writes, syncs }) {
      if (state == State.DISABLED) {
        // Nothing of what was on it is left, nor is what it did.
        accesses.failing = false;
      }
      accesses.breaker.close();
    }
    state = State.WORKING;
  }

  /** Returns for how long the present outage has lasted, in milliseconds. */
  synchronized long outageMs() {
    return TimeUnit.NANOSECONDS.toMillis(clock.getAsLong() - outageStart);
  }
}
