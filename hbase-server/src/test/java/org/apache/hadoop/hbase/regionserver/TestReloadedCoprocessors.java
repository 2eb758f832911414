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
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertTrue;

import java.util.List;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.coprocessor.CoprocessorHost;
import org.apache.hadoop.hbase.coprocessor.MasterCoprocessor;
import org.apache.hadoop.hbase.coprocessor.ObserverContext;
import org.apache.hadoop.hbase.coprocessor.RegionCoprocessor;
import org.apache.hadoop.hbase.coprocessor.RegionCoprocessorEnvironment;
import org.apache.hadoop.hbase.coprocessor.RegionObserver;
import org.apache.hadoop.hbase.coprocessor.RegionServerCoprocessor;
import org.apache.hadoop.hbase.master.HMaster;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.After;
import org.junit.AfterClass;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * Servers load and unload the system coprocessors that a configuration names which they have
 * reloaded in place.
 */
@Category({ RegionServerTests.class, LargeTests.class })
public class TestReloadedCoprocessors {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestReloadedCoprocessors.class);

  private static final HBaseTestingUtility UTIL = new HBaseTestingUtility();
  private static final TableName TABLE = TableName.valueOf("t");
  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final byte[] ROW = Bytes.toBytes("row");

  /** A coprocessor of each kind. As a region's, it has gets return nothing. */
  public static final class Hiding
    implements RegionCoprocessor, RegionObserver, RegionServerCoprocessor, MasterCoprocessor {
    @Override
    public Optional<RegionObserver> getRegionObserver() {
      return Optional.of(this);
    }

    @Override
    public void preGetOp(ObserverContext<RegionCoprocessorEnvironment> context, Get get,
      List<Cell> result) {
      context.bypass();
    }
  }

  @BeforeClass
  public static void start() throws Exception {
    UTIL.startMiniCluster();
    try (Table table = UTIL.createTable(TABLE, FAMILY)) {
      table.put(new Put(ROW).addColumn(FAMILY, ROW, ROW));
    }
  }

  @AfterClass
  public static void stop() throws Exception {
    UTIL.shutdownMiniCluster();
  }

  @After
  public void tearDown() {
    reload(server(), "");
  }

  private static HRegionServer server() {
    return UTIL.getMiniHBaseCluster().getRegionServer(0);
  }

  /** Reloads the configuration of a server, of which each key of coprocessors has changed. */
  private static void reload(HRegionServer server, String coprocessors) {
    Configuration conf = server.getConfiguration();
    conf.set(CoprocessorHost.USER_REGION_COPROCESSOR_CONF_KEY, coprocessors);
    conf.set(CoprocessorHost.REGIONSERVER_COPROCESSOR_CONF_KEY, coprocessors);
    conf.set(CoprocessorHost.MASTER_COPROCESSOR_CONF_KEY, coprocessors);
    server.getConfigurationManager().notifyAllObservers(conf);
  }

  private static HRegion region() {
    return UTIL.getMiniHBaseCluster().getRegions(TABLE).get(0);
  }

  private static boolean isSeen() throws Exception {
    try (Table table = UTIL.getConnection().getTable(TABLE)) {
      return !table.get(new Get(ROW)).isEmpty();
    }
  }

  @Test
  public void testRegionsHaveWhatTheConfigurationNamesNow() throws Exception {
    assertTrue(isSeen());
    reload(server(), Hiding.class.getName());
    assertNotNull(region().getCoprocessorHost().findCoprocessor(Hiding.class.getName()));
    assertFalse(isSeen());
    reload(server(), "");
    assertNull(region().getCoprocessorHost().findCoprocessor(Hiding.class.getName()));
    assertTrue(isSeen());
  }

  @Test
  public void testWhatIsNotChangedStays() {
    reload(server(), Hiding.class.getName());
    RegionCoprocessorHost host = region().getCoprocessorHost();
    RegionServerCoprocessorHost ofServer = server().getRegionServerCoprocessorHost();
    reload(server(), " " + Hiding.class.getName() + " ");
    assertSame(host, region().getCoprocessorHost());
    assertSame(ofServer, server().getRegionServerCoprocessorHost());
  }

  /** They load no coprocessors of users' tables. */
  @Test
  public void testRegionsOfSystemTablesAreNotAffected() {
    HRegion meta = UTIL.getMiniHBaseCluster().getRegions(TableName.META_TABLE_NAME).get(0);
    RegionCoprocessorHost host = meta.getCoprocessorHost();
    reload(server(), Hiding.class.getName());
    assertSame(host, meta.getCoprocessorHost());
  }

  @Test
  public void testRegionServersHaveWhatTheConfigurationNamesNow() {
    reload(server(), Hiding.class.getName());
    assertNotNull(
      server().getRegionServerCoprocessorHost().findCoprocessor(Hiding.class.getName()));
    reload(server(), "");
    assertNull(server().getRegionServerCoprocessorHost().findCoprocessor(Hiding.class.getName()));
  }

  @Test
  public void testMastersHaveWhatTheConfigurationNamesNow() {
    HMaster master = UTIL.getMiniHBaseCluster().getMaster();
    reload(master, Hiding.class.getName());
    assertNotNull(master.getMasterCoprocessorHost().findCoprocessor(Hiding.class.getName()));
    reload(master, "");
    assertEquals(0, master.getMasterCoprocessorHost().getCoprocessors().size());
  }
}
