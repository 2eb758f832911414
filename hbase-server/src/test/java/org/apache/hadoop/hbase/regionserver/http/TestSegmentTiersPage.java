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
package org.apache.hadoop.hbase.regionserver.http;

import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.util.Collections;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.io.hfile.composite.CompositeBucketCache;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.TemporaryFolder;

/** What the page of the tiers says of a tier of segments beside what it says of all. */
@Category({ RegionServerTests.class, SmallTests.class })
public class TestSegmentTiersPage {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestSegmentTiersPage.class);

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  @Rule
  public final RefCntLeakRule leaks = new RefCntLeakRule();

  private static void assertRow(String page, String name, String second) {
    assertTrue(name + " " + second + ": " + page, page.contains(name + "</td><td class=\"n\">\u2013"
      + "</td><td class=\"n\">" + second + "</td>"));
  }

  private String page(String engine) {
    Configuration conf = CachedBlockFixture.tiers(32, 64, engine);
    conf.set("hbase.segmentcache.segment.mb", "1");
    CompositeBucketCache cache = (CompositeBucketCache) BlockCacheFactory.createBlockCache(conf);
    try {
      HFileBlock block = CachedBlockFixture.block(BlockType.DATA, 0, 1000);
      BlockCacheKey key =
        new BlockCacheKey(new Path("/hbase/data/default/t/r/f/file"), 0, true, BlockType.DATA);
      cache.getSecondLevelCache().cacheBlock(key, block);
      block.release();
      // A block that a shutdown finds in a writer queue is dropped with its cache.
      CachedBlockFixture.await(() -> cache.getSecondLevelCache().getBlockCount() == 1
        && cache.getMetrics().getTiers().get(1).get("WaitingBlockCount") == 0);
      cache.evictBlocksByHfileName("file");
      return BlockCacheTiersPage.of("rs1,16020,1", 1_800_000_000_000L, cache.getMetrics(),
        Collections.emptyList());
    } finally {
      cache.shutdown();
    }
  }

  @Test
  public void testSegmentsHaveRowsOfTheirOwn() {
    String page = page("segments:" + new File(folder.getRoot(), "segments"));
    assertRow(page, "Retired", "0");
    assertRow(page, "Devices bypassed", "0");
    assertRow(page, "Tombstones of dropped files", "1");
    assertRow(page, "Dropped files that no region has", "0");
    assertRow(page, "Refused blocks of reads", "0");
  }

  @Test
  public void testBucketsHaveNone() {
    String page = page("file:" + new File(folder.getRoot(), "buckets"));
    assertFalse(page, page.contains("Tombstones"));
  }
}
