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
package org.apache.hadoop.hbase.io.hfile.segment;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.IOException;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.TableNameTestRule;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.bucket.BucketCache;
import org.apache.hadoop.hbase.io.hfile.composite.ClusterWithTiers;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.tool.BulkLoadHFiles;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.HFileTestUtil;
import org.junit.After;
import org.junit.AfterClass;
import org.junit.Before;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A RegionServer with a segment cache as L2 is killed, and the next one has what was there; as
 * often in a row as <code>-Dsegment.kills</code> says.
 */
@Category({ IOTests.class, LargeTests.class })
public class TestKilledSegmentCacheOnCluster {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestKilledSegmentCacheOnCluster.class);

  private static final Logger LOG =
    LoggerFactory.getLogger(TestKilledSegmentCacheOnCluster.class);
  private static final int KILLS = Integer.getInteger("segment.kills", 1);
  private static final int ROWS = 2000;
  /** The number of rows whose files fill several segments. */
  private static final int MANY_ROWS = 10_000;
  private static final long LONG_ENOUGH_MS = 300_000;

  private static ClusterWithTiers cluster;
  private static HBaseTestingUtility util;

  /** Each test has tables, and servers with files, of its own. */
  @Rule
  public final TableNameTestRule tableName = new TableNameTestRule();

  private File folder;

  @BeforeClass
  public static void startCluster() throws Exception {
    cluster = new ClusterWithTiers("killed");
    util = cluster.util();
    TestOnlineFilesOnCluster.useSegments(cluster.conf(), new File(cluster.folder(), "own"));
    cluster.start();
    util.getAdmin().balancerSwitch(false, true);
  }

  @AfterClass
  public static void stopCluster() throws Exception {
    cluster.stop();
  }

  @Before
  public void setUp() {
    folder = new File(cluster.folder(), tableName.getTableName().getNameAsString());
    assertTrue(folder.mkdirs());
  }

  @After
  public void tearDown() throws Exception {
    for (TableName table : util.getAdmin().listTableNames()) {
      util.deleteTable(table);
    }
  }

  private SegmentServerProcess startServer(String label, boolean evictsOnClose)
    throws Exception {
    Configuration conf = new Configuration(util.getConfiguration());
    TestOnlineFilesOnCluster.useSegments(conf, new File(folder, "segments"));
    conf.setBoolean(CacheConfig.EVICT_BLOCKS_ON_CLOSE_KEY, evictsOnClose);
    conf.setBoolean(CacheConfig.PREFETCH_BLOCKS_ON_OPEN_KEY, true);
    conf.setInt("hbase.hfile.prefetch.delay", 0);
    conf.setLong(BucketCache.QUEUE_ADDITION_WAIT_TIME, 120_000);
    conf.setInt(HConstants.REGIONSERVER_PORT, 0);
    conf.setInt(HConstants.REGIONSERVER_INFO_PORT, -1);
    // The test tells ZooKeeper of the death, so that a slow machine is not taken for a dead one.
    conf.setInt(HConstants.ZK_SESSION_TIMEOUT, 180_000);
    return SegmentServerProcess.start(conf, folder, label);
  }

  /**
   * A server that has prefetched a table and written it to its device is killed. Before anybody
   * reads, the next one has each block of each of the table's files, and knows their region. Each
   * read of the table finds its block there, and is right.
   */
  @Test
  public void testAfterKillOfItsProcessAServerKnowsItsFilesAndServesThem() throws Exception {
    TableName killed = tableName.getTableName();
    TableName filler = TableName.valueOf("filler");
    SegmentServerProcess first = null;
    SegmentServerProcess second = null;
    try (Table table = cluster.createTable(killed); Table other = cluster.createTable(filler)) {
      cluster.load(table, 0, ROWS);
      cluster.load(other, 0, 3 * ROWS);
      Set<String> files = cluster.filesInHdfs(killed);
      Set<String> others = cluster.filesInHdfs(filler);
      String region = util.getAdmin().getRegions(killed).get(0).getEncodedName();
      // It starts only now, so that it is given one table after the other.
      first = startServer("first", true);
      ServerName name = first.name().get(5, TimeUnit.MINUTES);
      cluster.move(killed, name);
      SegmentServerProcess of = first;
      util.waitFor(LONG_ENOUGH_MS, 20,
        () -> of.sample() != null && of.sample().completeFiles.containsAll(files));
      // This table fills the segment that was open then, and more.
      cluster.move(filler, name);
      util.waitFor(LONG_ENOUGH_MS, 20, () -> of.sample().completeFiles.containsAll(others));
      util.waitFor(LONG_ENOUGH_MS, 20, () -> of.sample().waiting == 0);
      first.kill();
      cluster.buryAndReassign(name);
      // It starts only now, as it is not to be given the regions.
      second = startServer("second", true);
      name = second.name().get(5, TimeUnit.MINUTES);
      SegmentServerProcess next = second;
      util.waitFor(LONG_ENOUGH_MS, 20, () -> next.sample() != null && !next.sample().recovering);
      SegmentServerProcess.Sample found = second.sample();
      assertTrue(found.completeFiles + " has not all of " + files,
        found.completeFiles.containsAll(files));
      assertTrue(found.regions.toString(), found.regions.contains(region));
      assertEquals("nobody has read", 0, found.reads);
      cluster.move(killed, name);
      ClusterWithTiers.readAll(table, ROWS);
      // A read does not wait for a device that the machine has no time for.
      util.waitFor(LONG_ENOUGH_MS, 20,
        () -> next.sample().reads + next.sample().bypassed >= ROWS);
      second.kill();
      cluster.buryAndReassign(name);
    } finally {
      for (SegmentServerProcess process : new SegmentServerProcess[] { first, second }) {
        if (process != null) {
          process.kill();
        }
      }
    }
  }

  /** Does what is in progress when the server is killed. */
  private void work(int round, Table table) {
    TableName name = table.getName();
    try {
      switch (round % 4) {
        case 0:
          for (int i = 0; i < 3; i++) {
            cluster.load(table, 0, MANY_ROWS);
          }
          break;
        case 1:
          cluster.load(table, 0, MANY_ROWS);
          util.getAdmin().majorCompact(name);
          break;
        case 2:
          bulkLoad(name, round);
          bulkLoad(name, round + 1000);
          break;
        default:
          byte[] at = ClusterWithTiers.row(MANY_ROWS / (round + 1));
          byte[] region = util.getConnection().getRegionLocator(name).getRegionLocation(at, true)
            .getRegion().getRegionName();
          util.getAdmin().splitRegionAsync(region, at).get(LONG_ENOUGH_MS, TimeUnit.MILLISECONDS);
      }
    } catch (Exception e) {
      LOG.info("A kill has ended the work of round {}", round, e);
    }
  }

  private void bulkLoad(TableName table, int round) throws IOException {
    Path directory = new Path(util.getDataTestDirOnTestFS("bulk"), Integer.toString(round));
    byte[] family = Bytes.toBytes("f");
    HFileTestUtil.createHFile(util.getConfiguration(), util.getTestFileSystem(),
      new Path(new Path(directory, "f"), "file"), family, Bytes.toBytes("q"),
      Bytes.toBytes("x000"), Bytes.toBytes("x999"), MANY_ROWS);
    BulkLoadHFiles.create(util.getConfiguration()).bulkLoad(table, directory);
  }

  /**
   * A server is killed again and again while it flushes, compacts, bulk loads and splits. Each time
   * the next one, once its regions are online, has no file that none of them reads, is prefetched
   * as a whole, counts no region as more than cached, and serves what is right.
   */
  @Test
  public void testKillsUnderFlushCompactionBulkLoadAndSplit() throws Exception {
    TableName name = tableName.getTableName();
    Random random = new Random(1);
    SegmentServerProcess server = null;
    try (Table table = cluster.createTable(name)) {
      cluster.load(table, 0, MANY_ROWS);
      for (int round = 0; round <= KILLS; round++) {
        server = startServer("server" + round, false);
        SegmentServerProcess now = server;
        util.waitFor(LONG_ENOUGH_MS, 20, () -> now.sample() != null && !now.sample().recovering);
        long recovered = now.sample().blocks;
        ServerName at = server.name().get(5, TimeUnit.MINUTES);
        cluster.move(name, at);
        long orphans = now.sample().orphans;
        util.waitFor(LONG_ENOUGH_MS, 20, () -> now.sample().online > 0
          && now.sample().complete == now.sample().online && now.sample().orphans == 0
          && now.sample().waiting == 0);
        LOG.info("After kill {}: {} blocks recovered, {} files of no region, {} files warm", round,
          recovered, orphans, now.sample().complete);
        assertTrue("of a region is cached: " + now.sample().largestCachedPercent + " %",
          now.sample().largestCachedPercent <= 100);
        // A split evicts what its parent had, unless HBase is told otherwise.
        assertTrue("nothing recovered", round % 4 == 0 || recovered > 0);
        ClusterWithTiers.getBatch(table,
          IntStream.range(0, MANY_ROWS).filter(row -> row % 17 == 0).toArray());
        if (round < KILLS) {
          int working = round;
          Thread work = new Thread(() -> work(working, table));
          work.start();
          TimeUnit.MILLISECONDS.sleep(random.nextInt(2000));
          server.kill();
          cluster.buryAndReassign(at);
          work.join(LONG_ENOUGH_MS);
          assertFalse("the work does not end", work.isAlive());
        } else {
          server.kill();
          cluster.buryAndReassign(at);
        }
      }
    } finally {
      if (server != null) {
        server.kill();
      }
    }
  }
}
