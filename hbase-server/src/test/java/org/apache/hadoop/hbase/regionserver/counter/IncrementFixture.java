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
package org.apache.hadoop.hbase.regionserver.counter;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.LongConsumer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.TableNameTestRule;
import org.apache.hadoop.hbase.Waiter;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.regionserver.ChunkCreator;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.MemStoreLAB;
import org.apache.hadoop.hbase.regionserver.RegionServerServices;
import org.apache.hadoop.hbase.regionserver.ServerNonceManager;
import org.apache.hadoop.hbase.regionserver.writegroup.WatchedWal;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.CommonFSUtils;
import org.apache.hadoop.hbase.wal.WALFactory;
import org.apache.hadoop.hbase.wal.WALKeyImpl;
import org.junit.After;
import org.junit.Before;
import org.junit.Rule;
import org.junit.runners.Parameterized;
import org.mockito.Mockito;

/**
 * A real region with a real WAL. The test holds the row's lock until all increments that are to
 * form a group wait for it.
 */
abstract class IncrementFixture {
  /** How the increments of a test are sent. */
  public enum Sending {
    /** Each in a thread of its own, which waits in the coalescer. */
    IN_THREADS {
      @Override
      IncrementSender sender(IncrementFixture fixture) {
        return new ThreadSender(fixture);
      }
    },
    /** As calls, which wait without a thread. */
    AS_CALLS {
      @Override
      IncrementSender sender(IncrementFixture fixture) {
        return new IncrementCallSender(fixture);
      }
    };

    abstract IncrementSender sender(IncrementFixture fixture);
  }

  static final byte[] F = Bytes.toBytes("f");
  static final byte[] G = Bytes.toBytes("g");
  static final byte[] VERSIONS = Bytes.toBytes("versions");
  static final byte[] Q = Bytes.toBytes("q");
  static final byte[] R = Bytes.toBytes("r");
  static final byte[] ROW = Bytes.toBytes("row");
  static final long CLIENT = 7;

  @Rule
  public final TableNameTestRule name = new TableNameTestRule();

  private final HBaseTestingUtility util = new HBaseTestingUtility();
  final Configuration conf = util.getConfiguration();
  final ExecutorService threads = Executors.newCachedThreadPool();
  /** Threads that do increments, and may be interrupted. */
  final List<Thread> running = new CopyOnWriteArrayList<>();
  final List<WALKeyImpl> appended = new ArrayList<>();
  final WatchedWal watched = new WatchedWal((info, key) -> {
    synchronized (appended) {
      appended.add(key);
    }
  });
  private WALFactory wals;
  ServerNonceManager nonces;
  RegionServerServices server;
  HRegion region;
  IncrementCoalescer coalescer;
  volatile LongConsumer nonceEnded = nonce -> {
  };
  long lastNonce;
  final IncrementSender sender;

  IncrementFixture(Sending sending) {
    sender = sending.sender(this);
  }

  @Parameterized.Parameters(name = "{0}")
  public static Sending[] sendings() {
    return Sending.values();
  }

  @Before
  public void setUp() throws Exception {
    conf.setBoolean(CoalescerSettings.ENABLED_KEY, true);
    open();
  }

  private void open() throws IOException {
    Path root = util.getDataTestDirOnTestFS(name.getTableName().getNameAsString());
    CommonFSUtils.setRootDir(conf, root);
    FileSystem fs = root.getFileSystem(conf);
    TableDescriptor table = TableDescriptorBuilder.newBuilder(name.getTableName())
      .setColumnFamily(ColumnFamilyDescriptorBuilder.of(F))
      .setColumnFamily(ColumnFamilyDescriptorBuilder.of(G))
      .setColumnFamily(
        ColumnFamilyDescriptorBuilder.newBuilder(VERSIONS).setMaxVersions(3).build())
      .build();
    RegionInfo info = RegionInfoBuilder.newBuilder(table.getTableName()).build();
    wals = new WALFactory(conf, name.getTableName().getNameAsString());
    nonces = new ServerNonceManager(conf) {
      @Override
      public void endOperation(long group, long nonce, boolean success) {
        super.endOperation(group, nonce, success);
        nonceEnded.accept(nonce);
      }
    };
    server = Mockito.spy(
      util.createMockRegionServerService(ServerName.valueOf("localhost", 1, 1)));
    Mockito.doReturn(nonces).when(server).getNonceManager();
    ChunkCreator.initialize(MemStoreLAB.CHUNK_SIZE_DEFAULT, false, 0, 0, 0, null,
      MemStoreLAB.INDEX_CHUNK_SIZE_PERCENTAGE_DEFAULT);
    HRegion.createHRegion(info, root, conf, table, wals.getWAL(info)).close();
    region =
      HRegion.openHRegion(root, info, table, watched.of(wals.getWAL(info)), conf, server, null);
    assertTrue(fs.exists(root));
    coalescer = new IncrementCoalescer(conf, server);
  }

