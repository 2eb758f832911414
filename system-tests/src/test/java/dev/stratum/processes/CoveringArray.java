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

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Few configurations in which each pair of settings of two features occurs: most defects of a
 * combination need no more than two. Greedy, as Cohen et al. (AETG, 1997): each configuration is
 * the one of some candidates that covers most pairs that none before it covers.
 */
final class CoveringArray {
  private static final int CANDIDATES = 50;
  /** Seeds of which the one with the fewest configurations is taken; all runs use these seeds. */
  private static final int TRIALS = 20;

  private final int[] settings;
  /** By the feature and setting of the one and of the other. */
  private final boolean[][][][] covered;
  private final SplittableRandom random;
  private int left;

  private CoveringArray(int[] settings, long seed) {
    this.settings = settings;
    random = new SplittableRandom(seed);
    covered = new boolean[settings.length][][][];
    for (int a = 0; a < settings.length; a++) {
      covered[a] = new boolean[settings[a]][settings.length][];
      for (int setting = 0; setting < settings[a]; setting++) {
        for (int b = a + 1; b < settings.length; b++) {
          covered[a][setting][b] = new boolean[settings[b]];
          left += settings[b];
        }
      }
    }
  }

  /**
   * @param settings how many each feature has, two or more
   * @return which setting each feature has, for each configuration
   */
  static List<int[]> of(int... settings) {
    List<int[]> best = new CoveringArray(settings, 0).rows();
    for (int seed = 1; seed < TRIALS; seed++) {
      List<int[]> rows = new CoveringArray(settings, seed).rows();
      if (rows.size() < best.size()) {
        best = rows;
      }
    }
    return best;
  }

  private List<int[]> rows() {
    List<int[]> rows = new ArrayList<>();
    while (left > 0) {
      int[] best = candidate();
      for (int i = 1; i < CANDIDATES; i++) {
        int[] candidate = candidate();
        if (gain(candidate) > gain(best)) {
          best = candidate;
        }
      }
      cover(best);
      rows.add(best);
    }
    return rows;
  }

  /** Begins with a pair that is not covered, so that each configuration covers one. */
  private int[] candidate() {
    int[] row = new int[settings.length];
    Arrays.fill(row, -1);
    int skip = random.nextInt(left);
    for (int a = 0; a < settings.length && skip >= 0; a++) {
      for (int setting = 0; setting < settings[a] && skip >= 0; setting++) {
        for (int b = a + 1; b < settings.length && skip >= 0; b++) {
          for (int other = 0; other < settings[b] && skip >= 0; other++) {
            if (!covered[a][setting][b][other] && skip-- == 0) {
              row[a] = setting;
              row[b] = other;
            }
          }
        }
      }
    }
    int first = random.nextInt(settings.length);
    for (int i = 0; i < settings.length; i++) {
      int feature = (first + i) % settings.length;
      if (row[feature] < 0) {
        row[feature] = best(row, feature);
      }
    }
    return row;
  }

  private int best(int[] row, int feature) {
    int start = random.nextInt(settings[feature]);
    int best = -1;
    int most = -1;
    for (int i = 0; i < settings[feature]; i++) {
      row[feature] = (start + i) % settings[feature];
      int gain = gainOf(row, feature);
      if (gain > most) {
        most = gain;
        best = row[feature];
      }
    }
    row[feature] = -1;
    return best;
  }

  /** How many pairs with one feature would be new. */
  private int gainOf(int[] row, int feature) {
    int gain = 0;
    for (int other = 0; other < row.length; other++) {
      int a = Math.min(feature, other);
      int b = Math.max(feature, other);
      if (a != b && row[other] >= 0 && !covered[a][row[a]][b][row[b]]) {
        gain++;
      }
    }
    return gain;
  }

  private int gain(int[] row) {
    int gain = 0;
    for (int feature = 0; feature < row.length; feature++) {
      gain += gainOf(row, feature);
    }
    return gain;
  }

  private void cover(int[] row) {
    for (int a = 0; a < row.length; a++) {
      for (int b = a + 1; b < row.length; b++) {
        if (!covered[a][row[a]][b][row[b]]) {
          covered[a][row[a]][b][row[b]] = true;
          left--;
        }
      }
    }
  }
}
