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
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellScanner;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.CompatibilityFactory;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.StartMiniClusterOption;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Append;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Mutation;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.coprocessor.MultiRowMutationEndpoint;
import org.apache.hadoop.hbase.coprocessor.ObserverContext;
import org.apache.hadoop.hbase.coprocessor.RegionCoprocessor;
import org.apache.hadoop.hbase.coprocessor.RegionCoprocessorEnvironment;
import org.apache.hadoop.hbase.coprocessor.RegionObserver;
import org.apache.hadoop.hbase.filter.ColumnCountGetFilter;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.CachedBlock;
import org.apache.hadoop.hbase.io.hfile.bucket.BucketCache;
import org.apache.hadoop.hbase.ipc.HBaseRpcController;
import org.apache.hadoop.hbase.ipc.HBaseRpcControllerImpl;
import org.apache.hadoop.hbase.ipc.RpcServer;
import org.apache.hadoop.hbase.metrics.BaseSource;
import org.apache.hadoop.hbase.metrics.Counter;
import org.apache.hadoop.hbase.metrics.Histogram;
import org.apache.hadoop.hbase.metrics.Meter;
import org.apache.hadoop.hbase.metrics.Metric;
import org.apache.hadoop.hbase.metrics.MetricRegistries;
import org.apache.hadoop.hbase.metrics.MetricRegistry;
import org.apache.hadoop.hbase.protobuf.generated.MultiRowMutationProtos.MutateRowsRequest;
import org.apache.hadoop.hbase.quotas.ChargedQuota;
import org.apache.hadoop.hbase.quotas.QuotaUtil;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.regionserver.HStore;
import org.apache.hadoop.hbase.regionserver.HStoreFile;
import org.apache.hadoop.hbase.regionserver.MetricsUserAggregateFactory;
import org.apache.hadoop.hbase.regionserver.MetricsUserAggregateSource;
import org.apache.hadoop.hbase.regionserver.MetricsUserSource;
import org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException;
import org.apache.hadoop.hbase.regionserver.metrics.MetricsTableRequests;
import org.apache.hadoop.hbase.security.User;
import org.apache.hadoop.hbase.test.MetricsAssertHelper;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.AfterClass;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

import org.apache.hbase.thirdparty.com.google.protobuf.ByteString;

import org.apache.hadoop.hbase.shaded.protobuf.ProtobufUtil;
import org.apache.hadoop.hbase.shaded.protobuf.RequestConverter;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.Action;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.CoprocessorServiceCall;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MultiRequest;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MultiResponse;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutationProto.MutationType;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.RegionAction;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.RegionActionResult;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.ResultOrException;
import org.apache.hadoop.hbase.shaded.protobuf.generated.HBaseProtos.NameBytesPair;
import org.apache.hadoop.hbase.shaded.protobuf.generated.HBaseProtos.RegionSpecifier.RegionSpecifierType;

/**
 * Two servers, two tables with the same rows, the same multis to both: the server that serves gets
 * by several threads has to answer, count and charge as the other one does.
 * There are as many rounds of 100 multis as <code>-Dmultiget.rounds</code> says, at least six, of
 * which one is limited by the quota.
 */
