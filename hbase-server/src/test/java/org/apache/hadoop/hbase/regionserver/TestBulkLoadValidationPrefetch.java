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
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.spy;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.HFileContextBuilder;
import org.apache.hadoop.hbase.io.hfile.LruBlockCache;
import org.apache.hadoop.hbase.io.hfile.PrefetchExecutor;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * A file that is to be loaded is opened where its writer has left it, to be validated. Its blocks
 * are not prefetched there: they would be cached under a name that it has no more once it is
 * loaded, and be read again when it is opened for use.
 */
@Category({ RegionServerTests.class, MediumTests.class })
public class TestBulkLoadValidationPrefetch {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestBulkLoadValidationPrefetch.class);

  private static final byte[] FAMILY = Bytes.toBytes("f");

  @Test
  public void testFileIsNotPrefetchedWhileItIsValidated() throws Exception {
    HBaseTestingUtility util = new HBaseTestingUtility();
    Configuration conf = util.getConfiguration();
    conf.setBoolean(CacheConfig.PREFETCH_BLOCKS_ON_OPEN_KEY, true);
    // The delay keeps what was requested until the test looks.
    conf.setInt(PrefetchExecutor.PREFETCH_DELAY, 600_000);
    PrefetchExecutor.loadConfiguration(conf);
    BlockCache cache = new LruBlockCache(1 << 20, 64 << 10, true, conf);
    TableDescriptor table = TableDescriptorBuilder.newBuilder(TableName.valueOf("t"))
      .setColumnFamily(ColumnFamilyDescriptorBuilder.of(FAMILY)).build();
    RegionInfo info = RegionInfoBuilder.newBuilder(table.getTableName()).build();
    HRegion region =
      HBaseTestingUtility.createRegionAndWAL(info, util.getDataTestDir(), conf, table, cache);
    try {
      Path source = write(conf, util.getDataTestDir("load/f"));
      HStore store = spy(region.getStore(FAMILY));
      List<Boolean> prefetched = new ArrayList<>();
      doAnswer(call -> {
        prefetched.add(!PrefetchExecutor.isCompleted(source));
        return call.callRealMethod();
      }).when(store).getRegionInfo();
      store.assertBulkLoadHFileOk(source);
      assertEquals(Collections.singleton(false), new HashSet<>(prefetched));
    } finally {
      HBaseTestingUtility.closeRegionAndWAL(region);
      cache.shutdown();
      util.cleanupTestDir();
    }
  }

  private static Path write(Configuration conf, Path folder) throws Exception {
    FileSystem fs = folder.getFileSystem(conf);
    fs.mkdirs(folder);
    StoreFileWriter writer = new StoreFileWriter.Builder(conf, CacheConfig.DISABLED, fs)
      .withOutputDir(folder).withFileContext(new HFileContextBuilder().build()).build();
    writer.append(new KeyValue(Bytes.toBytes("row"), FAMILY, Bytes.toBytes("q"), FAMILY));
    writer.close();
    return writer.getPath();
  }
}
