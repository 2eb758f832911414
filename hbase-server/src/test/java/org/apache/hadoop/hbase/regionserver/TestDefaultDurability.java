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

import java.io.File;
import java.util.Collections;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.master.region.MasterRegionFactory;
import org.apache.hadoop.hbase.regionserver.wal.DefaultDurability;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category({ RegionServerTests.class, MediumTests.class })
public class TestDefaultDurability {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestDefaultDurability.class);

  private static final TableName TABLE = TableName.valueOf("t");
  private static final TableName ACL = TableName.valueOf("hbase:acl");

  private final Configuration conf = new Configuration(false);

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
      conf.set(DefaultDurability.KEY, value);
      assertEquals("hbase.regionserver.default.durability is " + value
        + "; must be SYNC_WAL, FSYNC_WAL or ASYNC_WAL. Set one of these, or remove the key.",
        assertThrows(IllegalArgumentException.class, () -> DefaultDurability.check(conf))
          .getMessage());
    }
  }

  @Test
  public void testServerDoesNotStartWithWrongValue() {
    Configuration server = HBaseConfiguration.create();
    server.set(DefaultDurability.KEY, "SKIP_WAL");
    assertTrue(
      assertThrows(IllegalArgumentException.class, () -> new HRegionServer(server).toString())
        .getMessage().startsWith(DefaultDurability.KEY));
  }

  @Test
  public void testSystemTablesAndMasterStoreKeepTheirDurability() {
    conf.set(DefaultDurability.KEY, "ASYNC_WAL");
    DefaultDurability.check(conf);
    assertEquals(Durability.ASYNC_WAL, of(TABLE));
    for (TableName table : new TableName[] { TableName.META_TABLE_NAME, ACL,
      TableName.valueOf("hbase:namespace"), TableName.valueOf("hbase:quota"),
      MasterRegionFactory.TABLE_NAME }) {
      assertEquals(table.toString(), Durability.SYNC_WAL, of(table));
    }
  }

  /** Returns the durability of mutations that specify none, in a region of such a table. */
  private Durability ofRegion(TableName name, Durability descriptor) throws Exception {
    HBaseTestingUtility util = new HBaseTestingUtility(HBaseConfiguration.create());
    util.getConfiguration().set(DefaultDurability.KEY, "ASYNC_WAL");
    Path folder = new Path(new File(util.getDataTestDir().toString()).getAbsolutePath());
    RegionInfo info = RegionInfoBuilder.newBuilder(name).build();
    HRegion region = HBaseTestingUtility.createRegionAndWAL(info, folder, util.getConfiguration(),
      TableDescriptorBuilder.newBuilder(name).setDurability(descriptor)
        .setColumnFamilies(
          Collections.singleton(ColumnFamilyDescriptorBuilder.of(Bytes.toBytes("f"))))
        .build());
    try {
      return region.getEffectiveDurability(Durability.USE_DEFAULT);
    } finally {
      HBaseTestingUtility.closeRegionAndWAL(region);
    }
  }

  @Test
  public void testRegionsOfTablesThatSpecifyNoDurabilityHaveTheDefault() throws Exception {
    assertEquals(Durability.ASYNC_WAL, ofRegion(TABLE, Durability.USE_DEFAULT));
    assertEquals(Durability.SYNC_WAL, ofRegion(TABLE, Durability.SYNC_WAL));
    assertEquals(Durability.SYNC_WAL, ofRegion(ACL, Durability.USE_DEFAULT));
  }
}
