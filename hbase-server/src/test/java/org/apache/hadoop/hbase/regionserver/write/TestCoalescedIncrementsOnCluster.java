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
package org.apache.hadoop.hbase.regionserver.write;

import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.SharedCluster;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.JVMClusterUtil.RegionServerThread;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.TestName;

/** Coalesced increments while regions are flushed, split, and moved. */
@Category({ RegionServerTests.class, MediumTests.class })
public class TestCoalescedIncrementsOnCluster extends CounterClientsFixture {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestCoalescedIncrementsOnCluster.class);

  @Rule
  public final TestName name = new TestName();

  @Before
  public void setUp() throws Exception {
    util = SharedCluster.util();
    createTable(name.getMethodName());
  }

  @After
  public void tearDown() throws Exception {
    util.deleteTable(table);
  }

  private void flushSplitAndMove() throws Exception {
    Admin admin = util.getAdmin();
    admin.flush(table);
    moveAll();
    util.getAdmin().splitRegionAsync(admin.getRegions(table).get(0).getRegionName(),
      Bytes.toBytes("k")).get();
    admin.flush(table);
    moveAll();
  }

  private void moveAll() throws Exception {
    for (RegionInfo region : util.getAdmin().getRegions(table)) {
      ServerName from = util.getHBaseCluster().getServerHoldingRegion(table,
        region.getRegionName());
      for (RegionServerThread server : util.getHBaseCluster().getLiveRegionServerThreads()) {
        ServerName to = server.getRegionServer().getServerName();
        if (from != null && !to.equals(from)) {
          util.getAdmin().move(region.getEncodedNameAsBytes(), to);
          break;
        }
      }
    }
  }

  @Test
  public void testFlushesSplitsAndMoves() throws Exception {
    increment(Durability.SYNC_WAL, this::flushSplitAndMove);
    assertSums();
    histories.forEach(CounterHistory::assertLinear);
  }

  @Test
  public void testFlushesSplitsAndMovesWithAsyncWal() throws Exception {
    increment(Durability.ASYNC_WAL, this::flushSplitAndMove);
    assertSums();
    histories.forEach(CounterHistory::assertLinear);
  }
}
