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
package org.apache.hadoop.hbase.regionserver.multiget;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.MiniHBaseCluster;
import org.apache.hadoop.hbase.StartMiniClusterOption;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.coprocessor.ObserverContext;
import org.apache.hadoop.hbase.coprocessor.RegionCoprocessor;
import org.apache.hadoop.hbase.coprocessor.RegionCoprocessorEnvironment;
import org.apache.hadoop.hbase.coprocessor.RegionObserver;
import org.apache.hadoop.hbase.filter.FilterBase;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.regionserver.HStore;
import org.apache.hadoop.hbase.regionserver.HStoreFile;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.After;
import org.junit.AfterClass;
import org.junit.Before;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** Events in a cluster around multis, and what multis leave behind. */
@Category({ RegionServerTests.class, LargeTests.class })
public class TestParallelMultigetInCluster {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestParallelMultigetInCluster.class);

  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final byte[] QUALIFIER = Bytes.toBytes("q");
  private static final String WORKER_PREFIX = "Multiget-";
  private static final int ROWS = 600;
  private static final int BATCH = 100;
  /** More than a server has handlers. */
  private static final int CLIENTS = HConstants.DEFAULT_REGION_SERVER_HANDLER_COUNT + 3;
  private static final int VALUE_BYTES = 200;
  private static final int BLOCK_BYTES = 2048;
  private static final long TIMEOUT_MILLIS = 120_000;
  /** Less than a thread of the pool stays without work. */
  private static final long ASLEEP_MILLIS = 40_000;
  /** How long a region that is to be closed waits before it interrupts the operations in it. */
  private static final int CLOSE_MILLIS = 500;

  private static final HBaseTestingUtility UTIL = new HBaseTestingUtility();
  private static TableName table;
  private static int tables;

  /** Notes who serves gets. */
  public static class Watcher implements RegionCoprocessor, RegionObserver {
    static final Set<String> THREADS = ConcurrentHashMap.newKeySet();

    @Override
    public Optional<RegionObserver> getRegionObserver() {
      return Optional.of(this);
    }

    @Override
    public void preGetOp(ObserverContext<RegionCoprocessorEnvironment> c, Get get,
      List<Cell> result) {
      THREADS.add(Thread.currentThread().getName());
    }

    static boolean sawWorkers() {
      return THREADS.stream().anyMatch(name -> name.startsWith(WORKER_PREFIX));
    }
  }

  /** Lets nothing through until its thread is interrupted, unless it is told to. */
  public static class Stuck extends FilterBase {
    static final Set<Thread> THREADS = ConcurrentHashMap.newKeySet();
    static final Set<Thread> INTERRUPTED = ConcurrentHashMap.newKeySet();
    static volatile CountDownLatch end;

    public static Stuck parseFrom(byte[] bytes) {
      return new Stuck();
    }

    @Override
    public ReturnCode filterCell(Cell cell) throws IOException {
      if (end.getCount() > 0) {
        THREADS.add(Thread.currentThread());
      }
      try {
        end.await();
        return ReturnCode.INCLUDE;
      } catch (InterruptedException e) {
        INTERRUPTED.add(Thread.currentThread());
        if (isWorker(Thread.currentThread())) {
          // Like a read of a file, the filter leaves the thread interrupted.
          Thread.currentThread().interrupt();
        }
        throw (IOException) new InterruptedIOException().initCause(e);
      }
    }
  }

  private static boolean isWorker(Thread thread) {
    return thread.getName().startsWith(WORKER_PREFIX);
  }

  @BeforeClass
  public static void setUpBeforeClass() throws Exception {
    Configuration conf = UTIL.getConfiguration();
    conf.setBoolean(MultigetSettings.ENABLED_KEY, true);
    conf.setInt(MultigetSettings.THREADS_KEY, 4);
    conf.setInt(MultigetSettings.MIN_BATCH_KEY, 1);
    MultigetPool.ignoreCpuLoad(true);
    // Tests have fewer by default: with HBase's own number there are three call queues.
    conf.setInt(HConstants.REGION_SERVER_HANDLER_COUNT,
      HConstants.DEFAULT_REGION_SERVER_HANDLER_COUNT);
    conf.setInt("hbase.hconnection.threads.max", 256);
    UTIL.startMiniCluster(StartMiniClusterOption.builder().numRegionServers(2).build());
    UTIL.getAdmin().balancerSwitch(false, true);
  }

  @AfterClass
  public static void tearDownAfterClass() throws Exception {
    UTIL.shutdownMiniCluster();
    MultigetPool.ignoreCpuLoad(false);
    UTIL.waitFor(TIMEOUT_MILLIS, () -> Thread.getAllStackTraces().keySet().stream()
      .noneMatch(thread -> thread.getName().startsWith(WORKER_PREFIX)));
  }

  /** Each row has its number as its value, and more of it. */
  @Before
  public void setUp() throws Exception {
    table = TableName.valueOf("t" + tables++);
    UTIL.getAdmin().createTable(TableDescriptorBuilder.newBuilder(table)
      .setCoprocessor(Watcher.class.getName())
      .setColumnFamily(
        ColumnFamilyDescriptorBuilder.newBuilder(FAMILY).setBlocksize(BLOCK_BYTES).build())
      .setValue(HRegion.CLOSE_WAIT_ABORT, "true")
      .setValue(HRegion.CLOSE_WAIT_INTERVAL, String.valueOf(CLOSE_MILLIS)).build(),
      new byte[][] { row(ROWS / 2) });
    List<Put> puts = new ArrayList<>();
    for (int i = 0; i < ROWS; i++) {
      byte[] value = Bytes.padTail(row(i), VALUE_BYTES);
      puts.add(new Put(row(i)).addColumn(FAMILY, QUALIFIER, value));
    }
    try (Table each = UTIL.getConnection().getTable(table)) {
      each.put(puts);
    }
    UTIL.flush(table);
    Watcher.THREADS.clear();
  }

  @After
  public void tearDown() throws Exception {
    UTIL.deleteTable(table);
  }

  private static byte[] row(int i) {
    return Bytes.toBytes(String.format("row-%06d", i));
  }

  private static List<Get> gets(Random random) {
    List<Get> gets = new ArrayList<>();
    for (int i = 0; i < BATCH; i++) {
      gets.add(new Get(row(random.nextInt(ROWS))));
    }
    return gets;
  }

  private static void multiget(Table from, Random random) throws IOException {
    List<Get> gets = gets(random);
    Result[] results = from.get(gets);
    for (int i = 0; i < BATCH; i++) {
      byte[] row = gets.get(i).getRow();
      assertTrue(Bytes.toString(row),
        Bytes.startsWith(results[i].getValue(FAMILY, QUALIFIER), row));
    }
  }

  private interface Event {
    void happen() throws Exception;
  }

  /** Has clients get rows while something happens, and expects that they do not notice it. */
  private static void during(Event event) throws Exception {
    List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
    List<Thread> clients = new ArrayList<>();
    boolean[] ended = new boolean[1];
    for (int c = 0; c < CLIENTS; c++) {
      Random random = new Random(c);
      Thread client = new Thread(() -> {
        try (Table each = UTIL.getConnection().getTable(table)) {
          boolean last = false;
          while (!last) {
            synchronized (ended) {
              last = ended[0];
            }
            multiget(each, random);
          }
        } catch (Throwable e) {
          failures.add(e);
        }
      });
      clients.add(client);
      client.start();
    }
    try {
      event.happen();
    } finally {
      synchronized (ended) {
        ended[0] = true;
      }
      for (Thread client : clients) {
        client.join();
      }
    }
    assertEquals(Collections.emptyList(), failures);
    assertTrue("served by " + Watcher.THREADS, Watcher.sawWorkers());
    assertNothingIsRead();
  }

  /** Scanners are closed when the response has been written, which is after the client has it. */
  private static void assertNothingIsRead() {
    for (HRegion region : UTIL.getHBaseCluster().getRegions(table)) {
      for (HStore store : region.getStores()) {
        for (HStoreFile file : store.getStorefiles()) {
          UTIL.waitFor(TIMEOUT_MILLIS, () -> !file.isReferencedInReads());
        }
      }
    }
  }

  @Test
  public void testRegionsCloseMoveAndSplit() throws Exception {
    Admin admin = UTIL.getAdmin();
    MiniHBaseCluster cluster = UTIL.getHBaseCluster();
    during(() -> {
      for (int round = 0; round < 2; round++) {
        for (RegionInfo region : admin.getRegions(table)) {
          admin.unassign(region.getRegionName(), false);
          admin.assign(region.getRegionName());
        }
        UTIL.waitTableAvailable(table);
        for (RegionInfo region : admin.getRegions(table)) {
          int from = cluster.getServerWith(region.getRegionName());
          admin.move(region.getEncodedNameAsBytes(),
            cluster.getRegionServer(1 - from).getServerName());
        }
      }
      byte[] region = admin.getRegions(table).get(0).getRegionName();
      admin.splitRegionAsync(region, row(ROWS / 4)).get();
      UTIL.waitFor(TIMEOUT_MILLIS, () -> admin.getRegions(table).size() == 3);
    });
  }

  @Test
  public void testAServerStops() throws Exception {
    MiniHBaseCluster cluster = UTIL.getHBaseCluster();
    HRegionServer added = cluster.startRegionServerAndWait(TIMEOUT_MILLIS).getRegionServer();
    for (RegionInfo region : UTIL.getAdmin().getRegions(table)) {
      UTIL.getAdmin().move(region.getEncodedNameAsBytes(), added.getServerName());
    }
    during(() -> {
      added.stop("for the test");
      cluster.waitForRegionServerToStop(added.getServerName(), TIMEOUT_MILLIS);
      UTIL.waitTableAvailable(table);
    });
  }

  @Test
  public void testTheCloseOfARegionInterruptsGetsWhoeverServesThem() throws Exception {
    Stuck.THREADS.clear();
    Stuck.INTERRUPTED.clear();
    Stuck.end = new CountDownLatch(1);
    Admin admin = UTIL.getAdmin();
    List<Get> gets = getsOfOneRegion();
    gets.forEach(get -> get.setFilter(new Stuck()));
    FutureTask<Result[]> answer = new FutureTask<>(() -> {
      try (Table each = UTIL.getConnection().getTable(table)) {
        return each.get(gets);
      }
    });
    new Thread(answer).start();
    try {
      UTIL.waitFor(TIMEOUT_MILLIS,
        () -> Stuck.THREADS.stream().anyMatch(TestParallelMultigetInCluster::isWorker)
          && !Stuck.THREADS.stream().allMatch(TestParallelMultigetInCluster::isWorker));
      byte[] region = admin.getRegions(table).get(0).getRegionName();
      admin.unassign(region, false);
      UTIL.waitFor(TIMEOUT_MILLIS, () -> Stuck.INTERRUPTED.containsAll(Stuck.THREADS));
      Stuck.end.countDown();
      admin.assign(region);
      Result[] results = answer.get(TIMEOUT_MILLIS, TimeUnit.MILLISECONDS);
      for (int i = 0; i < gets.size(); i++) {
        assertTrue(Bytes.startsWith(results[i].getValue(FAMILY, QUALIFIER), row(i)));
      }
    } finally {
      Stuck.end.countDown();
    }
    assertNothingIsRead();
    // The threads of the pool sleep until there is something to do.
    UTIL.waitFor(ASLEEP_MILLIS,
      () -> Thread.getAllStackTraces().keySet().stream()
        .filter(TestParallelMultigetInCluster::isWorker)
        .allMatch(thread -> thread.getState() == Thread.State.TIMED_WAITING));
  }

  /** Returns gets of all rows of the first region, in one multi. */
  private static List<Get> getsOfOneRegion() {
    List<Get> gets = new ArrayList<>();
    for (int i = 0; i < ROWS / 2; i++) {
      gets.add(new Get(row(i)));
    }
    return gets;
  }
}
