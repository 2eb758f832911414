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
import static org.junit.Assert.assertNotEquals;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Collection;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.io.hfile.composite.CircuitBreaker;
import org.apache.hadoop.hbase.io.hfile.composite.CompositeBucketCacheSettings;
import org.apache.hadoop.hbase.io.hfile.composite.FileEvictionGuard;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
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

/** An L1 on a device checks its blocks each time, those of readers and those of writers. */
@Category({ IOTests.class, SmallTests.class })
@RunWith(Parameterized.class)
public class TestCorruptFirstTier {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestCorruptFirstTier.class);

  @Parameters(name = "{0}")
  public static Collection<Object[]> engines() {
    return Arrays.asList(new Object[] { "mmap" }, new Object[] { "pmem" });
  }

  @Parameter
  public String engine;

  private static final String FILE = "0123456789abcdef0123456789abcdef";
  private static final int SIZE = 4000;

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  @Rule
  public final RefCntLeakRule leaks = new RefCntLeakRule();

  private L1BucketCache tier;
  private File file;

  @Before
  public void setUp() throws IOException {
    file = new File(folder.getRoot(), "l1");
    Configuration conf = CachedBlockFixture.tiers(2, 2, "file:" + new File(folder.getRoot(), "l2"));
    conf.set("hbase.bucketcache.l1.ioengine", engine + ":" + file);
    conf.set("hbase.bucketcache.bucket.sizes", "5120");
    tier = new L1BucketCache("L1", CompositeBucketCacheSettings.of(conf).first(),
      new FileEvictionGuard());
    tier.setPromotedShare(1);
  }

  @After
  public void tearDown() {
    tier.evictBlocksByHfileName(FILE);
    assertEquals(0, tier.getAllocator().getUsedSize());
    tier.shutdown();
  }

  /** Changes a bit of a block's data where it is stored. */
  private void flip(BlockCacheKey key, HFileBlock block) throws IOException {
    byte changed = (byte) (CachedBlockFixture.content(block)[100] ^ 1);
    tier.ioEngine.write(ByteBuffer.wrap(new byte[] { changed }),
      tier.backingMap.get(key).offset() + 100);
  }

  private void assertCheckedEachTime(BlockCacheKey key, HFileBlock block) throws IOException {
    assertNotEquals(EntryChecksum.NONE, tier.backingMap.get(key).checksum);
    for (int i = 0; i < 3; i++) {
      Cacheable read = tier.getBlock(key, true, false, true);
      assertNotNull(read);
      assertArrayEquals(CachedBlockFixture.content(block), CachedBlockFixture.content(read));
      read.release();
    }
    flip(key, block);
    assertNull(tier.getBlock(key, true, false, true));
    assertEquals(1, tier.device().checksumFailures.sum());
    assertEquals(0, tier.device().ioErrors.get());
    assertTrue("not evicted", tier.backingMap.isEmpty());
  }

  @Test
  public void testMetaBlock() throws Exception {
    HFileBlock block = CachedBlockFixture.block(BlockType.LEAF_INDEX, 1, SIZE);
    BlockCacheKey key = CachedBlockFixture.key(FILE, 1, BlockType.LEAF_INDEX);
    tier.cacheBlock(key, block);
    CachedBlockFixture
      .await(() -> tier.backingMap.containsKey(key) && !tier.ramCache.containsKey(key));
    assertCheckedEachTime(key, block);
    block.release();
  }

  @Test
  public void testPromotedBlock() throws Exception {
    HFileBlock block = CachedBlockFixture.block(BlockType.DATA, 2, SIZE);
    BlockCacheKey key = CachedBlockFixture.key(FILE, 2, BlockType.DATA);
    tier.promote(key, block);
    assertTrue(tier.containsBlock(key));
    assertCheckedEachTime(key, block);
    block.release();
  }

  /** A file that was truncated: reads and promotions fail, and each is a miss. */
  @Test
  public void testTruncatedFile() throws Exception {
    HFileBlock block = CachedBlockFixture.block(BlockType.DATA, 2, SIZE);
    for (int i = 0; i < 100; i++) {
      tier.promote(CachedBlockFixture.key(FILE, i, BlockType.DATA), block);
    }
    try (RandomAccessFile out = new RandomAccessFile(file, "rw")) {
      out.setLength(0);
    }
    for (int i = 0; i < 200; i++) {
      BlockCacheKey key = CachedBlockFixture.key(FILE, i, BlockType.DATA);
      assertNull(tier.getBlock(key, true, false, true));
      tier.promote(key, block);
    }
    assertTrue(tier.device().ioErrors.get() >= CircuitBreaker.FAILURES_IN_A_ROW);
    assertTrue(tier.device().bypassedReads.sum() > 0);
    tier.evictBlocksByHfileName(FILE);
    block.release();
  }
}
