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

import java.util.Arrays;
import org.apache.commons.math3.distribution.TDistribution;

/**
 * One figure of one side: its mean in each JVM. The JVM is the unit of replication, as two
 * iterations in one JVM are more alike than two JVMs are (Kalibera and Jones, Rigorous Benchmarking
 * in Reasonable Time, ISMM 2013).
 * @param perJvm the figure in each JVM, in the order in which they ran
 */
record Sample(double[] perJvm) {
  /**
   * The confidence of every interval. Of a dozen ratios at 95 %, every other table would have one
   * that claims a difference by chance alone.
   */
  private static final double CONFIDENCE = 0.99;

  double mean() {
    return mean(perJvm);
  }

  /** Returns half the width of the mean's 99 % interval; not a number with fewer than two JVMs. */
  double error() {
    return error(perJvm);
  }

  /** Returns whether each JVM of either has one of the same round in the other. */
  boolean pairsWith(Sample other) {
    return perJvm.length == other.perJvm.length;
  }

  private static double mean(double[] values) {
    double sum = 0;
    for (double value : values) {
      sum += value;
    }
    return sum / values.length;
  }

  private static double error(double[] values) {
    int n = values.length;
    return n < 2 ? Double.NaN : quantile(n - 1) * Math.sqrt(squares(values) / (n - 1) / n);
  }

  /** Returns the {@link #error(double[])} of the difference of two means of two values each. */
  private static double errorOfTwoByTwo(double[] left, double[] right) {
    return quantile(2) * Math.sqrt((squares(left) + squares(right)) / 2);
  }

  /** Returns the sum of the squared distances from the mean. */
  private static double squares(double[] values) {
    double mean = mean(values);
    double squares = 0;
    for (double value : values) {
      squares += (value - mean) * (value - mean);
    }
    return squares;
  }

  private static double quantile(int degreesOfFreedom) {
    return new TDistribution(degreesOfFreedom)
      .inverseCumulativeProbability((1 + CONFIDENCE) / 2);
  }

  private static double[] logs(double[] values) {
    return Arrays.stream(values).map(Math::log).toArray();
  }

  /**
   * Returns how many times better the fork is: the geometric mean over the rounds of what the two
   * JVMs of one round, run one right after the other, had between them. Pairs cancel whatever slows
   * the machine for longer than a round. Two pairs have one degree of freedom, whose interval would
   * be six times as wide as that of their four JVMs taken as two samples of equal variance: with
   * two rounds it is the latter.
   * @param lowerIsBetter if the figure is a time or a size
   * @throws IllegalArgumentException if the two sides have not the same number of JVMs
   */
  static Ratio ratio(Sample stock, Sample fork, boolean lowerIsBetter) {
    if (!stock.pairsWith(fork)) {
      throw new IllegalArgumentException("stock was measured in " + stock.perJvm.length
        + " JVMs and the fork in " + fork.perJvm.length);
    }
    double[] rounds = new double[fork.perJvm.length];
    double[] logs = new double[rounds.length];
    for (int i = 0; i < rounds.length; i++) {
      rounds[i] =
        lowerIsBetter ? stock.perJvm[i] / fork.perJvm[i] : fork.perJvm[i] / stock.perJvm[i];
      logs[i] = Math.log(rounds[i]);
    }
    double mean = mean(logs);
    double error = rounds.length == 2
      ? errorOfTwoByTwo(logs(stock.perJvm), logs(fork.perJvm))
      : error(logs);
    return new Ratio(Math.exp(mean), Math.exp(mean - error), Math.exp(mean + error), rounds);
  }

  /**
   * How many times better the fork is.
   * @param value  above 1 if the fork is better
   * @param low    the lower end of its 99 % interval, or not a number
   * @param high   the upper end of its 99 % interval, or not a number
   * @param rounds the ratio of each round
   */
  record Ratio(double value, double low, double high, double[] rounds) {
    /** Returns the verdict that the interval allows. */
    Verdict verdict() {
      if (low > 1) {
        return Verdict.BETTER;
      }
      return high < 1 ? Verdict.WORSE : Verdict.NOT_SHOWN;
    }
  }

  /** What an interval allows to say. */
  enum Verdict {
    BETTER("better"),
    WORSE("worse"),
    NOT_SHOWN("no difference shown");

    final String text;

    Verdict(String text) {
      this.text = text;
    }
  }
}
