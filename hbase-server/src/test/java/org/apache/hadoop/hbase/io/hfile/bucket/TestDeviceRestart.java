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
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.io.hfile.composite.CompositeBucketCacheSettings;
import org.apache.hadoop.hbase.io.hfile.composite.TierSettings;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.TemporaryFolder;

import org.apache.hadoop.hbase.shaded.protobuf.generated.BucketCacheProtos;

/**
 * What a tier finds in its files after a restart, on its own jars or between them and the stock
 * ones: the right blocks, or none.
 */
@Category({ IOTests.class, MediumTests.class })
public class TestDeviceRestart {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestDeviceRestart.class);

  private static final String FILE = "0123456789abcdef0123456789abcdef";
  private static final int SIZE = 6000;
  private static final int BLOCKS = 60;
  private static final int[] BUCKETS = { 5120, 9216 };

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  @Rule
  public final RefCntLeakRule leaks = new RefCntLeakRule();

  private Configuration conf;
  private BucketCache cache;

  @Before
  public void setUp() {
    conf = CachedBlockFixture.tiers(2, 4, "file:" + path("cache"));
    conf.set("hbase.bucketcache.bucket.sizes", "5120,9216");
    conf.set("hbase.bucketcache.l2.persistent.path", path("map"));
    // Only a shutdown persists.
    conf.setLong(CacheConfig.BUCKETCACHE_PERSIST_INTERVAL_KEY, Long.MAX_VALUE);
  }

  private String path(String name) {
    return new File(folder.getRoot(), name).getPath();
  }

  private BucketCacheTier tier() throws IOException {
    BucketCacheTier tier =
      new BucketCacheTier("L2", CompositeBucketCacheSettings.of(conf).second());
    cache = tier;
    return tier;
  }

  /** A cache without sums, as a stock server has it, on the same files. */
  private BucketCache stock() throws IOException {
    cache = new BucketCache("file:" + path("cache"), 4 << 20, 64 * 1024, BUCKETS.clone(), 1, 64,
      path("map"), 60_000, conf);
    return cache;
  }

  private void fill() {
    for (int i = 0; i < BLOCKS; i++) {
      int block = i;
      CachedBlockFixture.cache(cache, key(i),
        CachedBlockFixture.block(typeOf(i), i, SIZE));
      CachedBlockFixture.await(
        () -> cache.backingMap.containsKey(key(block)) && !cache.ramCache.containsKey(key(block)));
    }
  }

  /** Stops the cache like a server that stops. No owner then releases the entries in the map. */
  private void shutdown() {
    cache.shutdown();
    cache.backingMap.values().forEach(BucketEntry::markAsEvicted);
  }

  /** Runs a task when its threads are started, before its constructor ends. */
  private static final class Opening extends BucketCacheTier {
    private static final ThreadLocal<IOException> REFUSAL = new ThreadLocal<>();

    Opening(TierSettings settings) throws IOException {
      super("L2", settings);
    }

    @Override
    protected void startWriterThreads() {
      try {
        persistToFile();
      } catch (IOException e) {
        REFUSAL.set(e);
      }
      super.startWriterThreads();
    }
  }

  /** The thread that persists the map runs since before the map is read. */
  @Test
  public void testMapIsNotPersistedBeforeTheTierIsOpen() throws Exception {
    tier();
    fill();
    shutdown();
    long modified = new File(path("map")).lastModified();
    assertTrue(new File(path("map")).setLastModified(modified - 100_000));
    cache = new Opening(CompositeBucketCacheSettings.of(conf).second());
    assertNotNull(Opening.REFUSAL.get());
    Opening.REFUSAL.remove();
    assertEquals(modified - 100_000, new File(path("map")).lastModified(), 1000);
    assertEquals(BLOCKS, readAll());
    cache.persistToFile();
    assertTrue(new File(path("map")).lastModified() > modified - 50_000);
  }

  /** Has validated the persisted map before its constructor continues. */
  private static final class ValidatedEarly extends BucketCacheTier {
    ValidatedEarly(TierSettings settings) throws IOException {
      super("L2", settings);
    }

    @Override
    protected void startWriterThreads() {
      CachedBlockFixture.await(() -> getBackingMapValidated().get());
      super.startWriterThreads();
    }
  }

  @Test
  public void testBlocksAreEvictedBeforeTheTierIsOpen() throws Exception {
    tier();
    fill();
    shutdown();
    Files.delete(new File(path("cache")).toPath());
    cache = new ValidatedEarly(CompositeBucketCacheSettings.of(conf).second());
    assertEquals(0, cache.backingMap.size());
    assertEquals(0, cache.getCurrentSize());
  }

  @After
  public void tearDown() {
    cache.evictBlocksByHfileName(FILE);
    assertEquals(0, cache.backingMap.size());
    assertEquals(0, cache.getAllocator().getUsedSize());
    if (cache instanceof BucketCacheTier) {
      assertEquals(0, ((BucketCacheTier) cache).getMetaBlockCount());
    }
    cache.shutdown();
  }

  private static BlockType typeOf(int i) {
    return i % 4 == 0 ? BlockType.LEAF_INDEX : BlockType.DATA;
  }

  private static BlockCacheKey key(int i) {
    return CachedBlockFixture.key(FILE, i, typeOf(i));
  }

  private boolean read(int i) {
    Cacheable block = cache.getBlock(key(i), true, false, true);
    if (block == null) {
      return false;
    }
    HFileBlock expected = CachedBlockFixture.block(typeOf(i), i, SIZE);
    assertArrayEquals("block " + i, CachedBlockFixture.content(expected),
      CachedBlockFixture.content(block));
    expected.release();
    block.release();
    return true;
  }

  private int readAll() {
    int found = 0;
    for (int i = 0; i < BLOCKS; i++) {
      found += read(i) ? 1 : 0;
    }
    return found;
  }

  /** Changes bytes of the file, and leaves its time as it was, as a corrupt device does. */
  private void change(long offset, byte[] bytes) throws IOException {
    File file = new File(path("cache"));
    long modified = file.lastModified();
    try (RandomAccessFile out = new RandomAccessFile(file, "rw")) {
      out.seek(offset);
      out.write(bytes);
    }
    assertTrue(file.setLastModified(modified));
  }

  private byte[] bytes(long offset, int length) throws IOException {
    byte[] bytes = new byte[length];
    try (RandomAccessFile in = new RandomAccessFile(path("cache"), "r")) {
      in.seek(offset);
      in.readFully(bytes);
    }
    return bytes;
  }

  @Test
  public void testBlocksComeBackWithTheirSums() throws Exception {
    tier();
    fill();
    shutdown();
    BucketCacheTier tier = tier();
    assertEquals(BLOCKS, tier.backingMap.size());
    assertEquals(BLOCKS / 4, tier.getMetaBlockCount());
    tier.backingMap.values()
      .forEach(entry -> assertFalse(entry.checksum == EntryChecksum.NONE));
    assertEquals(BLOCKS, readAll());
    assertEquals(0, tier.device().checksumFailures.sum());
  }

  @Test
  public void testFlippedTornAndSwappedEntriesAreMisses() throws Exception {
    tier();
    fill();
    long[] offsets = new long[BLOCKS];
    for (int i = 0; i < BLOCKS; i++) {
      offsets[i] = cache.backingMap.get(key(i)).offset();
    }
    int length = cache.backingMap.get(key(0)).getLength();
    shutdown();
    Set<Integer> bad = new HashSet<>(Arrays.asList(1, 2, 3, 4, 5));
    byte[] flipped = bytes(offsets[1], length);
    flipped[3000] ^= 4;
    change(offsets[1], flipped);
    change(offsets[2] + 4096, new byte[length - 4096]);
    // The time of caching stays, as it would tell.
    byte[] three = bytes(offsets[3] + Long.BYTES, length - Long.BYTES);
    byte[] four = bytes(offsets[4] + Long.BYTES, length - Long.BYTES);
    change(offsets[3] + Long.BYTES, four);
    change(offsets[4] + Long.BYTES, three);
    change(offsets[5], new byte[Long.BYTES]);

    BucketCacheTier tier = tier();
    assertEquals(BLOCKS, tier.backingMap.size());
    for (int i = 0; i < BLOCKS; i++) {
      assertEquals("block " + i, !bad.contains(i), read(i));
    }
    assertEquals(bad.size(), tier.device().checksumFailures.sum());
    assertEquals(0, tier.device().ioErrors.get());
    assertEquals(BLOCKS - bad.size(), tier.backingMap.size());
  }

  /** The map names another block for the bytes, all of which are as they were written. */
  @Test
  public void testMapThatCameToHarmYieldsNoWrongBlock() throws Exception {
    tier();
    fill();
    shutdown();
    byte[] map = Files.readAllBytes(new File(path("map")).toPath());
    // Each key has the name of the file; in some of them its last letter is another one now.
    byte[] name = FILE.getBytes();
    int harmed = 0;
    for (int i = 0; i + name.length < map.length && harmed < 10; i++) {
      if (Arrays.equals(name, Arrays.copyOfRange(map, i, i + name.length))) {
        map[i + name.length - 1] = 'e';
        harmed++;
      }
    }
    assertEquals(10, harmed);
    Files.write(new File(path("map")).toPath(), map);
    BucketCacheTier tier = tier();
    assertEquals(BLOCKS, tier.backingMap.size());
    String other = FILE.substring(0, FILE.length() - 1) + "e";
    for (int i = 0; i < BLOCKS; i++) {
      Cacheable block =
        tier.getBlock(CachedBlockFixture.key(other, i, typeOf(i)), true, false, true);
      assertEquals(null, block);
    }
    assertEquals(harmed, tier.device().checksumFailures.sum());
    assertEquals(BLOCKS - harmed, readAll());
  }

  /** Its blocks have no checksums, so that their bytes cannot be verified. */
  @Test
  public void testBlocksOfAStockServerAreDropped() throws Exception {
    stock();
    fill();
    shutdown();
    BucketCacheTier tier = tier();
    assertEquals(0, tier.backingMap.size());
    assertEquals(0, tier.getCurrentSize());
    assertEquals(0, readAll());
    fill();
    assertEquals(BLOCKS, readAll());
  }

  @Test
  public void testBlocksOfAStockServerAreKeptWithoutSums() throws Exception {
    stock();
    fill();
    shutdown();
    conf.set("hbase.bucketcache.l2.checksum.enabled", "false");
    BucketCacheTier tier = tier();
    assertEquals(BLOCKS, tier.backingMap.size());
    assertEquals(BLOCKS / 4, tier.getMetaBlockCount());
    assertEquals(BLOCKS, readAll());
  }

  @Test
  public void testStockServerStartsWarmFromTheTiersFiles() throws Exception {
    tier();
    fill();
    shutdown();
    stock();
    assertEquals(BLOCKS, cache.backingMap.size());
    assertEquals(BLOCKS, readAll());
  }

  /** A stock server sees the messages as they would be without the sums. */
  @Test
  public void testSumIsTheOnlyDifferenceInTheMap() throws Exception {
    tier();
    fill();
    BlockCacheKey key = key(1);
    BucketEntry entry = cache.backingMap.get(key);
    shutdown();
    byte[] map = Files.readAllBytes(new File(path("map")).toPath());
    BucketCacheProtos.BucketCacheEntry chunk;
    try (java.io.ByteArrayInputStream in = new java.io.ByteArrayInputStream(map)) {
      assertEquals(4 + 8 + 8, in.skip(4 + 8 + 8));
      chunk = BucketCacheProtos.BucketCacheEntry.parseDelimitedFrom(in);
    }
    assertEquals(FileIOEngine.class.getName(), chunk.getIoClass());
    assertTrue(chunk.getUnknownFields().asMap().isEmpty());
    assertEquals(BLOCKS, chunk.getBackingMap().getEntryCount());
    for (BucketCacheProtos.BackingMapEntry persisted : chunk.getBackingMap().getEntryList()) {
      assertEquals(1, persisted.getUnknownFields().asMap().size());
      assertTrue(persisted.getKey().getUnknownFields().asMap().isEmpty());
      assertTrue(persisted.getValue().getUnknownFields().asMap().isEmpty());
      if (persisted.getKey().getOffset() == 1) {
        assertEquals(entry.offset(), persisted.getValue().getOffset());
        assertEquals(entry.getLength(), persisted.getValue().getLength());
        assertEquals(entry.checksum, EntryChecksum.fromPB(persisted, key, entry));
      }
    }
    tier();
  }
}
