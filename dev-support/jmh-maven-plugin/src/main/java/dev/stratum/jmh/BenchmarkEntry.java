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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.hbase.thirdparty.com.google.gson.JsonArray;
import org.apache.hbase.thirdparty.com.google.gson.JsonElement;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;

/**
 * One benchmark in one mode, as the benchmark host lists it.
 * @param name     fully qualified
 * @param mode     the name of JMH's mode
 * @param forkOnly if it can only run on the fork
 * @param headline what it is in the headline set, or null if it is not in the set
 * @param forks    how many JVMs it asks to be measured in
 * @param millis   warm-up and measurement of one JVM together, in ms
 * @param params   every parameter with its values, in order
 */
record BenchmarkEntry(String name, String mode, boolean forkOnly, Headline headline, int forks,
    long millis, Map<String, List<String>> params) {

  /**
   * @param choices     the parameter values, empty for all combinations
   * @param feature     the slug of the feature that the benchmark shows
   * @param warmup      warm-up iterations, 0 for the benchmark's own number
   * @param measurement measured iterations, 0 for the benchmark's own number
   */
  record Headline(List<String> choices, String feature, int warmup, int measurement) {
  }

  static List<BenchmarkEntry> parse(JsonArray listing) {
    List<BenchmarkEntry> entries = new ArrayList<>();
    for (JsonElement element : listing) {
      JsonObject json = element.getAsJsonObject();
      Map<String, List<String>> params = new LinkedHashMap<>();
      json.getAsJsonObject("params").entrySet()
        .forEach(e -> params.put(e.getKey(), strings(e.getValue())));
      entries.add(new BenchmarkEntry(json.get("benchmark").getAsString(),
        json.get("mode").getAsString(), json.get("forkOnly").getAsBoolean(),
        json.has("headline") ? headline(json) : null, json.get("forks").getAsInt(),
        json.get("millis").getAsLong(), params));
    }
    return entries;
  }

  private static Headline headline(JsonObject json) {
    return new Headline(strings(json.get("headline")), json.get("feature").getAsString(),
      json.get("headlineWarmup").getAsInt(), json.get("headlineMeasurement").getAsInt());
  }

  private static List<String> strings(JsonElement array) {
    List<String> strings = new ArrayList<>();
    array.getAsJsonArray().forEach(e -> strings.add(e.getAsString()));
    return strings;
  }

  /** Returns the simple class name and the method, which is what a reader calls it. */
  String shortName() {
    return Trial.shortName(name);
  }
}
