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

import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.await;
import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.block;
import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.cache;
import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.key;
import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.tierMetric;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.TemporaryFolder;

/**
 * The tiers' counts against a walk over their blocks, after blocks of all kinds have come and gone
 * in every way at once: cached, replaced, promoted, demoted, spilled, returned, evicted for space,
 * by block, by range and by file.
 */
@Category({ IOTests.class, MediumTests.class })
public class TestTierCounts {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestTierCounts.class);

  private static final BlockType[] TYPES = { BlockType.LEAF_INDEX, BlockType.BLOOM_CHUNK,
    BlockType.INTERMEDIATE_INDEX, BlockType.META, BlockType.DATA, BlockType.ENCODED_DATA,
    BlockType.DATA, BlockType.DATA };
  private static final int FILES = 6;
  private static final int BLOCKS = 400;
  private static final int ROUNDS = 3;
  /** What happens in L1 in each round. */
  private static final String[] GAUGES = { "HitCount", "MissCount", "InsertedBlockCount",
    "EvictedBlockCount", "PromotedBlockCount", "RejectedPromotionCount", "DemotedBlockCount",
    "SpilledBlockCount" };

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  @Rule
  public final RefCntLeakRule leaks = new RefCntLeakRule();

  private StressedTiers stressed;

  @Before
  public void setUp() {
    stressed = new StressedTiers(folder.getRoot(), 3, 7, "5120,9216");
    stressed.conf.set("hbase.blockcache.minblocksize", "4096");
    stressed.open();
  }

  @After
  public void tearDown() {
    stressed.close();
  }

  private static BlockType typeOf(long offset) {
    return TYPES[(int) (offset % TYPES.length)];
  }

  private static int sizeOf(long offset) {
    return 1000 + (int) (offset * 37 % 7500);
  }

  private void read(ThreadLocalRandom random) {
    double u = random.nextDouble();
    long offset = (long) (BLOCKS * u * u * u);
    BlockType type = typeOf(offset);
    // Some callers do not know the type, or take it for data.
    BlockCacheKey key = key("file" + random.nextInt(FILES), offset,
      offset % 5 == 0 ? null : offset % 7 == 0 ? BlockType.DATA : type);
    Cacheable found = stressed.cache().getBlock(key, true, false, true);
    if (found != null) {
      found.release();
    } else {
      cache(stressed.cache(), key, block(type, offset, sizeOf(offset), stressed.pool));
    }
  }

  private void takeAway(ThreadLocalRandom random) throws Exception {
    TimeUnit.MICROSECONDS.sleep(300);
    String file = "file" + random.nextInt(FILES);
    switch (random.nextInt(50)) {
      case 0:
        stressed.cache().evictBlocksByHfileName(file);
        break;
      case 1:
        stressed.cache().evictBlocksRangeByHfileName(file, 50, 150);
        break;
      case 2:
        stressed.first().freeSpace("test");
        break;
      case 3:
        stressed.second().freeSpace("test");
        break;
      default:
        stressed.cache().evictBlock(key(file, random.nextInt(BLOCKS), null));
    }
  }

  private void settle() {
    stressed.awaitWritten();
    L1BucketCache first = stressed.first();
    BucketCacheTier second = stressed.second();
    // The writers still count what they have just written.
    await(() -> {
      long used = first.getCurrentSize() + second.getCurrentSize();
      try {
        Thread.sleep(50);
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
      return used == first.getCurrentSize() + second.getCurrentSize();
    });
  }

  private static void assertCountsAreThoseOfAWalk(BucketCacheTier cache) {
    Map<String, Long> walked = new TreeMap<>();
    for (String type : new String[] { "Index", "Bloom", "Data", "Meta" }) {
      walked.put(type + "BlockCount", 0L);
      walked.put(type + "BlockSize", 0L);
    }
    Map<String, Long> walkedFiles = new TreeMap<>();
    cache.backingMap.forEach((key, entry) -> {
      List<String> types = new ArrayList<>();
      switch (key.getBlockType().getCategory()) {
        case INDEX:
          types.add("Index");
          types.add("Meta");
          break;
        case BLOOM:
          types.add("Bloom");
          types.add("Meta");
          break;
        case META:
          types.add("Meta");
          break;
        default:
          types.add("Data");
      }
      for (String type : types) {
        walked.merge(type + "BlockCount", 1L, Long::sum);
        walked.merge(type + "BlockSize", (long) entry.getLength(), Long::sum);
      }
      walkedFiles.merge(key.getHfileName(), (long) entry.getLength(), Long::sum);
    });
    walked.replaceAll((metric, count) -> count - tierMetric(cache.getName() + metric));
    assertTrue(cache.getName() + walked, walked.values().stream().allMatch(more -> more == 0));
    Map<String, Long> countedFiles = new TreeMap<>();
    for (int i = 0; i < FILES; i++) {
      long bytes = cache.cachedBytes("file" + i);
      if (bytes > 0) {
        countedFiles.put("file" + i, bytes);
      }
    }
    assertEquals(cache.getName(), walkedFiles, countedFiles);
  }

  @Test
  public void testCountsAreExactAfterBlocksCameAndWentInEveryWayAtOnce() throws Exception {
    for (int round = 0; round < ROUNDS; round++) {
      for (int i = 0; i < 4; i++) {
        stressed.start(this::read);
      }
      stressed.start(this::takeAway);
      Map<String, Long> before = Stream.of(GAUGES)
        .collect(Collectors.toMap(gauge -> gauge, gauge -> tierMetric("L1" + gauge)));
      await(() -> Stream.of(GAUGES).allMatch(gauge -> tierMetric("L1" + gauge) > before.get(gauge))
        && tierMetric("L2EvictedBlockCount") > 0);
      stressed.stop();
      settle();
      assertCountsAreThoseOfAWalk(stressed.first());
      assertCountsAreThoseOfAWalk(stressed.second());
    }
    assertTrue(tierMetric("L2WrittenBytes") > tierMetric("L2InsertedBlockCount") * 1000);
    for (int i = 0; i < FILES; i++) {
      stressed.cache().evictBlocksByHfileName("file" + i);
    }
    for (String tier : new String[] { "L1", "L2" }) {
      for (String gauge : new String[] { "IndexBlockCount", "IndexBlockSize", "BloomBlockCount",
        "BloomBlockSize", "MetaBlockCount", "MetaBlockSize", "DataBlockCount", "DataBlockSize",
        "WaitingBlockCount", "Used" }) {
        assertEquals(tier + gauge, 0, tierMetric(tier + gauge));
      }
    }
    for (int i = 0; i < FILES; i++) {
      assertEquals(0, stressed.first().cachedBytes("file" + i));
      assertEquals(0, stressed.second().cachedBytes("file" + i));
    }
  }
}
