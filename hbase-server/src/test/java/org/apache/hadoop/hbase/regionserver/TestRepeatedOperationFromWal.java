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

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Append;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.CommonFSUtils;
import org.apache.hadoop.hbase.util.EnvironmentEdgeManager;
import org.apache.hadoop.hbase.wal.WALFactory;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.mockito.Mockito;

/**
 * A client repeats an increment or append after its server has died; the new server knows the first
 * attempt from the WAL, and answers with what is there.
 */
@Category({ RegionServerTests.class, MediumTests.class })
public class TestRepeatedOperationFromWal {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestRepeatedOperationFromWal.class);

  private static final byte[] F = Bytes.toBytes("f");
  private static final byte[] Q = Bytes.toBytes("q");
  private static final byte[] ROW = Bytes.toBytes("row");
  private static final long CLIENT = 1;
  private static final long NONCE = 2;

  private final HBaseTestingUtility util = new HBaseTestingUtility();
  private WALFactory wals;
  private HRegion region;

  @Before
  public void setUp() throws Exception {
    Configuration conf = util.getConfiguration();
    Path root = util.getDataTestDirOnTestFS();
    CommonFSUtils.setRootDir(conf, root);
    TableDescriptor table = TableDescriptorBuilder.newBuilder(TableName.valueOf("t"))
      .setColumnFamily(ColumnFamilyDescriptorBuilder.of(F)).build();
    RegionInfo info = RegionInfoBuilder.newBuilder(table.getTableName()).build();
    wals = new WALFactory(conf, "TestRepeatedOperationFromWal");
    ServerNonceManager nonces = new ServerNonceManager(conf);
    nonces.reportOperationFromWal(CLIENT, NONCE, EnvironmentEdgeManager.currentTime());
    RegionServerServices server = Mockito.spy(
      util.createMockRegionServerService(ServerName.valueOf("localhost", 1, 1)));
    Mockito.doReturn(nonces).when(server).getNonceManager();
    ChunkCreator.initialize(MemStoreLAB.CHUNK_SIZE_DEFAULT, false, 0, 0, 0, null,
      MemStoreLAB.INDEX_CHUNK_SIZE_PERCENTAGE_DEFAULT);
    HRegion.createHRegion(info, root, conf, table, wals.getWAL(info)).close();
    region = HRegion.openHRegion(root, info, table, wals.getWAL(info), conf, server, null);
    region.put(new Put(ROW).addColumn(F, Q, Bytes.toBytes(5L)));
  }

  @After
  public void tearDown() throws IOException {
    region.close();
    wals.close();
    util.cleanupTestDir();
  }

  private static void assertFive(Result result) {
    assertFalse("an empty answer", result.isEmpty());
    assertEquals(5, Bytes.toLong(result.getValue(F, Q)));
  }

  @Test
  public void testRepeatedIncrementIsAnsweredWithTheValue() throws IOException {
    assertFive(region.increment(new Increment(ROW).addColumn(F, Q, 1), CLIENT, NONCE));
  }

  @Test
  public void testRepeatedAppendIsAnsweredWithTheValue() throws IOException {
    assertFive(
      region.append(new Append(ROW).addColumn(F, Q, Bytes.toBytes("more")), CLIENT, NONCE));
  }

  @Test
  public void testValueIsFoundInFilesToo() throws IOException {
    region.flush(true);
    assertFive(region.increment(new Increment(ROW).addColumn(F, Q, 1), CLIENT, NONCE));
  }
}
