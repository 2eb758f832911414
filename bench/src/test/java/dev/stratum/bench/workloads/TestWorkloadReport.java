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

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import dev.stratum.processes.HangWatch;
import dev.stratum.processes.Operations;
import java.util.Collections;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hbase.thirdparty.com.google.gson.JsonArray;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;
import org.apache.hbase.thirdparty.com.google.gson.JsonParser;
import org.junit.Test;

public class TestWorkloadReport {
  /** Operations that take no time worth mentioning, of two kinds. */
  private static final class Client implements LoadRun.Worker {
    private final Random random = new Random(1);

    @Override
    public String choose() {
      return random.nextBoolean() ? "READ" : "UPDATE";
    }

    @Override
    public void perform(String operation) {
      LockSupport.parkNanos(random.nextInt(100_000));
    }
  }

  private static JsonObject run(String side, int round, double rate) throws Exception {
    JsonObject run = new LoadRun(Collections.nCopies(2, new Client()), 0.1, rate,
      new Operations(HangWatch.LIMIT)).run();
    run.addProperty("side", side);
    run.addProperty("round", round);
    run.addProperty("rate", rate);
    run.addProperty("rows", run.getAsJsonObject("all").get("count").getAsLong());
    for (String process : new String[] { "client", "regionserver", "base" }) {
      JsonObject counters = JvmCounters.read();
      counters.addProperty("l1Hits", 3);
      counters.addProperty("l2Hits", 1);
      run.add(process, counters);
    }
    return run;
  }

  private static JsonObject result(String name, double rate) throws Exception {
    JsonObject result = new JsonObject();
    result.addProperty("name", name);
    result.addProperty("title", "A document");
    result.addProperty("source", "Its <name>");
    result.addProperty("handlers", 30);
    result.addProperty("warmupSeconds", 1);
    result.addProperty("seconds", 0.1);
    result.addProperty("rowsLoaded", 100);
    result.addProperty("throughputAim", 1.5);
    result.add("properties", new JsonObject());
    JsonArray runs = new JsonArray();
    for (int round = 0; round < 2; round++) {
      for (String side : new String[] { "stock", "fork" }) {
        runs.add(run(side, round, 0));
        if (rate > 0) {
          runs.add(run(side, round, rate));
        }
      }
    }
    result.add("runs", runs);
    return result;
  }

  private static JsonObject results() throws Exception {
    JsonObject results = new JsonObject();
    results.addProperty("stock", "1.0");
    results.addProperty("fork", "1.0-fork");
    results.addProperty("command", "mvn -Dworkloads='a&b'");
    JsonArray cases = new JsonArray();
    cases.add(result("group/one", 0));
    cases.add(result("group/two", 200));
    JsonObject failed = result("group/three", 0);
    failed.add("runs", new JsonArray());
    failed.addProperty("failure", "The process of the fork side's client has ended");
    cases.add(failed);
    results.add("cases", cases);
    return results;
  }

  private static int count(String text, String expression) {
    Matcher matcher = Pattern.compile(expression).matcher(text);
    int count = 0;
    while (matcher.find()) {
      count++;
    }
    return count;
  }

  @Test
  public void testItIsOnePageThatLoadsNothing() throws Exception {
    String html = new WorkloadReport(results()).html();
    assertFalse(html.contains("<script"));
    assertFalse(html.contains("<link"));
    assertFalse(html.contains("http:"));
    assertFalse(html.contains("https:"));
    assertEquals(0, count(html, "(src|url)\\s*[=(]"));
    // Markup of the sources does not become the page's.
    assertTrue(html.contains("Its &lt;name&gt;"));
    assertTrue(html.contains("'a&amp;b'"));
  }

  @Test
  public void testEveryCaseHasItsLineItsChartsAndItsAims() throws Exception {
    String html = new WorkloadReport(results()).html();
    for (String name : new String[] { "one", "two", "three" }) {
      assertEquals(2, count(html, ">group/" + name + "<"));
    }
    // The first case has three, the second, which has a fixed rate, too, one more.
    assertEquals(7, count(html, "<svg "));
    // The raw results are base64, which may have any word in it, but not these marks.
    assertEquals(0, count(html, "[>,\"](NaN|-?Infinity)"));
    // Closed loops of two cases, and the fixed rate of one.
    assertEquals(3, count(html, "<th>p99.9</th>"));
    assertTrue(html.contains("The process of the fork side's client has ended"));
    assertTrue(html.contains("throughput at least 1.5"));
  }

  @Test
  public void testTheSummaryHasALineForEachRunAndNoCurves() throws Exception {
    String summary = ResultSummary.json(results());
    JsonObject read = JsonParser.parseString(summary).getAsJsonObject();
    assertEquals("1.0-fork", read.get("fork").getAsString());
    // Two rounds on two sides, and again at a fixed rate.
    assertEquals(12, read.getAsJsonArray("runs").size());
    assertEquals(12, count(summary, "\n    \\{"));
    assertEquals(0, count(summary, "hdr|percentiles|series"));
  }

  @Test
  public void testKindsOfClientsAreInTheSummaryAndAmongTheAims() throws Exception {
    JsonObject results = results();
    JsonObject result = results.getAsJsonArray("cases").get(0).getAsJsonObject();
    result.getAsJsonObject("properties").addProperty("clients", "READ UPDATE");
    String summary = ResultSummary.json(results);
    assertEquals(4, count(summary, "\"kinds\":\\{"));
    assertTrue(summary, summary.contains("\"kinds\":{\"READ\":{\"count\":"));
    assertEquals(0, count(summary, "hdr|percentiles|series"));
    assertTrue(new SummaryTable(results).markdown().contains("UPDATE: throughput "));
  }

  @Test
  public void testTheTableHasALineForEachCase() throws Exception {
    SummaryTable table = new SummaryTable(results());
    assertEquals(4, table.text().split("\n").length);
    assertEquals(5, table.markdown().split("\n").length);
    for (String line : table.markdown().split("\n")) {
      assertEquals(SummaryTable.HEAD.size() + 1, count(line, "\\|"));
    }
  }
}
