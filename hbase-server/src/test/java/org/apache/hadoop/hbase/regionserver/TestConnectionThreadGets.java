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
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.AsyncConnection;
import org.apache.hadoop.hbase.client.AsyncTable;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.CoprocessorDescriptorBuilder;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.coprocessor.ObserverContext;
import org.apache.hadoop.hbase.coprocessor.RegionCoprocessor;
import org.apache.hadoop.hbase.coprocessor.RegionCoprocessorEnvironment;
import org.apache.hadoop.hbase.coprocessor.RegionObserver;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.ipc.HBaseRpcController;
import org.apache.hadoop.hbase.ipc.HBaseRpcControllerImpl;
import org.apache.hadoop.hbase.ipc.RpcClient;
import org.apache.hadoop.hbase.ipc.RpcClientFactory;
import org.apache.hadoop.hbase.ipc.RpcServer;
import org.apache.hadoop.hbase.metrics.Counter;
import org.apache.hadoop.hbase.metrics.MetricRegistries;
import org.apache.hadoop.hbase.regionserver.read.PointGetSettings;
import org.apache.hadoop.hbase.security.User;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.HFileTestUtil;
import org.apache.hadoop.hbase.util.Pair;
import org.junit.AfterClass;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

import org.apache.hbase.thirdparty.com.google.protobuf.ByteString;
import org.apache.hbase.thirdparty.com.google.protobuf.ServiceException;

import org.apache.hadoop.hbase.shaded.protobuf.ProtobufUtil;
import org.apache.hadoop.hbase.shaded.protobuf.RequestConverter;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.ClientService;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.GetRequest;

