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

import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.await;
import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.block;
import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.cache;
import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.key;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.net.HttpURLConnection;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.commons.io.IOUtils;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.http.InfoServer;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.bucket.BucketCacheTier;
import org.apache.hadoop.hbase.io.hfile.bucket.WalklessTier;
import org.apache.hadoop.hbase.io.hfile.composite.CompositeBucketCache;
import org.apache.hadoop.hbase.io.hfile.composite.CompositeBucketCacheMetrics;
import org.apache.hadoop.hbase.io.hfile.load.PrefetchScheduler;
import org.apache.hadoop.hbase.metrics.MetricRegistries;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.TemporaryFolder;
import org.mockito.Mockito;

import org.apache.hbase.thirdparty.com.google.gson.JsonArray;
import org.apache.hbase.thirdparty.com.google.gson.JsonElement;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;
import org.apache.hbase.thirdparty.com.google.gson.JsonParser;

/** What the page of the tiers and its JSON say of a cache. */
@Category({ RegionServerTests.class, SmallTests.class })
public class TestBlockCacheTiersPage {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestBlockCacheTiersPage.class);

  private static final long NOW = 1_800_000_000_000L;
  private static final String SERVER = "rs1.example.org,16020,1700000000000";
  private static final String BAD_NAME = "<script>alert('\"&\u00e9')</script>";

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  private CompositeBucketCache cache;
  private BucketCacheTier first;
  private BucketCacheTier second;

  @Before
  public void setUp() throws Exception {
    Configuration conf = CachedBlockFixture.tiers(32, 64,
      "file:" + new File(folder.newFolder("a<b>&'c"), "l2").getPath());
    // Without promotion a block stays in the tier where it was found.
    conf.set("hbase.bucketcache.composite.promotion", "none");
    cache = (CompositeBucketCache) BlockCacheFactory.createBlockCache(conf);
    first = (BucketCacheTier) cache.getFirstLevelCache();
    second = (BucketCacheTier) cache.getSecondLevelCache();
  }

  @After
  public void tearDown() {
    cache.shutdown();
  }

  /** Inserts two index, one bloom and three data blocks of each file. */
  private void fill(int files) {
    BlockType[] types = { BlockType.LEAF_INDEX, BlockType.ROOT_INDEX, BlockType.BLOOM_CHUNK,
      BlockType.DATA, BlockType.DATA, BlockType.ENCODED_DATA };
    for (int file = 0; file < files; file++) {
      for (int i = 0; i < types.length; i++) {
        cache(cache, key("file" + file, i, types[i]), block(types[i], i, 1000));
        // The queues are short.
        await(() -> metrics().getTiers().stream()
          .allMatch(tier -> tier.get("WaitingBlockCount") == 0));
      }
    }
  }

  private CompositeBucketCacheMetrics metrics() {
    return cache.getMetrics();
  }

  private String page(List<TableUse> tables) {
    return BlockCacheTiersPage.of(SERVER, NOW, metrics(), tables);
  }

  private JsonObject json(List<TableUse> tables) {
    return (JsonObject) JsonParser.parseString(
      StatusServlet.json(BlockCacheTiersJson.of(SERVER, NOW, metrics(), tables)));
  }

  private static void assertRow(String page, String name, String first, String second) {
    Matcher row = Pattern.compile("<tr><td class=\"w\">" + name
      + "</td><td class=\"\\w+\">(.*?)</td><td class=\"\\w+\">(.*?)</td></tr>").matcher(page);
    assertTrue(name, row.find());
    assertEquals(name + " of L1", first, text(row.group(1)));
    assertEquals(name + " of L2", second, text(row.group(2)));
  }

  private static String text(String html) {
    return html.replaceAll("<[^>]*>", " ").replaceAll(" +", " ").trim();
  }

  private static void assertSingleTree(String html) {
    // Every tag is closed in order, so that no name or value can have opened one.
    Deque<String> open = new ArrayDeque<>();
    Matcher tag = Pattern.compile("<(/?)([a-zA-Z0-9]+)[^>]*?(/?)>").matcher(html);
    while (tag.find()) {
      if (tag.group(3).isEmpty() && !tag.group(2).equals("br")) {
        if (tag.group(1).isEmpty()) {
          open.push(tag.group(2));
        } else {
          assertEquals("before " + tag.start(), open.poll(), tag.group(2));
        }
      }
    }
    assertTrue(open.toString(), open.isEmpty());
  }

  @Test
  public void testShowsBlocksByTypeHitsAndMissesOfBothTiers() {
    fill(2);
    cache.getBlock(key("file0", 0, BlockType.LEAF_INDEX), true, false, true).release();
    cache.getBlock(key("file0", 3, BlockType.DATA), true, false, true).release();
    cache.getBlock(key("file0", 3, BlockType.DATA), true, false, false).release();
    assertNull(cache.getBlock(key("file9", 3, BlockType.DATA), true, false, true));
    assertNull(cache.getBlock(key("file9", 0, BlockType.LEAF_INDEX), true, false, true));
    String page = page(Collections.emptyList());
    assertSingleTree(page);
    assertRow(page, "Capacity", "32 MB", "64 MB");
    assertRow(page, "Index block count", "4", "0");
    assertRow(page, "Index block size", "4.1 KB", "0 B");
    assertRow(page, "Bloom block count", "2", "0");
    assertRow(page, "Data block count", "0", "6");
    assertRow(page, "Data block size", "0 B", "6.1 KB");
    assertRow(page, "Hit count", "1", "1");
    assertRow(page, "Miss count", "1", "1");
    assertRow(page, "Hit ratio", "25.0 %", "33.3 %");
    assertRow(page, "Inserted block count", "6", "6");
    assertRow(page, "Rejected promotion count", "0", "\u2013");
    assertRow(page, "Checksum failure count", "0", "0");
    assertRow(page, "Device state", "in use", "in use");
    assertTrue(page, page.contains("ioengine=ByteBufferIOEngine"));
    assertTrue("the path of L2", page.contains("a&lt;b&gt;&amp;&#39;c"));
  }

  @Test
  public void testSegmentsHaveRowsOfTheirOwn() {
    String buckets = page(Collections.emptyList());
    assertFalse("buckets", buckets.contains("Tombstone"));
    cache.shutdown();
    Configuration conf =
      CachedBlockFixture.tiers(32, 64, "segments:" + new File(folder.getRoot(), "segments"));
    conf.set("hbase.segmentcache.segment.mb", "1");
    cache = (CompositeBucketCache) BlockCacheFactory.createBlockCache(conf);
    cache(cache.getSecondLevelCache(), new BlockCacheKey(
      new Path("/hbase/data/default/t/r/f/file"), 0, true, BlockType.DATA),
      block(BlockType.DATA, 0, 1000));
    // A block that a shutdown finds in a writer queue is dropped with its cache.
    await(() -> cache.getSecondLevelCache().getBlockCount() == 1
      && metrics().getTiers().get(1).get("WaitingBlockCount") == 0);
    cache.evictBlocksByHfileName("file");
    String page = page(Collections.emptyList());
    assertRow(page, "Retired segment count", "\u2013", "0");
    assertRow(page, "Bypassed device count", "\u2013", "0");
    assertRow(page, "Tombstone count", "\u2013", "1");
    assertRow(page, "Orphan file count", "\u2013", "0");
    assertRow(page, "Refused read insert count", "\u2013", "0");
    assertFalse(page, page.contains("class=\"bad\""));
    for (String error : BlockCacheTiersPage.ERRORS) {
      assertTrue(error, (buckets + page).contains(">" + StatusTable.words(error) + "<"));
    }
    assertTrue("errors are below", page.indexOf("Io error count") > page.indexOf("Written bytes"));
  }

  @Test
  public void testSaysWhatThereIsToComeRightAfterTheStart() {
    String page = page(Collections.emptyList());
    assertSingleTree(page);
    assertTrue(page, page.contains("Nothing is cached yet."));
    assertTrue(page, page.contains("There is nothing to show yet"));
    assertRow(page, "Hit ratio", "\u2013", "\u2013");
    assertRow(page, "Read latency, median", "\u2013", "\u2013");
    JsonObject json = json(Collections.emptyList());
    assertEquals(0, json.getAsJsonArray("tables").size());
    assertEquals(0, json.getAsJsonArray("history").size());
  }

  @Test
  public void testJsonHasTheShapeThatTheGuideSays() {
    fill(1);
    cache.getBlock(key("file0", 3, BlockType.DATA), true, false, true).release();
    long nanos = System.nanoTime();
    sample(NOW - 10_000, nanos);
    sample(NOW, nanos + 10_000_000_000L);
    JsonObject json = json(TableUse.of(metrics(), Collections.singletonMap("file0", "ns:table")));
    assertNames(json, "enabled", "server", "time", "tiers", "history", "tables");
    assertTrue(json.get("enabled").getAsBoolean());
    assertEquals(SERVER, json.get("server").getAsString());
    assertEquals(NOW, json.get("time").getAsLong());
    JsonArray tiers = json.getAsJsonArray("tiers");
    assertEquals(2, tiers.size());
    for (int i = 0; i < 2; i++) {
      JsonObject tier = tiers.get(i).getAsJsonObject();
      assertNames(tier, "name", "ioEngine", "metrics", "readNanos");
      assertEquals("L" + (i + 1), tier.get("name").getAsString());
      JsonObject values = tier.getAsJsonObject("metrics");
      for (String name : new String[] { "capacity", "used", "indexBlockCount", "indexBlockSize",
        "bloomBlockCount", "bloomBlockSize", "dataBlockCount", "dataBlockSize", "hitCount",
        "missCount", "insertedBlockCount", "writtenBytes", "evictedBlockCount" }) {
        assertTrue(name, values.get(name).getAsLong() >= 0);
      }
      assertNames(tier.getAsJsonObject("readNanos"), "timed", "median", "p95", "p99", "p999",
        "max");
    }
    JsonObject reads = tiers.get(1).getAsJsonObject().getAsJsonObject("readNanos");
    assertEquals(1, reads.get("timed").getAsLong());
    assertTrue(reads.get("median").getAsLong() > 0);
    JsonArray history = json.getAsJsonArray("history");
    JsonObject last = history.get(history.size() - 1).getAsJsonObject();
    assertNames(last, "time", "millis", "l1Hits", "l2Hits", "misses", "promotions",
      "rejectedPromotions", "demotions");
    assertEquals(NOW, last.get("time").getAsLong());
    assertEquals(10_000, last.get("millis").getAsLong());
    JsonObject table = json.getAsJsonArray("tables").get(0).getAsJsonObject();
    assertNames(table, "table", "l1Bytes", "l1Blocks", "l1Files", "l2Bytes", "l2Blocks",
      "l2Files");
    assertEquals("ns:table", table.get("table").getAsString());
    assertEquals(3, table.get("l1Blocks").getAsLong());
    assertEquals(3, table.get("l2Blocks").getAsLong());
    assertEquals(1, table.get("l2Files").getAsLong());
  }

  private static void assertNames(JsonObject object, String... names) {
    assertEquals(new TreeSet<>(Arrays.asList(names)), new TreeSet<>(object.keySet()));
  }

  private void sample(long time, long nanos) {
    metrics().sample(time, nanos);
  }

  @Test
  public void testNoNameCanOpenATag() {
    fill(1);
    List<TableUse> tables =
      TableUse.of(metrics(), Collections.singletonMap("file0", BAD_NAME));
    String page = BlockCacheTiersPage.of(BAD_NAME, NOW, metrics(), tables);
    assertSingleTree(page);
    assertFalse(page, page.contains("<script"));
    assertTrue(page,
      page.contains("&lt;script&gt;alert(&#39;&quot;&amp;\u00e9&#39;)&lt;/script&gt;"));
    String json =
      StatusServlet.json(BlockCacheTiersJson.of(BAD_NAME, NOW, metrics(), tables));
    assertFalse(json, json.contains("<"));
    JsonElement name = ((JsonObject) JsonParser.parseString(json)).getAsJsonArray("tables").get(0)
      .getAsJsonObject().get("table");
    assertEquals(BAD_NAME, name.getAsString());
    assertFalse(BlockCacheTiersPage.withoutTiers(BAD_NAME).contains("<script"));
  }

  @Test
  public void testTheTablesThatTakeMostComeFirstAndTheRestIsSummedUp() {
    Map<String, String> tables = new HashMap<>();
    int files = BlockCacheTiersPage.TABLES + 6;
    fill(files);
    for (int i = 0; i < files - 1; i++) {
      // The last two files are one table's, and one file belongs to no table.
      tables.put("file" + i, String.format("table%02d", Math.min(i, files - 3)));
    }
    List<TableUse> uses = TableUse.of(metrics(), tables);
    assertEquals(files - 1, uses.size());
    assertEquals(String.format("table%02d", files - 3), uses.get(0).getTable());
    assertEquals(6, uses.get(0).getBlocks(0));
    assertEquals(2, uses.get(0).getFiles(1));
    assertEquals(1, uses.stream().filter(use -> use.getTable() == null).count());
    String page = page(uses);
    assertSingleTree(page);
    assertTrue(page, page.contains(">table00<"));
    assertTrue(page, page.contains("5 more tables take "));
    // Only that table counts: a page has a row cache's too if another test of the JVM has one.
    int start = page.indexOf("Tables by use of L1");
    int rows = page.substring(start, page.indexOf("</table>", start)).split("<tr>").length - 2;
    assertEquals(BlockCacheTiersPage.TABLES, rows);
    assertEquals(files - 1, json(uses).getAsJsonArray("tables").size());
  }

  @Test
  public void testEachTableScrollsWithinANarrowWindow() {
    fill(1);
    String pages = page(TableUse.of(metrics(), Collections.emptyMap()))
      + PrefetchSection.of(PrefetchScheduler.get().progress().snapshot());
    assertSingleTree(pages);
    int tables = pages.split("<table ", -1).length;
    assertTrue(pages, tables > 4);
    assertEquals(pages, tables,
      pages.split("<div class=\"table-responsive\">\n<table ", -1).length);
  }

  @Test
  public void testFilesOfNoRegionAreNamedAsSuch() {
    fill(1);
    String page = page(TableUse.of(metrics(), Collections.emptyMap()));
    assertSingleTree(page);
    assertTrue(page, page.contains("files that no region has open"));
    assertTrue(json(TableUse.of(metrics(), Collections.emptyMap())).getAsJsonArray("tables")
      .get(0).getAsJsonObject().get("table").isJsonNull());
  }

  @Test
  public void testTheLastHourHasARowForFiveMinutes() {
    fill(1);
    long nanos = System.nanoTime();
    for (int i = 0; i <= 400; i++) {
      // Half an hour ago there were no lookups, for ten minutes.
      if (i < 170 || i > 230) {
        for (int n = 0; n < 4; n++) {
          cache.getBlock(key("file0", n, n < 3 ? BlockType.LEAF_INDEX : BlockType.DATA), true,
            false, true).release();
        }
      }
      sample(NOW - (400 - i) * 10_000L, nanos + i * 10_000_000_000L);
    }
    assertEquals(360, metrics().getHistory().getSamples().size());
    String page = page(Collections.emptyList());
    assertSingleTree(page);
    String hour = page.substring(page.indexOf("The last hour"));
    hour = hour.substring(0, hour.indexOf("</table>"));
    assertEquals("five minutes each", 12, hour.split("<tr>").length - 2);
    String cell = "</td><td class=\"n\">";
    assertEquals(hour, 11, hour.split(cell + "75.0 %" + cell + "100.0 %" + cell, -1).length - 1);
    assertEquals("without lookups", 1,
      hour.split(cell + "0" + cell + "\u2013" + cell + "\u2013" + cell, -1).length - 1);
  }

  @Test
  public void testNothingOfItWalksTheCache() {
    fill(3);
    WalklessTier.forbidWalks(first);
    WalklessTier.forbidWalks(second);
    sample(NOW, System.nanoTime());
    List<TableUse> tables = TableUse.of(metrics(), Collections.singletonMap("file0", "table"));
    assertTrue(page(tables).contains(">table<"));
    JsonObject json = json(tables);
    for (int i = 0; i < 2; i++) {
      JsonObject values =
        json.getAsJsonArray("tiers").get(i).getAsJsonObject().getAsJsonObject("metrics");
      assertEquals(9, values.get("metaBlockCount").getAsLong()
        + values.get("dataBlockCount").getAsLong());
    }
  }

  @Test
  public void testFiguresAreShort() {
    assertEquals("10,000", StatusTable.value("HitCount", 10_000));
    assertEquals("9.8 KB", StatusTable.value("WrittenBytes", 10_000));
    assertEquals("Io error count", StatusTable.words("IoErrorCount"));
    assertEquals("L1 block count", StatusTable.words("L1BlockCount"));
    assertEquals("99.9 %", StatusTable.share(99_999, 100_000));
    assertEquals("100.0 %", StatusTable.share(7, 7));
    assertEquals("\u2013", StatusTable.share(0, 0));
    assertEquals("0.46 \u00b5s", BlockCacheTiersPage.time(463));
    assertEquals("51.2 \u00b5s", BlockCacheTiersPage.time(51_199));
    assertEquals("1.25 ms", BlockCacheTiersPage.time(1_245_183));
    assertEquals("31 ms", BlockCacheTiersPage.time(31_457_279));
  }

  @Test
  public void testWithoutTiersThePageSaysHowToGetThemAndNothingElseIsThere() throws Exception {
    cache.shutdown();
    Configuration conf = HBaseConfiguration.create();
    BlockCache plain = BlockCacheFactory.createBlockCache(conf);
    assertEquals("", BlockCacheTiersServlet.link(plain));
    assertEquals("", BlockCacheTiersServlet.link(null));
    assertFalse(MetricRegistries.global().getMetricRegistryInfos().stream()
      .anyMatch(info -> info.getMetricsName().equals("BlockCacheTiers")));
    HRegionServer server = Mockito.mock(HRegionServer.class);
    Mockito.when(server.getServerName()).thenReturn(ServerName.valueOf(SERVER));
    Mockito.when(server.getBlockCache()).thenReturn(Optional.of(plain));
    InfoServer pages = new InfoServer("regionserver", "localhost", 0, false, conf);
    pages.addUnprivilegedServlet("tiers", "/tiers", BlockCacheTiersServlet.class);
    pages.setAttribute(HRegionServer.REGIONSERVER, server);
    pages.start();
    try {
      URL url = new URL("http://localhost:" + pages.getPort() + "/tiers");
      assertEquals("still starting", 503,
        ((HttpURLConnection) url.openConnection()).getResponseCode());
      Mockito.when(server.isOnline()).thenReturn(true);
      String page = IOUtils.toString(url, StandardCharsets.UTF_8);
      for (String key : new String[] { "hbase.bucketcache.composite.enabled",
        "hbase.bucketcache.l1.size", "hbase.bucketcache.l2.size",
        "hbase.bucketcache.l2.ioengine" }) {
        assertTrue(key, page.contains(key));
      }
      assertEquals("{\"enabled\":false}",
        IOUtils.toString(new URL(url + "?format=json"), StandardCharsets.UTF_8));
    } finally {
      pages.stop();
      plain.shutdown();
    }
  }

  @Test
  public void testTheThreadThatTakesSamplesEndsWithTheCache() {
    assertTrue(BlockCacheTiersServlet.link(cache).contains("href=\"/tiers\""));
    await(TestBlockCacheTiersPage::isSampling);
    cache.shutdown();
    await(() -> !isSampling());
  }

  private static boolean isSampling() {
    return Thread.getAllStackTraces().keySet().stream()
      .anyMatch(thread -> thread.getName().equals("BlockCacheTiersSampler"));
  }
}
