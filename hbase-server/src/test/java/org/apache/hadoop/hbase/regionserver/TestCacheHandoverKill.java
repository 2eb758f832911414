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
import static org.junit.Assume.assumeTrue;

import java.io.File;
import java.util.Arrays;
import java.util.Collections;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.composite.ClusterWithTiers;
import org.apache.hadoop.hbase.io.hfile.load.HandoverCaches;
import org.apache.hadoop.hbase.io.hfile.load.HandoverSettings;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.CommonFSUtils;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * A RegionServer is killed in the middle of a compaction whose output is being handed over. The
 * next one finds those blocks in its L2, and has none of them any more once it has opened the
 * region, whereas the blocks of the region's files are still there.
 */
@Category({ RegionServerTests.class, LargeTests.class })
public class TestCacheHandoverKill {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestCacheHandoverKill.class);

  private static final String FILE = "file:";
  private static final int ROWS = 6000;
  private static final int ROWS_OF_BLOCK = 9;
  /** The output has several segments by then. */
  private static final int STOP = 5500;
  private static final long LONG_ENOUGH_MS = 300_000;
  private static final int PERSIST_MS = 200;

  private ClusterWithTiers cluster;
  private HBaseTestingUtility util;
  private File folder;
  private File map;

  @Before
  public void startCluster() throws Exception {
    cluster = new ClusterWithTiers("killed");
    util = cluster.util();
    Configuration conf = cluster.conf();
    conf.setBoolean(HandoverSettings.ENABLED_KEY, true);
    conf.set("hbase.bucketcache.l2.ioengine", "file:" + new File(cluster.folder(), "own"));
    cluster.start();
    util.getAdmin().balancerSwitch(false, true);
    folder = new File(cluster.folder());
    map = new File(folder, "map");
  }

  @After
  public void stopCluster() throws Exception {
    cluster.stop();
  }

  private Configuration conf(String engine) {
    Configuration conf = new Configuration(util.getConfiguration());
    conf.set("hbase.bucketcache.l2.ioengine", engine + new File(folder, "l2"));
    if (engine.equals(FILE)) {
      conf.set("hbase.bucketcache.l2.persistent.path", map.toString());
      conf.setInt(CacheConfig.BUCKETCACHE_PERSIST_INTERVAL_KEY, PERSIST_MS);
    } else {
      conf.setInt("hbase.segmentcache.segment.mb", 1);
    }
    conf.setInt(HConstants.REGIONSERVER_PORT, 0);
    conf.setInt(HConstants.REGIONSERVER_INFO_PORT, -1);
    // The test tells ZooKeeper of the death, so that a slow machine is not taken for a dead one.
    conf.setInt(HConstants.ZK_SESSION_TIMEOUT, 180_000);
    return conf;
  }

  private String uncommittedFile(TableName table) throws Exception {
    RegionInfo region = util.getAdmin().getRegions(table).get(0);
    Path directory = CommonFSUtils.getRegionDir(util.getDefaultRootDirPath(), table,
      region.getEncodedName());
    FileStatus[] files = util.getTestFileSystem().listStatus(
      new Path(new Path(directory, HRegionFileSystem.REGION_TEMP_DIR), "f"));
    assertEquals(Arrays.toString(files), 1, files.length);
    return files[0].getPath().getName();
  }

  /** Waits until a process that is killed now leaves what it has cached. */
  private void awaitPersisted(CompactingServerProcess server) throws Exception {
    int said = server.said();
    util.waitFor(LONG_ENOUGH_MS, 20, () -> server.said() > said + 1 && server.isPersisted());
  }

  private void test(String engine) throws Exception {
    TableName name = cluster.table();
    CompactingServerProcess server = null;
    try (Table table = cluster.createTable()) {
      cluster.load(table, 0, ROWS);
      cluster.load(table, 0, ROWS);
      Set<String> inputs = cluster.filesInHdfs(name);
      assertEquals(2, inputs.size());
      server = CompactingServerProcess.startStopping(conf(engine), STOP, folder, "first");
      CompactingServerProcess first = server;
      ServerName at = first.name().get(5, TimeUnit.MINUTES);
      cluster.move(name, at);
      // No other server may open the region after the kill, which would delete the file.
      util.getAdmin().decommissionRegionServers(
        Collections.singletonList(cluster.server().getServerName()), false);
      // The first time they are cached, the second time they are hot.
      ClusterWithTiers.readAll(table, ROWS);
      ClusterWithTiers.readAll(table, ROWS);
      util.getAdmin().majorCompact(name);
      first.stopped().get(5, TimeUnit.MINUTES);
      String output = uncommittedFile(name);
      util.waitFor(LONG_ENOUGH_MS, 20, () -> first.cached(output) > STOP / ROWS_OF_BLOCK / 2);
      awaitPersisted(first);
      first.kill();
      server = CompactingServerProcess.start(conf(engine), folder, "second");
      CompactingServerProcess second = server;
      second.name().get(5, TimeUnit.MINUTES);
      util.waitFor(LONG_ENOUGH_MS, 20, () -> second.cached(output) > 0);
      cluster.buryAndReassign(at);
      assertEquals("not committed", inputs, cluster.filesInHdfs(name));
      util.waitFor(LONG_ENOUGH_MS, 20, () -> second.cached(output) == 0);
      int kept = inputs.stream().mapToInt(second::cached).sum();
      assertTrue("of the region's files: " + kept, kept > ROWS / ROWS_OF_BLOCK / 2);
      ClusterWithTiers.readAll(table, ROWS);
    } finally {
      if (server != null) {
        server.kill();
        if (server.name().isDone()) {
          // The cluster would wait for the end of its session.
          cluster.bury(server.name().get());
        }
      }
    }
  }

  @Test
  public void testBuckets() throws Exception {
    test(FILE);
  }

  @Test
  public void testSegments() throws Exception {
    assumeTrue("without the segment cache",
      Arrays.asList(HandoverCaches.present()).contains(HandoverCaches.COMPOSITE_SEGMENTS));
    test("segments:");
  }
}
