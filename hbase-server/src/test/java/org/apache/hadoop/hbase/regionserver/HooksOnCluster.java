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
package org.apache.hadoop.hbase.regionserver;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Coprocessor;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.MiniHBaseCluster;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.AsyncConnection;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.coprocessor.HookKind;
import org.apache.hadoop.hbase.coprocessor.RegionCoprocessor;
import org.apache.hadoop.hbase.coprocessor.RegionObserver;
import org.apache.hadoop.hbase.metrics.Counter;
import org.apache.hadoop.hbase.metrics.MetricRegistries;
import org.apache.hadoop.hbase.regionserver.HookClasses.Form;
import org.apache.hadoop.hbase.regionserver.multiget.ParallelGetsFixture;
import org.apache.hadoop.hbase.regionserver.write.GroupMetrics;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.AfterClass;
import org.junit.BeforeClass;
import org.junit.Test;

/**
 * Clients of a server with all features see what those of a server without see, whichever one hook
 * a coprocessor of the region overrides, with an effect, in whichever form, and whenever it was
 * loaded. Each table has a region on both servers. A class for each part of the hooks.
 */
public abstract class HooksOnCluster {
  private static final HBaseTestingUtility UTIL = new HBaseTestingUtility();
  private static final byte[] SPLIT = Bytes.toBytes("m");
  /** The kinds whose effects clients see when files are written or opened. */
  private static final Set<HookKind> OF_FILES = Collections.unmodifiableSet(
    EnumSet.of(HookKind.SELECTION, HookKind.READERS, HookKind.REWRITES, HookKind.MAINTENANCE));
  /** The kinds whose effects the clients of {@link HookWorkload} do not see. */
  private static final Set<HookKind> UNSEEN_KINDS =
    Collections.unmodifiableSet(EnumSet.of(HookKind.OPEN_CLOSE, HookKind.REPLAY,
      HookKind.MAINTENANCE, HookKind.BULK_LOADS));
  private static final List<String> UNSEEN = Arrays.asList("preStoreFileReaderOpen",
    "preMemStoreCompactionCompact", "preMemStoreCompactionCompactScannerOpen");

  private static Connection connection;
  private static AsyncConnection async;
  private static HRegionServer with;
  private static HRegionServer without;
  private static List<String> usual;
  private static List<String> usualOfFiles;

  private final List<Method> hooks = new ArrayList<>();
  private final Set<String> visible = new TreeSet<>();
  private final List<String> differences = new ArrayList<>();
  private int runs;

  HooksOnCluster(Set<HookKind> kinds) {
    Arrays.stream(RegionObserver.class.getMethods())
      .filter(hook -> kinds.contains(HookKind.of(hook))).forEach(hooks::add);
    hooks.sort(Comparator.comparing(Method::toString));
  }

