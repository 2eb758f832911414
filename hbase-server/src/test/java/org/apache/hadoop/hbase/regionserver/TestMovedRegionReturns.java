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

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;

import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.SharedCluster;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * A region that has moved to another server and back is split. A client that knows its former
 * places is not sent from one to the other.
 */
@Category({ RegionServerTests.class, MediumTests.class })
public class TestMovedRegionReturns {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestMovedRegionReturns.class);

  private static final TableName TABLE = TableName.valueOf("moved");
  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final byte[] ROW = Bytes.toBytes("r");

  private HBaseTestingUtility util;

  @Before
  public void setUp() throws Exception {
    util = SharedCluster.util();
  }

  @After
  public void tearDown() throws Exception {
    util.deleteTable(TABLE);
  }

  private Connection connect() throws Exception {
    Configuration conf = new Configuration(util.getConfiguration());
    conf.setInt(HConstants.HBASE_CLIENT_OPERATION_TIMEOUT, 20_000);
    return ConnectionFactory.createConnection(conf);
  }

  @Test
  public void testClientFindsTheDaughters() throws Exception {
    util.createTable(TABLE, FAMILY).close();
    RegionInfo region = util.getAdmin().getRegions(TABLE).get(0);
    String name = region.getEncodedName();
    HRegionServer first = util.getRSForFirstRegionInTable(TABLE);
    HRegionServer second = util.getOtherRegionServer(first);
    try (Connection connection = connect(); Table table = connection.getTable(TABLE)) {
      for (byte[] row : new byte[][] { Bytes.toBytes("a"), ROW, Bytes.toBytes("z") }) {
        table.put(new Put(row).addColumn(FAMILY, FAMILY, ROW));
      }
      util.moveRegionAndWait(region, second.getServerName());
      table.get(new Get(ROW));
      assertNotNull(first.getMovedRegion(name));
      util.moveRegionAndWait(region, first.getServerName());
      assertNull("it is there", first.getMovedRegion(name));
      util.getAdmin().splitRegionAsync(region.getRegionName(), ROW).get(60, TimeUnit.SECONDS);
      assertArrayEquals(ROW, table.get(new Get(ROW)).getValue(FAMILY, FAMILY));
    }
  }
}
