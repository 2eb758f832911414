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
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.Waiter;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.client.RegionReplicaUtil;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.HFileLink;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.HFileBlockIndex;
import org.apache.hadoop.hbase.io.hfile.HFileContextBuilder;
import org.apache.hadoop.hbase.io.hfile.PrefetchExecutor;
import org.apache.hadoop.hbase.io.hfile.load.CountingCaches.Insertions;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hadoop.hbase.regionserver.ConstantSizeRegionSplitPolicy;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HRegionFileSystem;
import org.apache.hadoop.hbase.regionserver.HStore;
import org.apache.hadoop.hbase.regionserver.HStoreFile;
import org.apache.hadoop.hbase.regionserver.StoreFileInfo;
import org.apache.hadoop.hbase.regionserver.StoreFileScanner;
import org.apache.hadoop.hbase.regionserver.StoreFileWriter;
import org.apache.hadoop.hbase.regionserver.storefiletracker.StoreFileTracker;
import org.apache.hadoop.hbase.regionserver.storefiletracker.StoreFileTrackerFactory;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.util.BloomFilterFactory;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.CommonFSUtils;
import org.apache.hadoop.hbase.util.Pair;
import org.junit.After;
import org.junit.AfterClass;
import org.junit.Before;
import org.junit.BeforeClass;
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
 * A region on HDFS whose files are cached on write, and prefetched when they are opened:
 * nothing is read back that was cached, and nothing is cached twice.
 */
