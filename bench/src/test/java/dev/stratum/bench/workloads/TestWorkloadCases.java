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
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;
import org.junit.Test;

public class TestWorkloadCases {
  private static List<WorkloadCase> chosen(String include, boolean quick) throws Exception {
    return chosen(new Properties(), include, quick);
  }

  private static List<WorkloadCase> chosen(Properties arguments, String include, boolean quick)
    throws Exception {
    arguments.setProperty("directory", "unused");
    arguments.setProperty("quick", Boolean.toString(quick));
    if (include != null) {
      arguments.setProperty("include", include);
    }
    return new WorkloadSuite(arguments, new PrintStream(PrintStream.nullOutputStream())).cases();
  }

  private static List<String> names(List<WorkloadCase> cases) {
    return cases.stream().map(WorkloadCase::fullName).collect(Collectors.toList());
  }

  @Test
  public void testEveryCaseIsSomethingThatYcsbCanRun() throws Exception {
    List<WorkloadCase> cases = chosen(null, false);
    assertEquals(cases.size(), new HashSet<>(names(cases)).size());
    for (WorkloadCase kind : cases.stream().flatMap(one -> one.kinds().stream()).toList()) {
      Properties properties = new Properties();
      JsonObject json = kind.json();
      if (json.has("hdfs")) {
        continue;
      }
      json.entrySet().forEach(e -> properties.setProperty(e.getKey(), e.getValue().getAsString()));
      properties.putIfAbsent("recordcount", "1000");
      assertNotNull(kind.fullName(), ExtendedCoreWorkload.create(properties).choose());
    }
  }

  @Test
  public void testAdverseCasesHaveTheirClientsAndTargets() throws Exception {
    String page = Files.readString(
      Path.of(System.getProperty("stratum.root"), "docs", "workloads.md"));
    Map<String, Integer> threads = new TreeMap<>();
    for (WorkloadCase one : chosen(null, false)) {
      assertEquals(one.fullName(), one.fullName().contains("/adverse-")
        || one.fullName().matches("log/sync-[14]|(adverse|encoded)/.*"), one.isAdverse());
      if (one.isAdverse()) {
        assertEquals(one.fullName(), 1.1, one.target("p99"), 0);
        assertTrue(one.fullName(), Double.isNaN(one.target("throughput")));
      }
      if (one.isAdverse() && one.group().equals("log")) {
        threads.put(one.fullName().replaceFirst("log/(adverse-)?", ""), one.threads());
        assertTrue(one.fullName(), one.isWriting());
        assertTrue(one.fullName(), page.contains("`" + one.fullName().substring(4) + "`"));
      } else if (one.group().equals("adverse")) {
        assertTrue(one.fullName(), page.contains("`" + one.fullName() + "`"));
      }
    }
    assertEquals(Map.of("sync-1", 1, "sync-4", 4, "hot-row", 64, "hot-rows", 64, "latest-deletes",
      48, "same-rows", 48, "readers", 328, "regions", 32, "hooks", 64, "slow-syncs", 64), threads);
  }

  @Test
  public void testATwinIsItsCaseOnAnEncodedTableOfItsOwn() throws Exception {
    List<WorkloadCase> twins = chosen("^encoded/", false);
    assertEquals(3 * 12, twins.size());
    for (WorkloadCase twin : twins) {
      String encoding =
        twin.fullName().replaceFirst(".*-(fast-diff|row-index|prefix-bloom)$", "$1");
      WorkloadCase one = chosen("/" + twin.fullName().substring("encoded/".length(),
        twin.fullName().length() - encoding.length() - 1) + "$", false).get(0);
      assertEquals(one.table() + "-" + encoding, twin.table());
      assertEquals(one.servers(), twin.servers());
      JsonObject own = twin.json();
      JsonObject properties = one.json();
      for (String key : List.of("table", "adverse", "table.encoding", "table.compression",
        "table.bloom", "family.RowPrefixBloomFilter.prefix_length")) {
        own.remove(key);
        properties.remove(key);
      }
      properties.keySet().removeIf(key -> key.startsWith("target."));
      assertEquals(twin.fullName(), properties, own);
      assertEquals(twin.fullName(), 0, twin.micros());
    }
    WorkloadCase fastDiff = chosen("/a-fast-diff$", false).get(0);
    assertEquals("FAST_DIFF", fastDiff.get("table.encoding", null));
    assertEquals("ZSTD", fastDiff.get("table.compression", null));
    assertTrue(SuitePlan.isOnSameTable(fastDiff, chosen("/get-zipfian-fast-diff$", false).get(0)));
  }

