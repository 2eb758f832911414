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

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The results of both sides side by side, one row per figure, in the order of the fork's file. */
final class Comparison {
  private final List<Row> rows = new ArrayList<>();

  /**
   * One line of the table.
   * @param stock           null if the benchmark did not run there
   * @param ratio           null if there is nothing to compare, if a side failed in a later round,
   *                        or if the unit does not say what is better
   * @param stockAllocation bytes per operation; only in the row of the score, else null
   * @param forkAllocation  bytes per operation; only in the row of the score, else null
   */
  record Row(Trial.Key trial, String figure, String unit, Sample stock, Sample fork,
      Sample.Ratio ratio, Sample stockAllocation, Sample forkAllocation) {

    /** Returns the benchmark's name, with the figure if it is not the score. */
    String name() {
      return figure.isEmpty() ? trial.shortName() : trial.shortName() + ":" + figure;
    }
  }

  /** @param stock empty if there was nothing to compare with */
  Comparison(Map<Trial.Key, ResultFile.Measured> stock, Map<Trial.Key, ResultFile.Measured> fork) {
    fork.forEach((trial, measured) -> {
      ResultFile.Measured other = stock.get(trial);
      for (ResultFile.Figure figure : measured.figures()) {
        Sample otherSample = other == null ? null : find(other, figure.name());
        boolean score = figure.name().isEmpty();
        rows.add(new Row(trial, figure.name(), figure.unit(), otherSample, figure.sample(),
          otherSample == null || figure.lowerIsBetter() == null
            || !otherSample.pairsWith(figure.sample())
            ? null
            : Sample.ratio(otherSample, figure.sample(), figure.lowerIsBetter()),
          score && other != null ? other.allocation() : null,
          score ? measured.allocation() : null));
      }
    });
  }

  private static Sample find(ResultFile.Measured measured, String figure) {
    return measured.figures().stream().filter(f -> f.name().equals(figure))
      .map(ResultFile.Figure::sample).findFirst().orElse(null);
  }

  List<Row> rows() {
    return rows;
  }

  /** Returns whether any row has both sides. */
  boolean hasStock() {
    return rows.stream().anyMatch(row -> row.stock() != null);
  }

  /** Returns how many scores an interval shows better, worse, or not different; in words. */
  String verdict() {
    long better = count(Sample.Verdict.BETTER);
    long worse = count(Sample.Verdict.WORSE);
    long notShown = count(Sample.Verdict.NOT_SHOWN);
    return better + " better, " + worse + " worse, " + notShown + " with no difference shown";
  }

  private long count(Sample.Verdict verdict) {
    return rows.stream().filter(row -> row.figure().isEmpty() && row.ratio() != null)
      .filter(row -> row.ratio().verdict() == verdict).count();
  }
}
