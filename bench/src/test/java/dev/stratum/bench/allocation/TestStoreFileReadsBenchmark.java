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

import static org.junit.Assert.assertTrue;

import dev.stratum.bench.blockcache.TemporaryFiles;
import java.util.List;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.junit.After;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;
import org.junit.runners.Parameterized.Parameters;

@RunWith(Parameterized.class)
@Category(LargeTests.class)
public class TestStoreFileReadsBenchmark {
  private static final int SIZE = 16384;

  @Rule
  public final TemporaryFiles files = new TemporaryFiles();

  private final StoreFileReadsBenchmark benchmark = new StoreFileReadsBenchmark();

  public TestStoreFileReadsBenchmark(boolean byteBuffers, String pool) {
    benchmark.size = SIZE;
    benchmark.megabytes = 1;
    benchmark.byteBuffers = byteBuffers;
    benchmark.pool = pool;
  }

  @Parameters(name = "{0} {1}")
  public static List<Object[]> streams() {
    return List.of(new Object[] { true, "plain" }, new Object[] { true, "classes" },
      new Object[] { false, "plain" });
  }

  @After
  public void close() throws Exception {
    benchmark.close();
  }

  @Test
  public void testBlocksAreOfTheSizeAskedFor() throws Exception {
    benchmark.open();
    for (int i = 0; i < 100; i++) {
      assertOfSize(benchmark.pread());
      assertOfSize(benchmark.stream());
    }
  }

  private static void assertOfSize(int sizeWithHeader) {
    assertTrue("size " + sizeWithHeader, sizeWithHeader >= SIZE && sizeWithHeader < SIZE + 300);
  }
}
