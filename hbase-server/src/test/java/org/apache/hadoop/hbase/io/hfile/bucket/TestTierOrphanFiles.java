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
package org.apache.hadoop.hbase.io.hfile.bucket;

import static org.junit.Assert.assertEquals;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyString;
import static org.mockito.Mockito.atLeastOnce;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.verify;
import static org.mockito.Mockito.when;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.io.hfile.composite.CompositeBucketCacheSettings;
import org.apache.hadoop.hbase.io.hfile.composite.OnlineFiles;
import org.apache.hadoop.hbase.io.hfile.composite.OrphanFiles;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** A tier evicts files that no region has read for a day when it needs space, and no others. */
@Category({ IOTests.class, SmallTests.class })
public class TestTierOrphanFiles {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestTierOrphanFiles.class);

  private static final String LIVE = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
  private static final String ORPHAN = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";
  private static final int SIZE = 4000;

  @Rule
  public final RefCntLeakRule leaks = new RefCntLeakRule();

  private final OnlineFiles online = mock(OnlineFiles.class);
  private BucketCacheTier tier;

  @Before
  public void setUp() throws IOException {
    Configuration conf = CachedBlockFixture.tiers(2, 2, "offheap");
    conf.set("hbase.bucketcache.bucket.sizes", "5120");
    tier =
      new BucketCacheTier("L2", CompositeBucketCacheSettings.of(conf).second(), online);
    OnlineFiles.Snapshot read = mock(OnlineFiles.Snapshot.class);
    when(read.isRead(anyString(), any()))
      .thenAnswer(call -> call.getArgument(0).equals(LIVE));
    when(online.look()).thenReturn(read);
  }

  @After
  public void tearDown() {
    CachedBlockFixture.close(tier);
  }

  private void cache(String file, int i) {
    CachedBlockFixture.cache(tier, CachedBlockFixture.key(file, i, BlockType.DATA),
      CachedBlockFixture.block(BlockType.DATA, i, SIZE));
    CachedBlockFixture.await(() -> tier.ramCache.isEmpty());
  }

  private long orphanFileCount() {
    Map<String, LongSupplier> metrics = new HashMap<>();
    tier.forEachMetric((kind, name, value) -> metrics.put(name, value));
    return metrics.get("OrphanFileCount").getAsLong();
  }

  @Test
  public void testFileThatNoRegionReadsIsEvictedAfterADay() {
    for (int i = 0; i < 10; i++) {
      cache(LIVE, i);
      cache(ORPHAN, i);
    }
    tier.evictOrphans(0);
    tier.evictOrphans(OrphanFiles.DEFAULT_GRACE_NANOS - 1);
    assertEquals(20, tier.getBlockCount());
    tier.evictOrphans(OrphanFiles.DEFAULT_GRACE_NANOS);
    assertEquals(10, tier.getBlockCount());
    assertEquals(0, tier.cachedBytes(ORPHAN));
    assertEquals(1, orphanFileCount());
  }

  @Test
  public void testTierLooksForThemWhenItIsFull() {
    cache(LIVE, 0);
    verify(online, never()).look();
    for (int i = 1; tier.getStats().getEvictionCount() == 0; i++) {
      cache(LIVE, i);
    }
    verify(online, atLeastOnce()).look();
    assertEquals(0, orphanFileCount());
  }
}
