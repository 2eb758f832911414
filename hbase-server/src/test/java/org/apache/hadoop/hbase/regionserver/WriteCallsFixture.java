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
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.CallDroppedException;
import org.apache.hadoop.hbase.CallQueueTooBigException;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.TableNameTestRule;
import org.apache.hadoop.hbase.Waiter;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Mutation;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.ipc.CallRunner;
import org.apache.hadoop.hbase.ipc.RequestInterceptor;
import org.apache.hadoop.hbase.ipc.RpcCall;
import org.apache.hadoop.hbase.ipc.RpcScheduler;
import org.apache.hadoop.hbase.ipc.RpcServerInterface;
import org.apache.hadoop.hbase.monitoring.MonitoredRPCHandlerImpl;
import org.apache.hadoop.hbase.regionserver.write.MutationGroups;
import org.apache.hadoop.hbase.regionserver.write.WatchedWal;
import org.apache.hadoop.hbase.regionserver.write.WriteGroupSettings;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.CommonFSUtils;
import org.apache.hadoop.hbase.util.Pair;
import org.apache.hadoop.hbase.wal.WAL;
import org.apache.hadoop.hbase.wal.WALFactory;
import org.apache.hadoop.hbase.wal.WALKeyImpl;
import org.junit.After;
import org.junit.Before;
import org.junit.Rule;
import org.mockito.Mockito;

import org.apache.hbase.thirdparty.com.google.protobuf.Message;

import org.apache.hadoop.hbase.shaded.protobuf.ProtobufUtil;
import org.apache.hadoop.hbase.shaded.protobuf.RequestConverter;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.Action;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MultiRequest;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutateRequest;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutateResponse;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutationProto;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutationProto.MutationType;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.RegionAction;
import org.apache.hadoop.hbase.shaded.protobuf.generated.HBaseProtos.RegionSpecifier;
import org.apache.hadoop.hbase.shaded.protobuf.generated.HBaseProtos.RegionSpecifier.RegionSpecifierType;

/**
 * A region, two of other tables in the same WAL, and calls that write to them: dispatched as a
 * server does, and executed by the default number of handlers or by committers. A call here is the
 * server's own but for what the service does around the write.
 */
public abstract class WriteCallsFixture {
  protected static final byte[] F = Bytes.toBytes("f");
  protected static final byte[] G = Bytes.toBytes("g");
  protected static final byte[] Q = Bytes.toBytes("q");
  /** The nonce group of all calls. */
  protected static final long CLIENT = 77;
  /** How a row begins whose call fails before it has reached its region. */
  protected static final String FAILS = "fails";

  @Rule
  public final TableNameTestRule name = new TableNameTestRule();

  private final HBaseTestingUtility util = new HBaseTestingUtility();
  protected final Configuration conf = util.getConfiguration();
  protected final ExecutorService handlers =
    Executors.newFixedThreadPool(HConstants.DEFAULT_REGION_SERVER_HANDLER_COUNT);
  protected final AtomicInteger edits = new AtomicInteger();
  /** The keys of the edits. */
  protected final List<WALKeyImpl> keys = new CopyOnWriteArrayList<>();
  protected final WatchedWal watched = new WatchedWal(this::appending);
  /** The region to which the WAL appends nothing. */
  protected final AtomicReference<HRegion> broken = new AtomicReference<>();
  /** Calls that handlers have got, and what those of all calls together are accounted for. */
  protected final AtomicInteger handled = new AtomicInteger();
  private final AtomicInteger callBytes = new AtomicInteger();
  protected volatile boolean schedulerIsFull;
  protected volatile FlushType memory = FlushType.NORMAL;
  private final List<HRegion> regions = new ArrayList<>();
  private final ServerNonceManager nonces = new ServerNonceManager(conf);
  protected final HRegionServer server = server();
  protected final MetricsRegionServer meters = Mockito.mock(MetricsRegionServer.class);
  private WALFactory wals;
  private WAL wal;
  protected HRegion region;
  protected final HRegion[] others = new HRegion[2];
  protected MutationGroups groups;
  protected final List<RequestInterceptor> interceptors = new ArrayList<>();
  private RpcServerInterface rpc;

