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

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;
import static org.junit.Assume.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hbase.thirdparty.com.google.gson.JsonElement;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;
import org.apache.hbase.thirdparty.com.google.gson.JsonParser;
import org.junit.Test;

/**
 * The kit's dashboard and alert rules, without a server; {@link TestRunLocal} compares their names
 * with /prometheus.
 */
public class TestMonitoring {
  private static final Path ROOT = Path.of(System.getProperty("stratum.root"));

  @Test
  public void testNamesOfAnExpression() {
    assertEquals(Set.of("a_count", "b:c"),
      PrometheusNames.of("sum by (job) (rate(a_count{job=~\"$job\"}[5m])) / on (job) b:c > 1e3"));
    assertEquals(Set.of("x", "y", "z"),
      PrometheusNames.of("count by (v) (x{a=\"b c\"}) > 1\nor max(y) unless on(i) z offset 5m"));
  }

  @Test
  public void testMisspeltNameIsFound() {
    String scrape = "# TYPE l1hit_count gauge\nl1hit_count{context=\"r\"} 4\nup_bytes 1\n";
    assertEquals(Set.of(), PrometheusNames.missing(Set.of("l1hit_count", "up_bytes"), scrape));
    assertEquals(Set.of("l1hit_cuont", "l1hit"),
      PrometheusNames.missing(Set.of("l1hit_cuont", "l1hit", "up_bytes"), scrape));
  }

  @Test
  public void testEachFeatureIsOnTheDashboard() throws IOException {
    Set<String> names = new TreeSet<>();
    List<String> expressions =
      PrometheusNames.dashboardExpressions(Files.readString(PrometheusNames.DASHBOARD));
    expressions.forEach(expression -> names.addAll(PrometheusNames.of(expression)));
    for (String prefix : List.of("block_cache_tiers_l1", "block_cache_tiers_l2", "prefetch_",
      "async_wal_", "cache_handover_", "multiget_", "counter_", "responses_", "region_server_",
      "buffer_pool_", "build_info")) {
      assertTrue(prefix, names.stream().anyMatch(name -> name.startsWith(prefix)));
    }
  }

  @Test
  public void testEachPanelHasAnIdAndSaysWhatItShowsAndWhatToDo() throws IOException {
    StringBuilder guides = new StringBuilder();
    try (Stream<Path> files = Files.list(ROOT.resolve("docs"))) {
      for (Path file : files.filter(file -> file.toString().endsWith(".md")).toList()) {
        guides.append(Files.readString(file));
      }
    }
    Set<String> ids = new TreeSet<>();
    for (JsonElement element : JsonParser.parseString(Files.readString(PrometheusNames.DASHBOARD))
      .getAsJsonObject().getAsJsonArray("panels")) {
      JsonObject panel = element.getAsJsonObject();
      assertTrue("an id twice: " + panel, ids.add(panel.get("id").getAsString()));
      if (panel.get("type").getAsString().equals("row")) {
        continue;
      }
      String title = panel.get("title").getAsString();
      assertTrue(title, panel.has("description"));
      String description = panel.get("description").getAsString();
      assertTrue("two sentences: " + title, description.matches("[A-Z].+\\. .+\\."));
      Pattern.compile("\\bhbase(\\.\\w+)+").matcher(description).results().forEach(
        key -> assertTrue(key.group(), guides.indexOf(key.group()) >= 0));
      JsonObject field = panel.getAsJsonObject("fieldConfig").getAsJsonObject("defaults");
      assertTrue("unit: " + title, field.has("unit"));
      if (panel.getAsJsonArray("targets").toString().contains("_state{")) {
        JsonObject words = field.getAsJsonArray("mappings").get(0).getAsJsonObject();
        assertEquals(title, "value", words.get("type").getAsString());
        assertEquals(title, Set.of("0", "1"), words.getAsJsonObject("options").keySet());
      }
    }
  }

  @Test
  public void testEachAlertHasARunbookInTheOperationsGuide() throws IOException {
    String rules = Files.readString(PrometheusNames.RULES);
    Set<String> alerts = PrometheusNames.alerts(rules);
    assertEquals(alerts.size(), PrometheusNames.ruleExpressions(rules).size());
    String guide = Files.readString(ROOT.resolve("docs").resolve("operations.md"));
    assertEquals(alerts, Pattern.compile("(?m)^### (Stratum\\w+)$").matcher(guide).results()
      .map(heading -> heading.group(1)).collect(Collectors.toCollection(TreeSet::new)));
    for (String alert : alerts) {
      String rule = rules.split("- alert: " + alert + "\n")[1].split("- alert: ")[0];
      // A heading's anchor is in lower case; "docs" is a folder of the archive.
      assertTrue(rule, rule.contains(
        "runbook_url: \"docs/operations.md#" + alert.toLowerCase(Locale.ROOT) + "\"\n"));
    }
  }

  /** Debian's package prometheus has promtool. */
  @Test
  public void testPromtoolAcceptsTheRules() throws Exception {
    assumeTrue("promtool is on the PATH",
      Stream.of(System.getenv("PATH").split(File.pathSeparator))
        .anyMatch(folder -> Files.isExecutable(Path.of(folder, "promtool"))));
    promtool("check", "rules", PrometheusNames.RULES.toString());
    promtool("test", "rules",
      ROOT.resolve("dev-support/local/src/test/monitoring/stratum-rules-test.yml").toString());
  }

  private static void promtool(String... args) throws Exception {
    Process process = new ProcessBuilder(Stream.concat(Stream.of("promtool"), Stream.of(args))
      .toList()).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes());
    assertEquals(output, 0, process.waitFor());
  }
}
