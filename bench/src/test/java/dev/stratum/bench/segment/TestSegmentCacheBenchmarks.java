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
package dev.stratum.bench.segment;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import dev.stratum.bench.blockcache.TemporaryFiles;
import dev.stratum.bench.harness.ForkClass;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.util.DirectMemoryUtils;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category(LargeTests.class)
public class TestSegmentCacheBenchmarks {
  /** The buffers of the three caches that a test has at most, one after the other, and more. */
  private static final long DIRECT_MEMORY = 384L << 20;

  @Rule
  public final TemporaryFiles files = new TemporaryFiles();

  /**
   * Frees the buffers of other benchmarks in this JVM. An index leaves some direct memory to others
   * and refuses blocks then, without a collection, which would free what is unreachable.
   */
  @Before
  public void freeDirectMemory() {
    System.gc();
    long left =
      DirectMemoryUtils.getDirectMemorySize() - DirectMemoryUtils.getDirectMemoryUsage();
    assertTrue("Only " + (left >> 20) + " MB of direct memory are left", left >= DIRECT_MEMORY);
  }

  @Test
  public void testEveryLookupIsHit() throws Exception {
    SegmentCacheReadBenchmark benchmark = new SegmentCacheReadBenchmark();
    benchmark.size = 32768;
    benchmark.megabytes = 33;
    benchmark.fill();
    try {
      for (int i = 0; i < 2000; i++) {
        assertTrue(benchmark.hit() > benchmark.size);
      }
    } finally {
      benchmark.close();
    }
  }

  /** Closing it fails if a block was dropped. */
  @Test
  public void testEveryBlockIsInsertedAndPaidForByEvictions() throws Exception {
    SegmentCacheInsertBenchmark benchmark = new SegmentCacheInsertBenchmark();
    benchmark.blocks = 100_000;
    benchmark.fill();
    try {
      long evicted = benchmark.cache.getStats().getEvictedCount();
      assertTrue(evicted > 0);
      long before = benchmark.insert();
      for (int i = 0; i < 50_000; i++) {
        benchmark.insert();
      }
      assertEquals(before + 50_001, benchmark.insert());
      assertTrue(benchmark.cache.getStats().getEvictedCount() > evicted);
    } finally {
      benchmark.close();
    }
  }

  @Test
  public void testSpaceOfATierThatIsFullIsCounted() throws Exception {
    SegmentCacheSpaceBenchmark benchmark = new SegmentCacheSpaceBenchmark();
    benchmark.megabytes = 512;
    benchmark.fill();
    try {
      SegmentCacheSpaceBenchmark.Space space = new SegmentCacheSpaceBenchmark.Space();
      for (int i = 0; i < 20_000; i++) {
        benchmark.insert(space);
      }
      double filled = space.filledPercent();
      assertTrue(filled + " %", filled > 0 && filled <= 100);
      assertTrue(!ForkClass.SEGMENT_CACHE.isPresent() || benchmark.meanWrite() >= 1 << 20);
    } finally {
      benchmark.close();
    }
  }

  @Test
  public void testBlocksAreFoundOnTheDeviceBesideInsertions() throws Exception {
    SegmentCacheSyncBenchmark benchmark = new SegmentCacheSyncBenchmark();
    benchmark.insertMb = 5;
    benchmark.syncMb = 1;
    benchmark.megabytes = 40;
    benchmark.fill();
    try {
      for (int i = 0; i < 200; i++) {
        assertTrue(benchmark.lookUp());
      }
    } finally {
      benchmark.close();
    }
  }

  /** Stock has nothing after a kill but what it happened to have persisted before. */
  @Test
  public void testAllBlocksAreThereAfterShutdownAndAfterKill() throws Exception {
    SegmentCacheRestartBenchmark benchmark = new SegmentCacheRestartBenchmark();
    benchmark.blocks = 100_000;
    benchmark.fill();
    try {
      assertEquals(benchmark.blocks, benchmark.afterShutdown());
      benchmark.shutDown();
      if (ForkClass.SEGMENT_CACHE.isPresent()) {
        assertEquals(benchmark.blocks, benchmark.afterKill());
        benchmark.shutDown();
      }
    } finally {
      benchmark.close();
    }
  }
}
