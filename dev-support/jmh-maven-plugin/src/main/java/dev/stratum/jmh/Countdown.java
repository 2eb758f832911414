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
package dev.stratum.jmh;

import java.util.HashMap;
import java.util.Map;

/**
 * How far a run is and how long it will take still: what each trial took so far stands for what it
 * will take, and before that its own times plus what start and set-up cost the others.
 */
final class Countdown {
  /** Start of a JVM and set-up of a benchmark, until one has been seen; in ms. */
  private static final long FIRST_GUESS_OF_OVERHEAD = 2500;

  private static final class Progress {
    private long millis;
    private int left;
    private long spent;
    private int done;
  }

  private final Map<Trial, Progress> progress = new HashMap<>();

  /**
   * @param millis of the warm-up and the measurement of one JVM
   * @param jvms   how many there are to be, of both sides together
   */
  void add(Trial trial, long millis, int jvms) {
    Progress one = new Progress();
    one.millis = millis;
    one.left = jvms;
    progress.put(trial, one);
  }

  /** A trial has another round with this many JVMs, beyond those that it was added with. */
  void atLeast(Trial trial, int jvms) {
    Progress one = progress.get(trial);
    one.left = Math.max(one.left, jvms);
  }

  /** One JVM is done, in so many ms. */
  void done(Trial trial, long millis) {
    Progress one = progress.get(trial);
    one.left--;
    one.done++;
    one.spent += millis;
  }

  /** A trial is abandoned. */
  void drop(Trial trial) {
    progress.get(trial).left = 0;
  }

  /** Returns what is left, in ms. */
  long left() {
    long overheads = 0;
    int seen = 0;
    for (Progress one : progress.values()) {
      overheads += one.spent - one.done * one.millis;
      seen += one.done;
    }
    long overhead = seen == 0 ? FIRST_GUESS_OF_OVERHEAD : overheads / seen;
    long left = 0;
    for (Progress one : progress.values()) {
      left += one.left * (one.done > 0 ? one.spent / one.done : one.millis + overhead);
    }
    return left;
  }

  /** Returns a line of progress, such as <code>12/90, 7:41 left</code>. */
  @Override
  public String toString() {
    int done = progress.values().stream().mapToInt(one -> one.done).sum();
    int left = progress.values().stream().mapToInt(one -> one.left).sum();
    return done + "/" + (done + left) + ", " + Figures.time(left()) + " left";
  }
}
