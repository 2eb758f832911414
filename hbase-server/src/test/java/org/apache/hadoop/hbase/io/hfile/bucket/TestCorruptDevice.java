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
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
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
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.MediumTests;
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

/**
 * A tier whose files do not hold what was written: each block is either the right one or a miss
 * that is evicted and counted, and no buffer is lost over it.
 */
@Category({ IOTests.class, MediumTests.class })
@RunWith(Parameterized.class)
public class TestCorruptDevice {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestCorruptDevice.class);

  @Parameters(name = "{0}")
  public static Collection<Object[]> engines() {
    return Arrays.asList(new Object[] { "file", false }, new Object[] { "files", false },
      new Object[] { "file", true }, new Object[] { "mmap", false },
      new Object[] { "pmem", false });
  }

  @Parameter
  public String engine;

  @Parameter(1)
  public boolean persistent;

  private static final String FILE = "0123456789abcdef0123456789abcdef";
  private static final int SIZE = 6000;
  private static final int BLOCKS = 200;
  private static final int READERS = 4;

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  @Rule
  public final RefCntLeakRule leaks = new RefCntLeakRule();

  private Configuration conf;
  private ByteBuffAllocator pool;
  private BucketCacheTier tier;

  @Before
  public void setUp() {
    conf = CachedBlockFixture.tiers(2, 4,
      engine + ":" + path("a") + (engine.equals("files") ? "," + path("b") : ""));
    conf.set("hbase.bucketcache.bucket.sizes", "5120,9216");
    if (persistent) {
      conf.set("hbase.bucketcache.l2.persistent.path", path("map"));
      // Only a shutdown persists.
      conf.setLong(CacheConfig.BUCKETCACHE_PERSIST_INTERVAL_KEY, Long.MAX_VALUE);
    }
    pool = CachedBlockFixture.pool(conf, 1000);
  }

  private String path(String name) {
    return new File(folder.getRoot(), name).getPath();
  }

  private void open() throws IOException {
    tier = new BucketCacheTier("L2", CompositeBucketCacheSettings.of(conf).second());
    for (int i = 0; i < BLOCKS; i++) {
      cache(i);
    }
  }

  private static BlockCacheKey key(int i) {
    return CachedBlockFixture.key(FILE, i, BlockType.DATA);
  }

  private void cache(int i) {
    CachedBlockFixture.cache(tier, key(i),
      CachedBlockFixture.block(BlockType.DATA, i, SIZE, pool));
    CachedBlockFixture.await(
      () -> tier.backingMap.containsKey(key(i)) && !tier.ramCache.containsKey(key(i)));
  }

  /** Nothing may be left: neither space nor buffers. */
  @After
  public void tearDown() {
    tier.evictBlocksByHfileName(FILE);
    assertEquals(0, tier.backingMap.size());
    tier.shutdown();
    assertEquals(0, tier.blocksByHFile.size());
    assertEquals(0, tier.getAllocator().getUsedSize());
    assertEquals(0, tier.getRealCacheSize());
    assertEquals(pool.getUsedBufferCount(), pool.getFreeBufferCount());
  }

  private static byte[] expected(int i) {
    HFileBlock block = CachedBlockFixture.block(BlockType.DATA, i, SIZE);
    try {
      return CachedBlockFixture.content(block);
    } finally {
      block.release();
    }
  }

  /** Returns whether the tier has the block; if it does, it is the right one. */
  private boolean read(int i) {
    Cacheable block = tier.getBlock(key(i), true, false, true);
    if (block == null) {
      return false;
    }
    try {
      assertArrayEquals("block " + i, expected(i), CachedBlockFixture.content(block));
      return true;
    } finally {
      block.release();
    }
  }

  /** Returns the bytes of an entry as they were written. */
  private byte[] bytesOf(int i) {
    ByteBuffer bytes = ByteBuffer.allocate(tier.backingMap.get(key(i)).getLength());
    if (persistent) {
      bytes.putLong(tier.backingMap.get(key(i)).getCachedTime());
    }
    return bytes.put(expected(i)).array();
  }

  /** Changes bytes of an entry on the device. */
  private void write(int i, byte[] bytes, int from, int to) throws IOException {
    tier.ioEngine.write(ByteBuffer.wrap(bytes, from, to - from).slice(),
      tier.backingMap.get(key(i)).offset() + from);
  }

  private void flip(int i, int position, int bit) throws IOException {
    byte[] bytes = bytesOf(i);
    bytes[position] ^= 1 << bit;
    write(i, bytes, position, position + 1);
  }

  private void assertEvicted(Collection<Integer> bad) {
    for (int i = 0; i < BLOCKS; i++) {
      assertEquals("block " + i, !bad.contains(i), read(i));
      assertEquals("block " + i, !bad.contains(i), tier.backingMap.containsKey(key(i)));
    }
    assertEquals(bad.size(), tier.device().checksumFailures.sum());
    assertEquals(0, tier.device().ioErrors.get());
    // Their space is free again, and the tier takes the blocks anew.
    for (int i : bad) {
      cache(i);
      assertTrue(read(i));
    }
  }

  /** Readers of pmem: see the memory itself, so that there what was checked can change later. */
  @Test
  public void testBitsFlippedUnderReaders() throws Exception {
    open();
    ExecutorService readers = Executors.newFixedThreadPool(READERS);
    try {
      Set<Integer> bad = new HashSet<>();
      List<Future<Void>> reads = new ArrayList<>();
      for (int r = 0; r < READERS; r++) {
        reads.add(readers.submit((Callable<Void>) () -> {
          for (int round = 0; round < 40; round++) {
            for (int i = 0; i < BLOCKS; i++) {
              if (!engine.equals("pmem") || i % 3 != 0) {
                read(i);
              }
            }
          }
          return null;
        }));
      }
      Random random = new Random(1);
      for (int i = 0; i < BLOCKS; i += 3) {
        flip(i, random.nextInt(tier.backingMap.get(key(i)).getLength()), random.nextInt(Byte.SIZE));
        bad.add(i);
      }
      for (Future<Void> read : reads) {
        read.get();
      }
      for (int i : bad) {
        assertFalse("block " + i, read(i));
      }
      // Readers that met the same entry each count what they found.
      assertTrue(tier.device().checksumFailures.sum() >= bad.size());
      assertEquals(BLOCKS - bad.size(), tier.backingMap.size());
      assertEquals(0, tier.device().ioErrors.get());
    } finally {
      readers.shutdownNow();
    }
  }

  @Test
  public void testEachPartOfAnEntryIsChecked() throws Exception {
    open();
    Set<Integer> bad = new HashSet<>();
    int length = tier.backingMap.get(key(0)).getLength();
    // The positions are in the time of caching if there is one, the header, the data, and the
    // metadata.
    int[] positions = { 0, 7, 8, 20, 41, 45, 1000, length - 13, length - 12, length - 1 };
    for (int i = 0; i < positions.length; i++) {
      flip(i, positions[i], i % Byte.SIZE);
      bad.add(i);
    }
    assertEvicted(bad);
  }

  @Test
  public void testSwappedEntries() throws Exception {
    open();
    byte[] one = bytesOf(1);
    byte[] two = bytesOf(2);
    write(1, two, 0, two.length);
    write(2, one, 0, one.length);
    assertEvicted(Arrays.asList(1, 2));
  }

  @Test
  public void testTornEntry() throws Exception {
    open();
    byte[] older = bytesOf(9);
    write(3, older, 4096, older.length);
    write(4, new byte[SIZE], 0, 512);
    write(5, new byte[SIZE], 4096, SIZE);
    assertEvicted(Arrays.asList(3, 4, 5));
  }

  @Test
  public void testForeignFileOfTheSameLength() throws Exception {
    open();
    Random random = new Random(2);
    List<Integer> all = new ArrayList<>();
    for (int i = 0; i < BLOCKS; i++) {
      byte[] foreign = bytesOf(i);
      random.nextBytes(foreign);
      write(i, foreign, 0, foreign.length);
      all.add(i);
    }
    assertEvicted(all);
  }

  @Test
  public void testTruncatedFile() throws Exception {
    open();
    for (String name : engine.equals("files") ? new String[] { "a", "b" } : new String[] { "a" }) {
      try (RandomAccessFile file = new RandomAccessFile(path(name), "rw")) {
        file.setLength(4096);
      }
    }
    int found = 0;
    for (int i = 0; i < BLOCKS; i++) {
      found += read(i) ? 1 : 0;
    }
    assertTrue(found + " blocks", found < BLOCKS);
    if (engine.startsWith("file")) {
      assertEquals(0, tier.device().ioErrors.get());
      assertEquals(BLOCKS - found, tier.device().checksumFailures.sum());
      assertEquals(found, tier.backingMap.size());
    } else {
      // What is not there in memory is an error of the device.
      assertTrue(tier.device().ioErrors.get() >= CircuitBreaker.FAILURES_IN_A_ROW);
      assertTrue(tier.device().bypassedReads.sum() > 0);
      assertEquals(0, tier.device().checksumFailures.sum());
    }
  }

  @Test
  public void testDeletedFile() throws Exception {
    open();
    assertTrue(new File(path("a")).delete());
    for (int i = 0; i < BLOCKS; i++) {
      read(i);
    }
    // An interrupted reader closes the channel, and the engine makes a new, empty file.
    Thread.currentThread().interrupt();
    read(0);
    assertTrue(Thread.interrupted());
    for (int i = 0; i < BLOCKS; i++) {
      read(i);
    }
    assertEquals(0, tier.device().ioErrors.get());
    cache(BLOCKS);
    assertTrue(read(BLOCKS));
  }

  /** What the tests above find is found by nothing else. */
  @Test
  public void testWithoutSumsWrongBytesAreServed() throws Exception {
    conf.set("hbase.bucketcache.l2.checksum.enabled", "false");
    open();
    flip(7, 1000, 3);
    Cacheable block = tier.getBlock(key(7), true, false, true);
    assertNotNull(block);
    assertFalse(Arrays.equals(expected(7), CachedBlockFixture.content(block)));
    block.release();
    assertEquals(EntryChecksum.NONE, tier.backingMap.get(key(7)).checksum);
    assertEquals(0, tier.device().checksumFailures.sum());

    // Not even then does a block that cannot be made out at all reach anybody.
    flip(8, persistent ? 8 : 0, 3);
    assertNull(tier.getBlock(key(8), true, false, true));
    assertFalse(tier.backingMap.containsKey(key(8)));
  }
}
