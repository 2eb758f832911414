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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.TableNameTestRule;
import org.apache.hadoop.hbase.Waiter;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Mutation;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.regionserver.writegroup.CallSender;
import org.apache.hadoop.hbase.regionserver.writegroup.WatchedWal;
import org.apache.hadoop.hbase.regionserver.writegroup.WriteGroupSettings;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.CommonFSUtils;
import org.apache.hadoop.hbase.wal.WAL;
import org.apache.hadoop.hbase.wal.WALFactory;
import org.junit.After;
import org.junit.Before;
import org.junit.Rule;

/** A region, two of other tables in the same WAL, and groups of writes to them. */
public abstract class MutationGroupsFixture {

  protected static final byte[] F = Bytes.toBytes("f");
  protected static final byte[] G = Bytes.toBytes("g");
  /** Of two cells with one timestamp, the one with the greater sequence id wins. */
  protected static final byte[] BY_SEQUENCE = Bytes.toBytes("s");
  protected static final byte[] Q = Bytes.toBytes("q");

  @Rule
  public final TableNameTestRule name = new TableNameTestRule();

  private final HBaseTestingUtility util = new HBaseTestingUtility();
  protected final Configuration conf = util.getConfiguration();
  protected final ExecutorService threads = Executors.newCachedThreadPool();
  protected final AtomicInteger edits = new AtomicInteger();
  protected final WatchedWal watched = new WatchedWal((info, key) -> appending(info));
  /** To which the WAL appends nothing. */
  protected final AtomicReference<HRegion> broken = new AtomicReference<>();
  private WALFactory wals;
  protected HRegion region;
  /** Of another table, in the same WAL: one before the region, and one after it. */
  protected final HRegion[] others = new HRegion[2];
  protected MutationGroups groups;
  protected CallSender calls;

  @Before
  public void setUp() throws IOException {
    conf.setBoolean(WriteGroupSettings.ENABLED_KEY, true);
    Path root = util.getDataTestDirOnTestFS(name.getTableName().getNameAsString());
    CommonFSUtils.setRootDir(conf, root);
    TableDescriptor table = TableDescriptorBuilder.newBuilder(name.getTableName())
      .setColumnFamily(ColumnFamilyDescriptorBuilder.of(F))
      .setColumnFamily(ColumnFamilyDescriptorBuilder.of(G))
      .setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(BY_SEQUENCE)
        .setNewVersionBehavior(true).build())
      .build();
    RegionInfo info =
      RegionInfoBuilder.newBuilder(table.getTableName()).setEndKey(Bytes.toBytes("z")).build();
    wals = new WALFactory(conf, name.getTableName().getNameAsString());
    ChunkCreator.initialize(MemStoreLAB.CHUNK_SIZE_DEFAULT, false, 0, 0, 0, null,
      MemStoreLAB.INDEX_CHUNK_SIZE_PERCENTAGE_DEFAULT);
    WAL wal = watched.of(wals.getWAL(info));
    region = HRegion.createHRegion(info, root, conf, table, wal);
    for (int i = 0; i < others.length; i++) {
      TableDescriptor other = TableDescriptorBuilder
        .newBuilder(TableName.valueOf((i == 0 ? "A" : "z") + table.getTableName()))
        .setColumnFamily(ColumnFamilyDescriptorBuilder.of(F)).build();
      others[i] = HRegion.createHRegion(
        RegionInfoBuilder.newBuilder(other.getTableName()).build(), root, conf, other, wal);
    }
    groups = new MutationGroups(conf, null, 1);
    calls = new CallSender(groups::groups, () -> region, threads);
  }

  private void appending(RegionInfo info) throws IOException {
    edits.incrementAndGet();
    HRegion failing = broken.get();
    if (failing != null && failing.getRegionInfo().equals(info)) {
      throw new IOException("no append");
    }
  }

  @After
  public void tearDown() throws Exception {
    watched.failSyncs(null);
    watched.openGate();
    threads.shutdown();
    assertTrue(threads.awaitTermination(60, TimeUnit.SECONDS));
    region.close();
    for (HRegion other : others) {
      other.close();
      assertEquals("locks that were never released", 0, other.getLockedRows().size());
    }
    wals.close();
    util.cleanupTestDir();
    assertEquals("queues that never ended", 0, groups.groups().rows());
    assertEquals(0, groups.groups().inFlight());
    assertEquals("locks that were never released", 0, region.getLockedRows().size());
  }

  protected static Put put(String row, String value) {
    return new Put(Bytes.toBytes(row)).addColumn(F, Q, Bytes.toBytes(value));
  }

  protected String stored(String row) throws IOException {
    return stored(region, row);
  }

  protected static String stored(HRegion region, String row) throws IOException {
    return Bytes.toString(region.get(new Get(Bytes.toBytes(row))).getValue(F, Q));
  }

  /** Sends as many writes as are appended by themselves while a sync lasts. */
  protected List<Future<Result>> sendFirst() throws Exception {
    watched.closeGate();
    List<Future<Result>> sent = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      int before = edits.get();
      sent.add(calls.send(put("first" + i, "v")));
      Waiter.waitFor(conf, 60_000, 1, () -> edits.get() == before + 1);
    }
    return sent;
  }

  protected Future<Result> sendNext(Mutation mutation) throws Exception {
    return sendNext(region, mutation);
  }

  protected Future<Result> sendNext(HRegion to, Mutation mutation) throws Exception {
    int before = groups.groups().waiting();
    Future<Result> sent = calls.send(to, mutation);
    Waiter.waitFor(conf, 60_000, 1, () -> groups.groups().waiting() == before + 1);
    return sent;
  }

  protected static void await(List<Future<Result>> sent) throws Exception {
    for (Future<Result> one : sent) {
      one.get(60, TimeUnit.SECONDS);
    }
  }

  protected static Throwable failure(Future<Result> sent) {
    return assertThrows(ExecutionException.class, () -> sent.get(60, TimeUnit.SECONDS)).getCause();
  }
}