  @BeforeClass
  public static void setUpBeforeClass() throws Exception {
    Configuration conf = UTIL.getConfiguration();
    conf.setInt(HConstants.REGIONSERVER_INFO_PORT, 0);
    UTIL.startMiniCluster(1);
    MiniHBaseCluster cluster = UTIL.getMiniHBaseCluster();
    without = cluster.getRegionServer(0);
    Configuration features = cluster.getConfiguration();
    features.setBoolean("hbase.regionserver.parallel.get.enabled", true);
    features.setBoolean("hbase.regionserver.point.get.enabled", true);
    features.setInt("hbase.regionserver.point.get.on.connection.thread.max", 16);
    features.setInt("hbase.regionserver.row.cache.size.mb", 8);
    features.setBoolean("hbase.regionserver.row.cache.all.tables", true);
    features.setBoolean("hbase.regionserver.write.groups.enabled", true);
    features.setBoolean("hbase.regionserver.increment.coalesce.enabled", true);
    features.setBoolean("hbase.rs.compaction.cache.handover.enabled", true);
    features.setBoolean("hbase.rs.prefetchblocksonopen", true);
    features.setBoolean("hbase.server.netty.flush.consolidation.enabled", true);
    features.setLong("hbase.wal.async.sync.interval.ms", 10);
    features.setBoolean("hbase.bucketcache.composite.enabled", true);
    features.set(HConstants.HFILE_BLOCK_CACHE_SIZE_KEY, "0");
    features.set("hbase.bucketcache.l1.size", "32");
    features.set("hbase.bucketcache.l2.size", "65");
    features.set("hbase.bucketcache.l2.ioengine", "segments:" + UTIL.getDataTestDir("segments"));
    features.setInt("hbase.segmentcache.segment.mb", 1);
    UTIL.getTestFileSystem().mkdirs(UTIL.getDataTestDir("segments"));
    ParallelGetsFixture.ignoreCpuLoad();
    with = cluster.startRegionServerAndWait(60_000).getRegionServer();
    UTIL.waitFor(60_000, 20,
      () -> cluster.getMaster().getServerManager().isServerOnline(with.getServerName()));
    UTIL.getAdmin().balancerSwitch(false, true);
    Configuration client = new Configuration(conf);
    client.setInt(HConstants.HBASE_CLIENT_PAUSE, 20);
    // A region wraps some exceptions of hooks in others, after which the client retries.
    client.setInt(HConstants.HBASE_CLIENT_RETRIES_NUMBER, 3);
    connection = ConnectionFactory.createConnection(client);
    async = ConnectionFactory.createAsyncConnection(client).get();
  }

  @AfterClass
  public static void tearDownAfterClass() throws Exception {
    HookEffects.setActive(false);
    ParallelGetsFixture.considerCpuLoad();
    async.close();
    connection.close();
    UTIL.shutdownMiniCluster();
  }

  private static TableDescriptor table(int number, Class<?> coprocessor) throws IOException {
    TableDescriptorBuilder table = TableDescriptorBuilder
      .newBuilder(TableName.valueOf("t" + number)).setColumnFamily(
        ColumnFamilyDescriptorBuilder.newBuilder(HookEffects.FAMILY).setMaxVersions(3).build())
      .setColumnFamily(ColumnFamilyDescriptorBuilder.of(HookEffects.COUNTERS));
    if (coprocessor != null) {
      table.setCoprocessor(coprocessor.getName());
    }
    return table.build();
  }

  /** Creates the table with a region on each server. */
  private static void create(TableDescriptor table) throws Exception {
    UTIL.getAdmin().createTable(table, new byte[][] { SPLIT });
    if (with.getRegions(table.getTableName()).size() == 2) {
      UTIL.getAdmin().move(with.getRegions(table.getTableName()).get(0).getRegionInfo()
        .getEncodedNameAsBytes(), without.getServerName());
    } else if (with.getRegions(table.getTableName()).isEmpty()) {
      UTIL.getAdmin().move(without.getRegions(table.getTableName()).get(0).getRegionInfo()
        .getEncodedNameAsBytes(), with.getServerName());
    }
    UTIL.waitFor(60_000, 5, () -> with.getRegions(table.getTableName()).size() == 1
      && without.getRegions(table.getTableName()).size() == 1);
  }

  private HookWorkload workload(HRegionServer server, TableName table) throws IOException {
    HRegion region = server.getRegions(table).get(0);
    char first = region.getRegionInfo().getStartKey().length == 0 ? 'a' : 'n';
    return new HookWorkload(connection, async, table, region,
      first + String.format("%04d-", runs));
  }

  /** Returns what clients see of both servers, first that without features. */
  private List<List<String>> run(TableName table, boolean files) throws Exception {
    runs++;
    List<List<String>> seen = new ArrayList<>();
    for (HRegionServer server : Arrays.asList(without, with)) {
      HookWorkload workload = workload(server, table);
      workload.prepare();
      HookEffects.setActive(true);
      try {
        workload.run(files);
      } finally {
        HookEffects.setActive(false);
      }
      workload.reads();
      seen.add(workload.seen());
    }
    return seen;
  }

