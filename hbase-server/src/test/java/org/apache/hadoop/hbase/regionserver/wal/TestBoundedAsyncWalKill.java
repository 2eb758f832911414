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
package org.apache.hadoop.hbase.regionserver.wal;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.StartMiniClusterOption;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.master.HMaster;
import org.apache.hadoop.hbase.master.procedure.ServerCrashProcedure;
import org.apache.hadoop.hbase.replication.ReplicationPeerConfig;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.wal.WALFactory;
import org.apache.hadoop.hbase.zookeeper.ZKUtil;
import org.apache.hadoop.hbase.zookeeper.ZNodePaths;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.junit.AfterClass;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * RegionServers in processes of their own are killed with kill -9 at random moments under a load of
 * writes, and what was acknowledged is looked for after their WALs were split. HDFS, ZooKeeper, the
 * master and the client, which notes each acknowledgement, live on in this process.
 * <p>
 * Three promises are checked: (a) no write with SYNC_WAL is lost; (b) no write is lost that was
 * acknowledged before the time from which on the server, by its own word, might lose some; (c) if a
 * write is there, so is each that was acknowledged before it was sent. None of them depends on how
 * fast the machine is. By default there are three rounds, with the two kinds of WAL alternately.
 * With <code>-Dasyncwal.kill.rounds=20</code> there are as many rounds for each kind of WAL,
 * DataNodes are killed or restarted as well, and the WALs are read for replication, which must ship
 * every write of an idle server and none that is lost. Each round prints the age of the oldest
 * write that was lost; with so many rounds it is checked at their end that it never was more than
 * the interval and the longest sync of that server, which may be the one that the kill has ended.
 * <code>-Dasyncwal.kill.wals=filesystem</code> leaves out the other kind.
 */