  @Test
  public void testCasesOfTheSameServersFollowOneAnother() throws Exception {
    List<WorkloadCase> cases = chosen("^(adverse|ycsb)/", false);
    Set<Map<String, String>> servers = new HashSet<>();
    for (int i = 0; i < cases.size(); i++) {
      if (i == 0 || !cases.get(i).servers().equals(cases.get(i - 1).servers())) {
        assertTrue(cases.get(i).fullName(), servers.add(cases.get(i).servers()));
      }
    }
    assertEquals(6, servers.size());
    Properties arguments = new Properties();
    arguments.setProperty("own.servers", "false");
    assertEquals(1, chosen(arguments, "^(adverse|ycsb)/", false).stream()
      .map(WorkloadCase::servers).distinct().count());
  }

  @Test
  public void testWhatServersOfACaseHaveGivesWayToTheCommandButHandlersDoNot() throws Exception {
    Map<String, String> servers =
      Map.of("handlers", "128", "l1.mb", "12", "fork.hbase.a", "1", "hbase.b", "2");
    Properties arguments = new Properties();
    arguments.setProperty("directory", "unused");
    SuiteOptions options = SuiteOptions.of(arguments);
    assertEquals("12", options.sizes(servers).getProperty("l1.mb"));
    assertEquals("128", options.sizes(servers).getProperty("handlers"));
    assertEquals("30", options.sizes().getProperty("handlers"));
    assertEquals(Map.of("hbase.a", "1"), options.forkKeys(servers));
    assertEquals(Map.of("hbase.b", "2"), SuiteOptions.keys(servers));
    arguments.setProperty("l1.mb", "24");
    arguments.setProperty("handlers", "60");
    arguments.setProperty("fork.hbase.a", "3");
    options = SuiteOptions.of(arguments);
    assertEquals("24", options.sizes(servers).getProperty("l1.mb"));
    assertEquals("128", options.sizes(servers).getProperty("handlers"));
    assertEquals(Map.of("hbase.a", "3"), options.forkKeys(servers));
  }

  @Test
  public void testRegionsOfATableDivideItsKeysEvenly() throws Exception {
    WorkloadCase regions = chosen("/regions-2000$", false).get(0);
    Properties properties = new Properties();
    regions.json().entrySet()
      .forEach(e -> properties.setProperty(e.getKey(), e.getValue().getAsString()));
    assertEquals(1999, new TableOfCase(properties).splits().length);
    properties.setProperty("regions.max", "2");
    assertEquals("user4611686018427387903",
      Bytes.toString(new TableOfCase(properties).splits()[0]));
  }

  @Test
  public void testKindsOfClientsHaveThePropertiesOfTheirCaseAndTheirOwn() throws Exception {
    WorkloadCase hooks = chosen("/adverse-hooks$", false).get(0);
    assertEquals(Set.of("logplain", "loghooked"), hooks.tables());
    List<WorkloadCase> kinds = hooks.kinds();
    assertEquals(List.of("log/adverse-hooks plain", "log/adverse-hooks hooked"), names(kinds));
    for (WorkloadCase kind : kinds) {
      assertEquals(32, kind.threads());
      assertEquals("1", kind.get("insertproportion", null));
      assertEquals(List.of(kind), kind.kinds());
    }
    assertNull(kinds.get(0).get("table.coprocessor", null));
    assertEquals(PutObserver.class.getName(), kinds.get(1).get("table.coprocessor", null));
    WorkloadCase alike = chosen("/adverse-hot-row$", false).get(0);
    assertEquals(List.of(alike), alike.kinds());
    assertTrue(SuitePlan.isOnSameTable(alike, chosen("log/sync-64$", false).get(0)));
    assertFalse(SuitePlan.isOnSameTable(alike, hooks));
  }

  @Test
  public void testApsaraDbHasItsSixteenCases() throws Exception {
    List<String> expected = new ArrayList<>(List.of("nr1", "nr2", "yr1", "yr2"));
    IntStream.rangeClosed(1, 6).forEach(i -> expected.addAll(List.of("sw" + i, "rw" + i)));
    List<String> names = names(chosen("^apsaradb/\\w+$", false));
    assertEquals(16, names.size());
    for (String name : expected) {
      assertTrue(name, names.contains("apsaradb/" + name));
    }
  }

