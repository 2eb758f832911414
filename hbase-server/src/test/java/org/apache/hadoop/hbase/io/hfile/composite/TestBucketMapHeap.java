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
import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.key;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.lang.management.ManagementFactory;
import java.util.regex.Pattern;
import javax.management.ObjectName;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.bucket.BucketCacheTier;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.TemporaryFolder;

/** The heap that the map of a bucket cache takes, and the refusal of a map that is too large. */
@Category({ IOTests.class, MediumTests.class })
public class TestBucketMapHeap {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestBucketMapHeap.class);

  private static final String SIZE = "hbase.bucketcache.l2.size";
  private static final String FILE = "0123456789abcdef0123456789abcdef";

  private static final Pattern MAP_CLASSES = Pattern.compile(".*[.]bucket[.]BucketEntry"
    + "|.*[.]BlockCacheKey|.*[.]nio[.]RefCnt|.*[.]BucketCache[$][$]Lambda.*|.*[.]AtomicBoolean"
    + "|.*[.]ConcurrentHashMap[$]Node;?|.*[.]ConcurrentSkipListMap[$](Node|Index)");

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  private Configuration conf() {
    Configuration conf = HBaseConfiguration.create();
    conf.setBoolean("hbase.bucketcache.composite.enabled", true);
    conf.set("hbase.bucketcache.l1.size", "4");
    conf.set("hbase.bucketcache.l1.bucket.sizes", "5120,9216");
    conf.set("hbase.bucketcache.l2.ioengine", "file:" + file());
    return conf;
  }

  private File file() {
    return new File(folder.getRoot(), "l2");
  }

  @Test
  public void testMapLargerThanTheHeapIsRefusedAndNothingIsLeft() {
    Configuration conf = conf();
    conf.set(SIZE, "10485760");
    String message = assertThrows(IllegalArgumentException.class,
      () -> BlockCacheFactory.createBlockCache(conf)).getMessage();
    assertTrue(message, message.startsWith(SIZE + " is 10485760; must be at most "));
    assertTrue(message, message.contains("the map of 167772160 blocks of 65536 bytes takes "
      + 167_772_160L * BucketMapHeap.BYTES_PER_BLOCK / (1 << 20) + " MB of heap"));
    assertTrue(message, message.contains("raise -Xmx"));
    assertTrue(message, message.contains("segments:PATH"));
    assertFalse("left behind", file().exists());
  }

  @Test
  public void testLimitIsTheHeapThatTheMemstoreLeaves() {
    Configuration conf = conf();
    conf.set("hbase.regionserver.global.memstore.size", "0.5");
    long blocks = Runtime.getRuntime().maxMemory() / 2 / BucketMapHeap.BYTES_PER_BLOCK;
    long block = 65536;
    BucketMapHeap.check(SIZE, "some", (blocks - 1) * block, conf);
    assertThrows(IllegalArgumentException.class,
      () -> BucketMapHeap.check(SIZE, "some", (blocks + 2) * block, conf));
    BucketMapHeap.check(SIZE, "some", 2 * (blocks - 1) * block, twice(conf, block));
  }

  private static Configuration twice(Configuration conf, long block) {
    Configuration larger = new Configuration(conf);
    larger.setLong("hbase.blockcache.minblocksize", 2 * block);
    return larger;
  }

  @Test
  public void testBytesOfABlockAreThoseOfTheMap() throws Exception {
    int blocks = 100_000;
    Configuration conf = conf();
    conf.set("hbase.bucketcache.l2.bucket.sizes", "512");
    conf.set(SIZE, "64");
    conf.set("hbase.bucketcache.l2.writer.queuelength", "4096");
    CompositeBucketCache cache =
      (CompositeBucketCache) BlockCacheFactory.createBlockCache(conf);
    try {
      // The first blocks cause one-time allocations, which are not counted.
      insert(cache, 0, 1000);
      long before = mapBytes();
      insert(cache, 1000, blocks);
      double bytes = (double) (mapBytes() - before) / blocks;
      // It is 241 to 252, without the allocator's share: the table may have grown.
      assertEquals(BucketMapHeap.BYTES_PER_BLOCK - 10, bytes, 15);
    } finally {
      cache.shutdown();
    }
  }

  private static void insert(CompositeBucketCache cache, int from, int count) {
    BucketCacheTier tier = (BucketCacheTier) cache.getSecondLevelCache();
    long stored = tier.getBlockCount();
    for (int i = from; i < from + count; i++) {
      HFileBlock block = block(BlockType.DATA, i, 100);
      cache.cacheBlock(key(FILE, i, BlockType.DATA), block, false, true);
      block.release();
      if (i % 1000 == 999) {
        // Wait for the writers, so that no queue is full.
        await(() -> tier.heapSize() <= 0);
      }
    }
    await(() -> tier.heapSize() <= 0);
    assertEquals(stored + count, tier.getBlockCount());
  }

  /** Returns the bytes of the live objects of the classes of a map. */
  private static long mapBytes() throws Exception {
    String histogram = (String) ManagementFactory.getPlatformMBeanServer().invoke(
      new ObjectName("com.sun.management:type=DiagnosticCommand"), "gcClassHistogram",
      new Object[] { new String[0] }, new String[] { String[].class.getName() });
    long bytes = 0;
    for (String line : histogram.split("\n")) {
      // The words are rank, number, bytes, class, and from Java 9 on the module.
      String[] words = line.trim().split("\\s+");
      if (words.length >= 4 && MAP_CLASSES.matcher(words[3]).matches()) {
        bytes += Long.parseLong(words[2]);
      }
    }
    return bytes;
  }
}