@Category({ RegionServerTests.class, LargeTests.class })
public class TestParallelMultigetEqualsSerial {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestParallelMultigetEqualsSerial.class);

  private static final int ROUNDS = Integer.getInteger("multiget.rounds", 2);
  private static final int MULTIS = 100;
  /** Each so many rounds one is of big rows. */
  private static final int BIG_EACH = 5;
  private static final int SMALL_ROWS = 400;
  private static final int BIG_ROWS = 200;
  private static final int BIG_ROW = 8000;
  /** What a response and its blocks may take: fifty big rows, but more than any of small ones. */
  private static final int MAX_RESULT_SIZE = 600_000;
  private static final long FIRST_SEQUENCE_NUMBER = 1000;
  private static final byte[] DATA = Bytes.toBytes("d");
  /** What is written without a time stamp of the test's. */
  private static final byte[] COUNTERS = Bytes.toBytes("n");
  private static final byte[] QUALIFIER = Bytes.toBytes("q");
  private static final byte[] SPLIT = Bytes.toBytes("small-0200");
  /** Begins the names of totals of what has been read, whether it was returned or not. */
  private static final String READ = "read: ";
  private static final Pattern TIMESTAMP = Pattern.compile("timestamp: \\d+");
  private static final Pattern REGION = Pattern.compile("[0-9a-f]{32}");
  private static final Pattern REGION_TIME = Pattern.compile(",\\d{13}\\.");
  private static final String TOO_LARGE = "MultiActionResultTooLarge";
  /** Nothing is scanned, and HBase gives units of multigets back. */
  private static final Set<String> NOTHING_OF =
    new HashSet<>(Arrays.asList("table: scanTime", "quota: units read", "quota: atomic units read",
      READ + "rows filtered", READ + "client filtered localhost"));

  private static final MetricsAssertHelper METRICS =
    CompatibilityFactory.getInstance(MetricsAssertHelper.class);
  private static final HBaseTestingUtility UTIL = new HBaseTestingUtility();
  private static Side serial;
  private static Side parallel;

  /** Fails some gets, and sees to it that they take their time. */
  public static class Disturbance implements RegionCoprocessor, RegionObserver {
    static final AtomicInteger GETS = new AtomicInteger();

    @Override
    public Optional<RegionObserver> getRegionObserver() {
      return Optional.of(this);
    }

    @Override
    public void preGetOp(ObserverContext<RegionCoprocessorEnvironment> c, Get get,
      List<Cell> result) throws IOException {
      GETS.incrementAndGet();
      String user = userOf(c.getEnvironment().getRegionInfo().getTable());
      assertEquals(user, c.getCaller().get().getShortName());
      assertEquals(user, RpcServer.getRequestUserName().get());
      if (ThreadLocalRandom.current().nextInt(20) == 0) {
        Thread.yield();
      }
      byte[] wish = get.getAttribute("fail");
      if (wish != null) {
        throw new IOException("as wished: " + Bytes.toString(wish));
      }
    }
  }

  private static String userOf(TableName table) {
    return "user" + table.getQualifierAsString();
  }

  /** A server with a table and a user of its own. */
  private static final class Side {
    private final HRegionServer server;
    private final TableName table;
    private final User user;
    private final List<HRegion> regions = new ArrayList<>();
    private ChargedQuota quota;
    private int readUntilAnswered;

    Side(int server, String table) {
      this.server = UTIL.getMiniHBaseCluster().getRegionServer(server);
      this.table = TableName.valueOf(table);
      user = User.createUserForTesting(new Configuration(false), userOf(this.table), new String[0]);
    }

    void create() throws Exception {
      Admin admin = UTIL.getAdmin();
      admin.createTable(TableDescriptorBuilder.newBuilder(table)
        .setCoprocessor(Disturbance.class.getName())
        .setCoprocessor(MultiRowMutationEndpoint.class.getName())
        .setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(DATA).setBlocksize(1024)
          .setMaxVersions(3).build())
        .setColumnFamily(
          ColumnFamilyDescriptorBuilder.newBuilder(COUNTERS).setBlocksize(1024).build())
        .build(), new byte[][] { SPLIT });
      for (RegionInfo region : admin.getRegions(table)) {
        admin.move(region.getEncodedNameAsBytes(), server.getServerName());
      }
      UTIL.waitFor(60_000, () -> server.getRegions(table).size() == 2);
      // A region that is closed takes the table's metrics along, which those that stay have begun.
      admin.disableTable(table);
      admin.enableTable(table);
      UTIL.waitFor(60_000, () -> server.getRegions(table).size() == 2);
      for (RegionInfo region : admin.getRegions(table)) {
        HRegion opened = server.getRegion(region.getEncodedName());
        // Sequence numbers are part of a block, and their lengths of its size.
        opened.getMVCC().advanceTo(FIRST_SEQUENCE_NUMBER);
        regions.add(opened);
      }
    }

    /** Returns what is answered to a multi, in words that say nothing of the side. */
    List<String> multi(List<List<Action>> actions) throws Exception {
      MultiRequest.Builder request = MultiRequest.newBuilder();
      for (int i = 0; i < regions.size(); i++) {
        request.addRegionAction(RegionAction.newBuilder()
          .setRegion(RequestConverter.buildRegionSpecifier(RegionSpecifierType.REGION_NAME,
            regions.get(i).getRegionInfo().getRegionName()))
          .addAllAction(actions.get(i)));
      }
      HBaseRpcController controller = new HBaseRpcControllerImpl();
      ServedMulti call = ServedMulti.of(user);
      RpcServer.setCurrentCall(call);
      try {
        MultiResponse response = server.getRSRpcServices().multi(controller, request.build());
        List<String> words = new ArrayList<>();
        describe(response, controller.cellScanner(), words);
        words.add("cells " + call.getResponseCellSize() + ", blocks "
          + call.getBlockBytesScanned());
        readUntilAnswered += isRead() ? 1 : 0;
        return words;
      } finally {
        RpcServer.unsetCurrentCall();
        call.end();
        assertFalse(isRead());
      }
    }

    /** Returns whether a scanner of the table is open. */
    private boolean isRead() {
      return regions.stream().map(HRegion::getStores).flatMap(List::stream)
        .map(HStore::getStorefiles).flatMap(Collection::stream)
        .anyMatch(HStoreFile::isReferencedInReads);
    }

    /** Returns what this side has counted and charged so far. */
    Map<String, Long> totals() {
      Map<String, Long> totals = new TreeMap<>();
      totals.put(READ + "rows", sum(HRegion::getReadRequestsCount));
      totals.put(READ + "rows filtered", sum(HRegion::getFilteredReadRequestsCount));
      totals.put("rows written", sum(HRegion::getWriteRequestsCount));
      MetricRegistry ofTable = MetricRegistries.global()
        .get(regions.get(0).getMetricsTableRequests().getMetricRegistryInfo()).get();
      for (String name : new String[] { "getTime", "getBlockBytesScanned", "blockBytesScannedCount",
        "incrementTime", "incrementBlockBytesScanned", "appendTime", "appendBlockBytesScanned",
        "putBatchTime", "deleteBatchTime", "scanTime", "tableWriteQueryPerSecond" }) {
        totals.put("table: " + name, count(ofTable, name));
      }
      totals.put(READ + "table", count(ofTable, "tableReadQueryPerSecond"));
      MetricsUserAggregateSource users =
        server.getMetrics().getMetricsUserAggregate().getSource();
      for (String name : new String[] { "get_num_ops", "increment_num_ops", "append_num_ops",
        "blockBytesScannedCount" }) {
        String ofUser = "user_" + user.getShortName() + "_metric_" + name;
        totals.put("user: " + name,
          METRICS.checkCounterExists(ofUser, users) ? METRICS.getCounter(ofUser, users) : 0);
      }
      MetricsUserSource ownUser = users.getUserSources().get(user.getShortName());
      if (ownUser != null) {
        ownUser.getClientMetrics().values().forEach(client -> {
          totals.put(READ + "client " + client.getHostName(), client.getReadRequestsCount());
          totals.put(READ + "client filtered " + client.getHostName(),
            client.getFilteredReadRequests());
          totals.put("client written " + client.getHostName(), client.getWriteRequestsCount());
        });
      }
      quota.charges().forEach((what, amount) -> totals.put("quota: " + what, amount));
      BaseSource rpc = server.getRpcServer().getMetrics().getMetricsSource();
      totals.put("too large", METRICS.getCounter("exceptions.multiResponseTooLarge", rpc));
      return totals;
    }

    private long sum(ToLongFunction<HRegion> count) {
      return regions.stream().mapToLong(count).sum();
    }

    private static long count(MetricRegistry registry, String name) {
      Metric metric = registry.get(name).get();
      if (metric instanceof Histogram) {
        return ((Histogram) metric).getCount();
      }
      return metric instanceof Meter ? ((Meter) metric).getCount() : ((Counter) metric).getCount();
    }

    private void describe(MultiResponse response, CellScanner cells, List<String> words)
      throws IOException {
      for (RegionActionResult region : response.getRegionActionResultList()) {
        words.add("region " + region.getProcessed() + " " + describe(region.getException()));
        for (ResultOrException answer : region.getResultOrExceptionList()) {
          words.add(answer.getIndex() + " " + describe(answer.getException()) + " "
            + TIMESTAMP.matcher(answer.getResult().toString()).replaceAll("") + " "
            + answer.getServiceResult() + answer.getMetrics());
          for (int i = 0; i < answer.getResult().getAssociatedCellCount(); i++) {
            assertTrue(cells.advance());
            words.add(describe(cells.current()));
          }
        }
      }
      assertTrue("no cell is left over", cells == null || !cells.advance());
    }

    private String describe(NameBytesPair exception) {
      String text = exception.getValue().toStringUtf8();
      int end = text.indexOf('\n');
      String line =
        (end < 0 ? text : text.substring(0, end)).replace(table.getNameAsString(), "TABLE");
      return exception.getName() + " "
        + REGION_TIME.matcher(REGION.matcher(line).replaceAll("REGION")).replaceAll(",TIME.");
    }

    private String describe(Cell cell) {
      boolean counter = CellUtil.matchingFamily(cell, COUNTERS);
      return Bytes.toStringBinary(CellUtil.cloneRow(cell)) + "/"
        + Bytes.toStringBinary(CellUtil.cloneFamily(cell)) + ":"
        + Bytes.toStringBinary(CellUtil.cloneQualifier(cell)) + "/" + cell.getType() + "/"
        + (counter ? "" : cell.getTimestamp()) + "="
        + Bytes.toStringBinary(CellUtil.cloneValue(cell));
    }
  }

  @BeforeClass
  public static void setUpBeforeClass() throws Exception {
    Configuration conf = UTIL.getConfiguration();
    // Tests have fewer by default: with HBase's own number there are three call queues.
    conf.setInt(HConstants.REGION_SERVER_HANDLER_COUNT,
      HConstants.DEFAULT_REGION_SERVER_HANDLER_COUNT);
    conf.set(HConstants.BUCKET_CACHE_IOENGINE_KEY, "offheap");
    conf.setInt(HConstants.BUCKET_CACHE_SIZE_KEY, 48);
    conf.setInt(HConstants.HBASE_SERVER_SCANNER_MAX_RESULT_SIZE_KEY, MAX_RESULT_SIZE);
    conf.setBoolean(QuotaUtil.QUOTA_CONF_KEY, true);
    conf.setBoolean(MetricsUserAggregateFactory.METRIC_USER_ENABLED_CONF, true);
    conf.setBoolean(MetricsTableRequests.ENABLE_TABLE_LATENCIES_METRICS_KEY, true);
    conf.setBoolean(MetricsTableRequests.ENABLE_TABLE_QUERY_METER_METRICS_KEY, true);
    METRICS.init();
    MultigetPool.ignoreCpuLoad(true);
    UTIL.startMiniCluster(StartMiniClusterOption.builder().numRegionServers(2).build());
    UTIL.getAdmin().balancerSwitch(false, true);
    serial = new Side(0, "table-a");
    parallel = new Side(1, "table-b");
    serial.create();
    parallel.create();
    Configuration on = parallel.server.getConfiguration();
    on.setBoolean(MultigetSettings.ENABLED_KEY, true);
    on.setInt(MultigetSettings.THREADS_KEY, 3);
    on.setInt(MultigetSettings.MIN_BATCH_KEY, 1);
    UTIL.getAdmin().updateConfiguration(parallel.server.getServerName());
    load();
    for (Side side : new Side[] { serial, parallel }) {
      side.quota = ChargedQuota.of(side.user, side.server.getRegionServerRpcQuotaManager());
    }
  }

  @AfterClass
  public static void tearDownAfterClass() throws Exception {
    UTIL.shutdownMiniCluster();
    MultigetPool.ignoreCpuLoad(false);
  }

  private static byte[] smallRow(int i) {
    return Bytes.toBytes(String.format("small-%04d", i));
  }

  private static byte[] bigRow(int i) {
    return Bytes.toBytes(String.format("big-%04d", i));
  }

  private static void load() throws Exception {
    Random random = new Random(5);
    for (int i = 0; i < SMALL_ROWS; i++) {
      byte[] value = new byte[60];
      random.nextBytes(value);
      put(new Put(smallRow(i)).addColumn(DATA, QUALIFIER, 1L, value)
        .addColumn(DATA, Bytes.toBytes("r"), 1L, value)
        .addColumn(COUNTERS, QUALIFIER, 1L, Bytes.toBytes(1L)));
    }
    for (int i = 0; i < BIG_ROWS; i++) {
      byte[] value = new byte[BIG_ROW];
      random.nextBytes(value);
      put(new Put(bigRow(i)).addColumn(DATA, QUALIFIER, 1L, value));
    }
    for (Side side : new Side[] { serial, parallel }) {
      for (HRegion region : side.regions) {
        region.flush(true);
      }
    }
  }

  private static void put(Put put) throws IOException {
    for (Side side : new Side[] { serial, parallel }) {
      side.regions.get(regionOf(put.getRow())).put(put);
    }
  }

  private static int regionOf(byte[] row) {
    return Bytes.compareTo(row, SPLIT) < 0 ? 0 : 1;
  }

  private static void add(List<List<Action>> actions, byte[] row, Action.Builder action) {
    List<Action> ofRegion = actions.get(regionOf(row));
    ofRegion.add(action.setIndex(ofRegion.size()).build());
  }

  private static Action.Builder action(MutationType type, Mutation mutation) throws IOException {
    return Action.newBuilder().setMutation(ProtobufUtil.toMutation(type, mutation));
  }

  /** Gets of rows so large that not all of them find room in the response. */
  private static void addBig(List<List<Action>> actions, Random random) throws IOException {
    byte[] row = bigRow(random.nextInt(BIG_ROWS));
    add(actions, row, Action.newBuilder().setGet(ProtobufUtil.toGet(new Get(row))));
  }

  private static void addSmall(List<List<Action>> actions, Random random, int failures, long time)
    throws IOException {
    byte[] row = smallRow(random.nextInt(SMALL_ROWS + 20));
    int kind = random.nextInt(100);
    if (kind < 10) {
      add(actions, row, action(MutationType.PUT,
        new Put(row).addColumn(DATA, QUALIFIER, time, Bytes.toBytes(random.nextInt()))));
    } else if (kind < 14) {
      add(actions, row,
        action(MutationType.DELETE, new Delete(row).addColumn(DATA, QUALIFIER, time)));
    } else if (kind < 18) {
      add(actions, row,
        action(MutationType.INCREMENT, new Increment(row).addColumn(COUNTERS, QUALIFIER, 3)));
    } else if (kind < 20) {
      add(actions, row, action(MutationType.APPEND,
        new Append(row).addColumn(COUNTERS, Bytes.toBytes("a"), Bytes.toBytes("x"))));
    } else if (kind < 22) {
      addServiceCall(actions, row, time);
    } else if (kind < 22 + failures) {
      addFailure(actions, random, row, time);
    } else {
      add(actions, row, Action.newBuilder().setGet(ProtobufUtil.toGet(get(random, row))));
    }
  }

  /** A service that writes at once, and gets before and behind it. */
  private static void addServiceCall(List<List<Action>> actions, byte[] row, long time)
    throws IOException {
    Put put = new Put(row).addColumn(DATA, QUALIFIER, time, Bytes.toBytes(time));
    MutateRowsRequest request = MutateRowsRequest.newBuilder()
      .addMutationRequest(org.apache.hadoop.hbase.protobuf.ProtobufUtil.toMutation(
        org.apache.hadoop.hbase.protobuf.generated.ClientProtos.MutationProto.MutationType.PUT,
        put))
      .build();
    Action.Builder get = Action.newBuilder().setGet(ProtobufUtil.toGet(new Get(row)));
    add(actions, row, get);
    add(actions, row, Action.newBuilder()
      .setServiceCall(CoprocessorServiceCall.newBuilder().setRow(ByteString.copyFrom(row))
        .setServiceName("MultiRowMutationService").setMethodName("MutateRows")
        .setRequest(ByteString.copyFrom(request.toByteArray()))));
    add(actions, row, get);
  }

  private static Get get(Random random, byte[] row) throws IOException {
    Get get = new Get(row);
    switch (random.nextInt(8)) {
      case 0:
        return get.addColumn(DATA, QUALIFIER);
      case 1:
        return get.readVersions(3);
      case 2:
        return get.setFilter(new ColumnCountGetFilter(1));
      case 3:
        get.setCheckExistenceOnly(true);
        return get;
      case 4:
        get.setQueryMetricsEnabled(true);
        return get;
      case 5:
        return get.addFamily(COUNTERS).setCacheBlocks(false);
      default:
        return get;
    }
  }

  private static void addFailure(List<List<Action>> actions, Random random, byte[] row, long time)
    throws IOException {
    Get get = new Get(row);
    switch (random.nextInt(6)) {
      case 0:
        add(actions, row, Action.newBuilder()
          .setGet(ProtobufUtil.toGet(get.addFamily(Bytes.toBytes("missing")))));
        return;
      case 1:
        get.setAttribute("fail", row);
        add(actions, row, Action.newBuilder().setGet(ProtobufUtil.toGet(get)));
        return;
      case 2:
        // What asynchbase asks first.
        add(actions, row, Action.newBuilder()
          .setGet(ProtobufUtil.toGet(get).toBuilder().setClosestRowBefore(true)));
        return;
      case 3:
        add(actions, row, Action.newBuilder()
          .setServiceCall(CoprocessorServiceCall.newBuilder().setRow(ByteString.copyFrom(row))
            .setServiceName("none").setMethodName("none").setRequest(ByteString.EMPTY)));
        return;
      case 4:
        // The row is in the other region.
        byte[] other = regionOf(row) == 0 ? smallRow(SMALL_ROWS - 1) : smallRow(0);
        add(actions, row, Action.newBuilder().setGet(ProtobufUtil.toGet(new Get(other))));
        return;
      default:
        // The cell is not a number.
        add(actions, row, action(MutationType.INCREMENT,
          new Increment(row).addColumn(COUNTERS, Bytes.toBytes("a"), 1)));
    }
  }

  /** Returns multis of big rows alone, or of all that may be asked of small ones. */
  private static List<List<List<Action>>> multis(Random random, int round) throws IOException {
    List<List<List<Action>>> multis = new ArrayList<>();
    for (int i = 0; i < MULTIS; i++) {
      List<List<Action>> actions = new ArrayList<>();
      actions.add(new ArrayList<>());
      actions.add(new ArrayList<>());
      int failures = i % 3 == 0 ? 8 : 0;
      for (int left = 1 + random.nextInt(120); left > 0; left--) {
        if (round % BIG_EACH == 0) {
          addBig(actions, random);
        } else {
          addSmall(actions, random, failures, 10 + MULTIS * round + i);
        }
      }
      multis.add(actions);
    }
    return multis;
  }

  private static List<List<String>> answers(Side side, List<List<List<Action>>> multis)
    throws Exception {
    List<List<String>> answers = new ArrayList<>();
    for (List<List<Action>> each : multis) {
      answers.add(side.multi(each));
    }
    return answers;
  }

  /**
   * Returns what both servers have counted beside what tables have: no more in the end than at
   * first. Tables of HBase's own, on either server, are read at any time, and count a get before
   * that.
   */
  private static Map<String, Long> ofServersOnly() {
    Map<String, Long> all = new TreeMap<>();
    all.put("gets", ofServersOnly("get_num_ops", "getTime"));
    all.put("bytes of gets",
      ofServersOnly("getBlockBytesScanned_num_ops", "getBlockBytesScanned"));
    all.put("bytes", ofServersOnly("blockBytesScannedCount", "blockBytesScannedCount"));
    return all;
  }

  private static long ofServersOnly(String name, String nameOfTables) {
    return METRICS.getCounter(name, serial.server.getMetrics().getMetricsSource())
      + METRICS.getCounter(name, parallel.server.getMetrics().getMetricsSource())
      - MetricRegistries.global().getMetricRegistries().stream()
        .filter(registry -> registry.getMetricRegistryInfo().getMetricsName()
          .startsWith("TableRequests_Namespace_"))
        .mapToLong(registry -> Side.count(registry, nameOfTables)).sum();
  }

  /** Returns a value that is constant for some time. */
  private static <T> T settled(Supplier<T> look) throws Exception {
    AtomicReference<T> last = new AtomicReference<>(look.get());
    AtomicInteger same = new AtomicInteger();
    UTIL.waitFor(60_000, 10, () -> {
      T now = look.get();
      same.set(now.equals(last.getAndSet(now)) ? same.get() + 1 : 0);
      return same.get() == 20;
    });
    return last.get();
  }

  private static Map<String, Long> growth(Map<String, Long> before, Map<String, Long> after) {
    Map<String, Long> growth = new TreeMap<>();
    after.forEach((name, total) -> growth.put(name, total - before.getOrDefault(name, 0L)));
    return growth;
  }

  private static int with(String word, List<List<String>> answers) {
    return (int) answers.stream()
      .filter(words -> words.stream().anyMatch(each -> each.contains(word))).count();
  }

  @Test
  public void testAllMultisAreAnsweredCountedAndChargedAlike() throws Exception {
    int tooLarge = 0;
    int failed = 0;
    int services = 0;
    Random random = new Random(42);
    Map<String, Long> all = new TreeMap<>();
    Map<String, Long> ofServersBefore = settled(TestParallelMultigetEqualsSerial::ofServersOnly);
    for (int round = 0; round < ROUNDS; round++) {
      List<List<List<Action>>> multis = multis(random, round);
      // What the quota leaves is a limit of the response as well.
      long available = round == BIG_EACH ? MAX_RESULT_SIZE / 2 : Long.MAX_VALUE;
      serial.quota.setAvailable(available);
      parallel.quota.setAvailable(available);
      Map<String, Long> before = serial.totals();
      List<List<String>> expected = answers(serial, multis);
      Map<String, Long> expectedTotals = growth(before, serial.totals());
      before = parallel.totals();
      List<List<String>> answered = answers(parallel, multis);
      Map<String, Long> totals = growth(before, parallel.totals());
      for (int i = 0; i < MULTIS; i++) {
        assertEquals("round " + round + ", multi " + i, String.join("\n", expected.get(i)),
          String.join("\n", answered.get(i)));
      }
      assertEquals(expectedTotals.keySet(), totals.keySet());
      int tooLargeHere = with(TOO_LARGE, expected);
      for (Map.Entry<String, Long> each : expectedTotals.entrySet()) {
        String name = each.getKey();
        long more = totals.get(name) - each.getValue();
        // What was begun when the response was found too large has been read and dropped.
        long inVain = name.startsWith(READ) ? (long) ParallelGets.WINDOW * tooLargeHere : 0;
        assertTrue("round " + round + ", " + name + " " + each.getValue() + " and " + more,
          more >= 0 && more <= inVain);
        all.merge(name, each.getValue(), Long::sum);
      }
      tooLarge += tooLargeHere;
      failed += with(NoSuchColumnFamilyException.class.getName(), expected);
      services += with("MutateRowsResponse", expected);
    }
    int count = ROUNDS * MULTIS;
    assertTrue("too large " + tooLarge, tooLarge > count / 50);
    assertTrue("failed " + failed, failed > count / 50);
    assertTrue("services " + services, services > count / 50);
    assertTrue(Disturbance.GETS.get() > count);
    assertTrue(workerGets() > count);
    assertTrue(all.toString(), NOTHING_OF.containsAll(all.keySet().stream()
      .filter(name -> all.get(name) == 0).collect(Collectors.toSet())));
    assertEquals(ofServersBefore, settled(TestParallelMultigetEqualsSerial::ofServersOnly));
    assertEquals(all.get("table: getTime"), all.get("user: get_num_ops"));
    assertTrue(serial.readUntilAnswered > count / 2);
    assertTrue(parallel.readUntilAnswered > count / 2);
    assertNothingIsHeld();
  }

  private static long workerGets() {
    MetricRegistry registry = MetricRegistries.global().get(MultigetMetrics.INFO).get();
    return ((Counter) registry.get("HelperGetCount").get()).getCount();
  }

  /** All scanners were closed, so that no block is held by any but the cache. */
  private void assertNothingIsHeld() {
    for (Side side : new Side[] { serial, parallel }) {
      BucketCache cache =
        (BucketCache) side.server.getBlockCache().get().getBlockCaches()[1];
      int blocks = 0;
      for (CachedBlock block : cache) {
        blocks++;
        assertEquals(block.toString(), 0,
          cache.getRpcRefCount(new BlockCacheKey(block.getFilename(), block.getOffset())));
      }
      assertTrue(blocks > BIG_ROWS);
    }
  }
}
