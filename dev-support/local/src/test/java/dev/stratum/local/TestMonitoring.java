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
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
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
  public void testOperationsGuideListsTheAlertsOfTheRules() throws IOException {
    String rules = Files.readString(PrometheusNames.RULES);
    Set<String> alerts = PrometheusNames.alerts(rules);
    assertEquals(alerts.size(), PrometheusNames.ruleExpressions(rules).size());
    String guide = Files.readString(ROOT.resolve("docs").resolve("operations.md"));
    int list = guide.indexOf("\n| alert on |");
    assertTrue("list of alerts", list >= 0);
    String[] rows = guide.substring(list + 1, guide.indexOf("\n\n", list)).split("\n");
    Pattern link = Pattern.compile("\\[(\\w+)\\]\\([^)]*/"
      + Pattern.quote(PrometheusNames.RULES.getFileName().toString()) + "\\)");
    Set<String> listed = new TreeSet<>();
    for (int i = 2; i < rows.length; i++) {
      Matcher rule = link.matcher(rows[i]);
      assertTrue("a rule in " + rows[i], rule.find());
      do {
        assertTrue("once: " + rule.group(1), listed.add(rule.group(1)));
      } while (rule.find());
    }
    assertEquals(alerts, listed);
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
