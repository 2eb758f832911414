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
package dev.stratum.bench.allocation;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import dev.stratum.bench.blockcache.TemporaryFiles;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category(LargeTests.class)
public class TestCacheWritesBenchmark {
  private static final int SIZE = 8192;
  /** Less than the blocks of a file, whose blocks are evicted when it ends. */
  private static final int WRITES = 100;
  private static final int INSERTIONS = 400;
  private static final int KEPT = 256;
  private static final long PATIENCE_NANOS = 120_000_000_000L;

  @Rule
  public final TemporaryFiles files = new TemporaryFiles();

  private final CacheWritesBenchmark benchmark = new CacheWritesBenchmark();

  private static <T extends CacheWritesBenchmark.Caching> T small(T caching) {
    caching.size = SIZE;
    caching.megabytes = 1;
    return caching;
  }

  @Test
  public void testFlushCachesABlockForEachOperation() throws Exception {
    CacheWritesBenchmark.Flush state = small(new CacheWritesBenchmark.Flush());
    state.fill();
    for (int i = 0; i < WRITES; i++) {
      benchmark.flush(state);
    }
    assertCached(state, WRITES * 9 / 10, 2 * WRITES);
    state.close();
  }

  @Test
  public void testCompactionCachesABlockForEachOperation() throws Exception {
    CacheWritesBenchmark.Compaction state = small(new CacheWritesBenchmark.Compaction());
    state.fill();
    for (int i = 0; i < WRITES; i++) {
      benchmark.compaction(state);
    }
    assertCached(state, WRITES * 9 / 10, 2 * WRITES);
    state.close();
  }

  @Test
  public void testInsertedBlocksAreCachedAndTheOldOnesEvicted() throws Exception {
    CacheWritesBenchmark.Insertion state = small(new CacheWritesBenchmark.Insertion());
    state.persistent = true;
    state.fill();
    for (int i = 1; i <= INSERTIONS; i++) {
      assertEquals(i, benchmark.insert(state));
    }
    assertCached(state, KEPT, KEPT);
    state.close();
  }

  /** Waits for blocks that are queued. Index and bloom blocks come on top. */
  private static void assertCached(CacheWritesBenchmark.Caching state, int min, int max)
    throws Exception {
    long deadline = System.nanoTime() + PATIENCE_NANOS;
    // The last block of a file is written when the next one begins.
    while (blocks(state) < min - 1 && System.nanoTime() < deadline) {
      Thread.sleep(10);
    }
    assertTrue("blocks " + blocks(state), blocks(state) >= min - 1 && blocks(state) <= max);
  }

  private static int blocks(CacheWritesBenchmark.Caching state) {
    return state.cache.getBackingMap().size();
  }
}
