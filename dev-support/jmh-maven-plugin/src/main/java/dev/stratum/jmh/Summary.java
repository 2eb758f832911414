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

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.StringJoiner;
import org.apache.hbase.thirdparty.com.google.gson.Gson;
import org.apache.hbase.thirdparty.com.google.gson.GsonBuilder;
import org.apache.hbase.thirdparty.com.google.gson.JsonArray;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;

/**
 * The comparison as a small file to be committed beside the figures that the documentation takes
 * from it: each figure of each JVM, from which everything in the table can be computed again.
 */
final class Summary {
  private static final Gson GSON = new GsonBuilder().disableHtmlEscaping().create();
  private static final MathContext FOUR_DIGITS = new MathContext(4);

  private Summary() {
  }

  static String json(Comparison comparison, String forkVersion, String baseVersion, String command,
    String date) {
    JsonObject summary = new JsonObject();
    summary.addProperty("command", command);
    summary.addProperty("date", date);
    summary.addProperty("fork", forkVersion);
    summary.addProperty("stock", baseVersion);
    summary.addProperty("machine", Machine.describe());
    JsonArray results = new JsonArray();
    for (Comparison.Row row : comparison.rows()) {
      JsonObject result = new JsonObject();
      result.addProperty("benchmark", row.trial().benchmark());
      if (!row.figure().isEmpty()) {
        result.addProperty("figure", row.figure());
      }
      JsonObject params = new JsonObject();
      row.trial().params().forEach(params::addProperty);
      result.add("params", params);
      result.addProperty("unit", row.unit());
      if (row.ratio() != null) {
        result.addProperty("ratio", rounded(row.ratio().value()));
        if (!Double.isNaN(row.ratio().low())) {
          result.addProperty("ratioLow", rounded(row.ratio().low()));
          result.addProperty("ratioHigh", rounded(row.ratio().high()));
        }
      }
      add(result, "stock", row.stock());
      add(result, "fork", row.fork());
      add(result, "stockBytesPerOp", row.stockAllocation());
      add(result, "forkBytesPerOp", row.forkAllocation());
      results.add(result);
    }
    // A result takes a line, so that a difference between two files is a difference of lines.
    StringJoiner lines = new StringJoiner(",\n    ", "[\n    ", "\n  ]");
    results.forEach(result -> lines.add(GSON.toJson(result)));
    StringBuilder text = new StringBuilder("{\n");
    summary.entrySet().forEach(e -> text.append("  ").append(GSON.toJson(e.getKey())).append(": ")
      .append(GSON.toJson(e.getValue())).append(",\n"));
    return text.append("  \"results\": ").append(lines).append("\n}\n").toString();
  }

  private static void add(JsonObject result, String name, Sample sample) {
    if (sample != null) {
      JsonArray perJvm = new JsonArray();
      for (double value : sample.perJvm()) {
        perJvm.add(rounded(value));
      }
      result.add(name, perJvm);
    }
  }

  private static BigDecimal rounded(double value) {
    return new BigDecimal(value, FOUR_DIGITS);
  }
}
