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
import static org.junit.Assert.assertTrue;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import java.io.File;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.ChoreService;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.Server;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.apache.hadoop.hbase.io.util.MemorySizeUtil;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.TemporaryFolder;

/** The heap that is shared between memstore and block cache, when no block cache is on the heap. */
@Category({ RegionServerTests.class, SmallTests.class })
public class TestCompositeBucketCacheHeapMemory {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestCompositeBucketCacheHeapMemory.class);

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  private Configuration conf;

  @Before
  public void setUp() {
    conf = HBaseConfiguration.create();
    conf.set("hbase.bucketcache.l1.size", "32");
    conf.set("hbase.bucketcache.l2.size", "64");
    conf.set("hbase.bucketcache.l2.ioengine",
      "file:" + new File(folder.getRoot(), "l2").getPath());
  }

  private HeapMemoryManager manager(BlockCache cache) {
    Server server = mock(Server.class);
    when(server.getConfiguration()).thenReturn(conf);
    when(server.getServerName()).thenReturn(ServerName.valueOf("host", 1, 1));
    return new HeapMemoryManager(cache, mock(FlushRequester.class), server,
      new RegionServerAccounting(conf));
  }

  private void rangesForTheTuner() {
    conf.setFloat(HeapMemoryManager.MEMSTORE_SIZE_MIN_RANGE_KEY, 0.1f);
    conf.setFloat(HeapMemoryManager.MEMSTORE_SIZE_MAX_RANGE_KEY, 0.5f);
    conf.setFloat(HeapMemoryManager.BLOCK_CACHE_SIZE_MIN_RANGE_KEY, 0.2f);
    conf.setFloat(HeapMemoryManager.BLOCK_CACHE_SIZE_MAX_RANGE_KEY, 0.3f);
  }

  @Test
  public void testTunerIsOffBecauseThereIsNothingToTradeWith() {
    rangesForTheTuner();
    conf.setBoolean("hbase.bucketcache.composite.enabled", true);
    BlockCache cache = BlockCacheFactory.createBlockCache(conf);
    long size = cache.getMaxSize();
    HeapMemoryManager manager = manager(cache);
    assertFalse(manager.isTunerOn());
    ChoreService chores = new ChoreService("test");
    manager.start(chores);
    manager.stop();
    chores.shutdown();
    assertEquals(size, cache.getMaxSize());
    cache.shutdown();
  }

  @Test
  public void testTunerIsOnAsBeforeWithoutTheComposite() {
    rangesForTheTuner();
    BlockCache cache = BlockCacheFactory.createBlockCache(conf);
    assertTrue(manager(cache).isTunerOn());
    cache.shutdown();
  }

  @Test
  public void testMemstoreMayTakeWhatTheBlockCacheDoesNot() {
    conf.setBoolean("hbase.bucketcache.composite.enabled", true);
    conf.setFloat(MemorySizeUtil.MEMSTORE_SIZE_KEY, 0.75f);
    BlockCache cache = BlockCacheFactory.createBlockCache(conf);
    assertFalse(manager(cache).isTunerOn());
    cache.shutdown();
  }
}
