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

import static org.junit.Assert.assertEquals;

import dev.stratum.bench.blockcache.TemporaryFiles;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.util.VersionInfo;
import org.junit.After;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category(LargeTests.class)
public class TestScanWhilePrefetchingBenchmark {
  private static final int ROW_BYTES = 1560;

  @Rule
  public final TemporaryFiles files = new TemporaryFiles();

  private final ScanWhilePrefetchingBenchmark benchmark = new ScanWhilePrefetchingBenchmark();

  @Before
  public void setUp() {
    benchmark.megabytes = 2;
  }

  @After
  public void close() throws Exception {
    benchmark.close();
  }

  private void assertScansOfCachedFiles() throws Exception {
    benchmark.open();
    for (int i = 0; i < 2; i++) {
      benchmark.write();
      long misses = benchmark.blockCache.getStats().getMissCount();
      assertEquals(4 * ((2 << 20) / ROW_BYTES) * StoreFiles.FIELDS, benchmark.scan());
      long missed = benchmark.blockCache.getStats().getMissCount() - misses;
      benchmark.delete();
      // Stock reads blocks again, and counts a block on the heap twice then.
      if (VersionInfo.getVersion().contains("stratum")) {
        assertEquals("misses", 0, missed);
        assertEquals("blocks left", 0, benchmark.blockCache.getBlockCount());
      }
    }
  }

  @Test
  public void testScansFindAllInTheCacheOnTheHeap() throws Exception {
    benchmark.cache = "heap";
    assertScansOfCachedFiles();
  }

  @Test
  public void testScansFindAllInTheBucketCache() throws Exception {
    benchmark.cache = "bucket";
    assertScansOfCachedFiles();
  }
}