/** Gets that are answered by the threads of their connections, beside those that cannot be. */
@Category({ RegionServerTests.class, LargeTests.class })
public class TestConnectionThreadGets {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestConnectionThreadGets.class);

  private static final byte[][] FAMILIES = { Bytes.toBytes("f"), Bytes.toBytes("g") };
  private static final byte[] COLUMN = Bytes.toBytes("c");
  private static final int ROWS = 50;
  private static final int MAX_IN_ROW = 3;
  /** The time that a rename in a slow file system may take. */
  private static final int RENAME_MS = 10_000;

  private static final HBaseTestingUtility UTIL = new HBaseTestingUtility();
  private static AsyncConnection connection;

  /** Remembers the threads that serve gets. */
  public static final class GetHook implements RegionCoprocessor, RegionObserver {
    static final Set<String> THREADS = ConcurrentHashMap.newKeySet();

    @Override
    public Optional<RegionObserver> getRegionObserver() {
      return Optional.of(this);
    }

    @Override
    public void preGetOp(ObserverContext<RegionCoprocessorEnvironment> context, Get get,
      List<Cell> result) {
      assertTrue(RpcServer.getCurrentCall().isPresent());
      THREADS.add(Thread.currentThread().getName());
    }
  }

  @BeforeClass
  public static void setUp() throws Exception {
    Configuration conf = UTIL.getConfiguration();
    conf.setBoolean(PointGetSettings.ENABLED_KEY, true);
    conf.setInt(PointGetSettings.ON_CONNECTION_THREAD_KEY, MAX_IN_ROW);
    UTIL.startMiniCluster(1);
    connection = ConnectionFactory.createAsyncConnection(conf).get();
  }

  @AfterClass
  public static void tearDown() throws Exception {
    connection.close();
    UTIL.shutdownMiniCluster();
  }

  private static byte[] row(int number) {
    return Bytes.toBytes(String.format("row%03d", number));
  }

  private static void load(TableName name) throws IOException {
    try (Table table = UTIL.getConnection().getTable(name)) {
      for (int row = 0; row < ROWS; row++) {
        Put put = new Put(row(row));
        for (byte[] family : FAMILIES) {
          put.addColumn(family, COLUMN, row(row));
        }
        table.put(put);
      }
      UTIL.flush(name);
      for (int row = 0; row < ROWS; row++) {
        check(table.get(new Get(row(row))), row);
      }
    }
  }

  private static void check(Result result, int row) {
    for (byte[] family : FAMILIES) {
      assertEquals(Bytes.toString(row(row)), Bytes.toString(result.getValue(family, COLUMN)));
    }
  }

  private static HRegion region(TableName name) {
    return UTIL.getHBaseCluster().getRegions(name).get(0);
  }

  private static long count(String metric) {
    return MetricRegistries.global().getMetricRegistries().stream()
      .filter(registry -> registry.getMetricRegistryInfo().getMetricsName().equals("PointGet"))
      .mapToLong(registry -> ((Counter) registry.get(metric).get()).getCount()).sum();
  }

  private static void awaitNothingHeld(TableName name) throws Exception {
    HRegion region = region(name);
    UTIL.waitFor(120_000, () -> region.scannerReadPoints.isEmpty());
    assertEquals(0, region.getReadLockCount());
    for (HStore store : region.getStores()) {
      for (HStoreFile file : store.getStorefiles()) {
        UTIL.waitFor(120_000, () -> file.getRefCount() == 0);
      }
    }
  }

  @Test
  public void testGetsFromMemory() throws Exception {
    TableName name = TableName.valueOf("memory");
    UTIL.createTable(name, FAMILIES).close();
    load(name);
    HRegion region = region(name);
    long reads = region.getReadRequestsCount();
    long answered = count("ConnectionThreadGetCount");
    long calls = count("PointGetCount");
    AsyncTable<?> table = connection.getTable(name);
    for (int row = 0; row < ROWS; row++) {
      check(table.get(new Get(row(row))).get(1, TimeUnit.MINUTES), row);
    }
    assertTrue(table.get(new Get(Bytes.toBytes("none"))).get().isEmpty());
    assertTrue(table.exists(new Get(row(1))).get());
    assertFalse(table.exists(new Get(Bytes.toBytes("none"))).get());
    assertEquals(answered + ROWS + 3, count("ConnectionThreadGetCount"));
    assertEquals(calls + ROWS + 3, count("PointGetCount"));
    assertEquals(reads + ROWS + 3, region.getReadRequestsCount());
    awaitNothingHeld(name);
  }

  /** One connection sends more than its thread may answer in a row, and writes between. */
  @Test
  public void testManyOfOneConnection() throws Exception {
    TableName name = TableName.valueOf("many");
    UTIL.createTable(name, FAMILIES).close();
    load(name);
    long answered = count("ConnectionThreadGetCount");
    long calls = count("PointGetCount");
    AsyncTable<?> table = connection.getTable(name);
    int rounds = 40;
    for (int round = 0; round < rounds; round++) {
      List<CompletableFuture<Result>> gets = new ArrayList<>();
      List<CompletableFuture<Void>> puts = new ArrayList<>();
      for (int row = 0; row < ROWS; row++) {
        gets.add(table.get(new Get(row(row))));
        if (row % 7 == 0) {
          puts.add(table.put(new Put(row(row)).addColumn(FAMILIES[0], COLUMN, row(row))));
        }
      }
      for (int row = 0; row < ROWS; row++) {
        check(gets.get(row).get(1, TimeUnit.MINUTES), row);
      }
      for (CompletableFuture<Void> put : puts) {
        put.get(1, TimeUnit.MINUTES);
      }
    }
    long byConnection = count("ConnectionThreadGetCount") - answered;
    assertEquals(rounds * ROWS, count("PointGetCount") - calls);
    assertTrue("some: " + byConnection, byConnection > rounds);
    assertTrue("not all: " + byConnection, byConnection < rounds * ROWS);
    awaitNothingHeld(name);
  }

  @Test
  public void testBlockThatIsNotCachedIsReadByAHandler() throws Exception {
    TableName name = TableName.valueOf("evicted");
    UTIL.createTable(name, FAMILIES).close();
    load(name);
    BlockCache cache = UTIL.getHBaseCluster().getRegionServer(0).getBlockCache().get();
    AsyncTable<?> table = connection.getTable(name);
    for (HStore store : region(name).getStores()) {
      for (HStoreFile file : store.getStorefiles()) {
        cache.evictBlocksByHfileName(file.getPath().getName());
        long answered = count("ConnectionThreadGetCount");
        long missed = count("ConnectionThreadMissCount");
        check(table.get(new Get(row(1))).get(1, TimeUnit.MINUTES), 1);
        assertEquals(answered, count("ConnectionThreadGetCount"));
        assertEquals(missed + 1, count("ConnectionThreadMissCount"));
        check(table.get(new Get(row(1))).get(1, TimeUnit.MINUTES), 1);
        assertEquals(answered + 1, count("ConnectionThreadGetCount"));
      }
    }
    awaitNothingHeld(name);
  }

  @Test
  public void testHooksRunInHandlers() throws Exception {
    TableName name = TableName.valueOf("hooks");
    TableDescriptorBuilder builder = TableDescriptorBuilder.newBuilder(name)
      .setCoprocessor(CoprocessorDescriptorBuilder.newBuilder(GetHook.class.getName()).build());
    for (byte[] family : FAMILIES) {
      builder.setColumnFamily(ColumnFamilyDescriptorBuilder.of(family));
    }
    UTIL.getAdmin().createTable(builder.build());
    load(name);
    long answered = count("ConnectionThreadGetCount");
    check(connection.getTable(name).get(new Get(row(1))).get(1, TimeUnit.MINUTES), 1);
    assertEquals(answered, count("ConnectionThreadGetCount"));
    assertFalse(GetHook.THREADS.isEmpty());
    for (String thread : GetHook.THREADS) {
      assertTrue(thread, thread.contains("handler"));
    }
  }

  /** HBase's own client refuses such a get itself. */
  @Test
  public void testGetThatCannotBeParsedIsAnsweredWithItsError() throws Exception {
    TableName name = TableName.valueOf("unparsable");
    UTIL.createTable(name, FAMILIES).close();
    load(name);
    byte[] region = region(name).getRegionInfo().getRegionName();
    GetRequest good = RequestConverter.buildGetRequest(region, new Get(row(1)));
    GetRequest empty = good.toBuilder().setGet(good.getGet().toBuilder().setRow(ByteString.EMPTY))
      .build();
    Configuration conf = UTIL.getConfiguration();
    HRegionServer server = UTIL.getHBaseCluster().getRegionServer(0);
    try (RpcClient client =
      RpcClientFactory.createClient(conf, UTIL.getHBaseCluster().getClusterMetrics()
        .getClusterId())) {
      ClientService.BlockingInterface stub = ClientService.newBlockingStub(client
        .createBlockingRpcChannel(server.getServerName(), User.getCurrent(), 60_000));
      ServiceException e = assertThrows(ServiceException.class, () -> stub.get(null, empty));
      assertTrue(String.valueOf(e.getCause()), String.valueOf(e.getCause())
        .contains(IllegalArgumentException.class.getName()));
      HBaseRpcController controller = new HBaseRpcControllerImpl();
      check(ProtobufUtil.toResult(stub.get(controller, good).getResult(),
        controller.cellScanner()), 1);
    }
    awaitNothingHeld(name);
  }

  /** A bulk load of two families has the region's write lock while it renames files. */
  @Test
  public void testBulkLoadDoesNotHoldUpConnection() throws Exception {
    TableName name = TableName.valueOf("loaded");
    TableName other = TableName.valueOf("other");
    for (TableName each : Arrays.asList(name, other)) {
      UTIL.createTable(each, FAMILIES).close();
      load(each);
    }
    HRegion region = region(name);
    List<Pair<byte[], String>> files = new ArrayList<>();
    for (byte[] family : FAMILIES) {
      Path path = new Path(UTIL.getDataTestDirOnTestFS("load"), Bytes.toString(family) + "/file");
      HFileTestUtil.createHFile(UTIL.getConfiguration(), UTIL.getTestFileSystem(), path, family,
        COLUMN, Bytes.toBytes("s"), Bytes.toBytes("t"), 10);
      files.add(new Pair<>(family, path.toString()));
    }
    CountDownLatch renaming = new CountDownLatch(1);
    CountDownLatch renamed = new CountDownLatch(1);
    CompletableFuture<Void> load = CompletableFuture.runAsync(() -> {
      try {
        region.bulkLoadHFiles(files, true, listener(renaming, renamed));
      } catch (IOException e) {
        throw new IllegalStateException(e);
      }
    });
    assertTrue(renaming.await(1, TimeUnit.MINUTES));
    List<CompletableFuture<Result>> waiting = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      waiting.add(connection.getTable(name).get(new Get(row(i))));
    }
    for (int row = 0; row < ROWS; row++) {
      check(connection.getTable(other).get(new Get(row(row))).get(RENAME_MS / 2,
        TimeUnit.MILLISECONDS), row);
    }
    assertFalse("the load still has its lock", load.isDone());
    renamed.countDown();
    load.get(1, TimeUnit.MINUTES);
    for (int i = 0; i < waiting.size(); i++) {
      check(waiting.get(i).get(1, TimeUnit.MINUTES), i);
    }
    awaitNothingHeld(name);
  }

  private static HRegion.BulkLoadListener listener(CountDownLatch renaming,
    CountDownLatch renamed) {
    return new HRegion.BulkLoadListener() {
      @Override
      public String prepareBulkLoad(byte[] family, String path, boolean copy, String staging)
        throws IOException {
        renaming.countDown();
        try {
          renamed.await(RENAME_MS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
          throw new IOException(e);
        }
        return path;
      }

      @Override
      public void doneBulkLoad(byte[] family, String path) {
      }

      @Override
      public void failedBulkLoad(byte[] family, String path) {
      }
    };
  }
}
