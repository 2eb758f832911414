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
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.io.hfile.composite.CircuitBreaker;
import org.apache.hadoop.hbase.io.hfile.composite.CompositeBucketCacheSettings;
import org.apache.hadoop.hbase.io.hfile.composite.TierSettings;
import org.apache.hadoop.hbase.nio.ByteBuff;
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
 * A tier whose device fails: it is bypassed or read-only, probed, and used again; no caller waits
 * for it, sees an exception or loses a buffer. And when the device is synced.
 */
@Category({ IOTests.class, MediumTests.class })
public class TestDeviceOutage {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestDeviceOutage.class);

  private static final String FILE = "0123456789abcdef0123456789abcdef";
  private static final int FAILURES = CircuitBreaker.FAILURES_IN_A_ROW;
  private static final int SIZE = 6000;
  private static final int BLOCKS = 40;

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  @Rule
  public final RefCntLeakRule leaks = new RefCntLeakRule();

  private volatile boolean readsFail;
  private volatile boolean writesFail;
  private volatile boolean syncsFail;
  /** A channel whose device is gone. */
  private volatile FileChannel gone;
  /** A permit for each failed read, null for any number. */
  private volatile Semaphore mayFail;
  private final AtomicInteger reads = new AtomicInteger();
  private final AtomicInteger writes = new AtomicInteger();
  private final AtomicInteger syncs = new AtomicInteger();
  private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - CircuitBreaker.FIRST_PAUSE);
  private Configuration conf;
  private ByteBuffAllocator pool;
  private BucketCacheTier tier;
  private DeviceAccess device;

  /** A file of which accesses fail when the test says so. */
  private final class FailingFile extends FileIOEngine {
    FailingFile(String path, long capacity, boolean persistent) throws IOException {
      super(capacity, persistent, path);
    }

    private void act(boolean fails) throws IOException {
      if (fails || gone == getFileChannels()[0]) {
        throw new IOException("The device fails");
      }
    }

    @Override
    public Cacheable read(BucketEntry entry) throws IOException {
      reads.incrementAndGet();
      if (mayFail != null) {
        mayFail.acquireUninterruptibly();
      }
      act(readsFail);
      return super.read(entry);
    }

    @Override
    public void write(ByteBuff bytes, long offset) throws IOException {
      writes.incrementAndGet();
      act(writesFail);
      super.write(bytes, offset);
    }

    @Override
    public void sync() throws IOException {
      syncs.incrementAndGet();
      act(syncsFail);
    }
  }

  private final class FailingTier extends BucketCacheTier {
    FailingTier(TierSettings settings) throws IOException {
      super("L2", settings);
    }

    @Override
    IOEngine getIOEngineFromName(String name, long capacity, String persistencePath)
      throws IOException {
      return new FailingFile(name.substring("file:".length()), capacity, persistencePath != null);
    }

    @Override
    long nanoTime() {
      return now.get();
    }
  }

  @Before
  public void setUp() {
    conf = CachedBlockFixture.tiers(2, 2, "file:" + path("cache"));
    conf.set("hbase.bucketcache.bucket.sizes", "9216");
    conf.set("hbase.bucketcache.l2.writer.threads", "1");
    pool = CachedBlockFixture.pool(conf, 1000);
  }

  private String path(String name) {
    return new File(folder.getRoot(), name).getPath();
  }

  private void open() throws IOException {
    tier = new FailingTier(CompositeBucketCacheSettings.of(conf).second());
    device = tier.device();
  }

  private void openFilled() throws IOException {
    open();
    for (int i = 0; i < BLOCKS; i++) {
      cache(i);
    }
  }

  @After
  public void tearDown() {
    tier.evictBlocksByHfileName(FILE);
    tier.shutdown();
    assertEquals(0, tier.backingMap.size());
    assertEquals(0, tier.blocksByHFile.size());
    assertEquals(0, tier.ramCache.delegate.size());
    assertEquals(0, tier.heapSize());
    assertEquals(0, tier.getAllocator().getUsedSize());
    assertEquals(0, tier.getRealCacheSize());
    assertEquals(0, tier.getMetaBlockCount());
    assertEquals(pool.getUsedBufferCount(), pool.getFreeBufferCount());
  }

  private static BlockCacheKey key(int i) {
    return CachedBlockFixture.key(FILE, i, BlockType.DATA);
  }

  /** Inserts a block, and waits until it is written or dropped. */
  private void offer(int i) {
    CachedBlockFixture.cache(tier, key(i),
      CachedBlockFixture.block(BlockType.DATA, i, SIZE, pool));
    CachedBlockFixture.await(() -> !tier.ramCache.containsKey(key(i)));
  }

  private void cache(int i) {
    offer(i);
    assertTrue(tier.backingMap.containsKey(key(i)));
  }

  private boolean read(int i) {
    Cacheable block = tier.getBlock(key(i), true, false, true);
    if (block == null) {
      return false;
    }
    HFileBlock expected = CachedBlockFixture.block(BlockType.DATA, i, SIZE);
    try {
      assertArrayEquals("block " + i, CachedBlockFixture.content(expected),
        CachedBlockFixture.content(block));
      return true;
    } finally {
      expected.release();
      block.release();
    }
  }

  private int readAll() {
    int found = 0;
    for (int i = 0; i < BLOCKS; i++) {
      found += read(i) ? 1 : 0;
    }
    return found;
  }

  private void pass(long nanos) {
    now.addAndGet(nanos);
  }

  @Test
  public void testFailingReadsAreBypassedUntilOneSucceeds() throws Exception {
    openFilled();
    readsFail = true;
    assertEquals(0, readAll());
    assertTrue(device.isBypassed());
    assertEquals(FAILURES, reads.get());
    assertEquals(FAILURES, device.ioErrors.get());
    assertEquals(BLOCKS - FAILURES, device.bypassedReads.sum());
    assertEquals(0, device.checksumFailures.sum());
    assertEquals(BLOCKS, tier.getStats().getMissCount());
    assertEquals(0, tier.getStats().getHitCount());

    offer(BLOCKS);
    assertFalse(tier.containsBlock(key(BLOCKS)));
    assertEquals(1, device.bypassedInserts.sum());
    HFileBlock block = CachedBlockFixture.block(BlockType.DATA, 0, SIZE);
    assertFalse(tier.hasSpaceFor(block));
    assertFalse(tier.blockFitsIntoTheCache(block).get());
    block.release();

    pass(CircuitBreaker.FIRST_PAUSE);
    assertEquals(0, readAll());
    assertEquals("one probe", FAILURES + 1, reads.get());
    readsFail = false;
    assertEquals("not before the next probe", 0, readAll());
    pass(2 * CircuitBreaker.FIRST_PAUSE);
    // All blocks are there again, but for those that could not be read.
    assertEquals(BLOCKS - FAILURES - 1, readAll());
    assertFalse(device.isBypassed());
    cache(BLOCKS);
    assertTrue(read(BLOCKS));
  }

  /**
   * 40 handlers: a read that is at the device waits for it. Once some have failed, lookups are
   * answered while the device still holds the others.
   */
  @Test
  public void testDeviceThatIsSlowToFailHoldsUpNobodyTwice() throws Exception {
    openFilled();
    mayFail = new Semaphore(0);
    readsFail = true;
    ExecutorService handlers = Executors.newFixedThreadPool(BLOCKS);
    try {
      List<Future<?>> lookups = new ArrayList<>();
      AtomicInteger answered = new AtomicInteger();
      for (int i = 0; i < BLOCKS; i++) {
        int block = i;
        lookups.add(handlers.submit(() -> {
          read(block);
          CachedBlockFixture.await(device::isBypassed);
          for (int j = 0; j < 100; j++) {
            assertFalse(read(j % BLOCKS));
            offer(BLOCKS + j);
          }
          return answered.incrementAndGet();
        }));
      }
      CachedBlockFixture.await(() -> reads.get() == BLOCKS);
      mayFail.release(FAILURES);
      CachedBlockFixture.await(() -> answered.get() == FAILURES);
      mayFail.release(BLOCKS);
      for (Future<?> lookup : lookups) {
        lookup.get(2, TimeUnit.MINUTES);
      }
    } finally {
      mayFail.release(BLOCKS);
      handlers.shutdownNow();
    }
    assertEquals(BLOCKS, reads.get());
  }

  @Test
  public void testTierWhoseWritesFailIsStillRead() throws Exception {
    openFilled();
    writes.set(0);
    writesFail = true;
    for (int i = BLOCKS; i < 2 * BLOCKS; i++) {
      offer(i);
    }
    assertTrue(device.isReadOnly());
    assertEquals("a failed write is not tried again", FAILURES, writes.get());
    assertEquals(BLOCKS - FAILURES, device.bypassedInserts.sum());
    assertEquals(BLOCKS, tier.backingMap.size());
    assertFalse(tier.awaitInsertion(key(0), 1));
    assertEquals(BLOCKS, readAll());
    writesFail = false;
    pass(CircuitBreaker.FIRST_PAUSE);
    cache(BLOCKS);
    assertTrue(read(BLOCKS));
    assertTrue(tier.awaitInsertion(key(0), 1));
  }

  /** Writes that end in the page cache do not hide it. */
  @Test
  public void testFailingSyncsEndTheInsertionsAsWell() throws Exception {
    openFilled();
    syncsFail = true;
    pass(TimeUnit.SECONDS.toNanos(1));
    for (int i = 0; i < FAILURES; i++) {
      assertFalse(device.isReadOnly());
      offer(BLOCKS + i);
    }
    assertTrue(device.isReadOnly());
    assertEquals(BLOCKS, tier.backingMap.size());
    pass(CircuitBreaker.FIRST_PAUSE);
    int before = syncs.get();
    offer(BLOCKS);
    assertEquals("the probe is synced", before + 1, syncs.get());
    assertTrue(device.isReadOnly());
    syncsFail = false;
    pass(2 * CircuitBreaker.FIRST_PAUSE);
    cache(BLOCKS);
    assertFalse(device.isReadOnly());
    assertEquals(BLOCKS, readAll());
  }

  @Test
  public void testBatchesShareASync() throws Exception {
    openFilled();
    assertEquals("the first batch", 1, syncs.get());
    pass(TimeUnit.SECONDS.toNanos(1) - 1);
    cache(BLOCKS);
    assertEquals(1, syncs.get());
    pass(1);
    cache(BLOCKS + 1);
    assertEquals(2, syncs.get());
  }

  @Test
  public void testMuchIsSyncedAtOnce() throws Exception {
    conf.set("hbase.bucketcache.l2.size", "8");
    conf.set("hbase.bucketcache.l2.bucket.sizes", "525312");
    open();
    HFileBlock block = CachedBlockFixture.block(BlockType.DATA, 0, 512 << 10);
    for (int i = 0; i < 66; i++) {
      tier.cacheBlock(key(i), block);
      CachedBlockFixture.await(() -> tier.ramCache.isEmpty());
    }
    block.release();
    // The first block is synced, and each 32 blocks of a little more than half a megabyte.
    assertEquals(3, syncs.get());
  }

  /** Nothing would tell whether what is read is what was written. */
  @Test
  public void testWithoutChecksumsEachBatchIsSynced() throws Exception {
    conf.setBoolean("hbase.bucketcache.l2.checksum.enabled", false);
    openFilled();
    assertEquals(BLOCKS, syncs.get());
  }

  @Test
  public void testWhatAMapNamesIsSyncedBefore() throws Exception {
    conf.set("hbase.bucketcache.l2.persistent.path", path("map"));
    conf.setLong(CacheConfig.BUCKETCACHE_PERSIST_INTERVAL_KEY, TimeUnit.HOURS.toMillis(1));
    openFilled();
    int before = syncs.get();
    syncsFail = true;
    assertThrows(IOException.class, tier::persistToFile);
    assertFalse("not what may be lost", new File(path("map")).exists());
    syncsFail = false;
    tier.persistToFile();
    assertTrue(new File(path("map")).exists());
    assertEquals(before + 2, syncs.get());
    tier.evictBlocksByHfileName(FILE);
    tier.shutdown();
    assertEquals("before the engine is closed", before + 3, syncs.get());
    tier.shutdown();
    assertEquals(before + 3, syncs.get());
  }

  /** The device of the open file is gone, and the path leads to nothing. */
  private File loseDevice() {
    File file = new File(path("cache"));
    File elsewhere = new File(path("elsewhere"));
    gone = ((FileIOEngine) tier.ioEngine).getFileChannels()[0];
    assertTrue(file.renameTo(elsewhere));
    assertEquals(0, readAll());
    pass(CircuitBreaker.FIRST_PAUSE);
    assertEquals(0, readAll());
    assertTrue(device.isBypassed());
    assertFalse("made below the mount point", file.exists());
    pass(2 * CircuitBreaker.FIRST_PAUSE);
    return elsewhere;
  }

  @Test
  public void testDeviceThatIsMountedAgainHasItsBlocks() throws Exception {
    openFilled();
    File mounted = loseDevice();
    assertTrue(mounted.renameTo(new File(path("cache"))));
    assertEquals(BLOCKS - FAILURES - 1, readAll());
    assertFalse(device.isBypassed());
    cache(0);
    assertTrue(read(0));
  }

  @Test
  public void testAnotherFileInItsPlaceHasNoBlocks() throws Exception {
    openFilled();
    Files.delete(loseDevice().toPath());
    try (RandomAccessFile another = new RandomAccessFile(path("cache"), "rw")) {
      another.setLength(tier.getMaxSize() / 2);
    }
    assertEquals(0, readAll());
    assertFalse(device.isBypassed());
    assertEquals(BLOCKS - FAILURES - 1, device.checksumFailures.sum());
    cache(0);
    assertTrue(read(0));
  }

  /** Without checksums, another file would be taken for the former one. */
  @Test
  public void testFileWithoutChecksumsIsNotOpenedAgain() throws Exception {
    conf.setBoolean("hbase.bucketcache.l2.checksum.enabled", false);
    openFilled();
    assertTrue(loseDevice().renameTo(new File(path("cache"))));
    assertEquals(0, readAll());
    assertTrue(device.isBypassed());
  }

  /** Readers that hold blocks, insertions and evictions, while the device fails and recovers. */
  @Test
  public void testNothingIsLeftOfOutages() throws Exception {
    openFilled();
    ExecutorService users = Executors.newFixedThreadPool(5);
    List<Future<?>> results = new ArrayList<>();
    AtomicInteger outages = new AtomicInteger();
    for (int i = 0; i < 5; i++) {
      boolean evicts = i == 0;
      results.add(users.submit(() -> {
        while (outages.get() < 100) {
          int block = ThreadLocalRandom.current().nextInt(2 * BLOCKS);
          if (evicts) {
            tier.evictBlock(key(block));
          } else if (!read(block)) {
            offer(block);
          }
        }
        return null;
      }));
    }
    try {
      ThreadLocalRandom random = ThreadLocalRandom.current();
      while (outages.get() < 100 && results.stream().noneMatch(Future::isDone)) {
        readsFail = random.nextBoolean();
        writesFail = !readsFail || random.nextBoolean();
        CachedBlockFixture.await(() -> device.isBypassed() || device.isReadOnly());
        readsFail = false;
        writesFail = false;
        CachedBlockFixture.await(() -> {
          pass(CircuitBreaker.MAX_PAUSE);
          return !device.isBypassed() && !device.isReadOnly();
        });
        outages.incrementAndGet();
      }
    } finally {
      outages.set(100);
      users.shutdown();
    }
    for (Future<?> result : results) {
      result.get(2, TimeUnit.MINUTES);
    }
  }
}
