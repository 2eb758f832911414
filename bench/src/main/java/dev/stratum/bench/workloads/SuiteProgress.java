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
package dev.stratum.bench.workloads;

import java.io.PrintStream;
import java.util.Locale;

/** The lines that a run prints, each with the estimated time that is left. Not thread-safe. */
final class SuiteProgress {
  private final PrintStream out;
  private final EtaEstimator eta = new EtaEstimator();

  SuiteProgress(PrintStream out) {
    this.out = out;
  }

  EtaEstimator eta() {
    return eta;
  }

  void say(String format, Object... values) {
    out.printf(Locale.ROOT, "[%5s to go]  %s%n", eta, String.format(Locale.ROOT, format, values));
  }

  /** @param amount in the unit of that work */
  void done(SuitePlan.Work work, double amount, long startNanos) {
    eta.done(work.name(), amount, (System.nanoTime() - startNanos) / 1e9);
  }
}
