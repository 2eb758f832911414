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

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellScanner;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.KeepDeletedCells;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.SharedCluster;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ClusterConnection;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.ConnectionUtils;
import org.apache.hadoop.hbase.client.NonceGenerator;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.apache.hadoop.hbase.protobuf.ReplicationProtbufUtil;
import org.apache.hadoop.hbase.regionserver.WriteHistory.Client;
import org.apache.hadoop.hbase.regionserver.wal.AbstractFSWAL;
import org.apache.hadoop.hbase.replication.regionserver.ReplicationSink;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.CommonFSUtils;
import org.apache.hadoop.hbase.util.EnvironmentEdgeManager;
import org.apache.hadoop.hbase.util.FSUtils;
import org.apache.hadoop.hbase.util.Pair;
import org.apache.hadoop.hbase.wal.AbstractFSWALProvider;
import org.apache.hadoop.hbase.wal.WAL;
import org.apache.hadoop.hbase.wal.WALEdit;
import org.apache.hadoop.hbase.wal.WALFactory;
import org.apache.hadoop.hbase.wal.WALKeyImpl;
import org.apache.hadoop.hbase.wal.WALSplitUtil;
import org.apache.hadoop.hbase.wal.WALSplitter;
import org.apache.hadoop.hbase.wal.WALStreamReader;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.apache.hadoop.hbase.shaded.protobuf.generated.AdminProtos.ReplicateWALEntryRequest;

/**
 * Random operations of all kinds by more clients than a server has handlers, on a few rows that all
 * clients write. Results and rows equal those of a region that executes the operations one by one,
 * in the order of the WAL: in the table, after a replay of the WAL, and in a table to which the WAL
 * is replicated. The number of operations is <code>writegroups.operations</code>, the seed
 * <code>writegroups.seed</code>.
 */
