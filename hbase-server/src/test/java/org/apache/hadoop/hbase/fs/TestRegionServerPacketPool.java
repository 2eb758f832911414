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
package org.apache.hadoop.hbase.fs;

import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.apache.hadoop.hdfs.util.ByteArrayManager;
import org.junit.AfterClass;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * Tests that a RegionServer with the default settings pools the packets that it writes to HDFS, and
 * one whose operator has switched the pool off does not.
 */
@Category({ IOTests.class, LargeTests.class })
public class TestRegionServerPacketPool {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestRegionServerPacketPool.class);

  private static final HBaseTestingUtility UTIL = new HBaseTestingUtility();

  private static HRegionServer pooling;
  private static HRegionServer stock;

  @BeforeClass
  public static void start() throws Exception {
    UTIL.startMiniCluster(1);
    pooling = UTIL.getMiniHBaseCluster().getRegionServer(0);
    Configuration conf = UTIL.getMiniHBaseCluster().getConfiguration();
    conf.setBoolean(HdfsPacketPool.ENABLED_KEY, false);
    stock = UTIL.getMiniHBaseCluster().startRegionServer().getRegionServer();
    UTIL.getAdmin().balancerSwitch(false, true);
  }

  @AfterClass
  public static void stop() throws Exception {
    UTIL.shutdownMiniCluster();
  }

  @Test
  public void testServersHaveThePoolThatTheirSettingsSay() throws IOException {
    assertTrue(HdfsPacketPool.isPooled(pool(pooling)));
    assertFalse(HdfsPacketPool.isPooled(pool(stock)));
  }

  private static ByteArrayManager pool(HRegionServer server) throws IOException {
    HFileSystem fs = (HFileSystem) server.getFileSystem();
    return ((DistributedFileSystem) fs.getBackingFs()).getClient().getClientContext()
      .getByteArrayManager();
  }
}
