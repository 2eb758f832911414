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

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.commons.io.IOUtils;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.SharedCluster;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.replication.ReplicationPeerConfig;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.wal.WAL;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** A server whose WAL has a bound: what it tells of it, and who reads the WAL. */
@Category({ RegionServerTests.class, MediumTests.class })
public class TestBoundedAsyncWalOnCluster {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestBoundedAsyncWalOnCluster.class);

  private static final TableName TABLE = TableName.valueOf("bounded");
  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final Set<String> SHIPPED = ConcurrentHashMap.newKeySet();

  private HBaseTestingUtility util;

  /** Notes the rows that a replication source has read from a WAL. */
  public static final class Recorder extends RegionServerProcess.RowEndpoint {
    @Override
    void ship(String row) {
      SHIPPED.add(row);
    }
  }

  @Before
  public void setUp() throws Exception {
    util = SharedCluster.util();
    util.getAdmin().createTable(TableDescriptorBuilder.newBuilder(TABLE)
      .setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(FAMILY)
        .setScope(HConstants.REPLICATION_SCOPE_GLOBAL).build())
      .setDurability(Durability.ASYNC_WAL).build());
  }

  @After
  public void tearDown() throws Exception {
    util.deleteTable(TABLE);
  }

  private static void put(Table table, String row) throws Exception {
    table.put(new Put(Bytes.toBytes(row)).addColumn(FAMILY, FAMILY, new byte[100]));
  }

  private String get(String path) throws Exception {
    int port = util.getMiniHBaseCluster().getRegionServer(0).getInfoServer().getPort();
    return IOUtils.toString(new URL("http://localhost:" + port + path), StandardCharsets.UTF_8);
  }

  private void moveTo(int server) throws Exception {
    HRegionServer target = util.getMiniHBaseCluster().getRegionServer(server);
    RegionInfo region = util.getAdmin().getRegions(TABLE).get(0);
    if (target.getOnlineRegion(region.getRegionName()) == null) {
      util.getAdmin().move(region.getEncodedNameAsBytes(), target.getServerName());
      util.waitFor(300_000, 20, () -> target.getOnlineRegion(region.getRegionName()) != null);
    }
  }

  private void replicationGetsEachWriteWithoutAnother(int server, Class<? extends WAL> kind)
    throws Exception {
    util.getAdmin().addReplicationPeer("recorder",
      ReplicationPeerConfig.newBuilder().setClusterKey(util.getClusterKey())
        .setReplicationEndpointImpl(Recorder.class.getName()).build());
    try (Table table = util.getConnection().getTable(TABLE)) {
      moveTo(server);
      WAL wal = util.getMiniHBaseCluster().getRegionServer(server)
        .getWAL(util.getAdmin().getRegions(TABLE).get(0));
      assertEquals(kind, wal.getClass());
      for (int i = 0; i < 20; i++) {
        String row = kind + "-" + i;
        put(table, row);
        util.waitFor(120_000, 5, () -> SHIPPED.contains(row));
      }
    } finally {
      util.getAdmin().removeReplicationPeer("recorder");
    }
  }

  /** A source reads synced entries only; without a later append the rest would wait for a roll. */
  @Test
  public void testReplicationGetsEachWriteOfAsyncFsWalWithoutAnother() throws Exception {
    replicationGetsEachWriteWithoutAnother(0, AsyncFSWAL.class);
  }

  @Test
  public void testReplicationGetsEachWriteOfFsHLogWithoutAnother() throws Exception {
    replicationGetsEachWriteWithoutAnother(1, FSHLog.class);
  }

  @Test
  public void testServerTellsOfItsWindow() throws Exception {
    moveTo(0);
    try (Table table = util.getConnection().getTable(TABLE)) {
      // Another one's sync may be faster than the write, which is not at risk then.
      util.waitFor(120_000, 10, () -> {
        put(table, "told");
        return AsyncWalMetrics.get().maxWindowNanos() > 0;
      });
    }
    String page = get("/features");
    assertTrue(page, page.contains("<h2>Writes acknowledged before they are synced</h2>"));
    assertTrue(page, page.contains("<td>BlockedWriters</td><td>0</td>"));
    assertFalse(page, page.contains("<td>MaxWindowMillis</td><td>0</td>"));
    assertTrue("with the header of all pages", page.contains("navbar"));
  }
}
