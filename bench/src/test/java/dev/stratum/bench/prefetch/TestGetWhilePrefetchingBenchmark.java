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
package dev.stratum.bench.prefetch;

import static org.junit.Assert.assertTrue;

import dev.stratum.bench.blockcache.TemporaryFiles;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.junit.After;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category(LargeTests.class)
public class TestGetWhilePrefetchingBenchmark {
  private static final int GETS = 2000;
  /** Ten cells: two lengths of four bytes, a key of 45 to 47 bytes with its parts' lengths, 100. */
  private static final int MIN_BYTES = 1500;

  @Rule
  public final TemporaryFiles files = new TemporaryFiles();

  private final GetWhilePrefetchingBenchmark benchmark = new GetWhilePrefetchingBenchmark();

  @After
  public void close() throws Exception {
    benchmark.close();
  }

  @Test
  public void testGetsAreServedFromTheCacheWhileFilesAreWarmedAgainAndAgain() throws Exception {
    benchmark.limit = "0";
    benchmark.megabytes = 8;
    benchmark.fileMegabytes = 1;
    benchmark.start();
    for (int i = 0; i < GETS; i++) {
      int bytes = benchmark.get();
      assertTrue("bytes " + bytes, bytes > MIN_BYTES);
    }
    // Four files of a MB are prefetched more than once.
    long deadline = System.nanoTime() + 120_000_000_000L;
    while (benchmark.prefetchedMegabytes() < 6 && System.nanoTime() < deadline) {
      Thread.sleep(10);
    }
    assertTrue(benchmark.prefetchedMegabytes() + " MB", benchmark.prefetchedMegabytes() >= 6);
  }
}
