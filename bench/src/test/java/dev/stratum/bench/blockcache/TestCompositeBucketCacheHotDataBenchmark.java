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

import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.util.VersionInfo;
import org.junit.After;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category(LargeTests.class)
public class TestCompositeBucketCacheHotDataBenchmark {
  @Rule
  public final TemporaryFiles files = new TemporaryFiles();

  private final CompositeBucketCacheHotDataBenchmark benchmark =
    new CompositeBucketCacheHotDataBenchmark();

  @After
  public void close() throws Exception {
    benchmark.close();
  }

  @Test
  public void testHotDataIsServedFromL1OfTheFork() throws Exception {
    fill("zipfian", "frequency");
    boolean fork = VersionInfo.getVersion().contains("stratum");
    double share = shareOfFirst();
    assertTrue("share of L1 " + share, fork ? share > 0.5 : share == 0);
  }

  @Test
  public void testWithoutPromotionAllDataIsServedFromL2() throws Exception {
    fill("uniform", "none");
    assertEquals(0, shareOfFirst(), 0);
  }

  private void fill(String keys, String promotion) throws Exception {
    benchmark.keys = keys;
    benchmark.promotion = promotion;
    benchmark.megabytes = 32;
    benchmark.fill();
  }

  private double shareOfFirst() {
    long first = benchmark.cache.getFirstLevelCache().getStats().getHitCount();
    long second = benchmark.cache.getSecondLevelCache().getStats().getHitCount();
    CompositeBucketCacheGetBenchmark.Cursor cursor =
      new CompositeBucketCacheGetBenchmark.Cursor();
    for (int i = 0; i < 1000; i++) {
      benchmark.get(cursor);
    }
    first = benchmark.cache.getFirstLevelCache().getStats().getHitCount() - first;
    second = benchmark.cache.getSecondLevelCache().getStats().getHitCount() - second;
    assertEquals("misses", 1000, first + second);
    return first / 1000.0;
  }
}
