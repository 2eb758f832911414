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

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** Coalesced increments while servers die. */
@Category({ RegionServerTests.class, LargeTests.class })
public class TestCoalescedIncrementsKill extends CounterClientsFixture {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestCoalescedIncrementsKill.class);

  @Before
  public void setUp() throws Exception {
    util = new HBaseTestingUtility();
    Configuration conf = util.getConfiguration();
    conf.setBoolean(CoalescerSettings.ENABLED_KEY, true);
    conf.setInt(HConstants.HBASE_CLIENT_RETRIES_NUMBER, 100);
    conf.setInt(HConstants.HBASE_CLIENT_PAUSE, 20);
    util.startMiniCluster(1);
    util.getHBaseCluster().startRegionServerAndWait(60_000);
    createTable("dying");
  }

  @After
  public void tearDown() throws Exception {
    util.shutdownMiniCluster();
  }

  /**
   * A client whose server dies asks the next one with the same nonce, so that only the sum is
   * certain: like on stock, what it gets then is the value of that later time.
   */
  @Test
  public void testDeathOfServers() throws Exception {
    increment(Durability.SYNC_WAL, () -> {
      for (int i = 0; i < 2; i++) {
        util.getHBaseCluster().startRegionServerAndWait(60_000);
        int some = (i + 1) * CLIENTS * INCREMENTS / 4;
        util.waitFor(300_000, 10, () -> histories.get(0).size() >= some);
        ServerName holder = util.getHBaseCluster().getServerHoldingRegion(table,
          util.getAdmin().getRegions(table).get(0).getRegionName());
        if (holder != null) {
          util.getHBaseCluster().killRegionServer(holder);
        }
      }
    });
    assertSums();
  }
}