@Category({ RegionServerTests.class, MediumTests.class })
public class TestWriteGroupsEqualHistories {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestWriteGroupsEqualHistories.class);

  private static final Logger LOG = LoggerFactory.getLogger(TestWriteGroupsEqualHistories.class);
  private static final int OPERATIONS = Integer.getInteger("writegroups.operations", 5_000);
  private static final long SEED = Long.getLong("writegroups.seed", System.nanoTime());
  private static final int CLIENTS = 64;
  /** The number of edits that are replicated with one call. */
  private static final int REPLICATED_EDITS = 300;
  private static final TableName TABLE = TableName.valueOf("shared-rows");
  private static final TableName PEER = TableName.valueOf("shared-rows-peer");

  private final ExecutorService clients = Executors.newFixedThreadPool(CLIENTS);
  private HBaseTestingUtility util;
  private FileSystem fs;
  private TableDescriptor descriptor;
  private NonceGenerator nonces;
  private final List<HRegion> regions = new ArrayList<>();
  private final List<Closeable> wals = new ArrayList<>();

  @Before
  public void setUp() throws Exception {
    util = SharedCluster.util();
    fs = util.getTestFileSystem();
    descriptor = create(TABLE);
    create(PEER);
  }

  @After
  public void tearDown() throws Exception {
    clients.shutdownNow();
    EnvironmentEdgeManager.reset();
    if (nonces != null) {
      inject(nonces);
    }
    for (HRegion region : regions) {
      region.close(true);
    }
    for (Closeable wal : wals) {
      wal.close();
    }
    util.deleteTable(TABLE);
    util.deleteTable(PEER);
  }

  private TableDescriptor create(TableName name) throws IOException {
    TableDescriptor table = TableDescriptorBuilder.newBuilder(name)
      .setColumnFamily(family(WriteHistory.VERSIONS))
      .setColumnFamily(ColumnFamilyDescriptorBuilder.of(WriteHistory.LATEST))
      .setColumnFamily(family(WriteHistory.MARKS)).build();
    util.getAdmin().createTable(table, new byte[][] { WriteHistory.SPLIT });
    return table;
  }

  /** Flushes must not remove cells that the separate region keeps. */
  private static ColumnFamilyDescriptor family(byte[] name) {
    return ColumnFamilyDescriptorBuilder.newBuilder(name).setMaxVersions(Integer.MAX_VALUE)
      .setKeepDeletedCells(KeepDeletedCells.TRUE).build();
  }

  private NonceGenerator inject(NonceGenerator next) throws IOException {
    return ConnectionUtils
      .injectNonceGeneratorForTesting((ClusterConnection) util.getConnection(), next);
  }

  private void move(HRegionServer server) throws Exception {
    for (RegionInfo region : util.getAdmin().getRegions(TABLE)) {
      if (server.getOnlineRegion(region.getRegionName()) == null) {
        util.getAdmin().move(region.getEncodedNameAsBytes(), server.getServerName());
      }
    }
    util.waitFor(60_000, () -> server.getRegions(TABLE).size() == 2);
  }

  private List<Client> write(WriteHistory history) throws Exception {
    List<Client> all = new ArrayList<>();
    try (Table table = util.getConnection().getTable(TABLE)) {
      nonces = inject(history);
      List<Future<Void>> running = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        Client client = history.new Client(table, i, OPERATIONS / CLIENTS, SEED);
        all.add(client);
        running.add(clients.submit(client));
      }
      for (Future<Void> one : running) {
        one.get();
      }
    }
    return all;
  }

  /** Returns the closed files of the WAL, from the first one on. */
  private List<FileStatus> files(AbstractFSWAL<?> wal, Path first) throws IOException {
    util.waitFor(60_000, () -> wal.getInflightWALCloseCount() == 0);
    List<FileStatus> files = new ArrayList<>();
    for (FileStatus file : fs.listStatus(first.getParent())) {
      Path path = file.getPath();
      if (
        !AbstractFSWALProvider.isMetaFile(path) && !path.equals(wal.getCurrentFileName())
          && path.compareTo(first) >= 0
      ) {
        files.add(file);
      }
    }
    Collections.sort(files);
    return files;
  }

  private List<WAL.Entry> edits(List<FileStatus> files) throws IOException {
    List<WAL.Entry> edits = new ArrayList<>();
    for (FileStatus file : files) {
      try (WALStreamReader reader =
        WALFactory.createStreamReader(fs, file.getPath(), util.getConfiguration())) {
        for (WAL.Entry edit; (edit = reader.next()) != null;) {
          if (edit.getKey().getTableName().equals(TABLE) && !edit.getEdit().isMetaEdit()) {
            edits.add(edit);
          }
        }
      }
    }
    return edits;
  }

  private HRegion serial() throws IOException {
    Configuration conf = new HBaseTestingUtility().getConfiguration();
    HRegion serial =
      HBaseTestingUtility.createRegionAndWAL(RegionInfoBuilder.newBuilder(TABLE).build(),
        util.getDataTestDir("serial"), conf, descriptor, BlockCacheFactory.createBlockCache(conf));
    regions.add(serial);
    wals.add(serial.getWAL());
    return serial;
  }

  /** Returns regions that have replayed the files, as after the death of the server. */
  private List<HRegion> replay(List<FileStatus> files, boolean toHFiles) throws IOException {
    Configuration conf = new Configuration(util.getConfiguration());
    conf.setBoolean(WALSplitter.WAL_SPLIT_TO_HFILE, toHFiles);
    Path root = util.getDataTestDirOnTestFS("replay-" + toHFiles + "-" + UUID.randomUUID());
    CommonFSUtils.setRootDir(conf, root);
    CommonFSUtils.setWALRootDir(conf, root);
    WALFactory factory = new WALFactory(conf, "replay");
    wals.add(factory::close);
    List<RegionInfo> infos = util.getAdmin().getRegions(TABLE);
    for (RegionInfo info : infos) {
      HRegionFileSystem.createRegionOnFileSystem(conf, fs, CommonFSUtils.getTableDir(root, TABLE),
        info);
    }
    for (FileStatus file : files) {
      assertTrue(
        WALSplitter.splitLogFile(root, file, fs, conf, null, null, null, factory, null));
    }
    List<HRegion> replayed = new ArrayList<>();
    for (RegionInfo info : infos) {
      assertEquals(toHFiles, WALSplitUtil.getSplitEditFilesSorted(fs,
        FSUtils.getRegionDirFromRootDir(root, info)).isEmpty());
      HRegion region =
        HRegion.openHRegion(conf, fs, root, info, descriptor, factory.getWAL(info));
      regions.add(region);
      replayed.add(region);
    }
    return replayed;
  }

  /** Writes the edits to the other table with a sink. */
  private void replicate(List<WAL.Entry> edits) throws IOException {
    ReplicationSink sink = new ReplicationSink(util.getConfiguration(), null);
    for (int from = 0; from < edits.size(); from += REPLICATED_EDITS) {
      WAL.Entry[] some = edits.stream().skip(from).limit(REPLICATED_EDITS)
        .map(edit -> new WAL.Entry(new WALKeyImpl(edit.getKey().getEncodedRegionName(), PEER,
          edit.getKey().getSequenceId(), edit.getKey().getWriteTime(), new UUID(1, 1)),
          edit.getEdit()))
        .toArray(WAL.Entry[]::new);
      Pair<ReplicateWALEntryRequest, CellScanner> request =
        ReplicationProtbufUtil.buildReplicateWALEntryRequest(some);
      sink.replicateEntries(request.getFirst().getEntryList(), request.getSecond(), "source",
        "folder", "archive");
    }
    sink.stopReplicationSinkServices();
  }

  private static Scan visible() {
    // A scan that opens streams between cells with equal keys would see some of them again.
    return new Scan().readAllVersions().setReadType(Scan.ReadType.PREAD);
  }

  private static Scan raw() {
    return visible().setRaw(true);
  }

  /**
   * Adds the text of a cell, but not of raw puts in the family that keeps one version: HBase does
   * not specify when older versions are removed.
   */
  private static void add(List<String> texts, Scan scan, Cell cell) {
    if (
      !scan.isRaw() || CellUtil.isDelete(cell)
        || !CellUtil.matchingFamily(cell, WriteHistory.LATEST)
    ) {
      texts.add(SerialWrites.text(cell));
    }
  }

  private List<String> cells(TableName name, Scan scan) throws IOException {
    List<String> all = new ArrayList<>();
    try (Table table = util.getConnection().getTable(name);
      ResultScanner scanner = table.getScanner(scan)) {
      for (Result result : scanner) {
        result.listCells().forEach(cell -> add(all, scan, cell));
      }
    }
    return all;
  }

  private static List<String> cells(List<HRegion> from, Scan scan) throws IOException {
    List<String> all = new ArrayList<>();
    for (HRegion region : from) {
      try (RegionScanner scanner = region.getScanner(scan)) {
        List<Cell> row = new ArrayList<>();
        boolean more = true;
        while (more) {
          more = scanner.next(row);
          row.forEach(cell -> add(all, scan, cell));
          row.clear();
        }
      }
    }
    return all;
  }

  private static void assertCells(String what, List<String> expected, List<String> actual) {
    List<String> lost = new ArrayList<>(expected);
    lost.removeAll(new HashSet<>(actual));
    List<String> added = new ArrayList<>(actual);
    added.removeAll(new HashSet<>(expected));
    assertEquals("cells " + what + ", seed " + SEED, "lost [], added []",
      "lost " + lost + ", added " + added);
    assertEquals("order of the cells " + what, expected, actual);
  }

  private void assertOneByOne(HRegionServer server) throws Exception {
    move(server);
    AbstractFSWAL<?> wal =
      (AbstractFSWAL<?>) server.getWAL(util.getAdmin().getRegions(TABLE).get(0));
    wal.rollWriter(true);
    Path first = wal.getCurrentFileName();
    WriteHistory history = new WriteHistory();
    List<Client> all = write(history);
    wal.rollWriter(true);
    List<FileStatus> files = files(wal, first);
    List<WAL.Entry> edits = edits(files);
    HRegion region = serial();
    SerialWrites serial = new SerialWrites(region, history, all);
    EnvironmentEdgeManager.injectEdge(serial);
    serial.execute(edits);
    List<String> visible = cells(Collections.singletonList(region), visible());
    List<String> raw = cells(Collections.singletonList(region), raw());
    // On a busy machine groups of increments are slow, and handlers execute those of several rows.
    LOG.info(
      "{} edits: {} have writes of several clients to a row, {} equal keys, {} increments of a row,"
        + " {} increments of rows",
      edits.size(), serial.sameRow(), serial.sameKey(), serial.merged(),
      serial.incrementsOfRows());
    assertCells("of the table", visible, cells(TABLE, visible()));
    assertCells("of the table", raw, cells(TABLE, raw()));
    for (boolean toHFiles : new boolean[] { false, true }) {
      List<HRegion> replayed = replay(files, toHFiles);
      assertCells("after a replay", visible, cells(replayed, visible()));
      assertCells("after a replay", raw, cells(replayed, raw()));
    }
    replicate(edits);
    assertCells("after replication", visible, cells(PEER, visible()));
    assertCells("after replication", raw, cells(PEER, raw()));
    util.getAdmin().flush(TABLE);
    assertCells("after a flush", visible, cells(TABLE, visible()));
    assertTrue("no edit has writes of several clients to a row", serial.sameRow() > 0);
    assertTrue("no edit has cells of equal keys", serial.sameKey() > 0);
    assertTrue("no edit has merged increments", serial.merged() > 0);
  }

  @Test
  public void testAsyncFSWAL() throws Exception {
    assertOneByOne(SharedCluster.first());
  }

  @Test
  public void testFSHLog() throws Exception {
    assertOneByOne(SharedCluster.second());
  }

  /** The edit is that of a group with puts and deletes of a row. */
  @Test
  public void testLaterOfEqualCellsOfAnEditWinsInReplicationSink() throws Exception {
    byte[] row = Bytes.toBytes("r");
    byte[] family = WriteHistory.VERSIONS;
    WALEdit edit = new WALEdit();
    for (String value : new String[] { "c", "a", "b" }) {
      edit.add(new KeyValue(row, family, row, 1, KeyValue.Type.Put, Bytes.toBytes(value)));
      edit.add(new KeyValue(row, family, row, 2, KeyValue.Type.Delete));
    }
    replicate(Arrays.asList(new WAL.Entry(
      new WALKeyImpl(Bytes.toBytes("region"), TABLE, 1L, 1L, new UUID(1, 1)), edit)));
    assertEquals(Arrays.asList("r/f/r/1/Put=b"), cells(PEER, visible()));
  }
}