  @Test
  public void testACaseTakesItsOwnPropertiesAndNoneOfTheOthers() throws Exception {
    WorkloadCase sw3 = chosen("/sw3$", false).get(0);
    assertEquals("2", sw3.get("batch", null));
    assertEquals("ASYNC_WAL", sw3.get("durability", null));
    assertEquals("ordered", sw3.get("insertorder", null));
    assertEquals("0", sw3.get("readproportion", null));
    assertEquals(100, sw3.threads());
    assertTrue(sw3.json().keySet().stream().noneMatch(key -> key.startsWith("sw")));
  }

  @Test
  public void testDelayedReadsAreCasesWithAimsOfTheirOwn() throws Exception {
    List<WorkloadCase> cases = chosen("throughput/get-zipfian", false).stream()
      .filter(one -> !one.fullName().contains("multi")).collect(Collectors.toList());
    assertEquals(List.of("throughput/get-zipfian", "throughput/get-zipfian-100us",
      "throughput/get-zipfian-8connections", "throughput/get-zipfian-128handlers"), names(cases));
    assertEquals(0, cases.get(0).micros());
    assertEquals(1.05, cases.get(0).target("throughput"), 0);
    assertEquals(100, cases.get(1).micros());
    assertEquals(1.5, cases.get(1).target("throughput"), 0);
  }

  @Test
  public void testOtherHandlersAreCasesThatComeLast() throws Exception {
    List<WorkloadCase> cases = chosen(null, false);
    List<String> names = names(cases);
    assertEquals(List.of("throughput/get-zipfian-128handlers",
      "increment/increment-zipfian-128handlers", "log/sync-64-128handlers"),
      names.subList(names.size() - 3, names.size()));
    for (WorkloadCase one : cases) {
      boolean isOther = one.fullName().endsWith("-128handlers");
      assertEquals(one.fullName(),
        isOther ? 128 : HConstants.DEFAULT_REGION_SERVER_HANDLER_COUNT, one.handlers());
      if (isOther) {
        WorkloadCase same = cases.get(names.indexOf(one.fullName().replace("-128handlers", "")));
        assertEquals(same.threads(), one.threads());
        assertEquals(same.target("throughput"), one.target("throughput"), 0);
      }
    }
  }

  @Test
  public void testEachKindOfOperationHasACaseWithMoreThreadsThanHandlers() throws Exception {
    for (String kind : List.of("readproportion", "multigetproportion", "incrementproportion",
      "SYNC_WAL", "ASYNC_WAL")) {
      boolean isWrite = kind.endsWith("_WAL");
      assertTrue(kind, chosen(null, false).stream()
        .filter(one -> one.get(isWrite ? "insertproportion" : kind, "0").equals("1"))
        .filter(one -> !isWrite || one.get("durability", "").equals(kind))
        .anyMatch(one -> one.threads() >= 2 * one.handlers()));
    }
  }

  @Test
  public void testTheQuickFormHasCasesOfEveryDocument() throws Exception {
    HashSet<String> groups = new HashSet<>(Set.of("encoded", "adverse"));
    chosen(null, true).forEach(one -> groups.add(one.group()));
    assertEquals(new HashSet<>(WorkloadCase.GROUPS), groups);
  }

  @Test
  public void testAnExpressionThatNoNameHasIsRefused() {
    SuiteException thrown = assertThrows(SuiteException.class, () -> chosen("no-such-case", false));
    assertTrue(thrown.getMessage(), thrown.getMessage().startsWith("workloads=no-such-case"));
    thrown = assertThrows(SuiteException.class, () -> chosen("sw[", false));
    assertTrue(thrown.getMessage(), thrown.getMessage().startsWith("workloads=sw[ is no"));
  }

  @Test
  public void testASizeThatCannotBeIsRefusedByName() {
    for (String wrong : List.of("l1.mb=much", "seconds=0", "second=3", "l2.engine=mmap",
      "own.servers=no")) {
      Properties arguments = new Properties();
      arguments.setProperty(wrong.substring(0, wrong.indexOf('=')),
        wrong.substring(wrong.indexOf('=') + 1));
      SuiteException thrown =
        assertThrows(wrong, SuiteException.class, () -> chosen(arguments, null, false));
      assertTrue(thrown.getMessage(), thrown.getMessage().contains(wrong));
    }
  }
}
