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
package org.apache.hadoop.hbase.io.hfile.load;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.HFileScanner;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.io.hfile.StoreFileFixture;
import org.apache.hadoop.hbase.io.hfile.StoreFileFixture.Block;
import org.apache.hadoop.hbase.io.hfile.load.CountingCaches.Insertions;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.After;
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

/** What a warm-up reads and caches of one file, with every kind of block cache. */
@RunWith(Parameterized.class)
@Category({ IOTests.class, LargeTests.class })
public class TestFilePrefetch {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestFilePrefetch.class);

  /** What a read takes of the next block, its header. */
  private static final int NEXT_HEADER = 33;

  @Parameters(name = "{0}")
  public static CountingCaches[] caches() {
    return CountingCaches.present();
  }

  @Parameter
  public CountingCaches kind;

  @Rule
  public final RefCntLeakRule leakRule = new RefCntLeakRule();

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  @Rule
  public final StoreFileFixture files = new StoreFileFixture();

  private final ReadLog log = new ReadLog();
  private final Insertions insertions = new Insertions();
  private FileSystem fs;
  private BlockCache cache;
  private ByteBuffAllocator pool;

  @Before
  public void setUp() throws Exception {
    files.conf().setInt(ByteBuffAllocator.MIN_ALLOCATE_SIZE_KEY, 1);
    pool = ByteBuffAllocator.create(files.conf(), true);
    cache = kind.open(files.conf(), folder.getRoot(), insertions);
    fs = log.over(files.fileSystem());
  }

  @After
  public void tearDown() {
    CachedBlockFixture.awaitWriters(cache);
    for (Path path : written) {
      cache.evictBlocksByHfileName(path.getName());
    }
    cache.shutdown();
  }

  private final List<Path> written = new ArrayList<>();

  private CacheConfig cacheConf() {
    return new CacheConfig(files.conf(), null, cache, pool);
  }

  private Path write(CacheConfig cacheConf) throws Exception {
    Path path = files.write(cacheConf);
    written.add(path);
    return path;
  }

  /** Prefetches the file and returns the prefetch; the log has nothing of the opening itself. */
  private FilePrefetch warm(Path path) throws Exception {
    try (HFile.Reader reader = HFile.createReader(fs, path, cacheConf(), true, files.conf())) {
      log.clear();
      FilePrefetch warmUp = FilePrefetch.of(reader, cacheConf(), files.conf());
      assertEquals(FilePrefetch.Phase.META, warmUp.phase());
      assertNull(warmUp.outcome());
      warmUp.run();
      assertEquals(FilePrefetch.Phase.DONE, warmUp.phase());
      return warmUp;
    }
  }

  private List<Block> blocks(Path path, boolean data) throws Exception {
    return files.blocks(path).stream().filter(b -> b.type().isData() == data)
      .collect(Collectors.toList());
  }

  private static long size(List<Block> blocks) {
    return blocks.stream().mapToLong(Block::size).sum();
  }

  private boolean isCached(Block block) {
    return cache.isAlreadyCached(block.key()).get();
  }

  private void assertAllCached(Path path) throws Exception {
    for (Block block : files.blocks(path)) {
      assertTrue("not cached: " + block, isCached(block));
    }
    assertTrue(CountingCaches.hasWhole(cache, path.getName()));
  }

  @Test
  public void testEveryBlockIsReadOnce() throws Exception {
    Path path = write(CacheConfig.DISABLED);
    FilePrefetch warmUp = warm(path);
    assertEquals(FilePrefetch.Outcome.COMPLETE, warmUp.outcome());
    assertAllCached(path);
    List<Block> all = files.blocks(path);
    assertEquals(size(all), warmUp.plannedBytes());
    assertEquals(size(all), warmUp.prefetchedBytes());
    assertEquals(all.size(), warmUp.prefetchedBlocks());
    assertEquals(0, warmUp.cachedBytes());
    assertEquals(Collections.emptyList(),
      insertions.repeated(path.getName()).collect(Collectors.toList()));
    assertTrue("the stream", log.opens(path.getName()) <= 1);
    // Single reads take headers with them.
    long read = log.bytes(path.getName());
    assertTrue(read + " bytes of " + size(all),
      read <= size(all) + (long) NEXT_HEADER * (blocks(path, false).size() * 2 + 3));
  }

  @Test
  public void testOnlyBlocksThatAreMissingAreRead() throws Exception {
    files.cacheAllOnWrite();
    Path path = write(cacheConf());
    warm(path);
    List<Block> data = blocks(path, true);
    List<Block> meta = blocks(path, false);
    List<Block> missing = Arrays.asList(data.get(data.size() / 2), meta.get(meta.size() / 2));
    missing.forEach(block -> cache.evictBlock(block.key()));
    missing.forEach(block -> assertFalse(isCached(block)));
    FilePrefetch warmUp = warm(path);
    assertEquals(2, warmUp.prefetchedBlocks());
    assertEquals(size(missing), warmUp.prefetchedBytes());
    assertEquals(size(missing) + 2 * NEXT_HEADER, log.bytes(path.getName()));
    assertEquals("single blocks need no stream", 0, log.opens(path.getName()));
    assertAllCached(path);
  }

  @Test
  public void testOfALargeFileOnlyIndexAndBloomBlocksAreRead() throws Exception {
    Path path = write(CacheConfig.DISABLED);
    long length = files.fileSystem().getFileStatus(path).getLen();
    files.conf().setLong(PrefetchLimit.FULL_MAX_BYTES_KEY, length - 1);
    FilePrefetch warmUp = warm(path);
    assertFalse(warmUp.isWhole());
    assertEquals(FilePrefetch.Outcome.COMPLETE, warmUp.outcome());
    List<Block> meta = blocks(path, false);
    meta.forEach(block -> assertTrue("not cached: " + block, isCached(block)));
    blocks(path, true).forEach(block -> assertFalse("cached: " + block, isCached(block)));
    assertEquals(size(meta), warmUp.prefetchedBytes());
    assertEquals(size(meta), warmUp.plannedBytes());
    long read = log.bytes(path.getName());
    assertTrue(read + " bytes, index and bloom have " + size(meta),
      read <= size(meta) + (long) NEXT_HEADER * meta.size() && read <= size(meta) + length / 50);
    assertEquals("no stream", 0, log.opens(path.getName()));
    assertEquals(kind == CountingCaches.LRU_ONLY, CountingCaches.hasWhole(cache, path.getName()));
    // The next get needs one data block and nothing else.
    try (HFile.Reader reader = HFile.createReader(fs, path, cacheConf(), true, files.conf())) {
      log.clear();
      HFileScanner scanner = reader.getScanner(files.conf(), true, true);
      assertTrue(scanner.seekTo(new KeyValue(Bytes.toBytes("row00002000"), Bytes.toBytes("f"),
        Bytes.toBytes("q"), 2L, new byte[0])) == 0);
      scanner.close();
      assertEquals(1, log.reads(path.getName(), Long.MAX_VALUE).size());
      int largest = blocks(path, true).stream().mapToInt(Block::size).max().getAsInt();
      assertTrue(log.bytes(path.getName()) <= largest + NEXT_HEADER);
    }
  }

  /** Returns every fifth data block, beginning with the third. */
  private List<Block> hotBlocks(Path path) throws Exception {
    List<Block> data = blocks(path, true);
    return IntStream.range(0, data.size()).filter(i -> i % 5 == 2).mapToObj(data::get)
      .collect(Collectors.toList());
  }

  private static HotBlockMap map(List<Block> hot) {
    HotBlockMap map = new HotBlockMap(0);
    hot.forEach(block -> map.add(block.offset()));
    return map;
  }

  /** The hint comes at once, or while the prefetch of the opened file waits to begin. */
  @Test
  public void testOnlyHotBlocksOfAFileThatIsTooLarge() throws Exception {
    files.conf().setLong(PrefetchLimit.FULL_MAX_BYTES_KEY, 1);
    for (boolean isHinted : new boolean[] { false, true }) {
      Path path = write(CacheConfig.DISABLED);
      List<Block> hot = hotBlocks(path);
      List<Block> meta = blocks(path, false);
      try (HFile.Reader reader = HFile.createReader(fs, path, cacheConf(), true, files.conf())) {
        FilePrefetch prefetch = isHinted
          ? FilePrefetch.of(reader, cacheConf(), files.conf())
          : FilePrefetch.ofHotBlocks(reader, cacheConf(), files.conf(), map(hot));
        // The prefetch ignores this if only hot blocks are prefetched: there are no others.
        prefetch.setFirst(isHinted ? map(hot) : new HotBlockMap(0));
        prefetch.run();
        assertEquals(FilePrefetch.Outcome.COMPLETE, prefetch.outcome());
        assertEquals(hot.size() + meta.size(), prefetch.prefetchedBlocks());
        assertEquals(size(hot) + size(meta), prefetch.prefetchedBytes());
      }
      for (Block block : files.blocks(path)) {
        boolean wanted = !block.type().isData()
          || hot.stream().anyMatch(each -> each.offset() == block.offset());
        assertEquals(block.toString(), wanted, isCached(block));
      }
      assertEquals(kind == CountingCaches.LRU_ONLY,
        CountingCaches.hasWhole(cache, path.getName()));
    }
  }

  @Test
  public void testHotBlocksComeFirst() throws Exception {
    Path path = write(CacheConfig.DISABLED);
    List<Block> hot = hotBlocks(path);
    List<Block> all = files.blocks(path);
    int before = blocks(path, false).size() + hot.size();
    AtomicInteger reads = new AtomicInteger();
    AtomicBoolean first = new AtomicBoolean();
    try (HFile.Reader reader = HFile.createReader(fs, path, cacheConf(), true, files.conf())) {
      FilePrefetch prefetch = FilePrefetch.of(reader, cacheConf(), files.conf());
      prefetch.setFirst(map(hot));
      prefetch.setPace((file, size) -> {
        if (reads.incrementAndGet() == before + 1) {
          first.set(hot.stream().allMatch(this::isCached));
        }
      });
      prefetch.run();
      assertEquals(FilePrefetch.Outcome.COMPLETE, prefetch.outcome());
      assertEquals(all.size(), prefetch.prefetchedBlocks());
      assertEquals(size(all), prefetch.prefetchedBytes());
      assertEquals(0, prefetch.cachedBytes());
    }
    assertTrue(reads + " reads, " + before + " before those of the others", first.get());
    assertAllCached(path);
  }

  @Test
  public void testFileOfExactlyTheLimitIsWarmedWhole() throws Exception {
    Path path = write(CacheConfig.DISABLED);
    files.conf().setLong(PrefetchLimit.FULL_MAX_BYTES_KEY,
      files.fileSystem().getFileStatus(path).getLen());
    assertTrue(warm(path).isWhole());
    assertAllCached(path);
  }

  @Test
  public void testWarmUpOfAFileThatIsFullyCachedLooksAtNoDataBlock() throws Exception {
    files.cacheAllOnWrite();
    Path path = write(cacheConf());
    warm(path);
    assertAllCached(path);
    FilePrefetch again = warm(path);
    assertEquals(0, log.bytes(path.getName()));
    // One on the heap does not know which files are.
    assertEquals(
      kind == CountingCaches.LRU_ONLY ? files.blocks(path).size() : blocks(path, false).size(),
      again.cachedBlocks());
    assertEquals(again.plannedBytes(), again.cachedBytes());
  }

  @Test
  public void testFileThatLosesABlockWhileItIsWarmedIsNotWhole() throws Exception {
    Path path = write(CacheConfig.DISABLED);
    try (HFile.Reader reader = HFile.createReader(fs, path, cacheConf(), true, files.conf())) {
      FilePrefetch warmUp = FilePrefetch.of(reader, cacheConf(), files.conf());
      Block first = blocks(path, true).get(0);
      AtomicBoolean evicted = new AtomicBoolean();
      warmUp.setPace((file, bytes) -> {
        if (!evicted.get() && isCached(first)) {
          CachedBlockFixture.awaitWriters(cache);
          evicted.set(cache.evictBlock(first.key()));
        }
      });
      warmUp.run();
      assertTrue("evicted during the warm-up", evicted.get());
      assertFalse(isCached(first));
      CachedBlockFixture.awaitWriters(cache);
      assertEquals(kind == CountingCaches.LRU_ONLY,
        CountingCaches.hasWhole(cache, path.getName()));
    }
    FilePrefetch again = warm(path);
    assertEquals(1, again.prefetchedBlocks());
    assertAllCached(path);
  }

  @Test
  public void testCancelledWarmUpEndsBeforeTheNextBlock() throws Exception {
    Path path = write(CacheConfig.DISABLED);
    try (HFile.Reader reader = HFile.createReader(fs, path, cacheConf(), true, files.conf())) {
      FilePrefetch warmUp = FilePrefetch.of(reader, cacheConf(), files.conf());
      warmUp.setPace((file, bytes) -> {
        if (file.prefetchedBlocks() == 5) {
          file.cancel();
        }
      });
      warmUp.run();
      assertEquals(FilePrefetch.Outcome.CANCELLED, warmUp.outcome());
      assertEquals(6, warmUp.prefetchedBlocks());
    }
  }

  private void assertNoBlockStaysIfClosedBeforeBlock(int number) throws Exception {
    Path path = write(CacheConfig.DISABLED);
    try (HFile.Reader reader = HFile.createReader(fs, path, cacheConf(), true, files.conf())) {
      FilePrefetch warmUp = FilePrefetch.of(reader, cacheConf(), files.conf());
      AtomicBoolean closed = new AtomicBoolean();
      // The file is closed, and its blocks are evicted, while the block is being read.
      warmUp.setPace((file, bytes) -> {
        if (file.prefetchedBlocks() == number && closed.compareAndSet(false, true)) {
          CachedBlockFixture.awaitWriters(cache);
          file.cancel();
          assertTrue(cache.evictBlocksByHfileName(path.getName()) > 0);
        }
      });
      warmUp.run();
      assertTrue(closed.get());
      assertEquals(FilePrefetch.Outcome.CANCELLED, warmUp.outcome());
      assertEquals(number + 1, warmUp.prefetchedBlocks());
    }
    CachedBlockFixture.awaitWriters(cache);
    for (Block block : files.blocks(path)) {
      // A writer that has it in hand when it is evicted takes it back out of the map itself.
      CachedBlockFixture.await(() -> !isCached(block));
    }
  }

  @Test
  public void testBlockOnItsWayWhenTheFileIsClosedDoesNotStay() throws Exception {
    assertNoBlockStaysIfClosedBeforeBlock(2);
    assertNoBlockStaysIfClosedBeforeBlock(blocks(written.get(0), false).size() + 5);
  }

  @Test
  public void testInterruptedWarmUpCanBeRunAgain() throws Exception {
    Path path = write(CacheConfig.DISABLED);
    try (HFile.Reader reader = HFile.createReader(fs, path, cacheConf(), true, files.conf())) {
      FilePrefetch warmUp = FilePrefetch.of(reader, cacheConf(), files.conf());
      Thread.currentThread().interrupt();
      warmUp.run();
      assertEquals(FilePrefetch.Outcome.CANCELLED, warmUp.outcome());
      assertFalse(Thread.interrupted());
      warmUp.run();
      assertEquals(FilePrefetch.Outcome.COMPLETE, warmUp.outcome());
      assertAllCached(path);
    }
  }

  @Test
  public void testClosedFileEndsTheWarmUp() throws Exception {
    Path path = write(CacheConfig.DISABLED);
    HFile.Reader reader = HFile.createReader(fs, path, cacheConf(), true, files.conf());
    FilePrefetch warmUp = FilePrefetch.of(reader, cacheConf(), files.conf());
    reader.close(false);
    files.fileSystem().delete(path, false);
    warmUp.run();
    assertEquals(FilePrefetch.Outcome.FAILED, warmUp.outcome());
    assertEquals(0, warmUp.prefetchedBlocks());
  }
}