  /** Returns what clients see of both servers without coprocessors. */
  private List<String> runUsual(boolean files) throws Exception {
    List<List<String>> seen = run(TableName.valueOf("t0"), files);
    assertEquals("without coprocessors", seen.get(0).toString(), seen.get(1).toString());
    return seen.get(0);
  }

  private static String masked(List<String> seen) {
    return seen.toString().replaceAll("\\d{4}-", "");
  }

  private void compare(Method hook, String loaded, TableName table) throws Exception {
    boolean files = OF_FILES.contains(HookKind.of(hook));
    List<List<String>> seen = run(table, files);
    List<String> stock = seen.get(0);
    List<String> ours = seen.get(1);
    if (!masked(stock).equals(masked(files ? usualOfFiles : usual))) {
      visible.add(hook.getName());
    }
    for (int i = 0; i < Math.max(stock.size(), ours.size()); i++) {
      String one = i < stock.size() ? stock.get(i) : null;
      String other = i < ours.size() ? ours.get(i) : null;
      if (one == null || !one.equals(other)) {
        differences.add(hook + ", " + loaded + ": [" + one + "] and [" + other + "]");
      }
    }
  }

  private static void load(TableName table, Class<? extends RegionCoprocessor> type)
    throws IOException {
    for (HRegionServer server : Arrays.asList(without, with)) {
      server.getRegions(table).get(0).getCoprocessorHost().load(type, Coprocessor.PRIORITY_USER,
        server.getConfiguration());
    }
  }

  private static long count(String registry, String metric) {
    return MetricRegistries.global().getMetricRegistries().stream()
      .filter(found -> found.getMetricRegistryInfo().getMetricsName().equals(registry))
      .mapToLong(found -> ((Counter) found.get(metric).get()).getCount()).sum();
  }

  /** Each hook has a new table, since its files keep the readers that they were opened with. */
  @Test
  public void testOneHookAtATime() throws Exception {
    create(table(0, null));
    usual = runUsual(false);
    usualOfFiles = runUsual(true);
    assertTrue("point gets", count("PointGet", "PointGetCount") > 0);
    assertTrue("on connections' threads", count("PointGet", "ConnectionThreadGetCount") > 0);
    assertTrue("cached rows", count("RowCache", "HitCount") > 0);
    assertTrue("write groups", GroupMetrics.ofMutations().groups() > 0);
    assertTrue("increments", GroupMetrics.ofIncrements().groups() > 0);
    String only = System.getProperty("hook.include", "");
    for (int number = 1; number <= hooks.size(); number++) {
      Method hook = hooks.get(number - 1);
      if (!only.isEmpty() && !hook.getName().matches(only)) {
        continue;
      }
      Map<Form, Class<? extends RegionCoprocessor>> classes = new EnumMap<>(Form.class);
      for (Form form : Form.values()) {
        classes.put(form, HookClasses.make(hook, number, form));
      }
      // Some hooks are called only if the table has the coprocessor, and its class the hook.
      Form created = Form.CLASS;
      Form loaded = Form.values()[number % Form.values().length];
      Form altered = number % 2 == 0 ? Form.INTERFACE : Form.OTHER_OBJECT;
      TableDescriptor table = table(number, classes.get(created));
      create(table);
      compare(hook, "created with it: " + created, table.getTableName());
      UTIL.getAdmin().modifyTable(table(number, null));
      // The reads make the region remember that it has no coprocessors.
      workload(with, table.getTableName()).reads();
      load(table.getTableName(), classes.get(loaded));
      compare(hook, "loaded: " + loaded, table.getTableName());
      UTIL.getAdmin().modifyTable(table(number, classes.get(altered)));
      compare(hook, "altered: " + altered, table.getTableName());
    }
    assertEquals("", String.join("\n", differences));
    if (only.isEmpty()) {
      Set<String> expected = new TreeSet<>();
      hooks.stream().filter(hook -> !UNSEEN_KINDS.contains(HookKind.of(hook)))
        .map(Method::getName).filter(hook -> !UNSEEN.contains(hook)).forEach(expected::add);
      assertEquals("effects that are seen", expected, visible);
    }
  }
}