  /** Opens the region again, with what the test has set meanwhile. */
  void reopen() throws IOException {
    region.close();
    wals.close();
    open();
  }

  @After
  public void tearDown() throws Exception {
    threads.shutdownNow();
    watched.failSyncs(null);
    watched.openGate();
    if (!region.isClosed()) {
      region.close();
    }
    wals.close();
    util.cleanupTestDir();
    assertEquals("rows that never ended", 0, coalescer.groups().rows());
    Waiter.waitFor(conf, 60_000, 1, () -> coalescer.groups().inFlight() == 0);
  }

  static Increment plus(long amount) {
    return new Increment(ROW).addColumn(F, Q, amount);
  }

  Future<Result> send(Increment increment) {
    return send(increment, ++lastNonce);
  }

  /** Sends an increment from a client. */
  final Future<Result> send(Increment increment, long nonce) {
    return sender.send(increment, nonce);
  }

  /** Sends an increment that is executed in a thread of its own, like those of batches. */
  final Future<Result> sendInThread(Increment increment, long nonce) {
    return threads.submit(() -> increment(increment, nonce));
  }

  Result increment(Increment increment, long nonce) throws IOException {
    running.add(Thread.currentThread());
    try {
      return coalescer.increment(region, increment, CLIENT, nonce);
    } finally {
      running.remove(Thread.currentThread());
    }
  }

  /** One increment that leads, and waits for the row as do all behind it. */
  Future<Result> sendFirst(Increment increment) throws Exception {
    long singles = CoalescerMetrics.register().singles();
    Future<Result> first = send(increment);
    Waiter.waitFor(conf, 60_000, 1, () -> CoalescerMetrics.register().singles() > singles);
    return first;
  }

  /** Sends one more and waits until it is in the queue, so that the order is known. */
  Future<Result> sendNext(Increment increment) throws Exception {
    int before = coalescer.groups().waiting();
    Future<Result> sent = send(increment);
    Waiter.waitFor(conf, 60_000, 1, () -> coalescer.groups().waiting() == before + 1);
    return sent;
  }

  static long value(Result result) {
    return Bytes.toLong(result.getValue(F, Q));
  }

  long stored() throws IOException {
    return value(region.get(new Get(ROW)));
  }

  int edits() {
    synchronized (appended) {
      return appended.size();
    }
  }

  void assertNoncesAreFree(long count) throws InterruptedException {
    for (long nonce = 1; nonce <= count; nonce++) {
      assertTrue("nonce " + nonce, nonces.startOperation(CLIENT, nonce, null));
      nonces.endOperation(CLIENT, nonce, false);
    }
  }

  /** Increments of other rows wait too, and are done together with those of the row. */
  void groupRows() {
    Configuration changed = new Configuration(conf);
    changed.set(CoalescerSettings.SCOPE_KEY, "region");
    coalescer.onConfigurationChange(changed);
  }

  /** One increment that leads for all rows, and is in the WAL until the gate opens. */
  Future<Result> sendFirstOfRegion(Increment increment) throws Exception {
    int before = edits();
    watched.closeGate();
    Future<Result> first = send(increment);
    Waiter.waitFor(conf, 60_000, 1, () -> edits() == before + 1);
    return first;
  }

  static Increment plus(String row, long amount) {
    return new Increment(Bytes.toBytes(row)).addColumn(F, Q, amount);
  }

  long stored(String row) throws IOException {
    return value(region.get(new Get(Bytes.toBytes(row))));
  }
}
