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
 * Whether there is time for one more round of a trial, both sides of it: a run that is cut between
 * the sides of a round has wasted the first one's time. Not thread-safe.
 */
final class TimeLimit {
  private final long millis;
  private final Map<Trial, Long> longest = new HashMap<>();

  /** @param millis that the whole run may take */
  TimeLimit(long millis) {
    this.millis = millis;
  }

  /** A round of a trial is done, in so many ms. */
  void took(Trial trial, long roundMillis) {
    longest.merge(trial, roundMillis, Math::max);
  }

  /**
   * @param elapsed ms since the run began
   * @return whether a round of the trial, as long as its longest yet, ends in time; the first may
   *         begin always, as long as there is any time left
   */
  boolean leaves(Trial trial, long elapsed) {
    return elapsed < millis && longest.getOrDefault(trial, 0L) <= millis - elapsed;
  }
}
