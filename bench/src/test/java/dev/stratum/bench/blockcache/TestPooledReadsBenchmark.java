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
public class TestPooledReadsBenchmark {
  @Rule
  public final TemporaryFiles files = new TemporaryFiles();

  private final PooledReadsBenchmark benchmark = new PooledReadsBenchmark();
  private final int size;
  private final String pool;

  public TestPooledReadsBenchmark(int size, String pool) {
    this.size = size;
    this.pool = pool;
  }

  @Parameters(name = "{0} {1}")
  public static List<Object[]> sizes() {
    return List.of(new Object[] { 8192, "plain" }, new Object[] { 8192, "classes" },
      new Object[] { 131072, "classes" });
  }

  @Test
  public void testFreshBlocksAreOfTheSizeAskedFor() throws Exception {
    PooledReadsBenchmark.Fresh blocks = new PooledReadsBenchmark.Fresh();
    set(blocks);
    blocks.engine = "file";
    blocks.fill();
    for (int i = 0; i < 100; i++) {
      assertOfSize(benchmark.fresh(blocks));
    }
    blocks.close();
  }

  @Test
  public void testRecoveredBlocksAreOfTheSizeAskedFor() throws Exception {
    PooledReadsBenchmark.Recovered blocks = new PooledReadsBenchmark.Recovered();
    set(blocks);
    blocks.fill();
    for (int i = 0; i < 100; i++) {
      assertOfSize(benchmark.recovered(blocks));
    }
    blocks.close();
  }

  private void set(PooledReadsBenchmark.Blocks blocks) {
    blocks.size = size;
    blocks.pool = pool;
    blocks.megabytes = 2;
  }

  private void assertOfSize(int sizeWithHeader) {
    assertTrue("size " + sizeWithHeader, sizeWithHeader >= size && sizeWithHeader < size + 300);
  }
}
