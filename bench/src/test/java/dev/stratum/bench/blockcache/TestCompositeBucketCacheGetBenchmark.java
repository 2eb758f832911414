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
package dev.stratum.bench.blockcache;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import org.apache.hadoop.hbase.io.hfile.CombinedBlockCache;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.util.VersionInfo;
import org.junit.After;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category(LargeTests.class)
public class TestCompositeBucketCacheGetBenchmark {
  private static final int GETS = 2000;
  /** Ten cells: two lengths of four bytes, a key of 45 to 47 bytes with its parts' lengths, 100. */
  private static final int MIN_BYTES = 1500;

  @Rule
  public final TemporaryFiles files = new TemporaryFiles();

  private final CompositeBucketCacheGetBenchmark benchmark =
    new CompositeBucketCacheGetBenchmark();

  @After
  public void close() throws Exception {
    benchmark.close();
  }

  @Test
  public void testGetsAreServedFromTheCacheAndHotRowsFromL1OfTheFork() throws Exception {
    benchmark.keys = "zipfian";
    benchmark.promotion = "frequency";
    benchmark.megabytes = 32;
    benchmark.fill();
    CombinedBlockCache cache = benchmark.server.blockCache();
    long misses = cache.getStats().getMissCount();
    long first = cache.getFirstLevelCache().getStats().getDataHitCount();
    long second = cache.getSecondLevelCache().getStats().getDataHitCount();
    CompositeBucketCacheGetBenchmark.Cursor cursor =
      new CompositeBucketCacheGetBenchmark.Cursor();
    for (int i = 0; i < GETS; i++) {
      int bytes = benchmark.get(cursor);
      assertTrue("bytes " + bytes, bytes > MIN_BYTES);
    }
    assertEquals("misses", misses, cache.getStats().getMissCount());
    first = cache.getFirstLevelCache().getStats().getDataHitCount() - first;
    second = cache.getSecondLevelCache().getStats().getDataHitCount() - second;
    // A row may lie in two blocks.
    assertTrue("data blocks " + (first + second), first + second >= GETS);
    double share = (double) first / (first + second);
    boolean fork = VersionInfo.getVersion().contains("stratum");
    assertTrue("share of L1 " + share, fork ? share > 0.3 : share == 0);
  }
}
