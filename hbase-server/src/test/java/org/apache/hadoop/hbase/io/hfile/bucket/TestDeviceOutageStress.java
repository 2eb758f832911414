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

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.io.hfile.bucket.DeviceHealth.State;
import org.apache.hadoop.hbase.io.hfile.composite.CompositeBucketCacheSettings;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.TemporaryFolder;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;
import org.junit.runners.Parameterized.Parameter;
import org.junit.runners.Parameterized.Parameters;

/**
 * Readers that hold on to blocks, insertions, evictions and closed files while the device fails, is
 * disabled and is taken back, over and over: no reader sees other bytes than were cached, not
 * even in a block that was got before, and when all is over nothing is left of any of it. Without
 * sums, so that they cannot hide an error.
 */
@Category({ IOTests.class, LargeTests.class })
@RunWith(Parameterized.class)
public class TestDeviceOutageStress {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestDeviceOutageStress.class);

  /** At least; by default a test ends as soon as all that is to happen has happened. */
  private static final long DURATION_NANOS =
    TimeUnit.SECONDS.toNanos(Integer.getInteger(StressedTiers.SECONDS, 0));
  private static final long EXTENSION_NANOS = TimeUnit.SECONDS.toNanos(120);
  private static final int OUTAGES = 10;
  private static final int HITS = 10_000;
  private static final int FILES = 4;
  private static final int BLOCKS = 150;
  private static final int SIZE = 3000;

  @Parameters(name = "{0}")
  public static Collection<Object[]> engines() {
    return Arrays.asList(new Object[] { "file" }, new Object[] { "pmem" });
  }

  @Parameter
  public String engine;

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  @Rule
  public final RefCntLeakRule leaks = new RefCntLeakRule();

  private final DeviceOnCue device = new DeviceOnCue();
  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  private final AtomicInteger hits = new AtomicInteger();
  private volatile boolean done;
  private Configuration conf;
  private ByteBuffAllocator pool;
  private BucketCacheTier tier;
  private byte[][] contents;

  @Before
  public void setUp() {
    conf = CachedBlockFixture.tiers(2, 1,
      engine + ":" + new File(folder.getRoot(), "cache").getPath());
    conf.set("hbase.bucketcache.bucket.sizes", "5120");
    conf.set("hbase.bucketcache.l2.checksum.enabled", "false");
    conf.set("hbase.bucketcache.l2.retry.interval.ms", "20");
    conf.setInt("hbase.bucketcache.ioengine.errors.tolerated.duration", 100);
    pool = CachedBlockFixture.pool(conf, 4000);
    contents = new byte[FILES * BLOCKS][];
    for (int i = 0; i < contents.length; i++) {
      HFileBlock block = CachedBlockFixture.block(typeOf(i), i, SIZE);
      contents[i] = CachedBlockFixture.content(block);
      block.release();
    }
  }

  private static BlockType typeOf(int i) {
    return i % 3 == 0 ? BlockType.LEAF_INDEX : BlockType.DATA;
  }

  private static String file(int i) {
    return String.format("%032x", i / BLOCKS);
  }

  private static BlockCacheKey key(int i) {
    return CachedBlockFixture.key(file(i), i, typeOf(i));
  }

  private interface Step {
    void run(ThreadLocalRandom random) throws Exception;
  }

  private Thread start(Step step) {
    Thread thread = new Thread(() -> {
      try {
        while (!done && failure.get() == null) {
          step.run(ThreadLocalRandom.current());
        }
      } catch (Throwable t) {
        failure.compareAndSet(null, t);
      }
    });
    thread.start();
    return thread;
  }

  private void read(ThreadLocalRandom random) throws InterruptedException {
    int i = random.nextInt(contents.length);
    Cacheable block = tier.getBlock(key(i), true, false, true);
    if (block == null) {
      CachedBlockFixture.cache(tier, key(i),
        CachedBlockFixture.block(typeOf(i), i, SIZE, pool));
      return;
    }
    hits.incrementAndGet();
    try {
      assertArrayEquals("block " + i, contents[i], CachedBlockFixture.content(block));
      if (random.nextInt(50) == 0) {
        // A slow client holds a block for some time.
        Thread.sleep(random.nextInt(40));
        assertArrayEquals("block " + i + " later", contents[i],
          CachedBlockFixture.content(block));
      }
    } finally {
      block.release();
    }
  }

  @Test
  public void testNothingIsLeftOfOutages() throws Throwable {
    tier = device.tier(CompositeBucketCacheSettings.of(conf).second());
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      threads.add(start(this::read));
    }
    threads.add(start(random -> {
      Thread.sleep(5);
      tier.evictBlocksByHfileName(file(random.nextInt(contents.length)));
    }));
    threads.add(start(random -> tier.evictBlock(key(random.nextInt(contents.length)))));
    AtomicInteger outages = new AtomicInteger();
    AtomicInteger bypasses = new AtomicInteger();
    threads.add(start(random -> {
      Thread.sleep(random.nextInt(100));
      int opened = device.opened.get();
      device.millisToFail = random.nextInt(3);
      boolean reads = random.nextBoolean();
      device.readsFail = reads;
      device.writesFail = !reads || random.nextBoolean();
      device.syncsFail = random.nextBoolean();
      device.openingFails = random.nextInt(4) == 0;
      boolean lasting = random.nextInt(3) > 0;
      long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(lasting ? 2000 : 30);
      while (System.nanoTime() < deadline && !done && tier.getDeviceState() != State.DISABLED) {
        Thread.sleep(1);
      }
      if (lasting) {
        Thread.sleep(random.nextInt(60));
      }
      if (tier.getDeviceState() == State.BYPASSED) {
        bypasses.incrementAndGet();
      }
      device.fails(false);
      CachedBlockFixture.await(() -> tier.getDeviceState() == State.WORKING);
      if (device.opened.get() > opened) {
        outages.incrementAndGet();
      }
    }));
    long start = System.nanoTime();
    while (
      failure.get() == null && (System.nanoTime() - start < DURATION_NANOS
        || (outages.get() < OUTAGES || bypasses.get() == 0 || hits.get() < HITS)
          && System.nanoTime() - start < DURATION_NANOS + EXTENSION_NANOS)
    ) {
      Thread.sleep(50);
    }
    done = true;
    for (Thread thread : threads) {
      thread.join();
    }
    if (failure.get() != null) {
      throw failure.get();
    }
    assertTrue(outages + " outages", outages.get() >= OUTAGES);
    assertTrue(bypasses + " bypasses", bypasses.get() > 0);
    assertTrue(hits + " hits", hits.get() >= HITS);

    CachedBlockFixture.await(() -> tier.getDeviceState() == State.WORKING);
    // A writer may still be busy with blocks that were evicted while they waited for it.
    CachedBlockFixture.await(() -> {
      for (int i = 0; i < contents.length; i += BLOCKS) {
        tier.evictBlocksByHfileName(file(i));
      }
      return tier.getAllocator().getUsedSize() == 0;
    });
    tier.shutdown();
    assertEquals(0, tier.backingMap.size());
    assertEquals(0, tier.blocksByHFile.size());
    assertEquals(0, tier.getAllocator().getUsedSize());
    assertEquals(0, tier.getRealCacheSize());
    assertEquals(0, tier.getMetaBlockCount());
    assertEquals(0, tier.getMetaBlockSize());
    assertEquals(pool.getUsedBufferCount(), pool.getFreeBufferCount());
  }
}
