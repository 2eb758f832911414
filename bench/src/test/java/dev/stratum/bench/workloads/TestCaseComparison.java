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

import java.util.List;
import java.util.Map;
import org.apache.hbase.thirdparty.com.google.gson.JsonArray;
import org.apache.hbase.thirdparty.com.google.gson.JsonElement;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;
import org.junit.Test;

public class TestCaseComparison {
  /** Returns a case whose rounds have these throughputs, fork after stock; p99 is 100 / x. */
  private static JsonObject result(double... throughputs) {
    JsonObject result = new JsonObject();
    result.addProperty("name", "group/case");
    JsonArray runs = new JsonArray();
    for (int i = 0; i < throughputs.length; i++) {
      JsonObject run = new JsonObject();
      run.addProperty("side", i % 2 == 0 ? "stock" : "fork");
      run.addProperty("round", i / 2);
      run.addProperty("rate", 0);
      run.addProperty("throughput", throughputs[i]);
      JsonObject all = new JsonObject();
      all.addProperty("p99", 100 / throughputs[i]);
      run.add("all", all);
      runs.add(run);
    }
    result.add("runs", runs);
    return result;
  }

  private static CaseComparison.Verdict verdict(double... throughputs) {
    return new CaseComparison(result(throughputs)).verdict();
  }

  @Test
  public void testRatiosAreThoseOfTheRoundsAndTheirMedian() {
    CaseComparison.Pair pair =
      new CaseComparison(result(100, 110, 200, 300, 10, 9)).throughput();
    assertEquals(100, pair.stock().median(), 0);
    assertEquals(110, pair.fork().median(), 0);
    assertEquals(0.9, pair.ratio().low(), 1e-9);
    assertEquals(1.1, pair.ratio().median(), 1e-9);
    assertEquals(1.5, pair.ratio().high(), 1e-9);
  }

  @Test
  public void testAheadAndBehindAreWhatAllRoundsSay() {
    assertEquals(CaseComparison.Verdict.AHEAD, verdict(100, 110, 100, 104));
    assertEquals(CaseComparison.Verdict.LEVEL, verdict(100, 150, 100, 99));
    assertEquals(CaseComparison.Verdict.LEVEL, verdict(100, 101, 100, 102));
    assertEquals(CaseComparison.Verdict.BEHIND, verdict(100, 90, 100, 95));
    assertEquals(CaseComparison.Verdict.LEVEL, verdict(100, 80, 100, 101));
    // One round says nothing.
    assertEquals(CaseComparison.Verdict.LEVEL, verdict(100, 300));
  }

  @Test
  public void testACaseWithoutRoundsOnBothSidesHasFailed() {
    assertEquals(CaseComparison.Verdict.FAILED, verdict(100));
    JsonObject failed = result(100, 100);
    failed.addProperty("failure", "the server has ended");
    assertEquals(CaseComparison.Verdict.FAILED, new CaseComparison(failed).verdict());
    assertTrue(new CaseComparison(failed).aims().isEmpty());
  }

  @Test
  public void testAnAimOfLatencyIsHeldAgainstTheFixedRateWhereThereIsOne() {
    JsonObject result = result(100, 125, 100, 125);
    result.addProperty("p99Aim", 0.5);
    for (String side : new String[] { "stock", "fork" }) {
      JsonObject run = result(1).getAsJsonArray("runs").get(0).getAsJsonObject();
      run.addProperty("side", side);
      run.addProperty("rate", 60);
      run.getAsJsonObject("all").addProperty("p99", side.equals("fork") ? 4 : 10);
      result.getAsJsonArray("runs").add(run);
    }
    CaseComparison.Aim aim = new CaseComparison(result).aims().get(1);
    assertTrue(aim.text(), aim.text().endsWith("at a fixed rate"));
    assertTrue(aim.met());
  }

  @Test
  public void testAimsAreHeldAgainstTheMedians() {
    JsonObject result = result(100, 125, 100, 125);
    result.addProperty("throughputAim", 1.5);
    result.addProperty("p99Aim", 0.8);
    CaseComparison comparison = new CaseComparison(result);
    assertFalse(comparison.aims().get(0).met());
    assertTrue(comparison.aims().get(1).met());
    // No case is to be much slower than stock, whether it names an aim or not.
    assertFalse(new CaseComparison(result(100, 96)).aims().get(0).met());
    assertTrue(new CaseComparison(result(100, 97)).aims().get(0).met());
  }

  /** Adds to each run so many operations of a kind, of which one takes as long. */
  private static void addKind(JsonObject result, String kind, double stock, double fork) {
    for (JsonElement element : result.getAsJsonArray("runs")) {
      JsonObject run = element.getAsJsonObject();
      run.addProperty("seconds", 10);
      if (!run.has("operations")) {
        run.add("operations", new JsonObject());
      }
      JsonObject latencies = new JsonObject();
      double figure = run.get("side").getAsString().equals("stock") ? stock : fork;
      latencies.addProperty("count", figure);
      latencies.addProperty("p99", figure);
      run.getAsJsonObject("operations").add(kind, latencies);
    }
  }

  @Test
  public void testEachKindOfClientsHasTheAimsOfTheCase() {
    JsonObject result = result(100, 110, 100, 110);
    result.addProperty("p99Aim", 1.1);
    JsonObject properties = new JsonObject();
    properties.addProperty("clients", "put read idle");
    result.add("properties", properties);
    addKind(result, "put", 100, 96);
    addKind(result, "read", 100, 120);
    assertEquals(List.of("throughput at least 0.97: true", "p99 at most 1.1: true",
      "put: throughput 0.96, at least 0.97: false", "put: p99 0.96, at most 1.1: true",
      "read: throughput 1.20, at least 0.97: true", "read: p99 1.20, at most 1.1: false",
      "idle: throughput NaN, at least 0.97: false", "idle: p99 NaN, at most 1.1: false"),
      new CaseComparison(result).aims().stream().map(aim -> aim.text() + ": " + aim.met())
        .toList());
  }

  @Test
  public void testExceptionsOfTheForkAreThoseOfTypesThatStockDoesNotHave() {
    JsonObject result = result(100, 110, 100, 110);
    String[] types = { "exceptions.x", "exceptions.x", "cpuMillis", "exceptions.y" };
    for (int i = 0; i < types.length; i++) {
      JsonObject counters = new JsonObject();
      counters.addProperty("exceptions", i == 1 ? 0 : 1);
      counters.addProperty(types[i], 3);
      result.getAsJsonArray("runs").get(i).getAsJsonObject().add("regionserver", counters);
    }
    assertEquals(Map.of("exceptions.y", 3L), new CaseComparison(result).exceptionsOfForkAlone());
  }
}