@RunWith(Parameterized.class)
@Category({ IOTests.class, LargeTests.class })
public class TestPrefetchOfRegion {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestPrefetchOfRegion.class);

  private static final HBaseTestingUtility UTIL = new HBaseTestingUtility();
  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final byte[] QUALIFIER = Bytes.toBytes("q");
  private static final int ROWS = 3000;
  private static int regions;

  @Parameters(name = "{0}")
  public static CountingCaches[] caches() {
    return CountingCaches.present();
  }

  @Parameter
  public CountingCaches kind;

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  private final Insertions insertions = new Insertions();
  private Configuration conf;
  private BlockCache cache;
  private RegionInfo info;
  private HRegion region;

  @BeforeClass
  public static void startHdfs() throws Exception {
    UTIL.getConfiguration().set("fs.hdfs.impl", ReadLog.Hdfs.class.getName());
    UTIL.startMiniDFSCluster(1);
    UTIL.createRootDir();
  }

  @AfterClass
  public static void stopHdfs() throws Exception {
    UTIL.shutdownMiniDFSCluster();
    UTIL.cleanupTestDir();
  }

  @Before
  public void setUp() throws Exception {
    conf = new Configuration(UTIL.getConfiguration());
    conf.setBoolean(CacheConfig.CACHE_BLOCKS_ON_WRITE_KEY, true);
    conf.setBoolean(CacheConfig.CACHE_COMPACTED_BLOCKS_ON_WRITE_KEY, true);
    conf.setBoolean(CacheConfig.PREFETCH_BLOCKS_ON_OPEN_KEY, true);
    conf.setInt(HFileBlockIndex.MAX_CHUNK_SIZE_KEY, 1024);
    conf.setInt(BloomFilterFactory.IO_STOREFILE_BLOOM_BLOCK_SIZE, 512);
    conf.setInt(PrefetchExecutor.PREFETCH_DELAY, 0);
    PrefetchExecutor.loadConfiguration(conf);
    cache = kind.open(conf, folder.getRoot(), insertions);
  }

  @After
  public void tearDown() throws Exception {
    if (region != null) {
      HBaseTestingUtility.closeRegionAndWAL(region);
    }
    cache.shutdown();
  }

  private void createRegion() throws IOException {
    TableDescriptor table = TableDescriptorBuilder
      .newBuilder(TableName.valueOf("t" + regions++)).setColumnFamily(ColumnFamilyDescriptorBuilder
        .newBuilder(FAMILY).setBlocksize(1024).setBloomFilterType(BloomType.ROW).build())
      .build();
    info = RegionInfoBuilder.newBuilder(table.getTableName()).build();
    region = HBaseTestingUtility.createRegionAndWAL(info, CommonFSUtils.getRootDir(conf), conf,
      table, cache);
  }

  private HStore store() {
    return region.getStore(FAMILY);
  }

  private static byte[] row(int i) {
    return Bytes.toBytes(String.format("row%08d", i));
  }

  private void flushSome(int seed) throws IOException {
    Random random = new Random(seed);
    byte[] value = new byte[100];
    for (int i = seed; i < ROWS; i += 2) {
      random.nextBytes(value);
      // A flush is what counts; a sync a row would take most of the time.
      region.put(new Put(row(i)).addColumn(FAMILY, QUALIFIER, value)
        .setDurability(Durability.SKIP_WAL));
      if (i % 5 == 0) {
        region.delete(
          new Delete(row(i)).addFamily(FAMILY, 1L).setDurability(Durability.SKIP_WAL));
      }
    }
    region.flush(true);
  }

  private HStoreFile onlyFile() {
    Collection<HStoreFile> files = store().getStorefiles();
    assertEquals(1, files.size());
    return files.iterator().next();
  }

  private void awaitWarmUp(HStoreFile file) {
    Path path = file.getReader().getHFileReader().getPath();
    Waiter.waitFor(conf, 120_000, 5, () -> PrefetchExecutor.isCompleted(path));
  }

  /** Returns where the load-on-open section begins, which is read when a file is opened. */
  private static long endOfBlocks(HStoreFile file) {
    return file.getReader().getHFileReader().getTrailer().getLoadOnOpenDataOffset();
  }

  private static List<Long> blocks(HStoreFile file, boolean data) throws IOException {
    List<Long> offsets = new ArrayList<>();
    HFile.Reader reader = file.getReader().getHFileReader();
    long end = reader.getTrailer().getLoadOnOpenDataOffset();
    for (long offset = 0; offset < end;) {
      HFileBlock block = reader.readBlock(offset, -1, false, true, true, false, null, null);
      if (block.getBlockType().isData() == data) {
        offsets.add(offset);
      }
      offset += block.getOnDiskSizeWithHeader();
      block.release();
    }
    return offsets;
  }

  /** All blocks of a file that was just written are cached, and got there without being read. */
  private void assertWarmWithoutReads(HStoreFile file) throws IOException {
    awaitWarmUp(file);
    String name = file.getPath().getName();
    long read = ReadLog.HDFS.bytes(name, endOfBlocks(file));
    String figures = read + " bytes of data, index and bloom blocks read, "
      + ReadLog.HDFS.bytes(name) + " in all, " + ReadLog.HDFS.opens(name) + " opens, "
      + insertions.repeated(name).count() + " of " + insertions.blocks(name)
      + " blocks inserted again; file of " + file.getReader().length() + " bytes";
    assertEquals(figures, 0, read);
    assertEquals(figures, 2, ReadLog.HDFS.opens(name));
    assertEquals(figures, Collections.emptyList(),
      insertions.repeated(name).collect(Collectors.toList()));
    List<Long> offsets = blocks(file, true);
    offsets.addAll(blocks(file, false));
    for (long offset : offsets) {
      assertTrue("block at " + offset, isCached(name, offset));
    }
    assertTrue(CountingCaches.hasWhole(cache, name));
  }

  private boolean isCached(String name, long offset) {
    return cache.isAlreadyCached(new BlockCacheKey(name, offset)).get();
  }

  @Test
  public void testFlushedFileIsNotReadBack() throws Exception {
    createRegion();
    ReadLog.HDFS.clear();
    flushSome(0);
    assertWarmWithoutReads(onlyFile());
  }

  @Test
  public void testCompactedFilesAreNotReadBack() throws Exception {
    conf.setInt("hbase.hstore.compaction.min", 3);
    createRegion();
    flushSome(0);
    flushSome(1);
    flushSome(2);
    store().getStorefiles().forEach(this::awaitWarmUp);
    ReadLog.HDFS.clear();
    region.compact(false);
    HStoreFile minor = onlyFile();
    assertWarmWithoutReads(minor);
    flushSome(3);
    store().getStorefiles().forEach(this::awaitWarmUp);
    ReadLog.HDFS.clear();
    region.compact(true);
    assertTrue(onlyFile().isMajorCompactionResult());
    assertWarmWithoutReads(onlyFile());
    // Compaction found its input in the cache, too.
    assertEquals(0, ReadLog.HDFS.bytes(minor.getPath().getName()));
  }

  private HRegion open(RegionInfo regionInfo, BlockCache blockCache) throws IOException {
    HRegion opened = HRegion.newHRegion(CommonFSUtils.getTableDir(CommonFSUtils.getRootDir(conf),
      regionInfo.getTable()), region.getWAL(), region.getFilesystem(), conf, regionInfo,
      region.getTableDescriptor(), null);
    opened.setBlockCache(blockCache);
    opened.initialize();
    return opened;
  }

  @Test
  public void testRegionThatWasOnAnotherServerMeanwhileIsWarm() throws Exception {
    createRegion();
    flushSome(0);
    HStoreFile file = onlyFile();
    String name = file.getPath().getName();
    awaitWarmUp(file);
    region.close();
    BlockCache another = kind.open(conf, folder.newFolder(), new Insertions());
    ReadLog.HDFS.clear();
    region = open(info, another);
    awaitWarmUp(onlyFile());
    assertTrue(ReadLog.HDFS.bytes(name, endOfBlocks(onlyFile())) >= endOfBlocks(onlyFile()));
    region.close();
    ReadLog.HDFS.clear();
    region = open(info, cache);
    awaitWarmUp(onlyFile());
    assertEquals(1, ReadLog.HDFS.opens(name));
    assertFalse(region.get(new Get(row(ROWS / 2))).isEmpty());
    assertEquals(0, ReadLog.HDFS.bytes(name, endOfBlocks(onlyFile())));
    another.shutdown();
  }

  @Test
  public void testReplicaFindsWhatItsPrimaryHas() throws Exception {
    createRegion();
    flushSome(0);
    HStoreFile file = onlyFile();
    awaitWarmUp(file);
    ReadLog.HDFS.clear();
    HRegion replica = open(RegionReplicaUtil.getRegionInfoForReplica(info, 1), cache);
    HStoreFile shared = replica.getStore(FAMILY).getStorefiles().iterator().next();
    assertFalse(shared.getReader().getHFileReader().isPrimaryReplicaReader());
    awaitWarmUp(shared);
    assertFalse(replica.get(new Get(row(ROWS / 2))).isEmpty());
    assertEquals(0, ReadLog.HDFS.bytes(file.getPath().getName(), endOfBlocks(shared)));
    replica.close();
  }

  @Test
  public void testSwitchToAStreamReadsNothingAgain() throws Exception {
    createRegion();
    flushSome(0);
    HStoreFile file = onlyFile();
    awaitWarmUp(file);
    ReadLog.HDFS.clear();
    StoreFileScanner scanner = file.getStreamScanner(false, true, false, Long.MAX_VALUE, 0, false);
    assertTrue(scanner.seek(KeyValue.LOWESTKEY));
    int cells = 0;
    while (scanner.next() != null) {
      cells++;
    }
    scanner.close();
    assertTrue(cells > ROWS / 2);
    assertEquals(1, ReadLog.HDFS.opens(file.getPath().getName()));
    assertEquals(0, ReadLog.HDFS.bytes(file.getPath().getName()));
  }

  /** Opens one half of a file, as a daughter of its region does. */
  private HStoreFile splitOff(HRegionFileSystem parent, HStoreFile file, boolean top)
    throws IOException {
    StoreFileTracker tracker =
      StoreFileTrackerFactory.create(conf, true, store().getStoreContext());
    RegionInfoBuilder daughter = RegionInfoBuilder.newBuilder(parent.getRegionInfo().getTable())
      .setRegionId(info.getRegionId() + 1);
    byte[] middle = row(ROWS / 2);
    Path reference = parent.splitStoreFile(
      (top ? daughter.setStartKey(middle) : daughter.setEndKey(middle)).build(), "f", file, middle,
      top, new ConstantSizeRegionSplitPolicy(), tracker);
    HStoreFile half = new HStoreFile(region.getFilesystem(), reference, conf,
      new CacheConfig(conf, null, cache, ByteBuffAllocator.HEAP), BloomType.ROW, true, tracker);
    half.initReader();
    return half;
  }

  @Test
  public void testDaughtersOfAColdParentReadItOnceTogether() throws Exception {
    createRegion();
    flushSome(0);
    HStoreFile parent = onlyFile();
    String name = parent.getPath().getName();
    awaitWarmUp(parent);
    CachedBlockFixture.awaitWriters(cache);
    cache.evictBlocksByHfileName(name);
    ReadLog.HDFS.clear();
    HStoreFile bottom = splitOff(region.getRegionFileSystem(), parent, false);
    HStoreFile top = splitOff(region.getRegionFileSystem(), parent, true);
    assertEquals(bottom.getPath().getName(), top.getPath().getName());
    awaitWarmUp(bottom);
    awaitWarmUp(top);
    // Beside the warm-up, opening a half looks for its first key.
    long end = endOfBlocks(top);
    long read = ReadLog.HDFS.bytes(name, end);
    assertTrue(read + " bytes of " + end, read < end + end / 4);
    List<Long> offsets = blocks(top, true);
    offsets.addAll(blocks(top, false));
    for (long offset : offsets) {
      assertTrue("block at " + offset, isCached(top.getPath().getName(), offset));
    }
    bottom.closeStoreFile(true);
    top.closeStoreFile(true);
  }

  @Test
  public void testDaughtersFindWhatTheirParentHas() throws Exception {
    createRegion();
    flushSome(0);
    HStoreFile parent = onlyFile();
    awaitWarmUp(parent);
    List<Long> indexAndBloom = blocks(parent, false);
    ReadLog.HDFS.clear();
    HStoreFile half = splitOff(region.getRegionFileSystem(), parent, true);
    String name = parent.getPath().getName();
    Path reference = half.getPath();
    awaitWarmUp(half);
    // Opening a half looks for its first key, and an on-heap cache finds no index for a reference.
    int indexReads = kind == CountingCaches.BUCKET_ONLY || kind == CountingCaches.COMPOSITE
      ? 0
      : half.getReader().getHFileReader().getTrailer().getNumDataIndexLevels();
    List<ReadLog.Entry> reads = ReadLog.HDFS.reads(name, endOfBlocks(half));
    assertTrue(reads.toString(), reads.size() <= indexReads);
    assertEquals(1, ReadLog.HDFS.opens(name));
    for (long offset : indexAndBloom) {
      assertTrue("block at " + offset, isCached(reference.getName(), offset));
    }
    half.closeStoreFile(true);
  }

  @Test
  public void testLinkAndItsHalfFindWhatTheFileHas() throws Exception {
    createRegion();
    flushSome(0);
    HStoreFile file = onlyFile();
    String name = file.getPath().getName();
    awaitWarmUp(file);
    FileSystem fs = region.getFilesystem();
    RegionInfo cloned =
      RegionInfoBuilder.newBuilder(TableName.valueOf("clone" + regions)).build();
    HRegionFileSystem clone = HRegionFileSystem.createRegionOnFileSystem(conf, fs,
      CommonFSUtils.getTableDir(CommonFSUtils.getRootDir(conf), cloned.getTable()), cloned);
    Path family = new Path(clone.getRegionDir(), "f");
    fs.mkdirs(family);
    Path link = new Path(family, HFileLink.createHFileLinkName(info, name));
    assertTrue(fs.createNewFile(link));
    HStoreFile linked = new HStoreFile(fs, link, conf,
      new CacheConfig(conf, null, cache, ByteBuffAllocator.HEAP), BloomType.ROW, true,
      StoreFileTrackerFactory.create(conf, true, store().getStoreContext()));
    ReadLog.HDFS.clear();
    linked.initReader();
    awaitWarmUp(linked);
    assertEquals(0, ReadLog.HDFS.bytes(name, endOfBlocks(linked)));
    HStoreFile half = splitOff(clone, linked, true);
    awaitWarmUp(half);
    assertTrue(HFileLink.isHFileLink(
      StoreFileInfo.getReferredToRegionAndFile(half.getPath().getName()).getSecond()));
    // When it is opened, before the warm-up, no cache knows what it refers to.
    long read = ReadLog.HDFS.bytes(name, endOfBlocks(half));
    assertTrue(read + " bytes", read < endOfBlocks(half) / 20);
    for (long offset : blocks(file, true)) {
      assertTrue("block at " + offset, isCached(half.getPath().getName(), offset));
    }
    half.closeStoreFile(false);
    linked.closeStoreFile(false);
  }

  /** Writes a file as a client does that has it loaded. */
  private Path writeForBulkLoad() throws IOException {
    Path staging = new Path(CommonFSUtils.getRootDir(conf), "load" + regions + "/f");
    region.getFilesystem().mkdirs(staging);
    StoreFileWriter writer =
      new StoreFileWriter.Builder(conf, CacheConfig.DISABLED, region.getFilesystem())
        .withOutputDir(staging).withBloomType(BloomType.ROW).withMaxKeyCount(ROWS)
        .withFileContext(new HFileContextBuilder().withBlockSize(1024).build()).build();
    Random random = new Random(1);
    byte[] value = new byte[100];
    for (int i = 0; i < ROWS; i++) {
      random.nextBytes(value);
      writer.append(new KeyValue(row(i), FAMILY, QUALIFIER, 1L, value));
    }
    writer.close();
    return writer.getPath();
  }

  private HStoreFile bulkLoad(Path path) throws IOException {
    ReadLog.HDFS.clear();
    region.bulkLoadHFiles(Collections.singletonList(Pair.newPair(FAMILY, path.toString())), false,
      null);
    awaitWarmUp(onlyFile());
    return onlyFile();
  }

  @Test
  public void testFileThatIsLoadedIsReadOnce() throws Exception {
    createRegion();
    Path source = writeForBulkLoad();
    HStoreFile file = bulkLoad(source);
    String name = file.getPath().getName();
    long read = ReadLog.HDFS.bytes(name, endOfBlocks(file));
    assertEquals(Collections.emptyList(),
      insertions.repeated(name).collect(Collectors.toList()));
    List<Long> offsets = blocks(file, false);
    // What reads of single blocks take of the next one, and where the stream leaps over those.
    long headers = 33L * (offsets.size() * 2 + 3);
    assertTrue(read + " bytes read of " + endOfBlocks(file), read <= endOfBlocks(file) + headers);
    offsets.addAll(blocks(file, true));
    for (long offset : offsets) {
      assertTrue("block at " + offset, isCached(name, offset));
    }
    assertTrue(CountingCaches.hasWhole(cache, name));
    ReadLog.HDFS.clear();
    region.close();
    region = open(info, cache);
    awaitWarmUp(onlyFile());
    assertEquals(0, ReadLog.HDFS.bytes(name, endOfBlocks(onlyFile())));
  }

  @Test
  public void testLargeCompactionCachesIndexAndBloomOnly() throws Exception {
    conf.setLong(PrefetchLimit.FULL_MAX_BYTES_KEY, 200_000);
    createRegion();
    flushSome(0);
    flushSome(1);
    for (HStoreFile flushed : store().getStorefiles()) {
      awaitWarmUp(flushed);
      assertTrue(flushed.getReader().length() + "", flushed.getReader().length() > 200_000);
      assertPartlyCached(flushed, 200_000);
    }
    ReadLog.HDFS.clear();
    region.compact(true);
    HStoreFile file = onlyFile();
    awaitWarmUp(file);
    String name = file.getPath().getName();
    assertEquals(0, ReadLog.HDFS.bytes(name, endOfBlocks(file)));
    assertPartlyCached(file, 0);
    ReadLog.HDFS.clear();
    assertFalse(region.get(new Get(row(ROWS / 2))).isEmpty());
    assertEquals(ReadLog.HDFS.reads(name, endOfBlocks(file)).toString(), 1,
      ReadLog.HDFS.reads(name, endOfBlocks(file)).size());
  }

  /** All index and bloom blocks are cached, and data blocks that begin before the offset. */
  private void assertPartlyCached(HStoreFile file, long dataBefore) throws IOException {
    String name = file.getPath().getName();
    for (long offset : blocks(file, false)) {
      assertTrue("block at " + offset, isCached(name, offset));
    }
    for (long offset : blocks(file, true)) {
      assertEquals("data block at " + offset, offset < dataBefore, isCached(name, offset));
    }
  }

  @Test
  public void testFamilyMayHaveItsOwnLimit() throws Exception {
    TableDescriptor table = TableDescriptorBuilder.newBuilder(TableName.valueOf("t" + regions++))
      .setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(FAMILY).setBlocksize(1024)
        .setConfiguration(PrefetchLimit.FULL_MAX_BYTES_KEY, "0").build())
      .setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(Bytes.toBytes("bad"))
        .setConfiguration(PrefetchLimit.FULL_MAX_BYTES_KEY, "many").build())
      .build();
    info = RegionInfoBuilder.newBuilder(table.getTableName()).build();
    region = HBaseTestingUtility.createRegionAndWAL(info, CommonFSUtils.getRootDir(conf), conf,
      table, cache);
    region.put(new Put(row(1)).addColumn(FAMILY, QUALIFIER, QUALIFIER)
      .addColumn(Bytes.toBytes("bad"), QUALIFIER, QUALIFIER));
    region.flush(true);
    awaitWarmUp(onlyFile());
    assertFalse(isCached(onlyFile().getPath().getName(), 0));
    HStoreFile bad = region.getStore(Bytes.toBytes("bad")).getStorefiles().iterator().next();
    awaitWarmUp(bad);
    assertTrue(isCached(bad.getPath().getName(), 0));
  }
}
