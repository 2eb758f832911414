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

import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotEquals;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.NamespaceDescriptor;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.CommonFSUtils;
import org.apache.hadoop.hbase.wal.AbstractFSWALProvider;
import org.apache.hadoop.hbase.wal.RegionGroupingProvider;
import org.apache.hadoop.hbase.wal.WALFactory;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * A cluster whose servers have a WAL for each namespace. A server that was fenced, and does not
 * know it, is told to open a region of a further namespace: it is aborted, its regions are opened
 * elsewhere, and what was acknowledged is found.
 */
@Category({ RegionServerTests.class, LargeTests.class })
public class TestFencedServer {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestFencedServer.class);

  private static final long TIMEOUT_MILLIS = 300_000;
  private static final TableName FIRST = TableName.valueOf("first", "table");
  private static final TableName SECOND = TableName.valueOf("second", "table");
  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final byte[] ROW = Bytes.toBytes("row");

  private final HBaseTestingUtility util = new HBaseTestingUtility();

  @Before
  public void setUp() throws Exception {
    Configuration conf = util.getConfiguration();
    conf.set(WALFactory.WAL_PROVIDER, "multiwal");
    conf.set(RegionGroupingProvider.REGION_GROUPING_STRATEGY, "namespace");
    util.startMiniCluster(2);
    util.getAdmin().balancerSwitch(false, true);
    for (TableName table : new TableName[] { FIRST, SECOND }) {
      util.getAdmin()
        .createNamespace(NamespaceDescriptor.create(table.getNamespaceAsString()).build());
      util.createTable(table, FAMILY);
    }
  }

  @After
  public void tearDown() throws Exception {
    util.shutdownMiniCluster();
  }

  private void move(TableName table, ServerName server) throws IOException {
    util.getAdmin().move(util.getAdmin().getRegions(table).get(0).getEncodedNameAsBytes(), server);
  }

  private void put(TableName name) throws IOException {
    try (Table table = util.getConnection().getTable(name)) {
      table.put(new Put(ROW).addColumn(FAMILY, FAMILY, ROW));
    }
  }

  private void assertRow(TableName name) throws IOException {
    try (Table table = util.getConnection().getTable(name)) {
      assertTrue("an acknowledged write to " + name, table.exists(new Get(ROW)));
    }
  }

  @Test
  public void testAcknowledgedWritesAreFound() throws Exception {
    HRegionServer fenced = util.getOtherRegionServer(util.getRSForFirstRegionInTable(SECOND));
    ServerName name = fenced.getServerName();
    move(FIRST, name);
    put(FIRST);
    FileSystem fs = util.getDFSCluster().getFileSystem();
    Path directory = new Path(CommonFSUtils.getWALRootDir(util.getConfiguration()),
      AbstractFSWALProvider.getWALDirectoryName(name.toString()));
    assertTrue(fs.rename(directory, directory.suffix(AbstractFSWALProvider.SPLITTING_EXT)));

    move(SECOND, name);
    assertFalse("a directory that nothing splits", fs.exists(directory));
    put(SECOND);
    util.waitFor(TIMEOUT_MILLIS, () -> util.getMiniHBaseCluster().getLiveRegionServerThreads()
      .stream().noneMatch(thread -> thread.getRegionServer() == fenced));
    assertTrue(fenced.isAborted());
    util.waitFor(TIMEOUT_MILLIS,
      () -> !util.getMiniHBaseCluster().getMaster().getServerManager().isServerOnline(name));
    util.waitUntilNoRegionsInTransition(TIMEOUT_MILLIS);
    for (TableName table : new TableName[] { FIRST, SECOND }) {
      util.waitTableAvailable(table);
      assertNotEquals(name, util.getRSForFirstRegionInTable(table).getServerName());
      assertRow(table);
    }
  }
}