@Category({ RegionServerTests.class, LargeTests.class })
public class TestBoundedAsyncWalKill {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestBoundedAsyncWalKill.class);

  private static final int ROUNDS = Integer.getInteger("asyncwal.kill.rounds", 3);
  private static final boolean LONG = ROUNDS > 3;
  private static final int WRITERS = 4;
  // One more than there are replicas, as HDFS puts another one in the place of one that dies, or
  // the stream fails and with it FSHLog and the server.
  private static final int DATA_NODES = LONG ? 4 : 3;
  private static final String[] WALS =
    System.getProperty("asyncwal.kill.wals", "asyncfs,filesystem").split(",");
  private static final long INTERVAL_MS = 100;
  private static final HBaseTestingUtility UTIL = new HBaseTestingUtility();
  private static final TableName TABLE = TableName.valueOf("kill");
  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final byte[] QUALIFIER = Bytes.toBytes("q");
  private static final ExecutorService THREADS = Executors.newCachedThreadPool();

  private static File folder;
  private static Admin admin;
  private final Random random = new Random();
  private final List<String> aboveWindow = new ArrayList<>();
  private MiniDFSCluster.DataNodeProperties deadDataNode;

  private volatile boolean dead;

  /** A write that was acknowledged. */
  private static final class Write {
    private final String row;
    private final boolean sync;
    private final long sent;
    private final long acknowledged;

    private Write(String row, boolean sync, long sent, long acknowledged) {
      this.row = row;
      this.sync = sync;
      this.sent = sent;
      this.acknowledged = acknowledged;
    }
  }

  @BeforeClass
  public static void startCluster() throws Exception {
    Configuration conf = UTIL.getConfiguration();
    // How long whoever takes over the replication of a dead server waits before, twice at most.
    conf.setLong("replication.sleep.before.failover", 10);
    // No node is too busy for a WAL, and a roll is tried again: the few nodes may all be left out.
    conf.setBoolean("dfs.namenode.redundancy.considerLoad", false);
    conf.setInt("hbase.regionserver.logroll.retries", 100);
    UTIL.startMiniCluster(StartMiniClusterOption.builder()
      .numDataNodes(DATA_NODES).numRegionServers(1).build());
    admin = UTIL.getAdmin();
    admin.balancerSwitch(false, true);
    admin.createTable(
      TableDescriptorBuilder.newBuilder(TABLE)
        .setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(FAMILY).setScope(
          LONG ? HConstants.REPLICATION_SCOPE_GLOBAL : HConstants.REPLICATION_SCOPE_LOCAL).build())
        .build(),
      new byte[][] { Bytes.toBytes("m") });
    if (LONG) {
      admin.addReplicationPeer("teller",
        ReplicationPeerConfig.newBuilder().setClusterKey(UTIL.getClusterKey())
          .setReplicationEndpointImpl(RegionServerProcess.Teller.class.getName()).build());
    }
    folder = new File(UTIL.getDataTestDir("children").toString());
    assertTrue(folder.mkdirs());
  }

  @AfterClass
  public static void stopCluster() throws Exception {
    THREADS.shutdownNow();
    UTIL.shutdownMiniCluster();
  }

  private static RegionServerProcess startServer(String provider, int round) throws IOException {
    Configuration conf = new Configuration(UTIL.getConfiguration());
    conf.set(WALFactory.WAL_PROVIDER, provider);
    conf.setLong(AsyncWalSettings.INTERVAL_KEY, INTERVAL_MS);
    conf.setLong(AsyncWalSettings.BYTES_KEY, 1024 * 1024);
    conf.setBoolean("hbase.wal.hsync", round % 3 == 2);
    conf.setInt("hbase.wal.async.max.syncs.in.flight", round / 2 % 2);
    conf.setInt(HConstants.REGIONSERVER_PORT, 0);
    conf.setInt(HConstants.REGIONSERVER_INFO_PORT, -1);
    // The test tells ZooKeeper of the death, so that a slow machine is not taken for a dead one.
    conf.setInt(HConstants.ZK_SESSION_TIMEOUT, 180_000);
    return RegionServerProcess.start(conf, folder, provider + round);
  }

  @Test
  public void testKilledServerLosesNoMoreThanItsWindowAndLeavesNoHole() throws Exception {
    List<String> kinds = new ArrayList<>();
    for (int round = 0; round < ROUNDS; round++) {
      if (LONG) {
        Collections.addAll(kinds, WALS);
      } else {
        kinds.add(WALS[round % WALS.length]);
      }
    }
    int kindsOfRound = LONG ? WALS.length : 1;
    RegionServerProcess next = startServer(kinds.get(0), 0);
    for (int i = 0; i < kinds.size(); i++) {
      RegionServerProcess server = next;
      try {
        ServerName name = server.name().get(5, TimeUnit.MINUTES);
        // It starts while the other one is written to and dies.
        next = i + 1 < kinds.size() ? startServer(kinds.get(i + 1), (i + 1) / kindsOfRound) : null;
        round(server, name, kinds.get(i), i / kindsOfRound);
      } finally {
        server.kill();
      }
    }
    // That hangs on when a thread gets a processor, and how much is lost at most on nothing else.
    assertEquals(Collections.emptyList(), LONG ? aboveWindow : Collections.emptyList());
  }

  private void round(RegionServerProcess server, ServerName name, String kind, int round)
    throws Exception {
    move(name);
    String prefix = kind + "-" + round + "-";
    List<Write> writes = Collections.synchronizedList(new ArrayList<>());
    long killed;
    long disturbed;
    dead = false;
    Future<?> disturbance;
    Configuration conf = new Configuration(UTIL.getConfiguration());
    conf.setInt(HConstants.HBASE_CLIENT_RETRIES_NUMBER, 0);
    try (Connection connection = ConnectionFactory.createConnection(conf)) {
      // The tail has no later append: without the bound it would stay in the server for ever.
      long tail;
      try (Table table = connection.getTable(TABLE)) {
        for (int i = 0; i < 20; i++) {
          write(table, writes, row(prefix + "tail", i), false);
        }
        tail = System.nanoTime();
      }
      UTIL.waitFor(300_000, 5,
        () -> server.sample().nanos > tail && server.sample().unsyncedBytes == 0);
      if (LONG) {
        UTIL.waitFor(300_000, 5,
          () -> writes.stream().allMatch(write -> server.shipped().contains(write.row)));
      }
      List<Future<?>> writers = new ArrayList<>();
      AtomicInteger acknowledged = new AtomicInteger();
      for (int writer = 0; writer < WRITERS; writer++) {
        boolean sync = writer == 3;
        String name4 = prefix + "w" + writer + "-";
        writers.add(THREADS.submit(() -> {
          try (Table table = connection.getTable(TABLE)) {
            for (int i = 0; !dead; i++) {
              try {
                write(table, writes, row(name4, i), sync);
              } catch (IOException e) {
                // The server is dead, or about to be: this write was not acknowledged.
                return null;
              }
              acknowledged.incrementAndGet();
              if (sync) {
                // Each of its syncs takes the others' writes along; so they get some time.
                Thread.sleep(random.nextInt(3 * (int) INTERVAL_MS));
              }
            }
          }
          return null;
        }));
      }
      UTIL.waitFor(300_000, 5, () -> acknowledged.get() > 200);
      disturbed = System.nanoTime();
      disturbance = disturb(server, round);
      Thread.sleep(random.nextInt(1_000));
      killed = System.nanoTime();
      server.kill();
      dead = true;
      for (Future<?> writer : writers) {
        writer.get(5, TimeUnit.MINUTES);
      }
    }
    // A move that the server does not do any more waits until the master knows of its death.
    tellOfDeath(name);
    try {
      disturbance.get(5, TimeUnit.MINUTES);
    } catch (ExecutionException e) {
      // It was asked of a server that is dead.
    }
    awaitRecovery(name);
    verify(prefix, writes, server, killed, round % 3 == 2 ? disturbed : Long.MAX_VALUE);
    if (deadDataNode != null) {
      UTIL.getDFSCluster().restartDataNode(deadDataNode);
      UTIL.getDFSCluster().waitActive();
      deadDataNode = null;
    }
  }

  /** Does something else while the server is written to. */
  private Future<?> disturb(RegionServerProcess server, int round) throws Exception {
    if (LONG && round % 4 == 3) {
      UTIL.getDFSCluster().restartDataNode(random.nextInt(DATA_NODES), false);
    } else if (LONG && round % 4 == 1) {
      deadDataNode = UTIL.getDFSCluster().stopDataNode(random.nextInt(DATA_NODES));
    }
    List<RegionInfo> regions = admin.getRegions(TABLE);
    return THREADS.submit(() -> {
      switch (round % 3) {
        case 0:
          for (int i = 0; i < 5; i++) {
            server.roll();
          }
          break;
        case 1:
          server.roll();
          admin.flushRegion(regions.get(0).getRegionName());
          break;
        default:
          // The region's close flushes it; the server syncs to disk in this round.
          admin.move(regions.get(1).getEncodedNameAsBytes(),
            UTIL.getMiniHBaseCluster().getRegionServer(0).getServerName());
      }
      return null;
    });
  }

  /** Rows are written to both regions alternately. */
  private static String row(String prefix, int i) {
    return (i % 2 == 0 ? "a-" : "z-") + prefix + i;
  }

  private static void write(Table table, List<Write> writes, String row, boolean sync)
    throws IOException {
    Put put = new Put(Bytes.toBytes(row)).addColumn(FAMILY, QUALIFIER, value(row))
      .setDurability(sync ? Durability.SYNC_WAL : Durability.ASYNC_WAL);
    long sent = System.nanoTime();
    table.put(put);
    writes.add(new Write(row, sync, sent, System.nanoTime()));
  }

  private static byte[] value(String row) {
    byte[] value = new byte[200];
    new Random(row.hashCode()).nextBytes(value);
    return value;
  }

  private static void move(ServerName name) throws Exception {
    HMaster master = UTIL.getMiniHBaseCluster().getMaster();
    UTIL.waitFor(300_000, 20, () -> master.getServerManager().isServerOnline(name));
    for (RegionInfo region : admin.getRegions(TABLE)) {
      UTIL.waitFor(300_000, 20, () -> {
        ServerName at = master.getAssignmentManager().getRegionStates()
          .getRegionServerOfRegion(region);
        if (name.equals(at)) {
          return true;
        }
        try {
          admin.move(region.getEncodedNameAsBytes(), name);
        } catch (IOException e) {
          // The region is still in transition.
        }
        return false;
      });
    }
    UTIL.waitUntilNoRegionsInTransition(300_000);
  }

  private static void tellOfDeath(ServerName name) throws Exception {
    ZKUtil.deleteNodeFailSilent(UTIL.getZooKeeperWatcher(), ZNodePaths
      .joinZNode(UTIL.getZooKeeperWatcher().getZNodePaths().rsZNode, name.toString()));
  }

  private static void awaitRecovery(ServerName name) throws Exception {
    HMaster master = UTIL.getMiniHBaseCluster().getMaster();
    UTIL.waitFor(300_000, 20, () -> !master.getServerManager().isServerOnline(name)
      && !master.getServerManager().areDeadServersInProgress()
      && master.getProcedures().stream()
        .noneMatch(p -> p instanceof ServerCrashProcedure
          && !p.isFinished()));
    UTIL.waitUntilNoRegionsInTransition(300_000);
    UTIL.waitUntilAllRegionsAssigned(TABLE, 300_000);
  }

  private void verify(String prefix, List<Write> writes, RegionServerProcess server, long killed,
    long moved) throws IOException {
    RegionServerProcess.Sample sample = server.sample();
    Map<String, byte[]> found = new HashMap<>();
    try (Table table = UTIL.getConnection().getTable(TABLE);
      ResultScanner scanner = table.getScanner(new Scan())) {
      for (Result result : scanner) {
        found.put(Bytes.toString(result.getRow()), result.getValue(FAMILY, QUALIFIER));
      }
    }
    long lastSent = Long.MIN_VALUE;
    for (Write write : writes) {
      byte[] value = found.get(write.row);
      if (value != null) {
        assertArrayEquals(write.row, value(write.row), value);
        // A write to the region that moved may have gone to the WAL of another server.
        if (write.sent < moved || write.row.startsWith("a-")) {
          lastSent = Math.max(lastSent, write.sent);
        }
      }
    }
    // Before that, by the server's word, all was synced.
    long safe = sample.nanos - sample.oldest;
    int lost = 0;
    long window = 0;
    Set<String> broken = new HashSet<>();
    for (Write write : writes) {
      if (found.containsKey(write.row)) {
        continue;
      }
      lost++;
      window = Math.max(window, killed - write.acknowledged);
      if (write.sync) {
        broken.add("SYNC_WAL write lost: " + write.row);
      }
      if (write.acknowledged < safe) {
        broken.add("Lost though told as synced for " + (safe - write.acknowledged) + " ns: "
          + write.row);
      }
      if (write.acknowledged < lastSent) {
        broken.add("Hole: " + write.row);
      }
    }
    for (String row : server.shipped()) {
      if (row.contains(prefix) && !found.containsKey(row)) {
        broken.add("Lost though replicated: " + row);
      }
    }
    long bound = TimeUnit.MILLISECONDS.toNanos(INTERVAL_MS) + sample.longest(killed);
    String summary = prefix + " " + writes.size() + " writes acknowledged, " + lost
      + " of them lost, the oldest " + TimeUnit.NANOSECONDS.toMicros(window)
      + " us old, of " + TimeUnit.NANOSECONDS.toMicros(bound)
      + " us of interval and longest sync; told 5 ms before at most: oldest unsynced "
      + TimeUnit.NANOSECONDS.toMicros(sample.oldest) + " us, " + sample.unsyncedBytes
      + " bytes; syncs of the bound: " + sample.syncs
      + ", the longest " + sample.longestMs + " ms, one for "
      + TimeUnit.NANOSECONDS.toMicros(sample.running) + " us; replicated: "
      + server.shipped().size();
    System.out.println(summary);
    if (window > bound) {
      aboveWindow.add(summary);
    }
    assertEquals(summary, Collections.emptySet(), broken);
    assertTrue(summary, sample.syncs > 0);
  }
}
