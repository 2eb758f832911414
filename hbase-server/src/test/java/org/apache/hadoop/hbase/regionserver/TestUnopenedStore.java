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

import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.CommonFSUtils;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * A store that cannot be opened, as the files of a region may be compacted away during the warm-up
 * before its move, leaves nothing behind: neither the memstore that it was to have nor the
 * stores that were opened beside it.
 */
@Category({ RegionServerTests.class, SmallTests.class })
public class TestUnopenedStore {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestUnopenedStore.class);

  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final byte[] OTHER = Bytes.toBytes("g");
  private static final byte[] THIRD = Bytes.toBytes("h");

  @Rule
  public final RefCntLeakRule leakRule = new RefCntLeakRule();

  private final HBaseTestingUtility util = new HBaseTestingUtility();
  private final Configuration conf = util.getConfiguration();
  private final TableDescriptor table =
    TableDescriptorBuilder.newBuilder(TableName.valueOf("unopened"))
      .setColumnFamily(ColumnFamilyDescriptorBuilder.of(FAMILY))
      .setColumnFamily(ColumnFamilyDescriptorBuilder.of(OTHER))
      .setColumnFamily(ColumnFamilyDescriptorBuilder.of(THIRD)).build();
  private final RegionInfo info = RegionInfoBuilder.newBuilder(table.getTableName()).build();
  private Path storeDir;

  @Before
  public void createRegionWithFile() throws IOException {
    Path root = util.getDataTestDir();
    CommonFSUtils.setRootDir(conf, root);
    conf.setInt(HConstants.HSTORE_OPEN_AND_CLOSE_THREADS_MAX, 3);
    HRegion region = HBaseTestingUtility.createRegionAndWAL(info, root, conf, table);
    region.put(new Put(FAMILY).addColumn(FAMILY, FAMILY, FAMILY).addColumn(OTHER, FAMILY, FAMILY)
      .addColumn(THIRD, FAMILY, FAMILY));
    region.flush(true);
    storeDir = region.getRegionFileSystem().getStoreDir(Bytes.toString(FAMILY));
    HBaseTestingUtility.closeRegionAndWAL(region);
  }

  @After
  public void cleanUp() throws IOException {
    util.cleanupTestDir();
  }

  @Test
  public void testWarmUpOfUnreadableFile() throws IOException {
    spoilFile();
    assertThrows(IOException.class,
      () -> HRegion.warmupHRegion(info, table, null, conf, null, null));
  }

  @Test
  public void testOpenOfUnreadableFile() throws IOException {
    spoilFile();
    assertThrows(IOException.class, () -> HRegion.openHRegion(info, table, null, conf));
  }

  @Test
  public void testOpenedStore() throws IOException {
    HRegion.warmupHRegion(info, table, null, conf, null, null);
  }

  private void spoilFile() throws IOException {
    FileSystem fs = storeDir.getFileSystem(conf);
    Path file = fs.listStatus(storeDir)[0].getPath();
    assertTrue(fs.delete(file, false));
    try (FSDataOutputStream out = fs.create(file)) {
      out.writeBytes("not an HFile");
    }
  }
}
