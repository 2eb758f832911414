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
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.util.Arrays;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.CellComparator;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.HFileBlockIndex;
import org.apache.hadoop.hbase.io.hfile.HFileContext;
import org.apache.hadoop.hbase.io.hfile.HFileContextBuilder;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.io.hfile.bucket.BucketCacheTier;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hadoop.hbase.regionserver.HStoreFile;
import org.apache.hadoop.hbase.regionserver.StoreFileInfo;
import org.apache.hadoop.hbase.regionserver.StoreFileScanner;
import org.apache.hadoop.hbase.regionserver.StoreFileWriter;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.util.BloomFilter;
import org.apache.hadoop.hbase.util.BloomFilterFactory;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.TemporaryFolder;

/** Files written, opened, read and closed by HBase's own readers and writers. */
@Category({ IOTests.class, MediumTests.class })
public class TestCompositeBucketCacheWithHFile {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestCompositeBucketCacheWithHFile.class);

  private static final int ROWS = 2000;

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  @Rule
  public final RefCntLeakRule leaks = new RefCntLeakRule();

  private Configuration conf;
  private FileSystem fs;
  private ByteBuffAllocator pool;
  private CompositeBucketCache cache;
  private BucketCacheTier first;
  private BucketCacheTier second;

  @Before
  public void setUp() throws Exception {
    conf = CachedBlockFixture.tiers(32, 64, "file:" + new File(folder.getRoot(), "l2").getPath());
    conf.set("hfile.block.cache.size", "0");
    // All blocks of index and bloom are larger than the smallest piece that is taken from the pool.
    conf.setInt(HFileBlockIndex.MAX_CHUNK_SIZE_KEY, 256);
    conf.setInt(HFileBlockIndex.MIN_INDEX_NUM_ENTRIES_KEY, 4);
    conf.setInt("io.storefile.bloom.block.size", 1024);
    conf.setInt(ByteBuffAllocator.MAX_BUFFER_COUNT_KEY, 2000);
    conf.setInt(ByteBuffAllocator.BUFFER_SIZE_KEY, 1024);
    conf.setInt(ByteBuffAllocator.MIN_ALLOCATE_SIZE_KEY, 64);
    // With such a queue neither reads nor a prefetch outrun the writers, however slow these are.
    conf.set("hbase.bucketcache.writer.queuelength", "8192");
    fs = FileSystem.getLocal(conf);
    pool = ByteBuffAllocator.create(conf, true);
    cache = (CompositeBucketCache) BlockCacheFactory.createBlockCache(conf);
    first = (BucketCacheTier) cache.getFirstLevelCache();
    second = (BucketCacheTier) cache.getSecondLevelCache();
  }

  @After
  public void tearDown() {
    CachedBlockFixture.close(cache);
  }

  private CacheConfig cacheConfig() {
    return new CacheConfig(conf, null, cache, pool);
  }

  private static byte[] row(int i) {
    return Bytes.toBytes(String.format("%06d", i));
  }

  private Path write() throws Exception {
    Path folderOfFamily = new Path(folder.newFolder("region", "f").getPath());
    HFileContext context = new HFileContextBuilder().withBlockSize(2048)
      .withCellComparator(CellComparator.getInstance()).build();
    StoreFileWriter writer = new StoreFileWriter.Builder(conf, cacheConfig(), fs)
      .withOutputDir(folderOfFamily).withBloomType(BloomType.ROW).withMaxKeyCount(ROWS)
      .withFileContext(context).build();
    Random random = new Random(7);
    for (int i = 0; i < ROWS; i++) {
      byte[] value = new byte[200];
      random.nextBytes(value);
      writer.append(
        new KeyValue(row(i), Bytes.toBytes("f"), Bytes.toBytes("q"), 1L, value));
    }
    writer.close();
    return writer.getPath();
  }

  private HStoreFile open(Path path) throws Exception {
    HStoreFile file = new HStoreFile(
      StoreFileInfo.createStoreFileInfoForHFile(conf, fs, path, true), BloomType.ROW,
      cacheConfig());
    file.initReader();
    return file;
  }

  private static BloomFilter bloomOf(HStoreFile file) throws Exception {
    HFile.Reader reader = file.getReader().getHFileReader();
    return (BloomFilter) BloomFilterFactory.createFromMeta(reader.getGeneralBloomFilterMetadata(),
      reader);
  }

  /** Looks every row up: bloom filter, index, data. */
  private void readAll(HStoreFile file) throws Exception {
    BloomFilter bloom = bloomOf(file);
    StoreFileScanner scanner = file.getReader().getStoreFileScanner(true, true, false, 0, 0, false);
    for (int i = 0; i < ROWS; i++) {
      byte[] row = row(i);
      assertTrue(bloom.contains(row, 0, row.length, null));
      assertTrue(scanner.seek(new KeyValue(row, Bytes.toBytes("f"), Bytes.toBytes("q"), 1L,
        KeyValue.Type.Maximum)));
      assertEquals(Bytes.toString(row), Bytes.toString(scanner.peek().getRowArray(),
        scanner.peek().getRowOffset(), scanner.peek().getRowLength()));
      scanner.shipped();
    }
    scanner.close();
  }

  private Set<BlockType> types(BucketCacheTier tier, String name) {
    Set<BlockType> types = new TreeSet<>();
    tier.forEachBlockOf(name, key -> types.add(key.getBlockType()));
    return types;
  }

  private void awaitQueues() {
    await(() -> first.heapSize() == 0 && second.heapSize() == 0);
  }

  private void assertSorted(String name) {
    assertEquals(new TreeSet<>(Arrays.asList(BlockType.LEAF_INDEX,
      BlockType.BLOOM_CHUNK, BlockType.INTERMEDIATE_INDEX)), types(first, name));
    assertEquals(new TreeSet<>(Arrays.asList(BlockType.DATA)), types(second, name));
  }

  /** Nothing of the file is left in any tier, and every buffer is back in the pool. */
  private void assertGone(String name) {
    assertTrue(types(first, name).isEmpty());
    assertTrue(types(second, name).isEmpty());
    await(() -> first.getCurrentSize() == 0 && second.getCurrentSize() == 0);
    assertEquals(pool.getUsedBufferCount(), pool.getFreeBufferCount());
  }

  @Test
  public void testBlocksReadOnAMissLandWhereTheyBelongWithoutAHeapCopy() throws Exception {
    Path path = write();
    HStoreFile file = open(path);
    assertEquals("nothing was cached on write", 0, cache.getBlockCount());
    long heap = pool.getHeapAllocationBytes();
    readAll(file);
    awaitQueues();
    assertEquals("bytes allocated on the heap for blocks", heap, pool.getHeapAllocationBytes());
    assertSorted(path.getName());
    long misses = cache.getStats().getMissCount();
    readAll(file);
    assertEquals(misses, cache.getStats().getMissCount());
    long allocated = pool.getHeapAllocationBytes() + pool.getPoolAllocationBytes();
    BloomFilter bloom = bloomOf(file);
    for (int i = 0; i < ROWS; i++) {
      assertTrue(bloom.contains(row(i), 0, row(i).length, null));
    }
    assertEquals("meta blocks are read in place", allocated,
      pool.getHeapAllocationBytes() + pool.getPoolAllocationBytes());
    file.closeStoreFile(true);
    assertGone(path.getName());
  }

  @Test
  public void testBlocksCachedOnWriteLandWhereTheyBelong() throws Exception {
    conf.setBoolean(CacheConfig.CACHE_BLOCKS_ON_WRITE_KEY, true);
    conf.setBoolean(CacheConfig.CACHE_INDEX_BLOCKS_ON_WRITE_KEY, true);
    conf.setBoolean(CacheConfig.CACHE_BLOOM_BLOCKS_ON_WRITE_KEY, true);
    Path path = write();
    awaitQueues();
    Set<BlockType> meta = types(first, path.getName());
    assertTrue(meta.toString(), meta.contains(BlockType.LEAF_INDEX)
      && meta.contains(BlockType.BLOOM_CHUNK) && meta.contains(BlockType.INTERMEDIATE_INDEX));
    assertEquals(new TreeSet<>(Arrays.asList(BlockType.DATA)),
      types(second, path.getName()));
    HStoreFile file = open(path);
    readAll(file);
    assertEquals("all of it was cached", 0, cache.getStats().getMissCount());
    file.closeStoreFile(true);
    assertGone(path.getName());
  }

  @Test
  public void testPrefetchFillsBothTiersAndRecordsTheFileAsCachedWhole() throws Exception {
    Path path = write();
    // Some of the meta blocks are cached before the prefetch.
    HStoreFile before = open(path);
    byte[] row = row(ROWS / 2);
    assertTrue(bloomOf(before).contains(row, 0, row.length, null));
    before.closeStoreFile(false);
    conf.setBoolean(CacheConfig.PREFETCH_BLOCKS_ON_OPEN_KEY, true);
    HStoreFile file = open(path);
    await(() -> cache.getFullyCachedFiles().get().containsKey(path.getName()));
    awaitQueues();
    assertSorted(path.getName());
    file.closeStoreFile(true);
    assertTrue(cache.getFullyCachedFiles().get().isEmpty());
    assertGone(path.getName());
  }
}
