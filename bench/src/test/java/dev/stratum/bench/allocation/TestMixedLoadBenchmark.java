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

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import dev.stratum.bench.blockcache.TemporaryFiles;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.junit.After;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category(LargeTests.class)
public class TestMixedLoadBenchmark {
  private static final int OPERATIONS = 400;

  @Rule
  public final TemporaryFiles files = new TemporaryFiles();

  private final MixedLoadBenchmark benchmark = new MixedLoadBenchmark();

  @After
  public void close() throws Exception {
    benchmark.close();
  }

  @Test
  public void testTableOnHdfsIsServed() throws Exception {
    benchmark.files = "hdfs";
    benchmark.cache = "fresh";
    benchmark.operation = "get";
    benchmark.size = 8192;
    benchmark.pool = "plain";
    benchmark.rows = 1000;
    benchmark.start();
    MixedLoadBenchmark.Client client = new MixedLoadBenchmark.Client();
    client.open(benchmark);
    for (int i = 0; i < OPERATIONS; i++) {
      assertEquals(StandaloneTable.FIELD_COUNT, benchmark.operation(client));
    }
    client.close();
  }

  @Test
  public void testRestartedServerReadsWhatTheOneBeforeHadCached() throws Exception {
    benchmark.files = "local";
    benchmark.cache = "restarted";
    benchmark.operation = "mixed";
    benchmark.size = 8192;
    benchmark.pool = "classes";
    benchmark.rows = 4000;
    benchmark.start();
    assertTrue(benchmark.table.isSettled());
    long misses = benchmark.table.bucketCache().getStats().getMissCount();
    long hits = benchmark.table.bucketCache().getStats().getHitCount();
    MixedLoadBenchmark.Client client = new MixedLoadBenchmark.Client();
    client.open(benchmark);
    int cells = 0;
    for (int i = 0; i < OPERATIONS; i++) {
      cells += benchmark.operation(client);
    }
    client.close();
    // Half of them are of one row, a quarter of ten.
    assertTrue("cells " + cells, cells > OPERATIONS * 20 && cells < OPERATIONS * 50);
    assertEquals("misses", misses, benchmark.table.bucketCache().getStats().getMissCount());
    hits = benchmark.table.bucketCache().getStats().getHitCount() - hits;
    assertTrue("hits " + hits, hits >= OPERATIONS);
  }
}