  @Before
  public void setUp() throws Exception {
    conf.setBoolean(WriteGroupSettings.ENABLED_KEY, true);
    conf.setInt(HConstants.REGION_SERVER_HANDLER_COUNT,
      HConstants.DEFAULT_REGION_SERVER_HANDLER_COUNT);
    Path root = util.getDataTestDirOnTestFS(name.getTableName().getNameAsString());
    CommonFSUtils.setRootDir(conf, root);
    TableDescriptor table = TableDescriptorBuilder.newBuilder(name.getTableName())
      .setColumnFamily(ColumnFamilyDescriptorBuilder.of(F))
      .setColumnFamily(ColumnFamilyDescriptorBuilder.of(G)).build();
    RegionInfo info =
      RegionInfoBuilder.newBuilder(table.getTableName()).setEndKey(Bytes.toBytes("z")).build();
    wals = new WALFactory(conf, name.getTableName().getNameAsString());
    ChunkCreator.initialize(MemStoreLAB.CHUNK_SIZE_DEFAULT, false, 0, 0, 0, null,
      MemStoreLAB.INDEX_CHUNK_SIZE_PERCENTAGE_DEFAULT);
    wal = watched.of(wals.getWAL(info));
    region = create(info, table);
    for (int i = 0; i < others.length; i++) {
      others[i] = create((i == 0 ? "A" : "z") + table.getTableName(),
        ColumnFamilyDescriptorBuilder.of(F));
    }
    groups = new MutationGroups(conf, server);
    interceptors.add(groups);
    rpc = rpcServer();
  }

  /** Returns a region of a table of its own, in the WAL of all. */
  protected HRegion create(String table, ColumnFamilyDescriptor family) throws IOException {
    TableDescriptor descriptor = TableDescriptorBuilder.newBuilder(TableName.valueOf(table))
      .setColumnFamily(family).build();
    return create(RegionInfoBuilder.newBuilder(descriptor.getTableName()).build(), descriptor);
  }

  private HRegion create(RegionInfo info, TableDescriptor table) throws IOException {
    HRegion created = HRegion.createHRegion(info, CommonFSUtils.getRootDir(conf), conf, table, wal,
      true, server);
    regions.add(created);
    return created;
  }

  private void appending(RegionInfo info, WALKeyImpl key) throws IOException {
    keys.add(key);
    edits.incrementAndGet();
    HRegion failing = broken.get();
    if (failing != null && failing.getRegionInfo().equals(info)) {
      throw new IOException("no append");
    }
  }

  private HRegionServer server() {
    RegionServerAccounting accounting = new RegionServerAccounting(conf) {
      @Override
      public FlushType isAboveHighWaterMark() {
        return memory;
      }
    };
    return Mockito.mock(HRegionServer.class,
      Mockito.withSettings().stubOnly().defaultAnswer(call -> {
      switch (call.getMethod().getName()) {
        case "getOnlineRegion":
          return online(call.getArgument(0));
        case "getRegionServerAccounting":
          return accounting;
        case "getConfiguration":
          return conf;
        case "getNonceManager":
          return nonces;
        case "getMetrics":
          return meters;
        case "getServerName":
          return ServerName.valueOf("localhost", 1, 1);
        default:
          return Mockito.RETURNS_DEFAULTS.answer(call);
      }
    }));
  }

  private HRegion online(byte[] regionName) {
    for (HRegion each : regions) {
      if (Arrays.equals(each.getRegionInfo().getRegionName(), regionName)) {
        return each;
      }
    }
    return null;
  }

  private RpcServerInterface rpcServer() {
    RpcScheduler scheduler = Mockito.mock(RpcScheduler.class,
      Mockito.withSettings().stubOnly().defaultAnswer(call -> dispatch(call.getArgument(0))));
    return Mockito.mock(RpcServerInterface.class,
      Mockito.withSettings().stubOnly().defaultAnswer(call -> {
        switch (call.getMethod().getName()) {
          case "isStarted":
            return true;
          case "getScheduler":
            return scheduler;
          case "addCallSize":
            callBytes.addAndGet((int) (long) call.<Long> getArgument(0));
            return null;
          case "call":
            return new Pair<>(execute(call.getArgument(0)), null);
          case "getMetrics":
            return Mockito.mock(org.apache.hadoop.hbase.ipc.MetricsHBaseServer.class);
          default:
            return null;
        }
      }));
  }

