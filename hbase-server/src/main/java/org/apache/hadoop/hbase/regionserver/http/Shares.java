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
package org.apache.hadoop.hbase.regionserver.http;

import java.util.Locale;
import org.apache.yetus.audience.InterfaceAudience;

/** Counts as shares of their sum, with one decimal, that add up to 100. */
@InterfaceAudience.Private
final class Shares {
  private static final int TENTHS = 1000;

  private Shares() {
  }

  /**
   * Returns the shares in percent. A count above 0 has at least 0.1, so that 100 is shown only if
   * all other counts are 0.
   * @param counts 0 or more, fewer than 1000 of them
   */
  static String[] of(long... counts) {
    double sum = 0;
    for (long count : counts) {
      sum += count;
    }
    String[] shares = new String[counts.length];
    int[] tenths = sum == 0 ? null : tenths(counts, sum);
    for (int i = 0; i < counts.length; i++) {
      shares[i] =
        sum == 0 ? "\u2013" : String.format(Locale.ROOT, "%.1f %%", tenths[i] / 10.0);
    }
    return shares;
  }

  private static int[] tenths(long[] counts, double sum) {
    int[] tenths = new int[counts.length];
    int left = TENTHS;
    for (int i = 0; i < counts.length; i++) {
      tenths[i] = (int) (TENTHS * (counts[i] / sum));
      if (tenths[i] == 0 && counts[i] > 0) {
        tenths[i] = 1;
      }
      left -= tenths[i];
    }
    while (left != 0) {
      int step = left > 0 ? 1 : -1;
      int best = -1;
      double bestError = 0;
      for (int i = 0; i < counts.length; i++) {
        // How far the share is below its exact value, or above it.
        double error = step * (TENTHS * (counts[i] / sum) - tenths[i]);
        boolean may = counts[i] > 0 && tenths[i] + step > 0;
        if (may && (best < 0 || error > bestError)) {
          best = i;
          bestError = error;
        }
      }
      tenths[best] += step;
      left -= step;
    }
    return tenths;
  }
}
