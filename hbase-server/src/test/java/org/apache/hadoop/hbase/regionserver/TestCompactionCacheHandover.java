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
package org.apache.hadoop.hbase.regionserver;

import static org.apache.hadoop.hbase.io.hfile.CachedBlockFixture.await;
import static org.apache.hadoop.hbase.io.hfile.load.HandoverCaches.BUCKET_ONLY;
import static org.apache.hadoop.hbase.io.hfile.load.HandoverCaches.COMPOSITE;
import static org.apache.hadoop.hbase.io.hfile.load.HandoverCaches.COMPOSITE_SEGMENTS;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;
import static org.junit.Assume.assumeTrue;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.PrivateCellUtil;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.coprocessor.ObserverContext;
import org.apache.hadoop.hbase.coprocessor.RegionCoprocessor;
import org.apache.hadoop.hbase.coprocessor.RegionCoprocessorEnvironment;
import org.apache.hadoop.hbase.coprocessor.RegionObserver;
import org.apache.hadoop.hbase.io.Reference;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockIndexEntries;
import org.apache.hadoop.hbase.io.hfile.BlockPriority;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.CachedBlock;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.HFileBlockIndex;
import org.apache.hadoop.hbase.io.hfile.PrefetchExecutor;
import org.apache.hadoop.hbase.io.hfile.composite.HotBlockCache;
import org.apache.hadoop.hbase.io.hfile.load.HandoverCaches;
import org.apache.hadoop.hbase.io.hfile.load.HandoverSettings;
import org.apache.hadoop.hbase.regionserver.compactions.CompactionContext;
import org.apache.hadoop.hbase.regionserver.compactions.CompactionLifeCycleTracker;
import org.apache.hadoop.hbase.regionserver.compactions.CompactionRequest;
import org.apache.hadoop.hbase.regionserver.throttle.NoLimitThroughputController;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.After;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * Compactions of a store two files of which are cached as they are written, before and after some
 * of their rows are read.
 */
