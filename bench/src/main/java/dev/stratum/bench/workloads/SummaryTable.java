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

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;

/**
 * A line for each case: medians, ratios with the spread of the rounds, verdict and aims. The CPU
 * ratio is that of the RegionServer's CPU time per row, fork to stock.
 */
final class SummaryTable {
  static final List<String> HEAD = List.of("case", "stock ops/s", "fork ops/s", "ratio", "rounds",
    "CPU ratio", "stock p99 us", "fork p99 us", "p99 ratio", "at a fixed rate", "verdict", "aims");

  private final List<CaseComparison> cases;

  /** @param results what the suite writes */
  SummaryTable(JsonObject results) {
    cases = StreamSupport.stream(results.getAsJsonArray("cases").spliterator(), false)
      .map(element -> new CaseComparison(element.getAsJsonObject())).toList();
  }

  List<CaseComparison> cases() {
    return cases;
  }

  static List<String> cells(CaseComparison one) {
    CaseComparison.Pair throughput = one.throughput();
    List<String> cells = new ArrayList<>();
    cells.add(one.name());
    if (one.verdict() == CaseComparison.Verdict.FAILED) {
      cells.addAll(List.of("", "", "", "", "", "", "", "", "", "failed",
        one.failure() == null ? "" : one.failure()));
      return cells;
    }
    CaseComparison.Pair p99 = one.latency(false, "p99");
    cells.add(number(throughput.stock().median()));
    cells.add(number(throughput.fork().median()));
    cells.add(ratio(throughput.ratio().median()));
    cells.add(ratio(throughput.ratio().low()) + " to " + ratio(throughput.ratio().high()));
    cells.add(ratio(one.cpuPerRow().ratio().median()));
    cells.add(number(p99.stock().median()));
    cells.add(number(p99.fork().median()));
    cells.add(ratio(p99.ratio().median()));
    CaseComparison.Pair atFixedRate = one.latency(true, "p99");
    cells.add(atFixedRate == null ? "" : ratio(atFixedRate.ratio().median()));
    cells.add(one.verdict() + (one.failedBefore() == null ? "" : ", second attempt"));
    cells.add(one.aims().stream().map(aim -> aim.text() + (aim.met() ? ": met" : ": missed"))
      .collect(Collectors.joining("; ")));
    return cells;
  }

  static String number(double value) {
    return String.format(Locale.ROOT, value < 100 ? "%,.1f" : "%,.0f", value);
  }

  static String ratio(double value) {
    return String.format(Locale.ROOT, "%.2f", value);
  }

  /** Returns the table for a terminal. */
  String text() {
    List<List<String>> lines = new ArrayList<>();
    lines.add(HEAD);
    cases.forEach(one -> lines.add(cells(one)));
    StringBuilder text = new StringBuilder();
    for (List<String> line : lines) {
      for (int i = 0; i < line.size(); i++) {
        int column = i;
        // The last one is text of any length.
        int width = i == line.size() - 1
          ? 0
          : lines.stream().mapToInt(other -> other.get(column).length()).max().orElse(0);
        String cell = line.get(i);
        String space = " ".repeat(Math.max(0, width - cell.length()));
        boolean isText = i == 0 || i >= line.size() - 2;
        text.append(isText ? cell + space : space + cell).append("  ");
      }
      text.setLength(text.length() - 2);
      text.append('\n');
    }
    return text.toString();
  }

  /** Returns the table for a page of the documentation. */
  String markdown() {
    StringBuilder text = new StringBuilder();
    row(text, HEAD);
    row(text, List.of("---", "---:", "---:", "---:", "---:", "---:", "---:", "---:", "---:", "---:",
      "---", "---"));
    cases.forEach(one -> row(text, cells(one)));
    return text.toString();
  }

  private static void row(StringBuilder text, List<String> cells) {
    text.append("| ").append(String.join(" | ", cells)).append(" |\n");
  }
}