  private boolean dispatch(CallRunner call) {
    if (schedulerIsFull) {
      return false;
    }
    handlers.submit(() -> {
      handled.incrementAndGet();
      call.setStatus(new MonitoredRPCHandlerImpl("handler"));
      call.run();
    });
    return true;
  }

  /** Executes a write as the service does. */
  private Message execute(RpcCall call) throws IOException {
    if (call.getParam() instanceof MultiRequest) {
      RegionAction batch = ((MultiRequest) call.getParam()).getRegionAction(0);
      List<Mutation> mutations = new ArrayList<>();
      for (Action action : batch.getActionList()) {
        mutations.add(ProtobufUtil.toMutation(action.getMutation()));
      }
      OperationStatus[] statuses = groups.write(online(batch.getRegion().getValue().toByteArray()),
        mutations.toArray(new Mutation[0]), false, HConstants.NO_NONCE, HConstants.NO_NONCE);
      for (OperationStatus status : statuses) {
        if (status.getOperationStatusCode() != HConstants.OperationStatusCode.SUCCESS) {
          throw new IOException(status.getOperationStatusCode() + ": " + status.getExceptionMsg());
        }
      }
      return MutateResponse.getDefaultInstance();
    }
    MutateRequest request = (MutateRequest) call.getParam();
    MutationProto proto = request.getMutation();
    HRegion to = online(request.getRegion().getValue().toByteArray());
    if (proto.getRow().toStringUtf8().startsWith(FAILS)) {
      throw new IOException(FAILS);
    }
    if (proto.getMutateType() != MutationType.INCREMENT) {
      groups.write(to, ProtobufUtil.toMutation(proto));
      return MutateResponse.getDefaultInstance();
    }
    Result result = increment(to, ProtobufUtil.toIncrement(proto, null), proto.getNonce());
    return MutateResponse.newBuilder().setResult(ProtobufUtil.toResult(result)).build();
  }

  /** Executes an increment as the service does. */
  protected Result increment(HRegion to, Increment increment, long nonce) throws IOException {
    return to.increment(increment, CLIENT, nonce);
  }

  @After
  public void tearDown() throws Exception {
    watched.failSyncs(null);
    watched.openGate();
    handlers.shutdown();
    assertTrue(handlers.awaitTermination(60, TimeUnit.SECONDS));
    Waiter.waitFor(conf, 60_000, 1, () -> groups.waiting() == 0 && callBytes.get() == 0);
    for (HRegion each : regions) {
      each.close();
      assertEquals("locks that were never released", 0, each.getLockedRows().size());
    }
    groups.stop();
    wals.close();
    util.cleanupTestDir();
  }

  protected static Put put(String row, String value) {
    return new Put(Bytes.toBytes(row)).addColumn(F, Q, Bytes.toBytes(value));
  }

  protected String stored(String row) throws IOException {
    return stored(region, row);
  }

  protected static String stored(HRegion from, String row) throws IOException {
    return Bytes.toString(from.get(new Get(Bytes.toBytes(row))).getValue(F, Q));
  }

  private static RegionSpecifier specifier(HRegion to) {
    return RequestConverter.buildRegionSpecifier(RegionSpecifierType.REGION_NAME,
      to.getRegionInfo().getRegionName());
  }

  private static MutationProto proto(Mutation mutation, long nonce) throws IOException {
    return mutation instanceof Increment
      ? ProtobufUtil.toMutation(MutationType.INCREMENT, mutation, nonce)
      : ProtobufUtil.toMutation(
        mutation instanceof Delete ? MutationType.DELETE : MutationType.PUT, mutation);
  }

  protected Future<Result> send(Mutation mutation) throws IOException {
    return send(region, mutation);
  }

  protected Future<Result> send(HRegion to, Mutation mutation) throws IOException {
    return send(to, mutation, HConstants.NO_NONCE, HConstants.NORMAL_QOS, Long.MAX_VALUE);
  }

  protected Future<Result> send(HRegion to, Mutation mutation, long nonce, int priority,
    long deadline) throws IOException {
    return send(MutateRequest.newBuilder().setRegion(specifier(to)).setNonceGroup(CLIENT)
      .setMutation(proto(mutation, nonce)).build(), priority, deadline);
  }

