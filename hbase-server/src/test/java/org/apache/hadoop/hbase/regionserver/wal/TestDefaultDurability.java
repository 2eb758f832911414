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
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.Waiter;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.master.region.MasterRegionFactory;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.junit.After;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category({ RegionServerTests.class, MediumTests.class })
public class TestDefaultDurability {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestDefaultDurability.class);

  @ClassRule
  public static final RegionsInHdfs.Hdfs HDFS = new RegionsInHdfs.Hdfs();

  private static final TableName TABLE = TableName.valueOf("t");
  private static final TableName ACL = TableName.valueOf("hbase:acl");

  private final Configuration conf = new Configuration(false);
  private final RegionsInHdfs regions = new RegionsInHdfs();
  private int rows;

  @After
  public void close() throws IOException {
    regions.close();
  }

  private Durability of(TableName table) {
    return DefaultDurability.of(conf, table, Durability.SYNC_WAL);
  }

  @Test
  public void testWithoutTheKeyTheDefaultIsThatOfHBase() {
    assertEquals(Durability.SYNC_WAL, of(TABLE));
    assertEquals(Durability.FSYNC_WAL, DefaultDurability.of(conf, TABLE, Durability.FSYNC_WAL));
  }

  @Test
  public void testWrongValueIsRefusedWithKeyValueAndRemedy() {
    for (String value : new String[] { "SKIP_WAL", "USE_DEFAULT", "async_wal", "yes" }) {
      conf.set(DefaultDurability.DEFAULT_DURABILITY_KEY, value);
      assertEquals("hbase.regionserver.default.durability is " + value
        + "; must be SYNC_WAL, FSYNC_WAL or ASYNC_WAL. Set one of these, or remove the key.",
        assertThrows(IllegalArgumentException.class, () -> DefaultDurability.check(conf))
          .getMessage());
    }
  }

  @Test
  public void testServerDoesNotStartWithWrongValue() {
    Configuration server = HBaseConfiguration.create();
    server.set(DefaultDurability.DEFAULT_DURABILITY_KEY, "SKIP_WAL");
    assertTrue(
      assertThrows(IllegalArgumentException.class, () -> new HRegionServer(server).toString())
        .getMessage().startsWith(DefaultDurability.DEFAULT_DURABILITY_KEY));
  }

  @Test
  public void testSystemTablesAndMasterStoreKeepTheirDurability() {
    conf.set(DefaultDurability.DEFAULT_DURABILITY_KEY, "ASYNC_WAL");
    DefaultDurability.check(conf);
    assertEquals(Durability.ASYNC_WAL, of(TABLE));
    for (TableName table : new TableName[] { TableName.META_TABLE_NAME, ACL,
      TableName.valueOf("hbase:namespace"), TableName.valueOf("hbase:quota"),
      MasterRegionFactory.TABLE_NAME }) {
      assertEquals(table.toString(), Durability.SYNC_WAL, of(table));
    }
  }

  private void put(HRegion region, Durability durability) throws IOException {
    region.put(RegionsInHdfs.put(rows++, durability, 100));
  }

  /** Returns whether writes of the region are unsynced; the bound syncs them after an hour. */
  private boolean hasUnsynced() {
    return regions.wal().asyncBound.unsyncedBytes() > 0;
  }

  @Test
  public void testRegionsOfTablesThatSpecifyNoDurabilityHaveTheDefault() throws Exception {
    Configuration server = HDFS.configuration();
    server.set(AsyncWalSettings.INTERVAL_KEY, "3600000");
    server.set(DefaultDurability.DEFAULT_DURABILITY_KEY, "ASYNC_WAL");
    HRegion none = regions.open(server, TABLE, Durability.USE_DEFAULT);
    HRegion sync = regions.open(server, TableName.valueOf("sync"), Durability.SYNC_WAL);
    HRegion system = regions.open(server, ACL, Durability.USE_DEFAULT);
    put(none, Durability.USE_DEFAULT);
    assertTrue(hasUnsynced());
    // The durability of the mutation has priority, then that of the table.
    put(none, Durability.SYNC_WAL);
    Waiter.waitFor(server, 120_000, 5, () -> !hasUnsynced());
    put(none, Durability.USE_DEFAULT);
    assertTrue(hasUnsynced());
    put(sync, Durability.USE_DEFAULT);
    Waiter.waitFor(server, 120_000, 5, () -> !hasUnsynced());
    put(none, Durability.USE_DEFAULT);
    assertTrue(hasUnsynced());
    put(system, Durability.USE_DEFAULT);
    Waiter.waitFor(server, 120_000, 5, () -> !hasUnsynced());
  }
}
