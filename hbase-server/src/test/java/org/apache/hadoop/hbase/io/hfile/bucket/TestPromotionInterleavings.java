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

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.io.hfile.composite.CompositeBucketCache;
import org.apache.hadoop.hbase.io.hfile.composite.PromotionPolicy;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.MediumTests;
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
 * promote it) and take it away, as far as the threads are interrupted three times at most; see M.
 * Musuvathi and S. Qadeer, "Iterative context bounding for systematic testing of multithreaded
 * programs". A thread can be interrupted before each access to a tier's map, to its index of files,
 * and to the memory of L1, unless it holds a lock, as then no thread could see the difference.
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

  private static final int MOST_INTERRUPTIONS = 3;
  private static final int SIZE = 4000;
  private static final int PLACE = 5120;
  private static final BlockCacheKey ONE = key("one", 1, BlockType.DATA);
  private static final BlockCacheKey TWO = key("two", 2, BlockType.DATA);

  @Rule
  public final RefCntLeakRule leaks = new RefCntLeakRule();

  private final byte[] contentOfOne = content(block(BlockType.DATA, 1, SIZE));
  private final byte[] contentOfTwo = content(block(BlockType.DATA, 2, SIZE));
  private final Schedule schedule = new Schedule();
  private ExecutorService threads;
  private CompositeBucketCache cache;
  private L1BucketCache first;
  private BucketCacheTier second;
  private PromotionPolicy policy;

  private interface Step {
    void run() throws Exception;
  }

  /** Lets one thread run at a time, and goes through all decisions about which, run by run. */
  private static final class Schedule {
    private final List<Integer> decisions = new ArrayList<>();
    private final List<Integer> options = new ArrayList<>();
    private final ThreadLocal<Integer> self = new ThreadLocal<>();
    private Semaphore[] turns;
    private boolean[] done;
    private int depth;
    private int interruptions;

    /** Starts a run in which the thread with number 0 has the first turn. */
    synchronized void start(int threads) {
      turns = new Semaphore[threads];
      done = new boolean[threads];
      for (int i = 0; i < threads; i++) {
        turns[i] = new Semaphore(0);
      }
      depth = 0;
      interruptions = 0;
      turns[decide(threads)].release();
    }

    /** Goes to the next combination of decisions. Returns false if there are no more. */
    boolean next() {
      while (!decisions.isEmpty()) {
        int last = decisions.size() - 1;
        int decision = decisions.remove(last) + 1;
        int most = options.remove(last);
        if (decision < most) {
          decisions.add(decision);
          options.add(most);
          return true;
        }
      }
      return false;
    }

    private int decide(int choices) {
      if (depth == decisions.size()) {
        decisions.add(0);
        options.add(choices);
      }
      assertEquals("the same decisions lead to the same choices", options.get(depth).intValue(),
        choices);
      return decisions.get(depth++);
    }

    void run(int number, Step body) throws Exception {
      self.set(number);
      await(turns[number]);
      try {
        body.run();
      } finally {
        self.remove();
        synchronized (this) {
          done[number] = true;
          List<Integer> others = others(number);
          if (!others.isEmpty()) {
            turns[others.get(decide(others.size()))].release();
          }
        }
      }
    }

    /** Here the thread may be interrupted, if it is one of those that are watched. */
    void point() {
      Integer number = self.get();
      if (number == null) {
        return;
      }
      synchronized (this) {
        List<Integer> others = others(number);
        if (interruptions == MOST_INTERRUPTIONS || others.isEmpty()) {
          return;
        }
        int decision = decide(1 + others.size());
        if (decision == 0) {
          return;
        }
        interruptions++;
        turns[others.get(decision - 1)].release();
      }
      await(turns[number]);
    }

    private List<Integer> others(int number) {
      List<Integer> others = new ArrayList<>();
      for (int i = 0; i < done.length; i++) {
        if (i != number && !done[i]) {
          others.add(i);
        }
      }
      return others;
    }

    private static void await(Semaphore turn) {
      try {
        assertTrue("a thread holds a lock at a point", turn.tryAcquire(20, TimeUnit.SECONDS));
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  @Before
  public void setUp() {
    Configuration conf = HBaseConfiguration.create();
    conf.setBoolean("hbase.bucketcache.composite.enabled", true);
    conf.set("hbase.bucketcache.l1.size", "1");
    conf.set("hbase.bucketcache.l2.ioengine", "offheap");
    conf.set("hbase.bucketcache.l2.size", "1");
    conf.set("hbase.bucketcache.bucket.sizes", "5120");
    conf.set("hbase.blockcache.minblocksize", "4096");
    cache = (CompositeBucketCache) BlockCacheFactory.createBlockCache(conf);
    first = (L1BucketCache) cache.getFirstLevelCache();
    second = (BucketCacheTier) cache.getSecondLevelCache();
    policy = first.setPromotedShare(1);
    for (BucketCacheTier tier : new BucketCacheTier[] { first, second }) {
      watchMap(tier);
      tier.blocksByHFile = watched(NavigableSet.class, tier.blocksByHFile);
    }
    first.ioEngine = watched(IOEngine.class, first.ioEngine);
    threads = Executors.newCachedThreadPool();
  }

  @After
  public void tearDown() {
    threads.shutdownNow();
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
            schedule.point();
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
        schedule.point();
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
      policy.onHit(key("other", i, BlockType.DATA), PLACE);
    }
  }

  private void read(BlockCacheKey key, byte[] content) {
    Cacheable found = cache.getBlock(key, true, false, true);
    if (found != null) {
      // Whoever takes the block away does it while it is in use, too.
      schedule.point();
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

  /** Runs the steps, each in its thread, in all orders, from the same state each time. */
  private void explore(Step before, Step after, Step... steps) throws Exception {
    int runs = 0;
    do {
      put(ONE);
      put(TWO);
      before.run();
      forgetBurst();
      schedule.start(steps.length);
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < steps.length; i++) {
        int number = i;
        running.add(threads.submit(() -> {
          schedule.run(number, steps[number]);
          return null;
        }));
      }
      for (Future<?> future : running) {
        future.get();
      }
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
      assertEquals(second.backingMap.size() * PLACE, second.getAllocator().getUsedSize());
      assertEquals(second.backingMap.size(), second.blocksByHFile.size());
      runs++;
    } while (schedule.next());
    LOG.info("{} interleavings", runs);
    assertTrue(runs + " interleavings", runs > 20);
    cache.evictBlock(ONE);
    cache.evictBlock(TWO);
    assertEquals(0, second.getAllocator().getUsedSize());
  }

  private void assertInStep() {
    assertEquals(first.backingMap.size(), policy.getBlockCount());
    assertEquals((long) first.backingMap.size() * PLACE, policy.getUsedBytes());
    assertEquals(first.backingMap.size() * PLACE, first.getAllocator().getUsedSize());
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
    explore(this::nothing, this::nothing, this::readOne, () -> policy.makeRoom(PLACE),
      () -> policy.makeRoom(PLACE));
  }

  @Test
  public void testReaderOfAPlaceThatIsGivenToAnotherBlock() throws Exception {
    explore(this::promoteOne, this::nothing, this::readOne, () -> {
      policy.makeRoom(PLACE);
      readTwo();
    });
  }

  @Test
  public void testReaderDemotionAndTheEndOfTheFile() throws Exception {
    explore(this::promoteOne, this::assertGone, this::readOne, () -> policy.makeRoom(PLACE),
      () -> cache.evictBlocksByHfileName("one"));
  }

  @Test
  public void testPromotionSwitchedOffMeanwhile() throws Exception {
    explore(() -> first.setPromotedShare(1), this::nothing, this::readOne,
      () -> first.setPromotedShare(0));
  }
}
