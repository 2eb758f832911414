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
package dev.stratum.bench.multiget;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertTrue;

import dev.stratum.bench.blockcache.TemporaryFiles;
import dev.stratum.bench.harness.ForkClass;
import java.io.IOException;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.junit.After;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category(LargeTests.class)
public class TestParallelMultigetBenchmark {
  /** Ten cells: two lengths of four bytes, a key of 45 to 47 bytes with its parts' lengths, 100. */
  private static final int MIN_ROW_BYTES = 1500;

  @Rule
  public final TemporaryFiles files = new TemporaryFiles();

  private final ParallelMultigetBenchmark benchmark = new ParallelMultigetBenchmark();

  @After
  public void close() throws Exception {
    benchmark.close();
  }

  /** The server that it asks refuses a multi that does not find all of its rows. */
  @Test
  public void testAllRowsOfABatchAreAnswered() throws Exception {
    benchmark.batch = 50;
    benchmark.threads = 2;
    benchmark.parallel = true;
    benchmark.megabytes = 16;
    benchmark.segments = ForkClass.SEGMENT_CACHE.isPresent() ? "joined" : "none";
    benchmark.fill();
    for (int i = 0; i < 200; i++) {
      int bytes = benchmark.batch();
      assertTrue("bytes " + bytes, bytes > benchmark.batch * MIN_ROW_BYTES);
    }
    assertTrue(benchmark.get() > MIN_ROW_BYTES);
    benchmark.dense = true;
    assertTrue(benchmark.batch() > benchmark.batch * MIN_ROW_BYTES);
    servedAndAnswered();
    seenByAClient();
  }

  private void servedAndAnswered() throws IOException {
    ParallelMultigetBenchmark.Request request = new ParallelMultigetBenchmark.Request();
    request.receive(benchmark);
    assertNotNull(benchmark.served(request));
    request.respond();
  }

  private void seenByAClient() throws IOException {
    ParallelMultigetBenchmark.Client client = new ParallelMultigetBenchmark.Client();
    client.open(benchmark);
    for (Result row : benchmark.client(client)) {
      assertEquals(10, row.size());
    }
    client.close();
  }
}
