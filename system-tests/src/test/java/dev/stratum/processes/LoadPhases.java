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
package dev.stratum.processes;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The phases of the load of all clients, over and over, by the clock of the machine. Bursts: all
 * threads begin an operation at one moment, so that more calls arrive at once than a server has
 * handlers, every second time on rows of one region. A storm: all threads send one kind of
 * operation, on rows of one region, without a pause. Light traffic, for longer than an operation
 * may take: what a burst or a storm has left waiting is not helped by the next one.
 */
final class LoadPhases {
  /** The minimum time between two operations, which leaves CPU time for the servers. */
  private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(150);
  private static final int BURSTS = 8;
  private static final int STORM = 8;
  private static final int LIGHT = 36;
  /** The number of ticks between two operations of a thread in light traffic. */
  private static final int LIGHT_TICKS = 12;
  private static final int CYCLE = BURSTS + STORM + LIGHT;
  /** The time that all phases take together. */
  static final long CYCLE_NANOS = CYCLE * TICK_NANOS;

  private LoadPhases() {
  }

  static long tick() {
    return System.nanoTime() / TICK_NANOS;
  }

  /** Returns how many times all phases have been by then. */
  static long cycle(long tick) {
    return tick / CYCLE;
  }

  static boolean isStorm() {
    long tick = tick() % CYCLE;
    return tick >= BURSTS && tick < BURSTS + STORM;
  }

  /** Waits for the next tick, except in a storm. */
  static void await() {
    if (!isStorm()) {
      LockSupport.parkNanos(TICK_NANOS - System.nanoTime() % TICK_NANOS);
    }
  }

  /**
   * Returns whether a thread sends an operation of its own choice at this tick.
   * @param client the hash of its name: clients differ in when they send in light traffic
   */
  static boolean isDue(long tick, int client) {
    long inCycle = tick % CYCLE;
    return inCycle < BURSTS || Math.floorMod(inCycle + client, LIGHT_TICKS) == 0;
  }
}
