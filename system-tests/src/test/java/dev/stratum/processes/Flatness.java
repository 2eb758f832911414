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

import java.util.Arrays;

/**
 * Whether something that must not grow grows: the median of the last quarter of its samples is
 * compared with that of the second quarter, so that neither the warm-up nor what a single sample
 * meets counts.
 */
final class Flatness {
  private static final double MAX_GROWTH = 1.1;
  private static final int MIN_SAMPLES = 8;

  private Flatness() {
  }

  /**
   * Returns whether the last quarter is at most a tenth, and a constant, above the second one.
   * @param slack the constant, in the unit of the samples
   */
  static boolean isFlat(double[] samples, double slack) {
    return lastQuarter(samples) <= MAX_GROWTH * secondQuarter(samples) + slack;
  }

  static double secondQuarter(double[] samples) {
    return median(samples, samples.length / 4, samples.length / 2);
  }

  static double lastQuarter(double[] samples) {
    return median(samples, samples.length - samples.length / 4, samples.length);
  }

  private static double median(double[] samples, int from, int to) {
    if (samples.length < MIN_SAMPLES) {
      throw new IllegalArgumentException(samples.length + " samples are too few");
    }
    double[] sorted = Arrays.copyOfRange(samples, from, to);
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }
}
