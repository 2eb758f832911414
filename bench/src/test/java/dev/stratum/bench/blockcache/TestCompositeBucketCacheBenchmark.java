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

import java.util.List;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.util.VersionInfo;
import org.junit.After;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;
import org.junit.runners.Parameterized.Parameters;

@RunWith(Parameterized.class)
@Category(LargeTests.class)
public class TestCompositeBucketCacheBenchmark {
  @Rule
  public final TemporaryFiles files = new TemporaryFiles();

  private final CompositeBucketCacheBenchmark benchmark = new CompositeBucketCacheBenchmark();

  public TestCompositeBucketCacheBenchmark(String engine) {
    benchmark.engine = engine;
    benchmark.size = 8192;
    benchmark.megabytes = 8;
  }

  @Parameters(name = "{0}")
  public static List<String> engines() {
    return List.of("offheap", "file", "mmap");
  }

  @Before
  public void fill() throws Exception {
    benchmark.fill();
  }

  @After
  public void close() throws Exception {
    benchmark.close();
  }

  @Test
  public void testTheCacheIsTheOneOfTheSideUnderTest() {
    boolean fork = VersionInfo.getVersion().contains("stratum");
    assertEquals(fork ? "CompositeBucketCache" : "CombinedBlockCache",
      benchmark.cache.getClass().getSimpleName());
  }

  @Test
  public void testMetaBlocksAreHitInL1AndDataInL2() {
    long first = benchmark.cache.getFirstLevelCache().getStats().getHitCount();
    long second = benchmark.cache.getSecondLevelCache().getStats().getHitCount();
    for (int i = 0; i < 100; i++) {
      int bytes = benchmark.bloomIndexData();
      assertTrue("size " + bytes, bytes > 8192 && bytes < 3 * 9216);
    }
    assertEquals(200, benchmark.cache.getFirstLevelCache().getStats().getHitCount() - first);
    assertEquals(100, benchmark.cache.getSecondLevelCache().getStats().getHitCount() - second);
  }

  @Test
  public void testThereAreSeveralMetaBlocksToChooseFrom() {
    assertTrue(benchmark.order.stream().map(lookup -> lookup.index).distinct().count() > 1);
    assertTrue(benchmark.order.stream().map(lookup -> lookup.bloom).distinct().count() > 1);
  }
}
