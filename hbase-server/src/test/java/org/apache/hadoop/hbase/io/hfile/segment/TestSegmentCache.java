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
package org.apache.hadoop.hbase.io.hfile.segment;

import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.await;
import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.block;
import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.cache;
import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.content;
import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.key;
import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseCommonTestingUtility;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.CachedBlock;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.io.hfile.segment.device.Location;
import org.apache.hadoop.hbase.io.hfile.segment.index.CachedFile;
import org.apache.hadoop.hbase.io.hfile.segment.index.PagePool;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.util.Pair;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** {@link SegmentCache} as a block cache, on files. */
@Category({ IOTests.class, MediumTests.class })
public class TestSegmentCache {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestSegmentCache.class);

  @Rule
  public final RefCntLeakRule leaks = new RefCntLeakRule();

  private static final int BLOCK = 30_000;
  private static final String REGION = "0123456789abcdef0123456789abcdef";
  private static final String FILE = "11111111111111111111111111111111";
  private static final String OTHER = "22222222222222222222222222222222";

  private final HBaseCommonTestingUtility util = new HBaseCommonTestingUtility();
  private File directory;
  private SegmentCache cache;

  @Before
  public void setUp() throws IOException {
    directory = new File(util.getDataTestDir().toString());
    assertTrue(directory.mkdirs() || directory.isDirectory());
    cache = open("segments");
  }

  @After
  public void tearDown() {
    cache.shutdown();
    util.cleanupTestDir();
  }

  private SegmentCache open(String file) throws IOException {
    return open(file, util.getConfiguration());
  }

  private SegmentCache open(String file, Configuration conf) throws IOException {
    Configuration small = new Configuration(conf);
    small.setInt(SegmentCacheSettings.SEGMENT_MB_KEY, 1);
    String engine = SegmentCacheSettings.ENGINE + new File(directory, file);
    return new SegmentCache("L2", engine,
      SegmentCacheSettings.of(engine, "hbase.bucketcache.l2.size", 33 << 20, null, small), small);
  }

  private long gauge(String name) {
    long[] value = { -1 };
    cache.forEachMetric((kind, gauge, supplier) -> value[0] =
      gauge.equals(name) ? supplier.getAsLong() : value[0]);
    assertTrue("no gauge " + name, value[0] >= 0);
    return value[0];
  }

  private static BlockCacheKey keyIn(String file, long offset) {
    return new BlockCacheKey(new Path("/hbase/data/default/t/" + REGION + "/f/" + file), offset,
      true, BlockType.DATA);
  }

  private void put(String file, long offset) {
    put(key(file, offset, BlockType.DATA));
  }

  @Test
  public void testFullIndexRefusesBlocksUntilItHasMemoryAgain() {
    put(FILE, 0);
    PagePool pool = cache.index().pool();
    List<long[]> taken = new ArrayList<>();
    for (long[] page = pool.take(1); page != null; page = pool.take(1)) {
      taken.add(page);
    }
    assertEquals(gauge("IndexMaxBytes"), gauge("IndexBytes"));
    // Fits into the page that the table has.
    put(FILE, BLOCK);
    assertEquals(0, gauge("IndexFullInsertCount"));
    long offset = 2 * BLOCK;
    while (gauge("IndexFullInsertCount") == 0) {
      cache.cacheBlock(key(FILE, offset, BlockType.DATA),
        block(BlockType.DATA, offset, 100));
      offset += BLOCK;
    }
    long refused = offset - BLOCK;
    assertTrue(gauge("RefusedInsertCount") > 0);
    assertFalse(cache.containsBlock(key(FILE, refused, BlockType.DATA)));
    long blocks = cache.getBlockCount();
    Cacheable read = cache.getBlock(key(FILE, 0, BlockType.DATA), true, false, true);
    assertNotNull(read);
    read.release();
    assertTrue(cache.evictBlock(key(FILE, 0, BlockType.DATA)));
    assertEquals(blocks - 1, cache.getBlockCount());
    taken.forEach(pool::give);
    put(FILE, refused);
    assertEquals(1, gauge("IndexFullInsertCount"));
    assertEquals(blocks, cache.getBlockCount());
  }

  /** Caches a block, as often as it is refused because the device is behind. */
  private void put(BlockCacheKey key) {
    HFileBlock block = block(BlockType.DATA, key.getOffset(), BLOCK);
    await(() -> {
      cache.cacheBlock(key, block);
      return cache.containsBlock(key);
    });
    block.release();
  }

  private boolean isRight(String file, long offset) {
    return isRight(cache, file, offset);
  }

  /** Looks a block up without counting; fails if it is another's, and says whether there is one. */
  private static boolean isRight(SegmentCache where, String file, long offset) {
    Cacheable found = where.getBlock(key(file, offset, BlockType.DATA), true, false, false);
    if (found == null) {
      return false;
    }
    try {
      assertArrayEquals(content(block(BlockType.DATA, offset, BLOCK)), content(found));
      return true;
    } finally {
      found.release();
    }
  }

  /** Blocks of another file until the open segment and those before it are on the device. */
  private void pushOut() {
    for (int i = 0; i < 40; i++) {
      put("33333333333333333333333333333333", (long) i * BLOCK);
    }
    await(() -> gauge("WaitingSegmentCount") == 0);
  }

  @Test
  public void testABlockIsReadIntoThePoolAndGivenBack() {
    Configuration conf = new Configuration(util.getConfiguration());
    conf.setInt(ByteBuffAllocator.MAX_BUFFER_COUNT_KEY, 4);
    conf.setInt(ByteBuffAllocator.BUFFER_SIZE_KEY, 64 * 1024);
    conf.setInt(ByteBuffAllocator.MIN_ALLOCATE_SIZE_KEY, 1024);
    ByteBuffAllocator pool = ByteBuffAllocator.create(conf, true);
    cache.useAllocator(pool);
    put(FILE, 0);
    for (int i = 0; i < 2; i++) {
      Cacheable found = cache.getBlock(key(FILE, 0, BlockType.DATA), true, false, true);
      assertNotNull(found);
      assertEquals(1, pool.getUsedBufferCount() - pool.getFreeBufferCount());
      found.release();
      assertEquals(0, pool.getUsedBufferCount() - pool.getFreeBufferCount());
      pushOut();
    }
  }

  @Test
  public void testBlocksOfEachTypeComeBackAsTheyWereAndAreCountedByType() {
    BlockType[] types = { BlockType.DATA, BlockType.ENCODED_DATA, BlockType.LEAF_INDEX,
      BlockType.INTERMEDIATE_INDEX, BlockType.BLOOM_CHUNK, BlockType.META };
    int offset = 0;
    for (BlockType type : types) {
      cache(cache, key(FILE, offset, type), block(type, offset, 100 + offset));
      Cacheable found = cache.getBlock(key(FILE, offset, type), true, false, true);
      assertEquals(type, found.getBlockType());
      assertArrayEquals(content(block(type, offset, 100 + offset)), content(found));
      found.release();
      offset += 1000;
    }
    assertEquals(6, cache.getBlockCount());
    assertEquals(2, cache.getDataBlockCount());
    assertEquals(4, cache.getMetaBlockCount());
    assertEquals(2, gauge("IndexBlockCount"));
    assertEquals(1, gauge("BloomBlockCount"));
    assertEquals(cache.getCurrentSize(), cache.getCurrentDataSize() + cache.getMetaBlockSize());
    assertTrue(cache.getCurrentSize() > 6 * 100 + 15 * 1000);
    assertEquals(cache.getMaxSize(), cache.getFreeSize() + cache.getCurrentSize());
  }

  @Test
  public void testBlocksOfAnyLengthComeBackAndOneThatNoSegmentHoldsIsRefused() {
    int[] lengths = { 0, 1, 17, 127, 128, 4096, 65_537, 900_000 };
    for (int length : lengths) {
      HFileBlock block = block(BlockType.DATA, length, length);
      assertTrue(cache.blockFitsIntoTheCache(block).get());
      cache(cache, key(FILE, length, BlockType.DATA), block);
    }
    for (int length : lengths) {
      Cacheable found = cache.getBlock(key(FILE, length, BlockType.DATA), true, false, true);
      assertNotNull("length " + length, found);
      assertArrayEquals(content(block(BlockType.DATA, length, length)), content(found));
      found.release();
    }
    HFileBlock large = block(BlockType.DATA, 5, 1 << 20);
    assertFalse(cache.blockFitsIntoTheCache(large).get());
    cache(cache, key(FILE, 5, BlockType.DATA), large);
    assertFalse(isRight(FILE, 5));
    assertEquals(1, cache.getStats().getFailedInserts());
  }

  @Test
  public void testLookUpsAreCountedAsTheCallerSays() {
    put(FILE, 0);
    BlockCacheKey there = key(FILE, 0, BlockType.DATA);
    BlockCacheKey absent = key(FILE, 7, BlockType.DATA);
    cache.getBlock(there, true, false, true).release();
    cache.getBlock(there, true, true, true).release();
    cache.getBlock(there, true, false, false).release();
    assertNull(cache.getBlock(absent, true, false, true));
    assertNull(cache.getBlock(absent, true, true, true));
    assertNull(cache.getBlock(absent, true, false, false));
    assertEquals(2, cache.getStats().getHitCount());
    assertEquals(1, cache.getStats().getMissCount());
  }

  @Test
  public void testOnlyALookUpThatAsksForTheBlockMakesItHot() {
    BlockCacheKey key = key(FILE, 0, BlockType.DATA);
    HFileBlock block = block(BlockType.DATA, 0, BLOCK);
    cache.cacheBlock(key, block, false, true);
    block.release();
    long location = cache.index().get(cache.files().get(FILE).id(), 0);
    assertEquals(0, Location.access(location));
    cache.getBlock(key, false, false, true).release();
    cache.getBlock(key, true, false, false).release();
    assertEquals(0, Location.access(cache.index().get(cache.files().get(FILE).id(), 0)));
    for (int i = 1; i <= 5; i++) {
      cache.getBlock(key, true, false, true).release();
      assertEquals(Math.min(i, Location.MAX_ACCESS),
        Location.access(cache.index().get(cache.files().get(FILE).id(), 0)));
    }
  }

  @Test
  public void testAnEvictedBlockIsGoneAndItsNeighboursAreNot() {
    for (int i = 0; i < 10; i++) {
      put(FILE, i);
    }
    assertTrue(cache.evictBlock(key(FILE, 4, BlockType.DATA)));
    assertFalse(cache.evictBlock(key(FILE, 4, BlockType.DATA)));
    assertFalse(cache.evictBlock(key(OTHER, 4, BlockType.DATA)));
    for (int i = 0; i < 10; i++) {
      assertEquals(i != 4, isRight(FILE, i));
    }
    assertEquals(3, cache.evictBlocksRangeByHfileName(FILE, 2, 5));
    assertEquals(0, cache.evictBlocksRangeByHfileName(OTHER, 0, Long.MAX_VALUE));
    for (int i = 0; i < 10; i++) {
      assertEquals(i < 2 || i > 5, isRight(FILE, i));
    }
    assertEquals(6, cache.getBlockCount());
    assertEquals(6, cache.evictBlocksRangeByHfileName(FILE, 0, Long.MAX_VALUE));
    assertEquals(0, cache.getBlockCount());
    assertEquals(0, cache.getCurrentSize());
    assertEquals("a file without blocks is kept", 0, gauge("FileCount"));
  }

  @Test
  public void testADroppedFileIsGoneAtOnceAndItsNameCanBeUsedAgain() {
    for (int i = 0; i < 20; i++) {
      put(FILE, i);
      put(OTHER, i);
    }
    assertEquals(20, cache.evictBlocksByHfileName(FILE));
    assertEquals(0, cache.evictBlocksByHfileName(FILE));
    assertEquals(20, cache.getBlockCount());
    put(FILE, 3);
    for (int i = 0; i < 20; i++) {
      assertEquals(i == 3, isRight(FILE, i));
      assertTrue(isRight(OTHER, i));
    }
    await(() -> gauge("DroppedBlockCount") == 0);
    await(() -> cache.index().size() == 21);
    assertTrue(isRight(FILE, 3));
  }

  @Test
  public void testAReferenceFindsTheBlocksOfTheFileItRefersTo() {
    String reference = FILE + "." + REGION;
    put(FILE, 0);
    assertTrue(isRight(reference, 0));
    assertTrue(cache.isAlreadyCached(key(reference, 0, BlockType.DATA)).get());
    assertFalse(cache.containsBlock(key(reference, 0, BlockType.DATA)));
    assertFalse(isRight(reference, 1));
    // A block of its own is first.
    put(reference, 1);
    assertTrue(isRight(reference, 1));
    assertFalse(isRight(FILE, 1));
    cache.evictBlocksByHfileName(FILE);
    assertFalse(isRight(reference, 0));
    assertTrue(isRight(reference, 1));
  }

  /** Returns what counts for the region if all blocks are of it. */
  private long regionBytes() {
    return cache.getCurrentSize() - cache.getBlockCount() * CachedFile.ENTRY_OVERHEAD;
  }

  @Test
  public void testAFileIsFullyCachedUntilABlockOfItGoes() {
    for (int i = 0; i < 5; i++) {
      cache(cache, keyIn(FILE, i), block(BlockType.DATA, i, BLOCK));
    }
    cache(cache, keyIn(FILE, 6), block(BlockType.LEAF_INDEX, 6, BLOCK));
    assertEquals(regionBytes(), cache.getRegionCachedInfo().get().get(REGION).longValue());
    cache.notifyFileCachingCompleted(keyIn(FILE, 0).getFilePath(), 7, 6, 1000);
    assertTrue(cache.getFullyCachedFiles().get().isEmpty());
    cache.notifyFileCachingCompleted(keyIn(FILE, 0).getFilePath(), 6, 5, 1000);
    assertEquals(new Pair<>(REGION, 1000L), cache.getFullyCachedFiles().get().get(FILE));
    cache.evictBlock(key(FILE, 6, BlockType.LEAF_INDEX));
    assertTrue(cache.getFullyCachedFiles().get().isEmpty());
    cache.notifyFileCachingCompleted(keyIn(FILE, 0).getFilePath(), 5, 5, 1000);
    assertEquals(1, cache.getFullyCachedFiles().get().size());
    cache.evictBlocksByHfileName(FILE);
    assertTrue(cache.getFullyCachedFiles().get().isEmpty());
    assertTrue(cache.getRegionCachedInfo().get().isEmpty());
  }

  @Test
  public void testTheIteratorAndTheVisitorsTellOfEachBlockOnce() {
    Set<String> expected = new TreeSet<>();
    for (int i = 0; i < 200; i++) {
      String file = i % 3 == 0 ? FILE : OTHER;
      put(file, i * 1000);
      expected.add(file + "_" + i * 1000);
    }
    put("44444444444444444444444444444444", 0);
    cache.evictBlocksByHfileName("44444444444444444444444444444444");
    Set<String> iterated = new TreeSet<>();
    for (CachedBlock block : cache) {
      assertEquals(BlockType.DATA, block.getBlockType());
      assertTrue(block.getSize() >= BLOCK);
      assertTrue(iterated.add(block.getFilename() + "_" + block.getOffset()));
    }
    assertEquals(expected, iterated);
    Set<String> visited = new HashSet<>();
    for (String file : new String[] { FILE, OTHER, "no file" }) {
      cache.forEachBlockOf(file, key -> assertTrue(visited.add(key.toString())));
    }
    assertEquals(expected, new TreeSet<>(visited));
    assertEquals(cache.getCurrentSize(), cache.cachedBytes(FILE) + cache.cachedBytes(OTHER));
  }

  private void fill(int blocks) {
    for (int i = 0; i < blocks; i++) {
      put(keyIn(i % 4 == 0 ? FILE : OTHER, (long) i * BLOCK));
    }
  }

  private int found(SegmentCache where, int blocks) {
    int found = 0;
    for (int i = 0; i < blocks; i++) {
      found += isRight(where, i % 4 == 0 ? FILE : OTHER, (long) i * BLOCK) ? 1 : 0;
    }
    return found;
  }

  @Test
  public void testAfterAStopInGoodOrderEverythingIsBackAtOnce() throws IOException {
    int blocks = 300;
    fill(blocks);
    cache.notifyFileCachingCompleted(keyIn(FILE, 0).getFilePath(), 75, 75, 12345);
    put("44444444444444444444444444444444", 0);
    cache.evictBlocksByHfileName("44444444444444444444444444444444");
    long size = cache.getCurrentSize();
    long ofRegion = cache.getRegionCachedInfo().get().get(REGION);
    cache.shutdown();
    assertFalse("served after its end", isRight(FILE, 0));
    assertTrue(new File(directory, "segments.index").isFile());
    cache = open("segments");
    assertTrue(cache.isRestored());
    assertFalse("can be used twice", new File(directory, "segments.index").exists());
    assertEquals(blocks, cache.getBlockCount());
    assertEquals(size, cache.getCurrentSize());
    assertEquals(ofRegion, cache.getRegionCachedInfo().get().get(REGION).longValue());
    assertEquals(new Pair<>(REGION, 12345L), cache.getFullyCachedFiles().get().get(FILE));
    assertEquals(blocks, found(cache, blocks));
    assertFalse(isRight("44444444444444444444444444444444", 0));
    // And it is a cache like any other.
    assertEquals(75, cache.evictBlocksByHfileName(FILE));
    put(FILE, 0);
    assertTrue(isRight(FILE, 0));
    await(() -> cache.index().size() == cache.getBlockCount());
  }

  /**
   * No lookup is needed: a balancer asks, and a region that is opened is not to prefetch it all.
   */
  @Test
  public void testRegionAndCompletenessOfAFileAreKnownAfterAKill() throws IOException {
    for (int i = 0; i < 80; i++) {
      put(keyIn(FILE, (long) i * BLOCK));
      put(keyIn(OTHER, (long) i * BLOCK));
    }
    cache.notifyFileCachingCompleted(keyIn(FILE, 0).getFilePath(), 80, 80, 1000);
    cache.notifyFileCachingCompleted(keyIn(OTHER, 0).getFilePath(), 80, 80, 2000);
    cache.evictBlock(keyIn(OTHER, BLOCK));
    pushOut();
    long bytes = cache.getRegionCachedInfo().get().get(REGION);
    Files.copy(new File(directory, "segments").toPath(), new File(directory, "killed").toPath(),
      StandardCopyOption.REPLACE_EXISTING);
    SegmentCache after = open("killed");
    try {
      await(() -> !after.isRecovering());
      Map<String, Pair<String, Long>> complete = new HashMap<>();
      complete.put(FILE, new Pair<>(REGION, 1000L));
      // The block that was evicted is back, since nothing was written when it was.
      complete.put(OTHER, new Pair<>(REGION, 2000L));
      assertEquals(complete, after.getFullyCachedFiles().get());
      assertTrue(after.getRegionCachedInfo().get().get(REGION) >= bytes);
      assertEquals(0, after.metrics().reads.sum());
    } finally {
      after.shutdown();
    }
  }

  @Test
  public void testASnapshotThatIsNotWholeIsNotUsedAndTheSegmentsAreRead() throws IOException {
    fill(100);
    for (int round = 0; round < 4; round++) {
      cache.shutdown();
      File snapshot = new File(directory, "segments.index");
      try (RandomAccessFile file = new RandomAccessFile(snapshot, "rw")) {
        if (round == 0) {
          file.setLength(file.length() / 2);
        } else {
          long at = round == 1 ? 3 : round == 2 ? file.length() / 2 : file.length() - 9;
          file.seek(at);
          int was = file.read();
          file.seek(at);
          file.write(was ^ 4);
        }
      }
      cache = open("segments");
      assertFalse(cache.isRestored());
      assertFalse(snapshot.exists());
      await(() -> !cache.isRecovering());
      assertEquals(100, cache.getBlockCount());
      assertEquals(100, found(cache, 100));
    }
  }

  @Test
  public void testFlippedBitsAreMissesAndNeverServed() throws IOException {
    int blocks = 300;
    fill(blocks);
    pushOut();
    try (RandomAccessFile file = new RandomAccessFile(new File(directory, "segments"), "rw")) {
      for (long at = 8192 + 5000; at < file.length(); at += 90_000) {
        file.seek(at);
        int was = file.read();
        file.seek(at);
        file.write(was ^ 16);
      }
    }
    int found = found(cache, blocks);
    long bad = cache.metrics().badEntries.sum();
    assertTrue(found + " found, " + bad + " bad", found < blocks && bad > 0);
    assertEquals(blocks, found + bad);
    assertEquals("bad ones are still there", found, found(cache, blocks));
    assertEquals(bad, cache.metrics().badEntries.sum());
    assertEquals(bad, gauge("ChecksumFailureCount"));
  }

  @Test
  public void testAFullCacheTakesNewBlocksForOldOnes() {
    int blocks = 3_000;
    fill(blocks);
    // Wait until the writers and the cleaner are idle.
    await(() -> gauge("WaitingSegmentCount") == 0 && gauge("CleanSegmentCount") >= 2);
    int found = found(cache, blocks);
    // 32 segments of 1 MB hold some 34 blocks each; two are kept clean, two may be filled.
    assertTrue(found + " found", found > 26 * 34 && found < 33 * 35);
    assertEquals(found, cache.getBlockCount());
    assertTrue(isRight(OTHER, (blocks - 1L) * BLOCK));
    assertTrue(gauge("ReclaimedSegmentCount") > 50);
    assertTrue(cache.getStats().getEvictedCount() > 1_500);
    assertFalse(cache.blockFitsIntoTheCache(block(BlockType.DATA, 0, BLOCK)).get());
    assertFalse(cache.hasSpaceFor(block(BlockType.DATA, 0, BLOCK)));
    cache.evictBlocksByHfileName(OTHER);
    assertTrue(cache.blockFitsIntoTheCache(block(BlockType.DATA, 0, BLOCK)).get());
  }

  @Test
  public void testSettingsFollowAChangeAndABadOneChangesNothing() {
    Configuration conf = new Configuration(util.getConfiguration());
    conf.setInt(SegmentCacheSettings.WRITE_LIMIT_KEY, 100);
    conf.set(SegmentCacheSettings.REWRITE_SHARE_KEY, "0.1");
    cache.onConfigurationChange(conf);
    conf.set(SegmentCacheSettings.REWRITE_SHARE_KEY, "0.9");
    assertThrows(IllegalArgumentException.class, () -> cache.onConfigurationChange(conf));
    put(FILE, 0);
    assertTrue(isRight(FILE, 0));
  }
}
