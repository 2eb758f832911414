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

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.sdk.testing.junit4.OpenTelemetryRule;
import io.opentelemetry.sdk.trace.data.EventData;
import io.opentelemetry.sdk.trace.data.SpanData;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.DoNotRetryIOException;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.MiniHBaseCluster;
import org.apache.hadoop.hbase.StartMiniClusterOption;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
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
import org.apache.hadoop.hbase.ipc.RpcCall;
import org.apache.hadoop.hbase.ipc.RpcServer;
import org.apache.hadoop.hbase.monitoring.MonitoredRPCHandler;
import org.apache.hadoop.hbase.monitoring.TaskMonitor;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.regionserver.HStore;
import org.apache.hadoop.hbase.regionserver.HStoreFile;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.EnvironmentEdgeManager;
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
  @ClassRule
  public static final OpenTelemetryRule TRACES = OpenTelemetryRule.create();

  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final byte[] QUALIFIER = Bytes.toBytes("q");
  private static final String HELPER_PREFIX = "Multiget-";
  private static final int ROWS = 600;
  private static final int BATCH = 100;
  private static final int CLIENTS = 3;
  private static final int VALUE_BYTES = 200;
  private static final int BLOCK_BYTES = 2048;
  private static final long TIMEOUT_MILLIS = 120_000;
  private static final int RPC_MILLIS = 1000;
  /** Less than a thread of the pool stays without work. */
  private static final long ASLEEP_MILLIS = 40_000;
  /** How long a region that is to be closed waits before it interrupts the operations in it. */
  private static final int CLOSE_MILLIS = 500;

  private static final HBaseTestingUtility UTIL = new HBaseTestingUtility();
  private static TableName table;
  private static int tables;

  /** Notes who serves gets, and fails those of rows that it is told to. */
  public static class Watcher implements RegionCoprocessor, RegionObserver {
    static final Set<String> THREADS = ConcurrentHashMap.newKeySet();
    /** Gets of every so many rows fail, before or after the row is read. */
    static volatile int failing;
    /** How many gets have been begun. */
    static final AtomicInteger BEGUN = new AtomicInteger();
    /** What has to be true of a call for its gets to be served; null if nothing has. */
    static volatile Predicate<RpcCall> awaited;

    @Override
    public Optional<RegionObserver> getRegionObserver() {
      return Optional.of(this);
    }

    @Override
    public void preGetOp(ObserverContext<RegionCoprocessorEnvironment> c, Get get,
      List<Cell> result) throws IOException {
      THREADS.add(Thread.currentThread().getName());
      BEGUN.incrementAndGet();
      Predicate<RpcCall> condition = awaited;
      if (condition != null) {
        RpcCall call = RpcServer.getCurrentCall().get();
        UTIL.waitFor(TIMEOUT_MILLIS, 1, () -> condition.test(call));
      }
      fail(get, 1);
    }

    @Override
    public void postGetOp(ObserverContext<RegionCoprocessorEnvironment> c, Get get,
      List<Cell> result) throws IOException {
      fail(get, 2);
    }

    private static void fail(Get get, int rest) throws IOException {
      int each = failing;
      if (each > 0 && number(get.getRow()) % each == rest) {
        throw new DoNotRetryIOException("failed");
      }
    }

    static boolean sawHelpers() {
      return THREADS.stream().anyMatch(name -> name.startsWith(HELPER_PREFIX));
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
        if (isHelper(Thread.currentThread())) {
          // Like a read of a file, the filter leaves the thread interrupted.
          Thread.currentThread().interrupt();
        }
        throw (IOException) new InterruptedIOException().initCause(e);
      }
    }
  }

  private static boolean isHelper(Thread thread) {
    return thread.getName().startsWith(HELPER_PREFIX);
  }

  @BeforeClass
  public static void setUpBeforeClass() throws Exception {
    Configuration conf = UTIL.getConfiguration();
    conf.setBoolean(MultigetSettings.ENABLED_KEY, true);
    conf.setInt(MultigetSettings.THREADS_KEY, 4);
    conf.setInt(MultigetSettings.MIN_BATCH_KEY, 1);
    MultigetPool.ignoreCpuLoad(true);
    // HBase's default, of which tests have less: with it there are three call queues.
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
      .noneMatch(thread -> thread.getName().startsWith(HELPER_PREFIX)));
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
    Watcher.BEGUN.set(0);
  }

  @After
  public void tearDown() throws Exception {
    Watcher.failing = 0;
    Watcher.awaited = null;
    UTIL.deleteTable(table);
  }

  private static byte[] row(int i) {
    return Bytes.toBytes(String.format("row-%06d", i));
  }

  private static int number(byte[] row) {
    return Integer.parseInt(Bytes.toString(row).substring("row-".length()));
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
    assertTrue("served by " + Watcher.THREADS, Watcher.sawHelpers());
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

  /** Rows of several families and store files, and batches around a window. */
  @Test
  public void testMoreClientsThanHandlersAreServed() throws Exception {
    TableName wide = TableName.valueOf("wide");
    List<byte[]> families =
      Arrays.asList(Bytes.toBytes("f"), Bytes.toBytes("g"), Bytes.toBytes("h"));
    TableDescriptorBuilder descriptor =
      TableDescriptorBuilder.newBuilder(wide).setCoprocessor(Watcher.class.getName());
    families.forEach(family -> descriptor.setColumnFamily(
      ColumnFamilyDescriptorBuilder.newBuilder(family).setBlocksize(BLOCK_BYTES).build()));
    UTIL.getAdmin().createTable(descriptor.build(),
      new byte[][] { row(100), row(200), row(300), row(400), row(500) });
    ExecutorService clients = Executors.newCachedThreadPool();
    try (Table to = UTIL.getConnection().getTable(wide)) {
      for (int file = 0; file < 3; file++) {
        List<Put> puts = new ArrayList<>();
        for (int i = 0; i < ROWS; i++) {
          Put put = new Put(row(i));
          for (byte[] family : families) {
            put.addColumn(family, Bytes.toBytes(file), row(i));
          }
          puts.add(put);
        }
        to.put(puts);
        UTIL.flush(wide);
      }
      List<Future<?>> ends = new ArrayList<>();
      CountDownLatch all = new CountDownLatch(1);
      for (int c = 0; c < HConstants.DEFAULT_REGION_SERVER_HANDLER_COUNT + 3; c++) {
        Random random = new Random(c);
        ends.add(clients.submit(() -> {
          all.await();
          try (Table from = UTIL.getConnection().getTable(wide)) {
            for (int size : new int[] { 1, 64, 65, 37 }) {
              List<Get> gets = new ArrayList<>();
              for (int i = 0; i < size; i++) {
                gets.add(new Get(row(random.nextInt(ROWS))));
              }
              Result[] results = from.get(gets);
              for (int i = 0; i < size; i++) {
                assertEquals(9, results[i].size());
                assertArrayEquals(gets.get(i).getRow(),
                  results[i].getValue(families.get(2), Bytes.toBytes(2)));
              }
            }
          }
          return null;
        }));
      }
      all.countDown();
      for (Future<?> end : ends) {
        end.get(TIMEOUT_MILLIS, TimeUnit.MILLISECONDS);
      }
    } finally {
      clients.shutdownNow();
      UTIL.deleteTable(wide);
    }
    assertTrue("served by " + Watcher.THREADS, Watcher.sawHelpers());
  }

  @Test
  public void testRegionsCloseAndOpen() throws Exception {
    Admin admin = UTIL.getAdmin();
    during(() -> {
      for (int round = 0; round < 2; round++) {
        for (RegionInfo region : admin.getRegions(table)) {
          admin.unassign(region.getRegionName(), false);
          admin.assign(region.getRegionName());
        }
        UTIL.waitTableAvailable(table);
      }
    });
  }

  @Test
  public void testRegionsMove() throws Exception {
    Admin admin = UTIL.getAdmin();
    MiniHBaseCluster cluster = UTIL.getHBaseCluster();
    during(() -> {
      for (int round = 0; round < 2; round++) {
        for (RegionInfo region : admin.getRegions(table)) {
          int from = cluster.getServerWith(region.getRegionName());
          admin.move(region.getEncodedNameAsBytes(),
            cluster.getRegionServer(1 - from).getServerName());
        }
      }
    });
  }

  @Test
  public void testARegionIsSplit() throws Exception {
    Admin admin = UTIL.getAdmin();
    during(() -> {
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
        () -> Stuck.THREADS.stream().anyMatch(TestParallelMultigetInCluster::isHelper)
          && !Stuck.THREADS.stream().allMatch(TestParallelMultigetInCluster::isHelper));
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
    // And those of the pool sleep until there is something to do.
    UTIL.waitFor(ASLEEP_MILLIS,
      () -> Thread.getAllStackTraces().keySet().stream()
        .filter(TestParallelMultigetInCluster::isHelper)
        .allMatch(thread -> thread.getState() == Thread.State.TIMED_WAITING));
  }

  /** Does something until threads of the pool have helped. */
  private static void untilHelped(Event event) throws Exception {
    UTIL.waitFor(TIMEOUT_MILLIS, () -> {
      Watcher.THREADS.clear();
      event.happen();
      return Watcher.sawHelpers();
    });
  }

  @Test
  public void testNothingStaysOpenBehindGetsThatFail() throws Exception {
    Watcher.failing = 7;
    List<Get> gets = new ArrayList<>();
    for (int i = 0; i < ROWS; i++) {
      gets.add(new Get(row(i)));
    }
    untilHelped(() -> {
      Object[] results = new Object[ROWS];
      try (Table each = UTIL.getConnection().getTable(table)) {
        each.batch(gets, results);
        throw new AssertionError("Nothing failed");
      } catch (IOException e) {
        assertTrue(e.toString(), e.getMessage().contains("failed"));
      }
      for (int i = 0; i < ROWS; i++) {
        assertEquals("row " + i, i % 7 == 1 || i % 7 == 2, results[i] instanceof Throwable);
      }
    });
    assertNothingIsRead();
  }

  /** Returns gets of all rows of the first region, in one multi. */
  private static List<Get> getsOfOneRegion() {
    List<Get> gets = new ArrayList<>();
    for (int i = 0; i < ROWS / 2; i++) {
      gets.add(new Get(row(i)));
    }
    return gets;
  }

  private static void waitUntilNoMultiIsServed() {
    UTIL.waitFor(TIMEOUT_MILLIS, () -> TaskMonitor.get().getTasks().stream()
      .filter(task -> task instanceof MonitoredRPCHandler).map(MonitoredRPCHandler.class::cast)
      .noneMatch(task -> task.isRPCRunning() && task.getRPC().startsWith("Multi")));
  }

  @Test
  public void testNothingMoreIsBegunForAClientThatHasGone() throws Exception {
    Watcher.awaited = call -> call.disconnectSince() >= 0;
    // A connection waits ten seconds for threads of its own before it closes.
    ExecutorService threads = Executors.newCachedThreadPool();
    Connection connection =
      ConnectionFactory.createConnection(UTIL.getConfiguration(), threads);
    Thread client = new Thread(() -> {
      try (Table each = connection.getTable(table)) {
        each.get(getsOfOneRegion());
      } catch (IOException | RuntimeException e) {
        // The request fails when its connection is closed.
      }
    });
    client.start();
    UTIL.waitFor(TIMEOUT_MILLIS, () -> Watcher.BEGUN.get() > 0);
    connection.close();
    client.join();
    threads.shutdownNow();
    waitUntilNoMultiIsServed();
    int begun = Watcher.BEGUN.get();
    assertTrue("begun " + begun, begun <= ParallelGets.WINDOW);
    assertNothingIsRead();
  }

  @Test
  public void testNothingMoreIsBegunAfterTheDeadline() throws Exception {
    Watcher.awaited = call -> EnvironmentEdgeManager.currentTime() > call.getDeadline();
    Configuration once = new Configuration(UTIL.getConfiguration());
    once.setInt(HConstants.HBASE_CLIENT_RETRIES_NUMBER, 0);
    AtomicInteger multis = new AtomicInteger();
    try (Connection connection = ConnectionFactory.createConnection(once)) {
      // The timeout is for the multi only.
      connection.getRegionLocator(table).getAllRegionLocations();
      try (Table each =
        connection.getTableBuilder(table, null).setReadRpcTimeout(RPC_MILLIS).build()) {
        // One that takes longer to come to a handler is not begun at all.
        UTIL.waitFor(TIMEOUT_MILLIS, () -> {
          multis.incrementAndGet();
          assertThrows(IOException.class, () -> each.get(getsOfOneRegion()));
          waitUntilNoMultiIsServed();
          return Watcher.BEGUN.get() > 0;
        });
      }
    }
    int begun = Watcher.BEGUN.get();
    assertTrue("begun " + begun, begun <= multis.get() * ParallelGets.WINDOW);
    assertNothingIsRead();
  }

  @Test
  public void testSpansOfGetsAreThoseOfTheirRequest() throws Exception {
    try (Table each = UTIL.getConnection().getTable(table)) {
      Random random = new Random(1);
      untilHelped(() -> {
        TRACES.clearSpans();
        multiget(each, random);
      });
    }
    assertEquals(BATCH, reads().size());
    assertEquals("One request for each region", 2, requests().size());
  }

  /** Returns the servers' spans that all of the reads' spans belong to. */
  private static List<SpanData> requests() {
    Set<String> parents =
      reads().stream().map(SpanData::getParentSpanId).collect(Collectors.toSet());
    List<SpanData> requests = new ArrayList<>();
    // A server's span may end after its client has the response.
    UTIL.waitFor(TIMEOUT_MILLIS, () -> {
      requests.clear();
      TRACES.getSpans().stream().filter(span -> span.getKind() == SpanKind.SERVER)
        .filter(span -> parents.contains(span.getSpanId())).forEach(requests::add);
      return requests.size() == parents.size();
    });
    return requests;
  }

  /** What the table's scanners were opened for since the traces were cleared. */
  private static List<SpanData> reads() {
    return TRACES.getSpans().stream().filter(span -> span.getName().equals("Region.getScanner"))
      .filter(span -> span.getAttributes().toString().contains("[" + table + ","))
      .collect(Collectors.toList());
  }

  @Test
  public void testABlockThatRowsShareIsReadOnce() throws Exception {
    List<Get> gets = new ArrayList<>();
    // Backwards, as a get looks at the row behind its own as well.
    for (int i = ROWS - 1; i >= 0; i--) {
      gets.add(new Get(row(i)));
    }
    TRACES.clearSpans();
    try (Table each = UTIL.getConnection().getTable(table)) {
      each.get(gets);
    }
    Set<String> missed = new HashSet<>();
    int read = 0;
    List<SpanData> spans = requests();
    spans.addAll(reads());
    for (SpanData span : spans) {
      assertEquals(span.getTotalRecordedEvents(), span.getEvents().size());
      for (EventData event : span.getEvents()) {
        if (event.getName().equals("block cache miss")) {
          missed.add(event.getAttributes().toString());
        } else if (event.getName().equals("Read block")) {
          read++;
        }
      }
    }
    assertEquals(ROWS, reads().size());
    assertTrue("missed " + missed.size(), missed.size() >= ROWS * VALUE_BYTES / BLOCK_BYTES);
    assertTrue("missed " + missed.size(), missed.size() < ROWS / 3);
    assertEquals(missed.size(), read);
  }
}
