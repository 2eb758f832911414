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
package dev.stratum.bench.wal;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import dev.stratum.bench.blockcache.TemporaryFiles;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.junit.After;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category(LargeTests.class)
public class TestAsyncWalPutsBenchmark {
  @Rule
  public final TemporaryFiles files = new TemporaryFiles();

  private final AsyncWalPutsBenchmark benchmark = new AsyncWalPutsBenchmark();

  @After
  public void close() throws Exception {
    benchmark.close();
  }

  private void putsArrive(String provider, Durability durability) throws Exception {
    benchmark.provider = provider;
    benchmark.durability = durability;
    benchmark.batch = 2;
    benchmark.intervalMs = 1;
    benchmark.syncsInFlight = "1";
    benchmark.syncers = 5;
    benchmark.open();
    for (int i = 0; i < 3; i++) {
      benchmark.startAnew();
      for (int n = 0; n < 50; n++) {
        Put[] puts = benchmark.put();
        assertEquals(2, puts.length);
        assertTrue(benchmark.has(puts[0]) && benchmark.has(puts[1]));
      }
    }
  }

  @Test
  public void testPutsArriveWithAsyncFsWal() throws Exception {
    putsArrive("asyncfs", Durability.ASYNC_WAL);
  }

  @Test
  public void testPutsArriveWithFsHLog() throws Exception {
    putsArrive("filesystem", Durability.SYNC_WAL);
  }
}
