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
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;
import org.junit.runners.Parameterized.Parameters;

@RunWith(Parameterized.class)
@Category(LargeTests.class)
public class TestBucketCacheInsertBenchmark {
  @Rule
  public final TemporaryFiles files = new TemporaryFiles();

  private final BucketCacheInsertBenchmark benchmark = new BucketCacheInsertBenchmark();

  public TestBucketCacheInsertBenchmark(String engine) {
    benchmark.engine = engine;
    benchmark.size = 32768;
    benchmark.megabytes = 40;
  }

  @Parameters(name = "{0}")
  public static List<String> engines() {
    return List.of("offheap", "file", "mmap");
  }

  /** Closing it fails if a block was dropped. */
  @Test
  public void testEveryBlockIsInsertedAndPaidForByEvictions() throws Exception {
    benchmark.fill();
    try {
      long before = benchmark.insert();
      long evicted = benchmark.cache.getStats().getEvictedCount();
      assertTrue(evicted > 0);
      for (int i = 0; i < 3000; i++) {
        benchmark.insert();
      }
      assertEquals(before + 3001, benchmark.insert());
      assertTrue(benchmark.cache.getStats().getEvictedCount() > evicted);
    } finally {
      benchmark.close();
    }
  }
}
