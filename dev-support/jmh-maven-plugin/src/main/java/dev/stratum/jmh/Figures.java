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

import java.util.Locale;

/** Numbers as a reader wants them: three digits that mean something, the same in every locale. */
final class Figures {
  private Figures() {
  }

  /**
   * Formats with three significant digits, no exponent: <code>0.0123</code>, <code>7.12</code>.
   */
  static String of(double value) {
    if (Double.isNaN(value)) {
      return "-";
    }
    double magnitude = Math.abs(value);
    int decimals = magnitude >= 100 || magnitude == 0
      ? 0
      : Math.min(6, 2 - (int) Math.floor(Math.log10(magnitude)));
    return String.format(Locale.ROOT, "%,." + Math.max(0, decimals) + "f", value);
  }

  /** Formats a ratio with two decimals; what is beyond a thousand is so only by noise. */
  static String ratio(double ratio) {
    if (Double.isNaN(ratio)) {
      return "-";
    }
    return ratio >= 1000 ? ">999" : String.format(Locale.ROOT, "%.2f", ratio);
  }

  /** A duration in minutes and seconds. */
  static String time(long millis) {
    long seconds = Math.round(millis / 1000.0);
    return String.format(Locale.ROOT, "%d:%02d", seconds / 60, seconds % 60);
  }
}
