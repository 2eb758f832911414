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
package dev.stratum.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.DoubleFunction;
import java.util.function.DoubleUnaryOperator;
import java.util.stream.IntStream;

/**
 * An axis of a {@link Chart}.
 * @param label     quantity and unit; drawn below the x-axis only
 * @param transform from values to an even scale
 * @param ticks     values with a label
 * @param text      format of a tick's label
 * @param low       first value
 * @param high      last value
 */
public record Axis(String label, DoubleUnaryOperator transform, List<Double> ticks,
  DoubleFunction<String> text, double low, double high) {
  private static final List<Double> RATIOS =
    List.of(0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0);
  private static final List<Double> RATIOS_NEAR_ONE = List.of(0.8, 0.9, 1.0, 1.1, 1.25);
  private static final List<Double> NINES = List.of(0.0, 50.0, 90.0, 99.0, 99.9, 99.99, 99.999);

  /** Returns a linear axis from 0 to a round number of at least <code>max</code>. */
  public static Axis linear(String label, double max) {
    double end = max <= 0 ? 1 : max;
    double step = Math.pow(10, Math.floor(Math.log10(end)));
    for (double factor : new double[] { 0.2, 0.25, 0.5, 1, 2 }) {
      if (end / (step * factor) <= 5) {
        step *= factor;
        break;
      }
    }
    List<Double> ticks = new ArrayList<>();
    double high = Math.ceil(end / step) * step;
    for (int i = 0; i * step <= high * 1.0001; i++) {
      ticks.add(i * step);
    }
    return new Axis(label, value -> value, ticks, Axis::number, 0, high);
  }

  /** Powers of ten around both values, which are above 0. */
  public static Axis logarithmic(String label, double min, double max) {
    double low = Math.floor(Math.log10(min));
    double high = Math.max(low + 1, Math.ceil(Math.log10(max)));
    List<Double> ticks = new ArrayList<>();
    for (double power = low; power <= high; power++) {
      ticks.add(Math.pow(10, power));
    }
    return logarithmic(label, ticks);
  }

  /** Returns a logarithmic axis from the first to the last of the ticks, which are above 0. */
  public static Axis logarithmic(String label, List<Double> ticks) {
    return new Axis(label, Math::log10, ticks, Axis::number, ticks.get(0),
      ticks.get(ticks.size() - 1));
  }

  /** Ratios around 1, logarithmic, as wide as the smallest and the largest of them need. */
  public static Axis ratios(double min, double max) {
    boolean nearOne =
      min >= RATIOS_NEAR_ONE.get(0) && max <= RATIOS_NEAR_ONE.get(RATIOS_NEAR_ONE.size() - 1);
    return logarithmic("ratio (logarithmic)", nearOne
      ? RATIOS_NEAR_ONE
      : RATIOS.stream()
        .filter(tick -> tick >= Math.min(0.5, min / 2.5) && tick <= Math.max(2, max * 2.5))
        .toList());
  }

  /** Percentiles by their nines: 90 is as far from 99 as 99 is from 99.9. */
  public static Axis nines(String label, double max) {
    List<Double> ticks = new ArrayList<>();
    for (double tick : NINES) {
      if (ticks.size() < 5 || ticks.get(ticks.size() - 1) < max) {
        ticks.add(tick);
      }
    }
    return new Axis(label, value -> -Math.log10(1 - value / 100), ticks, Axis::number, 0,
      ticks.get(ticks.size() - 1));
  }

  /** Names at equal distances; a point's x is the index of its name, from 0 on. */
  public static Axis names(String label, List<String> names) {
    return names(label, names, -0.5, names.size() - 0.5);
  }

  static Axis names(String label, List<String> names, double low, double high) {
    return new Axis(label, value -> value,
      IntStream.range(0, names.size()).asDoubleStream().boxed().toList(),
      value -> names.get((int) value), low, high);
  }

  private static String number(double value) {
    if (value >= 1e6) {
      return plain(value / 1e6, 3) + "M";
    }
    return value >= 1e3 ? plain(value / 1e3, 3) + "k" : plain(value, 3);
  }

  /** Returns a number without the zeros at its end. */
  static String plain(double value, int maxDigits) {
    return String.format(Locale.ROOT, "%." + maxDigits + "f", value).replaceFirst("\\.?0+$", "");
  }

  /** Returns where a value is between the ends: 0 to 1, also for values beyond an end. */
  double at(double value) {
    double from = transform.applyAsDouble(low);
    double share = (transform.applyAsDouble(value) - from)
      / (transform.applyAsDouble(high) - from);
    return Math.max(0, Math.min(1, share));
  }
}
