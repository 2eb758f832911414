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

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.LruBlockCache;
import org.apache.hadoop.hbase.io.util.MemorySizeUtil;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.hbase.util.DirectMemoryUtils;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.TemporaryFolder;

/** Each bad setting stops the start, through the call that a RegionServer makes. */
@Category({ IOTests.class, SmallTests.class })
public class TestCompositeBucketCacheSettings {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestCompositeBucketCacheSettings.class);

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  private Configuration conf;

  @Before
  public void setUp() {
    conf = CachedBlockFixture.tiers(32, 64, "file:" + path("l2"));
  }

  private String path(String name) {
    return new File(folder.getRoot(), name).getPath();
  }

  /** Fails the start and returns the sentence, which must name the key and its value. */
  private String refusal(String key) {
    String message = assertThrows(IllegalArgumentException.class,
      () -> BlockCacheFactory.createBlockCache(conf)).getMessage();
    String value = conf.get(key);
    String start = key + " is " + (value == null ? "not set" : value.trim()) + "; must be ";
    assertTrue(message, message.startsWith(start));
    assertTrue("one line: " + message, message.endsWith(".") && !message.contains("\n"));
    return message;
  }

  private void assertRefused(String key, String value, String remedy) {
    if (value == null) {
      conf.unset(key);
    } else {
      conf.set(key, value);
    }
    String message = refusal(key);
    assertTrue(message, message.contains(remedy));
  }

  /** Each value is refused in the place of the one that is set, which is good. */
  private void assertEachRefused(String key, String remedy, String... values) {
    String good = conf.get(key);
    for (String value : values) {
      assertRefused(key, value, remedy);
    }
    if (good == null) {
      conf.unset(key);
    } else {
      conf.set(key, good);
    }
  }

  @Test
  public void testNonsenseIsRefused() {
    for (String prefix : new String[] { "hbase.bucketcache.", "hbase.bucketcache.l1.",
      "hbase.bucketcache.l2." }) {
      assertEachRefused(prefix + "checksum.enabled", "true or false. Set one of these", "ture");
      assertEachRefused(prefix + "writer.threads", "of at least 1", "0", "-3", "two", "1.5");
      assertEachRefused(prefix + "writer.queuelength", "of at least 1", "0", "-3", "two", "1.5");
    }
    for (String prefix : new String[] { "hbase.bucketcache.", "hbase.bucketcache.l1." }) {
      assertEachRefused(prefix + "bucket.sizes", "multiples of 256", "5k", "5120,", "5121", "0",
        "-256", "5120;9216");
    }
    for (String tier : new String[] { "l1", "l2" }) {
      assertEachRefused("hbase.bucketcache." + tier + ".size", "MB", null, "0", "-1", "NaN",
        "Infinity", "many", "1e300");
    }
    assertEachRefused("hbase.bucketcache.l2.size", "32 TB", String.valueOf(1L << 40));
    assertEachRefused("hbase.bucketcache.l1.ioengine", "offheap, mmap:PATH, pmem:PATH", "heap",
      "offheapish", "file", "disk:/x", "file:/x", "mmap:");
    assertEachRefused("hbase.bucketcache.l2.ioengine", "files:PATH", null, "ssd:/x", "files:");
    assertEachRefused("hbase.bucketcache.composite.promotion", "must be frequency or none. ",
      "lru", "Frequency", "true");
    assertEachRefused("hbase.bucketcache.composite.l1.data.max", "0 to 1", "-0.1", "1.01", "half",
      "NaN");
  }

  @Test
  public void testPathsThatCannotBeUsedAreRefused() throws IOException {
    String engine = "hbase.bucketcache.l2.ioengine";
    String map = "hbase.bucketcache.l2.persistent.path";
    assertEachRefused(engine, "each its own path", "files:" + path("a") + "," + path("a"));
    assertEachRefused(engine, "Create it", "file:" + path("no/such/l2"));
    assertEachRefused(engine, "a file that this process may write",
      "file:" + folder.newFolder("dir").getPath());
    assertEachRefused(map, "each its own path", path("./l2"));
    assertEachRefused(map, "Create it", path("no/map"));
    assertEachRefused("hbase.bucketcache.l1.persistent.path", "Remove the key", path("map"));
    conf.set(engine, "offheap");
    assertEachRefused(map, "files:", path("map"));
  }

  @Test
  public void testGoodSettingsAreReadPerTier() {
    conf.set("hbase.bucketcache.writer.threads", "2");
    conf.set("hbase.bucketcache.l2.writer.threads", "4");
    conf.set("hbase.bucketcache.l1.writer.queuelength", "7");
    conf.set("hbase.bucketcache.bucket.sizes", "66560, 5120");
    conf.set("hbase.bucketcache.l2.bucket.sizes", "9216");
    conf.set("hbase.bucketcache.l2.persistent.path", path("l2.map"));
    CompositeBucketCacheSettings settings = CompositeBucketCacheSettings.of(conf);
    assertEquals("offheap", settings.first().getIoEngine());
    assertEquals("file:" + path("l2"), settings.second().getIoEngine());
    assertEquals(32L << 20, settings.first().getCapacity());
    assertEquals(64L << 20, settings.second().getCapacity());
    assertEquals(2, settings.first().getWriterThreads());
    assertEquals(4, settings.second().getWriterThreads());
    assertEquals(7, settings.first().getWriterQueueLength());
    assertEquals(64, settings.second().getWriterQueueLength());
    assertArrayEquals(new int[] { 5120, 66560 }, settings.first().getBucketSizes());
    assertArrayEquals(new int[] { 9216 }, settings.second().getBucketSizes());
    assertNull(settings.first().getPersistentPath());
    assertEquals(path("l2.map"), settings.second().getPersistentPath());
    assertTrue(CompositeBucketCacheSettings.isPersistent(conf));
  }

  @Test
  public void testDeviceSettingsAreReadPerTier() {
    CompositeBucketCacheSettings settings = CompositeBucketCacheSettings.of(conf);
    assertTrue(settings.second().isChecksumEnabled());
    conf.set("hbase.bucketcache.checksum.enabled", "FALSE");
    conf.set("hbase.bucketcache.l2.checksum.enabled", "true");
    settings = CompositeBucketCacheSettings.of(conf);
    assertFalse(settings.first().isChecksumEnabled());
    assertTrue(settings.second().isChecksumEnabled());
  }

  @Test
  public void testMetaIsIdleAfterFiveMinutesUnlessTheSettingSaysElse() {
    String key = "hbase.bucketcache.composite.l1.meta.idle.ms";
    assertEquals(300_000, CompositeBucketCacheSettings.of(conf).metaIdleMs());
    for (int ms : new int[] { 0, 1000, 60_000 }) {
      conf.setInt(key, ms);
      assertEquals(ms, CompositeBucketCacheSettings.of(conf).metaIdleMs());
    }
    assertEachRefused(key, "0 or at least 1000. Set ms, or 0 to keep", "999");
    assertEachRefused(key, "of at least 0", "-1", "5m");
  }

  @Test
  public void testSizeBelowOneIsAFractionOfHeapAndDirectMemory() {
    conf.set("hbase.bucketcache.l2.size", "0.25");
    long memory = Runtime.getRuntime().maxMemory() + DirectMemoryUtils.getDirectMemorySize();
    assertEquals(memory / 4d,
      CompositeBucketCacheSettings.of(conf).second().getCapacity(), 1d);
  }

  @Test
  public void testWithTheKeyOffNothingChanges() {
    conf.setBoolean("hbase.bucketcache.composite.enabled", false);
    conf.set("hbase.bucketcache.l1.size", "none of our business");
    BlockCache cache = BlockCacheFactory.createBlockCache(conf);
    assertEquals(LruBlockCache.class, cache.getClass());
    cache.shutdown();
    assertFalse(new File(path("l2")).exists());
    assertEquals(0.4f, MemorySizeUtil.getBlockCacheHeapPercent(conf), 0.001f);
    assertFalse(CompositeBucketCacheSettings.isPersistent(conf));
  }

  @Test
  public void testMisspeltBooleanStopsTheStart() {
    String key = "hbase.bucketcache.composite.enabled";
    assertRefused(key, "ture", "true or false. Set one of these, or remove the key for the "
      + "default of false.");
    assertThrows(IllegalArgumentException.class,
      () -> CompositeBucketCacheSettings.isPersistent(conf));
    assertEquals("what is refused is no warning", 0,
      CompositeBucketCacheSettings.warnings(conf).size());
    conf.set(key, " TRUE ");
    assertTrue(CompositeBucketCacheSettings.isEnabled(conf));
  }

  @Test
  public void testKeyOfTheBaseIsReadAsTheBaseReadsIt() {
    conf.set("hbase.blockcache.use.external", "ture");
    CompositeBucketCacheSettings.of(conf);
  }

  @Test
  public void testTakesNoShareOfTheHeap() {
    assertEquals(0f, MemorySizeUtil.getBlockCacheHeapPercent(conf), 0f);
    // Four fifths for the memstore leave nothing for an on-heap cache, and none is needed.
    conf.setFloat(MemorySizeUtil.MEMSTORE_SIZE_KEY, 0.8f);
    MemorySizeUtil.validateRegionServerHeapMemoryAllocation(conf);
  }

  @Test
  public void testPlainBucketCacheKeysAreIgnored() {
    conf.set("hbase.bucketcache.ioengine", "file:" + path("l2"));
    conf.set("hbase.bucketcache.size", "1000000");
    conf.set("hbase.bucketcache.persistent.path", path("l2"));
    CompositeBucketCacheSettings settings = CompositeBucketCacheSettings.of(conf);
    assertEquals(64L << 20, settings.second().getCapacity());
    assertNull(settings.second().getPersistentPath());
  }

  @Test
  public void testAdmissionOtherThanAllOrSecondMissIsRefused() {
    String key = "hbase.bucketcache.composite.l2.admission";
    assertFalse(CompositeBucketCacheSettings.of(conf).isSecondMissOnly());
    conf.set(key, "all");
    assertFalse(CompositeBucketCacheSettings.of(conf).isSecondMissOnly());
    conf.set(key, " second-miss ");
    assertTrue(CompositeBucketCacheSettings.of(conf).isSecondMissOnly());
    assertEachRefused(key, "must be all or second-miss. Set ", "none", "Second-Miss", "true", "2");
  }

  @Test
  public void testDataMayTakeWhatMetaLeavesUnlessToldOtherwise() {
    assertEquals(1, CompositeBucketCacheSettings.of(conf).promotedShare(), 0);
    conf.set("hbase.bucketcache.composite.l1.data.max", " 0.25 ");
    assertEquals(0.25, CompositeBucketCacheSettings.of(conf).promotedShare(), 0);
    conf.set("hbase.bucketcache.composite.promotion", "none");
    assertEquals(0, CompositeBucketCacheSettings.of(conf).promotedShare(), 0);
  }

  @Test
  public void testOnePathForBothTiersIsRefused() throws IOException {
    conf.set("hbase.bucketcache.l1.ioengine", "mmap:" + path("one"));
    assertRefused("hbase.bucketcache.l2.ioengine", "file:" + path("one"), "each its own path");
    assertRefused("hbase.bucketcache.l2.ioengine", "file:" + path("x/../one"), "each its own path");
    assertRefused("hbase.bucketcache.l2.ioengine", "files:" + path("a") + "," + path("one"),
      "each its own path");
    Files.createSymbolicLink(new File(path("link")).toPath(), folder.getRoot().toPath());
    assertRefused("hbase.bucketcache.l2.ioengine", "pmem:" + path("link/one"), "each its own path");
    Files.createFile(new File(path("one")).toPath());
    Files.createLink(new File(path("hard")).toPath(), new File(path("one")).toPath());
    assertRefused("hbase.bucketcache.l2.ioengine", "mmap:" + path("hard"), "each its own path");
  }

  @Test
  public void testMoreThanDirectMemoryIsRefused() {
    long limit = DirectMemoryUtils.getDirectMemorySize() >> 20;
    assertRefused("hbase.bucketcache.l1.size", String.valueOf(limit + 1),
      "-XX:MaxDirectMemorySize");
    conf.set("hbase.bucketcache.l2.ioengine", "offheap");
    conf.set("hbase.bucketcache.l2.size", String.valueOf(limit / 2 + 1));
    assertRefused("hbase.bucketcache.l1.size", String.valueOf(limit / 2 + 1),
      "hbase.bucketcache.l2.size=" + (limit / 2 + 1));
  }

  @Test
  public void testSmallestSizeForTheBuiltInBucketsIsAccepted() {
    // A bucket of each of 14 sizes, four times the largest, 513 KB, takes 28.06 MB.
    conf.set("hbase.bucketcache.l1.size", "28.1");
    BlockCache cache = BlockCacheFactory.createBlockCache(conf);
    cache.shutdown();
    assertRefused("hbase.bucketcache.l1.size", "28", "hbase.bucketcache.bucket.sizes");
  }

  @Test
  public void testBucketListThatDoesNotFitIsRefused() {
    conf.set("hbase.bucketcache.l2.size", "7");
    conf.set("hbase.bucketcache.l2.bucket.sizes", "1048576,5120");
    assertRefused("hbase.bucketcache.l2.size", "7", "the 8 MB that the 2 bucket sizes of");
    conf.set("hbase.bucketcache.l2.size", "8");
    BlockCacheFactory.createBlockCache(conf).shutdown();
  }

  @Test
  public void testExternalCacheIsRefused() {
    conf.set("hbase.blockcache.use.external", "true");
    assertTrue(refusal("hbase.blockcache.use.external")
      .contains("hbase.bucketcache.composite.enabled"));
  }

  @Test
  public void testAnEngineThatIsNotInTheBuildIsNone() {
    assertEquals(0, DeviceTierEngine.Known.load("org.apache.hadoop.hbase.NoSuchEngine").size());
    assertThrows(ClassCastException.class,
      () -> DeviceTierEngine.Known.load(TestCompositeBucketCacheSettings.class.getName()));
    assertNull(DeviceTierEngine.of("file:" + folder.getRoot()));
    assertNull(DeviceTierEngine.of(null));
    for (String prefix : DeviceTierEngine.prefixes()) {
      assertEquals(prefix, DeviceTierEngine.of(prefix + folder.getRoot()).prefix());
    }
  }

  @Test
  public void testFactorsThatDoNotAddUpAreRefused() {
    conf.set("hbase.bucketcache.l1.single.factor", "0.9");
    String message = refusal("hbase.bucketcache.l1.ioengine=offheap".split("=")[0], "offheap");
    assertTrue(message, message.contains("hbase.bucketcache.single.factor"));
  }

  /** Returns the refusal, as {@link #refusal(String)}, of a key whose value is its default. */
  private String refusal(String key, String defaultValue) {
    conf.set(key, defaultValue);
    return refusal(key);
  }
}
