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
import static org.junit.Assert.assertTrue;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.LruBlockCache;
import org.apache.hadoop.hbase.regionserver.storefiletracker.StoreFileTrackerFactory;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * Tests that an opened region has no cached blocks of files that a kill has left uncommitted in the
 * directory of a store, where a tracker of files has them written.
 */
@Category({ RegionServerTests.class, MediumTests.class })
public class TestUntrackedFiles {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestUntrackedFiles.class);

  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final String UNCOMMITTED = "0123456789abcdef0123456789abcdef";

  private final HBaseTestingUtility util = new HBaseTestingUtility();
  private final LruBlockCache cache = new LruBlockCache(8 << 20, 64 << 10);

  private void cache(String file) {
    CachedBlockFixture.cache(cache, CachedBlockFixture.key(file, 0, BlockType.DATA),
      CachedBlockFixture.block(BlockType.DATA, 0, 1000));
  }

  private long evictedOf(String tracker) throws Exception {
    Configuration conf = util.getConfiguration();
    conf.set(StoreFileTrackerFactory.TRACKER_IMPL, tracker);
    TableDescriptor table = TableDescriptorBuilder.newBuilder(TableName.valueOf(tracker))
      .setColumnFamily(ColumnFamilyDescriptorBuilder.of(FAMILY)).build();
    HRegion region = HBaseTestingUtility.createRegionAndWAL(
      RegionInfoBuilder.newBuilder(table.getTableName()).build(), util.getDataTestDir(tracker),
      conf, table, cache);
    try {
      region.put(new Put(Bytes.toBytes("row")).addColumn(FAMILY, FAMILY, FAMILY));
      region.flush(true);
      Path own = region.getStore(FAMILY).getStorefiles().iterator().next().getPath();
      cache(own.getName());
      cache(UNCOMMITTED);
      region.getFilesystem().create(new Path(own.getParent(), UNCOMMITTED)).close();
      StoreCacheHandover.evictUntracked(region);
      assertTrue("a file of the store", cache.evictBlocksByHfileName(own.getName()) > 0);
      return 1 - cache.evictBlocksByHfileName(UNCOMMITTED);
    } finally {
      HBaseTestingUtility.closeRegionAndWAL(region);
      cache.shutdown();
    }
  }

  @Test
  public void testFileTracker() throws Exception {
    assertEquals(1, evictedOf("FILE"));
  }

  /** Its files are written to a temporary directory, and this one was moved here. */
  @Test
  public void testDefaultTracker() throws Exception {
    assertEquals(0, evictedOf("DEFAULT"));
  }
}