@Category({ RegionServerTests.class, LargeTests.class })
public class TestCompactionCacheHandover extends CacheHandoverFixture {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestCompactionCacheHandover.class);

  private static final int ROWS = 2000;
  private static final int HOT_FROM = 700;
  private static final int HOT_TO = 760;
  /** More rows than the blocks have that the hot rows are at the borders of. */
  private static final int BORDER = 20;
  private static final int OTHERS = 500;

  /** Called with a file of a compaction that is not in use yet. */
  private interface BeforeCommit {
    void look(HStoreFile file) throws IOException;
  }

  private static volatile BeforeCommit beforeCommit = file -> {
  };

  /** Sees a compaction's files after they were written and before the store uses them. */
  public static final class Observer implements RegionCoprocessor, RegionObserver {
    @Override
    public Optional<RegionObserver> getRegionObserver() {
      return Optional.of(this);
    }

    @Override
    public void postCompact(ObserverContext<RegionCoprocessorEnvironment> context, Store store,
      StoreFile file, CompactionLifeCycleTracker tracker, CompactionRequest request)
      throws IOException {
      beforeCommit.look((HStoreFile) file);
    }
  }

  @Override
  protected void configure(Configuration changed) {
    changed.setBoolean(CacheConfig.CACHE_BLOCKS_ON_WRITE_KEY, true);
    changed.setInt(PrefetchExecutor.PREFETCH_DELAY, 0);
    PrefetchExecutor.loadConfiguration(changed);
  }

  @After
  public void stopLooking() {
    beforeCommit = file -> {
    };
  }

  private HStore store() {
    return region.getStore(FAMILY);
  }

  private static byte[] row(int i) {
    return Bytes.toBytes(String.format("%08d", i));
  }

  private void createRegionWithTwoFiles() throws IOException {
    createRegion(family());
    writeTwoFiles();
  }

  /** Every second row is in the one file, the others are in the other one. */
  private void writeTwoFiles() throws IOException {
    writeTwoFiles(HConstants.LATEST_TIMESTAMP, HConstants.LATEST_TIMESTAMP);
  }

  /** Writes two files, whose rows have the two timestamps alternately. */
  private void writeTwoFiles(long timestamp, long other) throws IOException {
    for (int file = 0; file < 2; file++) {
      for (int i = file; i < ROWS; i += 2) {
        region.put(new Put(row(i))
          .addColumn(FAMILY, QUALIFIER, i / 2 % 2 == 0 ? timestamp : other, new byte[100])
          .setDurability(Durability.SKIP_WAL));
      }
      region.flush(true);
    }
    CachedBlockFixture.awaitWriters(cache);
  }

  private void read(int from, int to) throws IOException {
    for (int i = from; i < to; i++) {
      assertFalse(region.get(new Get(row(i))).isEmpty());
    }
    CachedBlockFixture.awaitWriters(cache);
  }

  private void readHotRows() throws IOException {
    read(HOT_FROM, HOT_TO);
  }

  private List<HFile.Reader> files() {
    return store().getStorefiles().stream().map(file -> file.getReader().getHFileReader())
      .collect(Collectors.toList());
  }

  private HFile.Reader onlyFile() {
    List<HFile.Reader> files = files();
    assertEquals(1, files.size());
    return files.get(0);
  }

  private void compact() throws IOException {
    region.compact(true);
    CachedBlockFixture.awaitWriters(cache);
  }

  /** Returns the key of the block that has, or would have, a row; null if there is none. */
  private static BlockCacheKey blockOf(HFile.Reader file, int row) {
    BlockIndexEntries root = BlockIndexEntries.root(file);
    assertEquals(1, file.getTrailer().getNumDataIndexLevels());
    Cell cell = new KeyValue(row(row), FAMILY, QUALIFIER, 0L, KeyValue.Type.Minimum);
    int at = -1;
    while (
      at + 1 < root.count() && PrivateCellUtil.compareKeyIgnoresMvcc(file.getComparator(),
        root.key(at + 1), cell) <= 0
    ) {
      at++;
    }
    return at < 0 ? null : new BlockCacheKey(file.getName(), root.offset(at));
  }

  private int accessesOf(HFile.Reader file, int row) {
    BlockCacheKey key = blockOf(file, row);
    return key == null ? HotBlockCache.NOT_CACHED : accesses.accesses(key);
  }

  private Set<Integer> cachedRows(HFile.Reader file) {
    Set<Integer> rows = new TreeSet<>();
    for (int i = 0; i < ROWS; i++) {
      if (accessesOf(file, i) != HotBlockCache.NOT_CACHED) {
        rows.add(i);
      }
    }
    return rows;
  }

  private void assertHotRowsAlone(Set<Integer> rows) {
    assertRowsAlone(HOT_FROM, BORDER, rows);
  }

  private static void assertRowsAlone(int from, int border, Set<Integer> rows) {
    for (int i = from; i < HOT_TO; i++) {
      assertTrue("row " + i + " is cached: " + rows, rows.contains(i));
    }
    rows.forEach(row -> assertTrue("row " + row + " is not",
      row >= from - border && row < HOT_TO + border));
  }

  private long dataBlocks(String file) {
    long blocks = 0;
    for (CachedBlock block : cache) {
      if (block.getFilename().equals(file) && isData(block)) {
        blocks++;
      }
    }
    return blocks;
  }

  /** A bucket cache does not know; with NONE as Bloom filter and one level all of it is data. */
  private static boolean isData(CachedBlock block) {
    BlockType type = block.getBlockType();
    return type == null || type.isData();
  }

  @Test
  public void testHotRowsStayCached() throws Exception {
    createRegionWithTwoFiles();
    readHotRows();
    long hot = HandoverCaches.count("L2BlockCount");
    long bytes = HandoverCaches.count("L2Bytes");
    long cold = HandoverCaches.count("ColdBlockCount");
    long unknown = HandoverCaches.count("UnknownIndexBlockCount");
    compact();
    HFile.Reader file = onlyFile();
    assertHotRowsAlone(cachedRows(file));
    assertTrue(accessesOf(file, HOT_FROM) > 0);
    hot = HandoverCaches.count("L2BlockCount") - hot;
    cold = HandoverCaches.count("ColdBlockCount") - cold;
    assertEquals(BlockIndexEntries.root(file).count(), hot + cold);
    assertTrue(hot + " of " + cold, hot > 5 && hot < cold / 10);
    bytes = HandoverCaches.count("L2Bytes") - bytes;
    assertTrue(bytes + " bytes", bytes > hot * 1000 && bytes < hot * 1500);
    assertEquals(unknown, HandoverCaches.count("UnknownIndexBlockCount"));
  }

  @Test
  public void testOffByDefault() throws Exception {
    conf.unset(HandoverSettings.ENABLED_KEY);
    createRegionWithTwoFiles();
    readHotRows();
    compact();
    assertEquals(Collections.emptySet(), cachedRows(onlyFile()));
    assertEquals(0, dataBlocks(onlyFile().getName()));
  }

  /** All is cached, as it was written, but nothing was read; nor does the compaction read it. */
  @Test
  public void testBlocksThatWereNeverAccessedAreCold() throws Exception {
    createRegionWithTwoFiles();
    for (HFile.Reader file : files()) {
      assertTrue(cachedRows(file).size() > ROWS - BORDER);
    }
    compact();
    assertEquals(Collections.emptySet(), cachedRows(onlyFile()));
    readHotRows();
    compact();
    assertHotRowsAlone(cachedRows(onlyFile()));
  }

  /** What was inserted by a read was accessed. */
  @Test
  public void testReadMissesAreAccesses() throws Exception {
    conf.setBoolean(CacheConfig.CACHE_BLOCKS_ON_WRITE_KEY, false);
    createRegionWithTwoFiles();
    // The first compaction of the server has read misses counted.
    compact();
    assertEquals(Collections.emptySet(), cachedRows(onlyFile()));
    writeTwoFiles();
    for (HFile.Reader file : files()) {
      assertEquals(Collections.emptySet(), cachedRows(file));
    }
    readHotRows();
    compact();
    assertHotRowsAlone(cachedRows(onlyFile()));
  }

  @Test
  public void testAccessesOfTheHottestBlock() throws Exception {
    createRegionWithTwoFiles();
    read(HOT_FROM, HOT_FROM + 1);
    int max = 0;
    int sum = 0;
    for (HFile.Reader file : files()) {
      int count = accessesOf(file, HOT_FROM);
      assertTrue(count > 0);
      max = Math.max(max, count);
      sum += count;
    }
    assertTrue(max + " of " + sum, max < sum);
    compact();
    assertEquals(max, accessesOf(onlyFile(), HOT_FROM));
  }

  @Test
  public void testCopiesInL1AreCopiedAgain() throws Exception {
    assumeTrue(kind == COMPOSITE || kind == COMPOSITE_SEGMENTS);
    createRegionWithTwoFiles();
    readHotRows();
    boolean inL1 = false;
    for (HFile.Reader file : files()) {
      inL1 |= accesses.isInL1(blockOf(file, HOT_FROM + 10));
    }
    assertTrue("promoted, as L1 has space", inL1);
    long copies = HandoverCaches.count("L1BlockCount");
    compact();
    assertTrue(HandoverCaches.count("L1BlockCount") > copies);
    assertTrue(accesses.isInL1(blockOf(onlyFile(), HOT_FROM + 10)));
    assertFalse(accesses.isInL1(blockOf(onlyFile(), HOT_TO + 2 * BORDER)));
  }

  @Test
  public void testAbortedCompactionLeavesNoBlocks() throws Exception {
    createRegionWithTwoFiles();
    readHotRows();
    Set<String> before = HandoverCaches.files(cache);
    AtomicInteger outputs = new AtomicInteger();
    CompactionContext compaction = requestMajorCompaction();
    long aborted = HandoverCaches.count("AbortedCompactionCount");
    assertThrows(InterruptedIOException.class,
      () -> store().compact(compaction, new NoLimitThroughputController() {
        private long bytes;

        @Override
        public long control(String compactionName, long size) throws InterruptedException {
          bytes += size;
          if (bytes > 250_000) {
            CachedBlockFixture.awaitWriters(cache);
            outputs.addAndGet(HandoverCaches.files(cache).size() - before.size());
            throw new InterruptedException("to abort the compaction");
          }
          return 0;
        }
      }, null));
    CachedBlockFixture.awaitWriters(cache);
    assertEquals("an output had blocks in the cache", 1, outputs.get());
    assertEquals(aborted + 1, HandoverCaches.count("AbortedCompactionCount"));
    HandoverCaches.awaitFiles(cache, before);
    compact();
    assertHotRowsAlone(cachedRows(onlyFile()));
  }

  private CompactionContext requestMajorCompaction() throws IOException {
    store().triggerMajorCompaction();
    return store().requestCompaction(Store.PRIORITY_USER, CompactionLifeCycleTracker.DUMMY, null)
      .get();
  }

  @Test
  public void testFailedCommitLeavesNoBlocks() throws Exception {
    createRegion(family());
    observe(Observer.class);
    writeTwoFiles();
    readHotRows();
    Set<String> before = HandoverCaches.files(cache);
    List<String> written = new ArrayList<>();
    beforeCommit = file -> {
      CachedBlockFixture.awaitWriters(cache);
      written.addAll(HandoverCaches.files(cache));
      throw new IOException("to fail the commit");
    };
    CompactionContext compaction = requestMajorCompaction();
    assertThrows(IOException.class,
      () -> store().compact(compaction, NoLimitThroughputController.INSTANCE, null));
    CachedBlockFixture.awaitWriters(cache);
    assertEquals(before.size() + 1, written.size());
    HandoverCaches.awaitFiles(cache, before);
  }

  /** A kill leaves the file of an uncommitted compaction, while blocks of it are cached. */
  @Test
  public void testOpenRegionHasNoBlocksOfUncommittedFiles() throws Exception {
    createRegionWithTwoFiles();
    Set<String> before = HandoverCaches.files(cache);
    HRegion killed = region;
    String name = "0123456789abcdef0123456789abcdef";
    CachedBlockFixture.cache(cache, CachedBlockFixture.key(name, 0, BlockType.DATA),
      CachedBlockFixture.block(BlockType.DATA, 0, 1000));
    CachedBlockFixture.awaitWriters(cache);
    assertTrue(HandoverCaches.files(cache).contains(name));
    killed.close();
    Path temporary = new Path(killed.getRegionFileSystem().getTempDir(), Bytes.toString(FAMILY));
    killed.getFilesystem().create(new Path(temporary, name)).close();
    region = HRegion.newHRegion(killed.getRegionFileSystem().getTableDir(), killed.getWAL(),
      killed.getFilesystem(), conf, killed.getRegionInfo(), killed.getTableDescriptor(), null);
    region.setBlockCache(cache);
    region.initialize();
    assertFalse(killed.getFilesystem().exists(temporary));
    HandoverCaches.awaitFiles(cache, before);
    read(0, 1);
  }

  private long bytesOf(Collection<String> files) {
    CachedBlockFixture.awaitWriters(cache);
    return files.stream().mapToLong(accesses::cachedBytes).sum();
  }

  /** All is hot: until the commit, both copies take no more than the limit. Then all is cached. */
  @Test
  public void testPeak() throws Exception {
    createRegion(family());
    observe(Observer.class);
    writeTwoFiles();
    read(0, ROWS);
    HandoverCaches.fill(cache);
    List<String> inputs = files().stream().map(HFile.Reader::getName).collect(Collectors.toList());
    long before = bytesOf(inputs);
    List<Long> peaks = new ArrayList<>();
    beforeCommit = file -> {
      assertEquals("inputs are there", before, bytesOf(inputs));
      peaks.add(before + bytesOf(Collections.singleton(file.getPath().getName())));
    };
    long deferred = HandoverCaches.count("DeferredBlockCount");
    long leftOut = HandoverCaches.count("LimitBlockCount");
    compact();
    assertTrue(HandoverCaches.count("DeferredBlockCount") > deferred);
    assertEquals(leftOut, HandoverCaches.count("LimitBlockCount"));
    assertEquals(1, peaks.size());
    double peak = (double) peaks.get(0) / before;
    // Index blocks come in addition if they are in the same cache.
    double max = kind == BUCKET_ONLY ? 1.25 : 1.2;
    assertTrue(peak + " times the inputs", peak > 1.1 && peak <= max);
    assertTrue(cachedRows(onlyFile()).size() > ROWS - BORDER);
    assertTrue("the inputs were evicted for it", bytesOf(inputs) == 0);
  }

  /** All is hot, and the second copy needs space: cold blocks are evicted for it. */
  @Test
  public void testHotBlocksOfOtherRegionsStayCached() throws Exception {
    createRegionWithTwoFiles();
    read(0, ROWS);
    List<BlockCacheKey> hot = new ArrayList<>();
    for (int i = 0; i < OTHERS; i++) {
      BlockCacheKey key = CachedBlockFixture.key("hot", i << 10, BlockType.DATA);
      CachedBlockFixture.cache(cache, key, CachedBlockFixture.block(BlockType.DATA, i << 10, 512));
      hot.add(key);
    }
    CachedBlockFixture.awaitWriters(cache);
    for (BlockCacheKey key : hot) {
      cache.getBlock(key, true, false, true).release();
    }
    HandoverCaches.fill(cache);
    long before = hot.stream().filter(this::isCached).count();
    assertTrue(before + " blocks", before > OTHERS * 0.99);
    compact();
    long after = hot.stream().filter(this::isCached).count();
    assertTrue(before + " blocks, then " + after, after >= before - OTHERS / 100);
    assertTrue(cachedRows(onlyFile()).size() > ROWS - BORDER);
  }

  private boolean isCached(BlockCacheKey key) {
    return accesses.accesses(key) != HotBlockCache.NOT_CACHED;
  }

  @Test
  public void testNothingBeforeTheCommit() throws Exception {
    conf.setDouble(HandoverSettings.PEAK_RATIO_KEY, 1);
    createRegion(family());
    observe(Observer.class);
    writeTwoFiles();
    readHotRows();
    HandoverCaches.fill(cache);
    List<Set<Integer>> rows = new ArrayList<>();
    beforeCommit = file -> {
      CachedBlockFixture.awaitWriters(cache);
      rows.add(cachedRows(file.getReader().getHFileReader()));
    };
    compact();
    assertEquals(Collections.singletonList(Collections.emptySet()), rows);
    assertHotRowsAlone(cachedRows(onlyFile()));
    assertTrue(accessesOf(onlyFile(), HOT_FROM) > 0);
  }

  /** The new file is read faster than the cache's writers write. */
  @Test
  public void testHotBlocksWaitForTheWriters() throws Exception {
    HandoverCaches.close(cache);
    conf.setInt(HandoverCaches.QUEUE_LENGTH_KEY, 1);
    conf.setDouble(HandoverSettings.PEAK_RATIO_KEY, 1);
    cache = kind.open(conf, folder.newFolder());
    accesses = HandoverCaches.accessesOf(cache);
    createRegionWithTwoFiles();
    for (int i = 0; i < ROWS; i++) {
      read(i, i + 1);
    }
    HandoverCaches.fill(cache);
    long deferred = HandoverCaches.count("DeferredBlockCount");
    long queueFull = HandoverCaches.count("QueueFullBlockCount");
    compact();
    assertEquals(queueFull, HandoverCaches.count("QueueFullBlockCount"));
    assertTrue(HandoverCaches.count("DeferredBlockCount") > deferred);
    assertTrue(cachedRows(onlyFile()).size() > ROWS - BORDER);
  }

  /** Nothing else is evicted for them, whatever the limit is. */
  @Test
  public void testAllBeforeTheCommitInSpareSpace() throws Exception {
    conf.setDouble(HandoverSettings.PEAK_RATIO_KEY, 1);
    createRegionWithTwoFiles();
    read(0, ROWS);
    long deferred = HandoverCaches.count("DeferredBlockCount");
    compact();
    assertEquals(deferred, HandoverCaches.count("DeferredBlockCount"));
    assertTrue(cachedRows(onlyFile()).size() > ROWS - BORDER);
  }

  /** Rows at the end were read most often, and do not wait for the commit. */
  @Test
  public void testHottestBeforeTheCommit() throws Exception {
    createRegion(family());
    observe(Observer.class);
    writeTwoFiles();
    for (int i = 0; i < ROWS; i += BORDER) {
      read(i, i + 1);
    }
    read(ROWS - ROWS / 10, ROWS);
    HandoverCaches.fill(cache);
    List<Set<Integer>> rows = new ArrayList<>();
    beforeCommit = file -> {
      CachedBlockFixture.awaitWriters(cache);
      rows.add(cachedRows(file.getReader().getHFileReader()));
    };
    compact();
    long hottest = rows.get(0).stream().filter(row -> row >= ROWS - ROWS / 10).count();
    assertTrue(hottest + " rows", hottest > ROWS / 10 - BORDER);
    assertTrue(rows + "", rows.get(0).size() < ROWS / 3);
    assertTrue(cachedRows(onlyFile()).size() > ROWS / 2);
  }

  @Test
  public void testFamilyWithoutBlockCache() throws Exception {
    createRegion(family().setBlockCacheEnabled(false));
    writeTwoFiles();
    readHotRows();
    compact();
    assertEquals(Collections.emptySet(), cachedRows(onlyFile()));
  }

  @Test
  public void testInMemoryFamily() throws Exception {
    createRegion(family().setInMemory(true));
    writeTwoFiles();
    readHotRows();
    compact();
    HFile.Reader file = onlyFile();
    assertHotRowsAlone(cachedRows(file));
    for (CachedBlock block : cache) {
      if (
        block.getFilename().equals(file.getName()) && isData(block)
          && block.getOffset() < file.getTrailer().getLoadOnOpenDataOffset()
      ) {
        assertTrue(block.toString(), kind == COMPOSITE_SEGMENTS || kind == COMPOSITE
          || block.getBlockPriority() == BlockPriority.MEMORY);
      }
    }
  }

  /** A file that is cached in part is not prefetched, nor does it count as cached as a whole. */
  @Test
  public void testOutputIsNotPrefetched() throws Exception {
    createRegion(family().setPrefetchBlocksOnOpen(true));
    writeTwoFiles();
    for (HFile.Reader file : files()) {
      await(file::prefetchComplete);
    }
    readHotRows();
    compact();
    HFile.Reader file = onlyFile();
    assertTrue(file.prefetchComplete());
    CachedBlockFixture.awaitWriters(cache);
    assertHotRowsAlone(cachedRows(file));
    assertFalse(cache.getFullyCachedFiles().map(files -> files.containsKey(file.getName()))
      .orElse(false));
  }

  /** The family has all of the output cached: then there is nothing to choose. */
  @Test
  public void testCompactionsThatCacheAll() throws Exception {
    conf.setBoolean(CacheConfig.CACHE_COMPACTED_BLOCKS_ON_WRITE_KEY, true);
    createRegionWithTwoFiles();
    compact();
    assertTrue(cachedRows(onlyFile()).size() > ROWS - BORDER);
  }

  /** A compaction itself reads index blocks into the cache, where they are found beside it. */
  @Test
  public void testIndexOfManyLevels() throws Exception {
    conf.setInt(HFileBlockIndex.MAX_CHUNK_SIZE_KEY, 512);
    createRegionWithTwoFiles();
    readHotRows();
    files().forEach(file -> assertTrue(file.getTrailer().getNumDataIndexLevels() > 1));
    long hot = HandoverCaches.count("L2BlockCount");
    long unknown = HandoverCaches.count("UnknownIndexBlockCount");
    compact();
    hot = HandoverCaches.count("L2BlockCount") - hot;
    assertTrue(hot + " blocks", hot > 5 && hot < 30);
    assertEquals(unknown, HandoverCaches.count("UnknownIndexBlockCount"));
  }

  @Test
  public void testSeveralOutputs() throws Exception {
    conf.set(StoreEngine.STORE_ENGINE_CLASS_KEY, StripeStoreEngine.class.getName());
    conf.setInt(StripeStoreConfig.INITIAL_STRIPE_COUNT_KEY, 4);
    conf.setBoolean(StripeStoreConfig.FLUSH_TO_L0_KEY, true);
    conf.setInt(StripeStoreConfig.MIN_FILES_L0_KEY, 2);
    createRegionWithTwoFiles();
    readHotRows();
    Set<String> inputs = files().stream().map(HFile.Reader::getName).collect(Collectors.toSet());
    compact();
    List<HFile.Reader> outputs = files();
    outputs.forEach(output -> assertFalse(inputs.contains(output.getName())));
    assertTrue(outputs.size() + " outputs", outputs.size() > 1);
    Set<Integer> rows = new TreeSet<>();
    for (HFile.Reader output : outputs) {
      for (int row : cachedRows(output)) {
        if (isIn(output, row)) {
          rows.add(row);
        }
      }
    }
    assertHotRowsAlone(rows);
  }

  /** Two outputs are written at the same time. */
  @Test
  public void testOutputsByDate() throws Exception {
    conf.set(StoreEngine.STORE_ENGINE_CLASS_KEY, DateTieredStoreEngine.class.getName());
    createRegion(family());
    long now = System.currentTimeMillis();
    writeTwoFiles(now, now - TimeUnit.DAYS.toMillis(10));
    readHotRows();
    compact();
    List<HFile.Reader> outputs = files();
    assertEquals(2, outputs.size());
    for (HFile.Reader output : outputs) {
      assertEquals(ROWS / 2, output.getEntries());
      assertRowsAlone(HOT_FROM, 2 * BORDER, cachedRows(output));
    }
  }

  /** Opens a daughter of the region, whose parent stays open, and has references to its files. */
  private void openDaughter(int splitRow, boolean isTop) throws IOException {
    HRegion parent = region;
    RegionInfoBuilder builder = RegionInfoBuilder.newBuilder(parent.getRegionInfo().getTable());
    RegionInfo info = isTop
      ? builder.setStartKey(row(splitRow)).build()
      : builder.setEndKey(row(splitRow)).build();
    Path family = new Path(parent.getRegionFileSystem().getTableDir(),
      info.getEncodedName() + "/" + Bytes.toString(FAMILY));
    for (HFile.Reader file : files()) {
      Reference reference = isTop
        ? Reference.createTopReference(row(splitRow))
        : Reference.createBottomReference(row(splitRow));
      reference.write(parent.getFilesystem(),
        new Path(family, file.getName() + "." + parent.getRegionInfo().getEncodedName()));
    }
    region = HBaseTestingUtility.createRegionAndWAL(info, util.getDataTestDir(), conf,
      parent.getTableDescriptor(), cache);
    assertEquals(2, files().size());
    assertTrue(store().hasReferences());
  }

  /**
   * The daughter's rows are those from the one to before the other. Their blocks are cached under
   * the names of the files that its own refer to.
   */
  private void assertSpaceOfADaughter(int from, int to) throws Exception {
    createRegionWithTwoFiles();
    read(0, ROWS);
    HandoverCaches.fill(cache);
    HRegion parent = region;
    List<HFile.Reader> inputs = files();
    List<String> names = inputs.stream().map(HFile.Reader::getName).collect(Collectors.toList());
    long before = bytesOf(names);
    double share = (double) (to - from) / ROWS;
    try {
      openDaughter(from == 0 ? to : from, from > 0);
      observe(Observer.class);
      List<Long> peaks = new ArrayList<>();
      beforeCommit = file -> {
        assertEquals("inputs are there", before, bytesOf(names));
        peaks.add(bytesOf(Collections.singleton(file.getPath().getName())));
      };
      long leftOut = HandoverCaches.count("LimitBlockCount");
      compact();
      assertFalse(StoreFileInfo.isReference(onlyFile().getPath()));
      assertEquals(leftOut, HandoverCaches.count("LimitBlockCount"));
      double peak = peaks.get(0) / (before * share);
      // Index blocks come in addition if they are in the same cache.
      double max = kind == BUCKET_ONLY ? 0.25 : 0.2;
      assertTrue(peak + " of the daughter's blocks", peak > 0.1 && peak <= max);
      assertTrue(cachedRows(onlyFile()).size() > to - from - BORDER);
      for (HFile.Reader input : inputs) {
        for (int i = 1; i < ROWS; i++) {
          if (i < from - BORDER || i >= to + BORDER) {
            assertTrue("row " + i + " of the other daughter", isCached(blockOf(input, i)));
          } else if (i >= from + BORDER && i < to - BORDER) {
            assertFalse("row " + i + " that was replaced", isCached(blockOf(input, i)));
          }
        }
      }
    } finally {
      HBaseTestingUtility.closeRegionAndWAL(parent);
    }
  }

  @Test
  public void testSpaceOfTheUpperDaughter() throws Exception {
    assertSpaceOfADaughter(ROWS - ROWS / 4, ROWS);
  }

  @Test
  public void testSpaceOfTheLowerDaughter() throws Exception {
    assertSpaceOfADaughter(0, ROWS / 4);
  }

  private static boolean isIn(HFile.Reader file, int row) {
    int first = Integer.parseInt(Bytes.toString(file.getFirstRowKey().get()));
    int last = Integer.parseInt(Bytes.toString(file.getLastRowKey().get()));
    return row >= first && row <= last;
  }
}
