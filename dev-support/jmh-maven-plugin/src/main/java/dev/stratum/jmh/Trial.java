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

import java.util.Map;
import java.util.stream.Collectors;

/**
 * What is measured as one: a benchmark in one mode with one value for each of its parameters.
 * @param benchmark fully qualified
 * @param mode      the name of JMH's mode
 * @param params    each parameter's value, in the order of the benchmark's declaration
 * @param forkOnly  if it can only run on the fork
 * @param forks     how many JVMs it asks to be measured in
 * @param millis    warm-up and measurement of one JVM together, in ms
 * @param headline  what it is in the headline set, or null if it is not measured as part of it
 */
record Trial(String benchmark, String mode, Map<String, String> params, boolean forkOnly, int forks,
    long millis, BenchmarkEntry.Headline headline) {

  /** What two result files call the same trial. */
  record Key(String benchmark, String mode, Map<String, String> params) {
    String shortName() {
      return Trial.shortName(benchmark);
    }

    /** Returns the parameters as one reads them: <code>engine=file size=8192</code>. */
    String paramText() {
      return Trial.paramText(params);
    }
  }

  /** Returns whether a lower score is better. */
  boolean lowerIsBetter() {
    return !mode.equals("Throughput");
  }

  Key key() {
    return new Key(benchmark, mode, params);
  }

  @Override
  public String toString() {
    return params.isEmpty() ? shortName(benchmark) : shortName(benchmark) + " " + paramText(params);
  }

  static String shortName(String benchmark) {
    int method = benchmark.lastIndexOf('.');
    int type = method < 0 ? -1 : benchmark.lastIndexOf('.', method - 1);
    return benchmark.substring(type + 1);
  }

  private static String paramText(Map<String, String> params) {
    return params.entrySet().stream().map(e -> e.getKey() + "=" + e.getValue())
      .collect(Collectors.joining(" "));
  }
}
