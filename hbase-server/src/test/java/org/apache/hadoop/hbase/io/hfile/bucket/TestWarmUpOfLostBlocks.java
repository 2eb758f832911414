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

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.io.hfile.StoreFileFixture;
import org.apache.hadoop.hbase.io.hfile.StoreFileFixture.Block;
import org.apache.hadoop.hbase.io.hfile.prefetch.FileWarmUp;
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
 * A block that the cache has taken may still be lost: its device fails to keep it. The warm-up of a
 * file brings back what was lost on the way, once, and only if the device works again.
 */
@Category({ IOTests.class, MediumTests.class })
public class TestWarmUpOfLostBlocks {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestWarmUpOfLostBlocks.class);

  @Rule
  public final RefCntLeakRule leakRule = new RefCntLeakRule();

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  @Rule
  public final StoreFileFixture files = new StoreFileFixture();

  /** How many of the next drains with data blocks are to be lost, and how many blocks have been. */
  private final AtomicInteger drainsToLose = new AtomicInteger();
  /** Whether the one writer is at such a drain. */
  private final AtomicBoolean losing = new AtomicBoolean();
  private final AtomicInteger lostBlocks = new AtomicInteger();
  private volatile boolean givenUp;
  private int[] bucketSizes;
  private BucketCache cache;
  private Path path;
  private List<Block> blocks;

  @Before
  public void writeFile() throws IOException {
    path = files.write(CacheConfig.DISABLED);
    blocks = files.blocks(path);
  }

  @After
  public void shutDown() {
    CachedBlockFixture.await(() -> cache.heapSize() == 0);
    cache.evictBlocksByHfileName(path.getName());
    cache.shutdown();
  }

  private void openCache() throws IOException {
    // What is used while the cache is constructed.
    AtomicBoolean syncFails = losing;
    String file = new File(folder.getRoot(), "cache").getPath();
    cache = new BucketCache("file:" + file, 80 << 20, 64 << 10, bucketSizes, 1, 8192, null) {
      @Override
      IOEngine getIOEngineFromName(String name, long capacity, String persistencePath)
        throws IOException {
        return new FileIOEngine(capacity, false, file) {
          @Override
          public void sync() throws IOException {
            if (syncFails.get()) {
              throw new IOException("The device has not kept it");
            }
          }
        };
      }

      @Override
      void doDrain(List<RAMQueueEntry> entries, ByteBuffer metaBuff) throws InterruptedException {
        boolean data = entries.stream()
          .anyMatch(entry -> entry.getData().getBlockType() == BlockType.DATA);
        losing.set(data && drainsToLose.getAndUpdate(left -> Math.max(0, left - 1)) > 0);
        if (losing.get()) {
          lostBlocks.addAndGet(entries.size());
        }
        super.doDrain(entries, metaBuff);
      }

      @Override
      boolean isCacheEnabled() {
        return super.isCacheEnabled() && !givenUp;
      }
    };
  }

  private FileWarmUp warm() throws IOException {
    CacheConfig cacheConf = new CacheConfig(files.conf(), null, cache, ByteBuffAllocator.HEAP);
    try (HFile.Reader reader =
      HFile.createReader(files.fileSystem(), path, cacheConf, true, files.conf())) {
      FileWarmUp warmUp = FileWarmUp.of(reader, cacheConf, files.conf());
      warmUp.run();
      assertEquals(FileWarmUp.Outcome.COMPLETE, warmUp.outcome());
      return warmUp;
    }
  }

  private boolean isWhole() {
    return cache.getFullyCachedFiles().get().containsKey(path.getName());
  }

  @Test
  public void blocksThatTheDeviceDidNotKeepAreReadAgainAndNoOthers() throws Exception {
    openCache();
    drainsToLose.set(2);
    FileWarmUp warmUp = warm();
    assertTrue(lostBlocks.get() > 0);
    long again = warmUp.warmedBlocks() - blocks.size();
    assertTrue(again + " of " + lostBlocks, again > 0 && again <= lostBlocks.get());
    for (Block block : blocks) {
      assertTrue("not cached: " + block, cache.isAlreadyCached(block.key()).get());
    }
    assertTrue(isWhole());
  }

  @Test
  public void deviceThatKeepsNothingCostsOneMoreRead() throws Exception {
    openCache();
    drainsToLose.set(Integer.MAX_VALUE);
    FileWarmUp warmUp = warm();
    assertTrue(warmUp.toString(), warmUp.warmedBlocks() <= 2L * blocks.size());
    assertFalse(isWhole());
  }

  @Test
  public void whatWasLostIsNotReadAgainForADeviceThatIsGivenUp() throws Exception {
    openCache();
    drainsToLose.set(2);
    givenUp = true;
    FileWarmUp warmUp = warm();
    assertEquals(warmUp.toString(), blocks.size(), warmUp.warmedBlocks());
    assertFalse(isWhole());
  }

  @Test
  public void blocksThatNoBucketHoldsAreNotReadAgain() throws Exception {
    int largest = blocks.stream().mapToInt(Block::size).max().getAsInt() - 1;
    bucketSizes = new int[] { largest - largest % 256 };
    openCache();
    FileWarmUp warmUp = warm();
    assertTrue(((BucketCacheStats) cache.getStats()).getAllocationFailCount() > 0);
    assertEquals(warmUp.toString(), blocks.size(), warmUp.warmedBlocks());
    assertFalse(isWhole());
  }
}
