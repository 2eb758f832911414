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

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.coprocessor.CoprocessorHost;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.io.hfile.composite.HotBlockCache;
import org.apache.hadoop.hbase.io.hfile.load.HandoverCaches;
import org.apache.hadoop.hbase.io.hfile.load.HandoverSettings;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.After;
import org.junit.Before;
import org.junit.Rule;
import org.junit.rules.TemporaryFolder;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;
import org.junit.runners.Parameterized.Parameter;
import org.junit.runners.Parameterized.Parameters;

/** Tests of a region without a server, with hand-over and each kind of cache that has one. */
@RunWith(Parameterized.class)
public abstract class CacheHandoverFixture {
  protected static final byte[] FAMILY = Bytes.toBytes("f");
  protected static final byte[] QUALIFIER = Bytes.toBytes("q");
  private static int regions;

  @Parameters(name = "{0}")
  public static HandoverCaches[] caches() {
    return HandoverCaches.present();
  }

  @Parameter
  public HandoverCaches kind;

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  @Rule
  public final RefCntLeakRule leaks = new RefCntLeakRule();

  protected final HBaseTestingUtility util = new HBaseTestingUtility();
  protected Configuration conf;
  protected BlockCache cache;
  protected HotBlockCache accesses;
  protected HRegion region;

  @Before
  public void openCache() throws Exception {
    conf = util.getConfiguration();
    conf.setBoolean(HandoverSettings.ENABLED_KEY, true);
    configure(conf);
    cache = kind.open(conf, folder.getRoot());
    accesses = HandoverCaches.accessesOf(cache);
  }

  /** Changes the configuration before the cache is opened. */
  protected abstract void configure(Configuration changed);

  @After
  public void closeAll() throws Exception {
    if (region != null) {
      HBaseTestingUtility.closeRegionAndWAL(region);
    }
    HandoverCaches.close(cache);
    util.cleanupTestDir();
  }

  /** Returns a family with small blocks, and no Bloom filter. */
  protected static ColumnFamilyDescriptorBuilder family() {
    return ColumnFamilyDescriptorBuilder.newBuilder(FAMILY).setBlocksize(1024)
      .setBloomFilterType(BloomType.NONE);
  }

  /** Creates the only region of a new table. */
  protected void createRegion(ColumnFamilyDescriptorBuilder family) throws IOException {
    TableDescriptor table =
      TableDescriptorBuilder.newBuilder(TableName.valueOf("handover" + regions++))
        .setColumnFamily(family.build()).build();
    RegionInfo info = RegionInfoBuilder.newBuilder(table.getTableName()).build();
    region = HBaseTestingUtility.createRegionAndWAL(info, util.getDataTestDir(), conf, table,
      cache);
  }

  /** Has a coprocessor see what the region does from now on. */
  protected void observe(Class<?> coprocessor) {
    conf.setStrings(CoprocessorHost.REGION_COPROCESSOR_CONF_KEY, coprocessor.getName());
    region.setCoprocessorHost(new RegionCoprocessorHost(region, null, conf));
  }
}
