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
package dev.stratum.local;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hbase.thirdparty.com.google.gson.JsonElement;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;
import org.apache.hbase.thirdparty.com.google.gson.JsonParser;

/** The names of metrics in PromQL, in the files of the kit's monitoring folder and in a scrape. */
final class PrometheusNames {
  private static final Path DIST =
    Path.of(System.getProperty("stratum.root"), "dev-support", "dist");
  /** The build of dev-support/dist, which is before that of this module, writes it. */
  static final Path DASHBOARD =
    DIST.resolve("target/generated-kit/monitoring/stratum-dashboard.json");
  static final Path RULES = DIST.resolve("src/main/kit/monitoring/stratum-rules.yml");

  /** Strings, label matchers, ranges, and the labels of a grouping: no metric names in them. */
  private static final Pattern OTHER = Pattern.compile("\"[^\"]*\"|\\{[^}]*\\}|\\[[^\\]]*\\]"
    + "|\\b(by|without|on|ignoring|group_left|group_right)\\s*\\([^)]*\\)");
  private static final Pattern WORD = Pattern.compile("(?<![\\w.])[A-Za-z_:][\\w:]*");
  private static final Set<String> OPERATORS =
    Set.of("and", "or", "unless", "bool", "group_left", "group_right", "offset");
  private static final Set<String> AGGREGATIONS =
    Set.of("sum", "min", "max", "avg", "count", "topk", "bottomk", "quantile");

  private static final Pattern QUERY = Pattern.compile("label_values\\((.*), *\\w+\\)");
  private static final Pattern SAMPLE = Pattern.compile("(?m)^([A-Za-z_:][\\w:]*)[{ ]");
  private static final Pattern ALERT = Pattern.compile("(?m)^ *- alert: (\\w+)$");

  /** Indentation, the rest of the line, and the lines below that are indented further. */
  private static final Pattern EXPR =
    Pattern.compile("(?m)^( *)expr: (.*)((?:\\n\\1 +.*)*)$");

  private PrometheusNames() {
  }

  /** Returns the metrics that an expression reads. */
  static Set<String> of(String expression) {
    Set<String> names = new TreeSet<>();
    String rest = OTHER.matcher(expression).replaceAll(" ");
    Matcher word = WORD.matcher(rest);
    while (word.find()) {
      boolean call = rest.substring(word.end()).stripLeading().startsWith("(");
      if (
        !call && !OPERATORS.contains(word.group()) && !AGGREGATIONS.contains(word.group())
      ) {
        names.add(word.group());
      }
    }
    return names;
  }

  /** Returns the expressions of all panels and variables. */
  static List<String> dashboardExpressions(String json) {
    JsonObject dashboard = JsonParser.parseString(json).getAsJsonObject();
    List<String> expressions = new ArrayList<>();
    for (JsonElement panel : dashboard.getAsJsonArray("panels")) {
      if (panel.getAsJsonObject().has("targets")) {
        for (JsonElement target : panel.getAsJsonObject().getAsJsonArray("targets")) {
          expressions.add(target.getAsJsonObject().get("expr").getAsString());
        }
      }
    }
    for (JsonElement variable : dashboard.getAsJsonObject("templating").getAsJsonArray("list")) {
      if (variable.getAsJsonObject().get("type").getAsString().equals("query")) {
        String query = variable.getAsJsonObject().get("definition").getAsString();
        expressions.add(QUERY.matcher(query).replaceFirst("$1"));
      }
    }
    return expressions;
  }

  /** Returns the expressions of the rules: in the line of <code>expr:</code>, or indented below. */
  static List<String> ruleExpressions(String yaml) {
    List<String> expressions = new ArrayList<>();
    Matcher expr = EXPR.matcher(yaml);
    while (expr.find()) {
      expressions.add(expr.group(2).startsWith("|") ? expr.group(3) : expr.group(2));
    }
    return expressions;
  }

  /** Returns the names of the alerts. */
  static Set<String> alerts(String yaml) {
    Set<String> alerts = new TreeSet<>();
    Matcher alert = ALERT.matcher(yaml);
    while (alert.find()) {
      alerts.add(alert.group(1));
    }
    return alerts;
  }

  /** Returns the metrics that dashboard and rules read. */
  static Set<String> used() throws IOException {
    Set<String> names = new TreeSet<>();
    dashboardExpressions(Files.readString(DASHBOARD)).forEach(e -> names.addAll(of(e)));
    ruleExpressions(Files.readString(RULES)).forEach(e -> names.addAll(of(e)));
    return names;
  }

  /** Returns those of {@code names} that the body of /prometheus does not have. */
  static Set<String> missing(Set<String> names, String scrape) {
    Set<String> missing = new TreeSet<>(names);
    Matcher sample = SAMPLE.matcher(scrape);
    while (sample.find()) {
      missing.remove(sample.group(1));
    }
    return missing;
  }
}
