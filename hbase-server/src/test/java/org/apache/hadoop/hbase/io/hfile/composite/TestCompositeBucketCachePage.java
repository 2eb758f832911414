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
package org.apache.hadoop.hbase.io.hfile.composite;

import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.await;
import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.block;
import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.cache;
import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.isWritten;
import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.key;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.StringWriter;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.hbase.tmpl.regionserver.BlockCacheTmpl;
import org.apache.hadoop.hbase.tmpl.regionserver.BlockCacheViewTmpl;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.TemporaryFolder;

import org.apache.hbase.thirdparty.com.google.gson.JsonElement;
import org.apache.hbase.thirdparty.com.google.gson.JsonParser;

/** The Block Cache section of a RegionServer's page. */
@Category({ IOTests.class, SmallTests.class })
public class TestCompositeBucketCachePage {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestCompositeBucketCachePage.class);

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  private Configuration conf;
  private BlockCache cache;

  @Before
  public void setUp() {
    conf = CachedBlockFixture.tiers(32, 64, "file:" + new File(folder.getRoot(), "l2").getPath());
    conf.set("hbase.bucketcache.composite.promotion", "none");
    cache = BlockCacheFactory.createBlockCache(conf);
    for (int i = 0; i < 5; i++) {
      BlockType type = i < 2 ? BlockType.LEAF_INDEX : BlockType.DATA;
      BlockCacheKey key = key("file", i, type);
      cache(cache, key, block(type, i, 1000));
      await(() -> isWritten(cache, key));
      for (int times = 0; times < 4; times++) {
        cache.getBlock(key, true, false, true).release();
      }
    }
    cache.getBlock(key("file", 9, BlockType.DATA), true, false, true);
  }

  @After
  public void tearDown() {
    cache.shutdown();
  }

  private String page() throws Exception {
    StringWriter page = new StringWriter();
    new BlockCacheTmpl().render(page, new CacheConfig(conf, null, cache, ByteBuffAllocator.HEAP),
      conf, cache);
    return page.toString().replaceAll("\\s+", " ");
  }

  private String json(String tier, String view) throws Exception {
    StringWriter json = new StringWriter();
    new BlockCacheViewTmpl().render(json, new CacheConfig(conf, null, cache,
      ByteBuffAllocator.HEAP), conf, tier, view, cache);
    return json.toString();
  }

  private static void assertRow(String tab, String attribute, String value) {
    assertTrue(attribute + "=" + value + " in " + tab,
      tab.contains("<td>" + attribute + "</td> <td>" + value));
  }

  @Test
  public void testShowsEngineSizeCountsAndHitsOfBothTiers() throws Exception {
    String page = page();
    int l1 = page.indexOf("id=\"tab_bc_l1\"");
    int l2 = page.indexOf("id=\"tab_bc_l2\"");
    assertTrue(l1 > 0 && l2 > l1);
    assertTrue(page.substring(0, l1).contains("CompositeBucketCache"));
    String first = page.substring(l1, l2);
    String second = page.substring(l2);
    assertRow(first, "Implementation", "ioengine=ByteBufferIOEngine");
    assertRow(second, "Implementation", "ioengine=FileIOEngine");
    assertTrue(second.contains(folder.getRoot().getPath()));
    assertRow(first, "Cache Size Limit", "32 MB");
    assertRow(second, "Cache Size Limit", "64 MB");
    assertRow(first, "Block Count", "2<");
    assertRow(second, "Block Count", "3<");
    assertRow(first, "Hits", "8<");
    assertRow(second, "Hits", "12<");
    assertRow(first, "Misses", "0<");
    assertRow(second, "Misses", "1<");
    String stats = page.substring(page.indexOf("id=\"tab_bc_stats\""), l1);
    assertRow(stats, "Count", "5<");
    assertRow(stats, "Hits", "20<");
    assertRow(stats, "Misses", "1<");
  }

  @Test
  public void testLinksToJsonOfBothTiersWork() throws Exception {
    for (String tier : new String[] { "L1", "L2" }) {
      assertTrue(page().contains("?format=json&bcn=" + tier));
      JsonElement summary = JsonParser.parseString(json(tier, ""));
      assertEquals("the cache and its files", 2, summary.getAsJsonArray().size());
      JsonElement byFile = JsonParser.parseString(json(tier, "file"));
      assertEquals("one file", 1, byFile.getAsJsonArray().size());
    }
  }

  @Test
  public void testNoLinkLeadsToApiDocumentsThatDoNotExist() throws Exception {
    String page = page();
    // HBase publishes those of its own classes only.
    assertFalse(page, page.contains("/devapidocs/"));
    assertEquals("the cache and both tiers", 4, page.split("<a href=\"/features\">", -1).length);
    cache.shutdown();
    conf = HBaseConfiguration.create();
    cache = BlockCacheFactory.createBlockCache(conf);
    page = page();
    assertTrue(page, page.contains("devapidocs/org/apache/hadoop/hbase/io/hfile/LruBlockCache"));
  }
}