  protected Future<Result> sendBatch(HRegion to, Mutation... mutations) throws IOException {
    RegionAction.Builder batch = RegionAction.newBuilder().setRegion(specifier(to));
    for (Mutation mutation : mutations) {
      batch.addAction(Action.newBuilder().setMutation(proto(mutation, HConstants.NO_NONCE)));
    }
    return send(MultiRequest.newBuilder().addRegionAction(batch).build(), HConstants.NORMAL_QOS,
      Long.MAX_VALUE);
  }

  /** Returns a server that is never short of memory, and of which nothing else is known. */
  public static RegionServerServices serverWithMemory() {
    RegionServerAccounting accounting =
      Mockito.mock(RegionServerAccounting.class, Mockito.withSettings().stubOnly());
    Mockito.when(accounting.isAboveHighWaterMark()).thenReturn(FlushType.NORMAL);
    RegionServerServices services =
      Mockito.mock(RegionServerServices.class, Mockito.withSettings().stubOnly());
    Mockito.when(services.getRegionServerAccounting()).thenReturn(accounting);
    return services;
  }

  /**
   * Returns a call without a connection, whose response goes to {@code answer}.
   * @param param null if nothing reads the request
   */
  public static RpcCall call(Message param, int priority, long deadline,
    BiConsumer<Message, Throwable> answer) {
    return Mockito.mock(RpcCall.class, Mockito.withSettings().stubOnly().defaultAnswer(method -> {
      switch (method.getMethod().getName()) {
        case "getParam":
          return param;
        case "getSize":
          return param == null ? 0 : (long) param.getSerializedSize();
        case "getDeadline":
          return deadline;
        case "getPriority":
          return priority;
        case "disconnectSince":
          return -1L;
        case "getRemoteAddress":
          return InetAddress.getLoopbackAddress();
        case "setResponse":
          answer.accept(method.getArgument(0), method.getArgument(2));
          return null;
        default:
          return Mockito.RETURNS_DEFAULTS.answer(method);
      }
    }));
  }

  private Future<Result> send(Message param, int priority, long deadline) {
    CompletableFuture<Result> answer = new CompletableFuture<>();
    RpcCall call = call(param, priority, deadline,
      (message, failure) -> answer(answer, message, failure));
    for (RequestInterceptor interceptor : interceptors) {
      RequestInterceptor.Outcome outcome = interceptor.dispatch(rpc, call);
      if (outcome == RequestInterceptor.Outcome.REFUSED) {
        // HBase does the same if the call queue is full.
        rpc.addCallSize(-call.getSize());
        answer.completeExceptionally(new CallQueueTooBigException());
      }
      if (outcome != RequestInterceptor.Outcome.NOT_TAKEN) {
        return answer;
      }
    }
    if (
      !dispatch(org.apache.hadoop.hbase.ipc.RequestInterceptors.runner(rpc, call))
    ) {
      rpc.addCallSize(-call.getSize());
      answer.completeExceptionally(new CallQueueTooBigException());
    }
    return answer;
  }

  private static void answer(CompletableFuture<Result> answer, Message message,
    Throwable failure) {
    if (failure != null) {
      answer.completeExceptionally(failure);
    } else {
      MutateResponse response = (MutateResponse) message;
      answer.complete(
        response.hasResult() ? ProtobufUtil.toResult(response.getResult()) : Result.EMPTY_RESULT);
    }
  }

  /** Sends as many writes as are appended by themselves while a sync lasts. */
  protected List<Future<Result>> sendFirst() throws Exception {
    watched.closeGate();
    List<Future<Result>> sent = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      int before = edits.get();
      sent.add(send(put("first" + i, "v")));
      awaitEdits(before + 1);
    }
    return sent;
  }

  protected void awaitEdits(int count) {
    Waiter.waitFor(conf, 60_000, 1, () -> edits.get() >= count);
  }

  protected static void await(List<Future<Result>> sent) throws Exception {
    for (Future<Result> one : sent) {
      one.get(60, TimeUnit.SECONDS);
    }
  }

  protected static Throwable failure(Future<Result> sent) {
    return assertThrows(ExecutionException.class, () -> sent.get(60, TimeUnit.SECONDS)).getCause();
  }

  /** Returns whether a call was refused because the server has too many. */
  protected static boolean isTooBusy(Throwable failure) {
    return failure instanceof CallQueueTooBigException || failure instanceof CallDroppedException;
  }
}
