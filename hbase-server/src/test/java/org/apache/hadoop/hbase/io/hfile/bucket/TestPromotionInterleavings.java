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
import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.content;
import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.key;
import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.NavigableSet;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.io.hfile.composite.CompositeBucketCache;
import org.apache.hadoop.hbase.io.hfile.composite.CompositeBucketCacheSettings;
import org.apache.hadoop.hbase.io.hfile.composite.FileEvictionGuard;
import org.apache.hadoop.hbase.io.hfile.composite.FrequencyPromotionPolicy;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.util.Interleavings;
import org.apache.hadoop.hbase.util.Interleavings.Body;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One block between two tiers under every interleaving of two or three threads that read it (and so
 * promote it) and evict it, with three preemptions at most, see {@link Interleavings}. A thread can
 * be preempted before each access to a tier's map, to its index of files, and to the memory of L1,
 * unless it holds a lock, as then no thread could see the difference.
 * <p>
 * Lincheck and jcstress are not used: the first needs the steps to be deterministic down to the
 * bytecode, which the caches with their clocks and threads are not, and the second samples
 * interleavings where this enumerates them. What only the hardware reorders is left to the stress
 * tests.
 */
@Category({ IOTests.class, MediumTests.class })
public class TestPromotionInterleavings {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestPromotionInterleavings.class);

  private static final Logger LOG = LoggerFactory.getLogger(TestPromotionInterleavings.class);

  private static final int MAX_PREEMPTIONS = 3;
  private static final int SIZE = 4000;
  private static final int ITEM_SIZE = 5120;
  private static final BlockCacheKey ONE = key("one", 1, BlockType.DATA);
  private static final BlockCacheKey TWO = key("two", 2, BlockType.DATA);

  @Rule
  public final RefCntLeakRule leaks = new RefCntLeakRule();

  private final byte[] contentOfOne = content(block(BlockType.DATA, 1, SIZE));
  private final byte[] contentOfTwo = content(block(BlockType.DATA, 2, SIZE));
  private final Interleavings interleavings = new Interleavings(MAX_PREEMPTIONS);
  private CompositeBucketCache cache;
  private L1BucketCache first;
  private BucketCacheTier second;
  private FrequencyPromotionPolicy policy;

  @Before
  public void setUp() throws IOException {
    Configuration conf = CachedBlockFixture.tiers(1, 1, "offheap");
    conf.set("hbase.bucketcache.bucket.sizes", "5120");
    conf.set("hbase.blockcache.minblocksize", "4096");
    CompositeBucketCacheSettings settings = CompositeBucketCacheSettings.of(conf);
    FileEvictionGuard guard = new FileEvictionGuard();
    first = new L1BucketCache("L1", settings.first(), guard) {
      @Override
      IOEngine getIOEngineFromName(String name, long capacity, String path) throws IOException {
        return watched(IOEngine.class, super.getIOEngineFromName(name, capacity, path));
      }
    };
    second = new BucketCacheTier("L2", settings.second());
    cache = new CompositeBucketCache(first, second, guard);
    cache.onConfigurationChange(conf);
    policy = first.setPromotedShare(1);
    for (BucketCacheTier tier : new BucketCacheTier[] { first, second }) {
      watchMap(tier);
      tier.blocksByHFile = watched(NavigableSet.class, tier.blocksByHFile);
    }
  }

  @After
  public void tearDown() {
    interleavings.close();
    cache.shutdown();
  }

  private void watchMap(BucketCacheTier tier) {
    Map<BlockCacheKey, BucketEntry> map = tier.backingMap;
    @SuppressWarnings("unchecked")
    Map<BlockCacheKey, BucketEntry> watched = (Map<BlockCacheKey, BucketEntry>) Proxy
      .newProxyInstance(getClass().getClassLoader(), new Class<?>[] { Map.class },
        (proxy, method, arguments) -> {
          BucketEntry entry = arguments != null && arguments[0] instanceof BlockCacheKey
            ? map.get(arguments[0])
            : null;
          if (entry == null || !isLocked(tier.offsetLock.getLock(entry.offset()))) {
            interleavings.point();
          }
          return invoke(method, map, arguments);
        });
    tier.backingMap = watched;
  }

  private static boolean isLocked(ReentrantReadWriteLock lock) {
    return lock.isWriteLockedByCurrentThread() || lock.getReadHoldCount() > 0;
  }

  @SuppressWarnings("unchecked")
  private <T> T watched(Class<?> type, T target) {
    return (T) Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { type },
      (proxy, method, arguments) -> {
        interleavings.point();
        return invoke(method, target, arguments);
      });
  }

  private static Object invoke(Method method, Object target, Object[] arguments)
    throws Throwable {
    try {
      return method.invoke(target, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  private void put(BlockCacheKey key) {
    if (!second.containsBlock(key)) {
      cache(second, key, block(BlockType.DATA, key.getOffset(), SIZE));
      await(() -> second.ramCache.isEmpty());
    }
  }

  /** Makes the next read of a block one that follows reads of others. */
  private void forgetBurst() {
    for (int i = 0; i < 50; i++) {
      policy.onHit(key("other", i, BlockType.DATA), ITEM_SIZE);
    }
  }

  private void read(BlockCacheKey key, byte[] content) {
    Cacheable found = cache.getBlock(key, true, false, true);
    if (found != null) {
      // Whoever takes the block away does it while it is in use, too.
      interleavings.point();
      byte[] bytes = content(found);
      found.release();
      assertArrayEquals(content, bytes);
    }
  }

  private void readOne() {
    read(ONE, contentOfOne);
  }

  private void readTwo() {
    forgetBurst();
    read(TWO, contentOfTwo);
  }

  /** Runs the steps, each in its thread, in all orders, and all from one state. */
  private void explore(Body before, Body after, Body... steps) throws Exception {
    int runs = 0;
    do {
      put(ONE);
      put(TWO);
      before.run();
      forgetBurst();
      interleavings.run(true, steps);
      interleavings.check();
      after.run();
      assertInStep();
      first.evictBlock(ONE);
      first.evictBlock(TWO);
      assertEquals("places", 0, first.getAllocator().getUsedSize());
      assertEquals("bytes", 0, first.size());
      assertEquals("blocks", 0, first.getDataBlockCount());
      assertTrue("index", first.blocksByHFile.isEmpty());
      assertEquals("policy", 0, policy.getBlockCount());
      assertEquals(0, policy.getUsedBytes());
      assertEquals(second.backingMap.size() * ITEM_SIZE, second.getAllocator().getUsedSize());
      assertEquals(second.backingMap.size(), second.blocksByHFile.size());
      runs++;
    } while (interleavings.next());
    LOG.info("{} interleavings", runs);
    assertTrue(runs + " interleavings", runs > 20);
    cache.evictBlock(ONE);
    cache.evictBlock(TWO);
    assertEquals(0, second.getAllocator().getUsedSize());
  }

  private void assertInStep() {
    assertEquals(first.backingMap.size(), policy.getBlockCount());
    assertEquals((long) first.backingMap.size() * ITEM_SIZE, policy.getUsedBytes());
    assertEquals(first.backingMap.size() * ITEM_SIZE, first.getAllocator().getUsedSize());
    assertEquals(first.backingMap.size(), first.blocksByHFile.size());
    for (BucketEntry entry : first.backingMap.values()) {
      assertFalse("nobody reads it", entry.isRpcRef());
    }
  }

  private void assertGone() {
    for (BucketCacheTier tier : new BucketCacheTier[] { first, second }) {
      assertFalse(tier.containsBlock(ONE));
    }
  }

  private void promoteOne() {
    forgetBurst();
    readOne();
    assertTrue(first.containsBlock(ONE));
  }

  private void nothing() {
  }

  @Test
  public void testPromotionAndTheEndOfTheFile() throws Exception {
    explore(this::nothing, this::assertGone, this::readOne,
      () -> cache.evictBlocksByHfileName("one"));
  }

  @Test
  public void testTwoReadersAndTheEndOfTheFile() throws Exception {
    explore(this::nothing, this::assertGone, this::readOne, this::readOne,
      () -> cache.evictBlocksByHfileName("one"));
  }

  @Test
  public void testPromotionAndTheEvictionOfTheBlock() throws Exception {
    explore(this::nothing, this::assertGone, this::readOne, () -> cache.evictBlock(ONE));
  }

  @Test
  public void testPromotionAndTheEvictionFromTheSecondTier() throws Exception {
    explore(this::nothing, this::nothing, this::readOne, () -> second.evictBlock(ONE));
  }

  @Test
  public void testPromotionAndItsDemotion() throws Exception {
    explore(this::nothing, this::nothing, this::readOne, () -> policy.evict(ITEM_SIZE),
      () -> policy.evict(ITEM_SIZE));
  }

  @Test
  public void testReaderOfAPlaceThatIsGivenToAnotherBlock() throws Exception {
    explore(this::promoteOne, this::nothing, this::readOne, () -> {
      policy.evict(ITEM_SIZE);
      readTwo();
    });
  }

  @Test
  public void testReaderDemotionAndTheEndOfTheFile() throws Exception {
    explore(this::promoteOne, this::assertGone, this::readOne, () -> policy.evict(ITEM_SIZE),
      () -> cache.evictBlocksByHfileName("one"));
  }

  @Test
  public void testPromotionSwitchedOffMeanwhile() throws Exception {
    explore(() -> first.setPromotedShare(1), this::nothing, this::readOne,
      () -> first.setPromotedShare(0));
  }
}
