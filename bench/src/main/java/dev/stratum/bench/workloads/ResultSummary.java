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

import java.util.Map;
import java.util.StringJoiner;
import org.apache.hbase.thirdparty.com.google.gson.Gson;
import org.apache.hbase.thirdparty.com.google.gson.GsonBuilder;
import org.apache.hbase.thirdparty.com.google.gson.JsonElement;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;

/**
 * The results without curves and histograms, as a small file to be committed beside the figures
 * that the documentation takes from it: all that the table is computed from, a line for each run.
 */
final class ResultSummary {
  private static final Gson GSON = new GsonBuilder().disableHtmlEscaping().create();

  private ResultSummary() {
  }

  /** @param results what the suite writes */
  static String json(JsonObject results) {
    JsonObject head = new JsonObject();
    for (String key : new String[] { "command", "date", "fork", "stock", "machine" }) {
      if (results.has(key)) {
        head.add(key, results.get(key));
      }
    }
    StringBuilder text = new StringBuilder("{\n");
    for (Map.Entry<String, JsonElement> entry : head.entrySet()) {
      text.append("  ").append(GSON.toJson(entry.getKey())).append(": ")
        .append(GSON.toJson(entry.getValue())).append(",\n");
    }
    StringJoiner lines = new StringJoiner(",\n    ", "[\n    ", "\n  ]");
    for (JsonElement one : results.getAsJsonArray("cases")) {
      JsonObject result = one.getAsJsonObject();
      for (JsonElement run : result.getAsJsonArray("runs")) {
        lines.add(GSON.toJson(line(result, run.getAsJsonObject())));
      }
    }
    return text.append("  \"runs\": ").append(lines).append("\n}\n").toString();
  }

  private static JsonObject line(JsonObject result, JsonObject run) {
    JsonObject line = new JsonObject();
    line.add("name", result.get("name"));
    for (String key : new String[] { "side", "start", "round", "rate", "seconds", "throughput",
      "rows" }) {
      line.add(key, run.get(key));
    }
    line.add("micros", latencies(run.getAsJsonObject("all")));
    if (result.getAsJsonObject("properties").has(WorkloadCase.CLIENTS)) {
      JsonObject kinds = new JsonObject();
      run.getAsJsonObject("operations").entrySet()
        .forEach(kind -> kinds.add(kind.getKey(), latencies(kind.getValue().getAsJsonObject())));
      line.add("kinds", kinds);
    }
    for (String key : new String[] { "client", "regionserver", "base", "slowed",
      "event" }) {
      if (run.has(key)) {
        line.add(key, run.get(key));
      }
    }
    return line;
  }

  private static JsonObject latencies(JsonObject all) {
    JsonObject latencies = new JsonObject();
    for (Map.Entry<String, JsonElement> entry : all.entrySet()) {
      if (entry.getValue().isJsonPrimitive() && !entry.getKey().equals("hdr")) {
        latencies.add(entry.getKey(), entry.getValue());
      }
    }
    return latencies;
  }
}
