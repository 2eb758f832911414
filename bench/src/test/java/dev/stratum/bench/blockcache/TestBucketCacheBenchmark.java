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

import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.util.List;
import org.apache.hadoop.hbase.testclassification.LargeTests;
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
public class TestBucketCacheBenchmark {
  @Rule
  public final TemporaryFiles files = new TemporaryFiles();

  private final BucketCacheBenchmark benchmark = new BucketCacheBenchmark();

  public TestBucketCacheBenchmark(String engine, int size) {
    benchmark.engine = engine;
    benchmark.size = size;
    benchmark.megabytes = 2;
  }

  @Parameters(name = "{0} {1}")
  public static List<Object[]> engines() {
    return List.of(new Object[] { "offheap", 32768 }, new Object[] { "file", 8192 },
      new Object[] { "file", 65536 }, new Object[] { "mmap", 32768 });
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
  public void testHitsGiveDataBlocksOfTheSizeAskedFor() {
    int full = 0;
    for (int i = 0; i < 100; i++) {
      int sizeWithHeader = benchmark.hit();
      // The last block of the file is smaller.
      assertTrue("size " + sizeWithHeader, sizeWithHeader < benchmark.size + 300);
      full += sizeWithHeader >= benchmark.size ? 1 : 0;
    }
    assertTrue(full + " full blocks", full >= 90);
  }

  @Test
  public void testMissesGiveNothing() {
    for (int i = 0; i < 100; i++) {
      assertNull(benchmark.miss());
    }
  }
}
