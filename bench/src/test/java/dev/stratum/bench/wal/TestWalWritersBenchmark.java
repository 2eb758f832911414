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
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.junit.After;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category(LargeTests.class)
public class TestWalWritersBenchmark {
  @Rule
  public final TemporaryFiles files = new TemporaryFiles();

  private final WalWritersBenchmark benchmark = new WalWritersBenchmark();
  private final WalWritersBenchmark.Profile profile = new WalWritersBenchmark.Profile();

  @After
  public void close() throws Exception {
    benchmark.close();
  }

  private void tellsWhereTheTimeGoes(String provider) throws Exception {
    benchmark.provider = provider;
    benchmark.durability = Durability.SYNC_WAL;
    benchmark.writers = 4;
    benchmark.syncsInFlight = "0";
    benchmark.syncers = 5;
    benchmark.open();
    benchmark.startAnew();
    profile.clear();
    benchmark.puts(profile);
    // The last sync may not have been counted yet, and one of the roll may have been.
    assertTrue(profile.putsBySync() > 0.9 && profile.putsBySync() < 4.5);
    double[] parts =
      { profile.handlers(), profile.wal(), profile.hdfsClient(), profile.dataNodes() };
    double sum = 0;
    for (double part : parts) {
      assertTrue(part > 0);
      sum += part;
    }
    // Clocks of threads and of the process tick apart.
    assertTrue(String.valueOf(sum), sum < 110);
  }

  @Test
  public void testTellsWhereTheTimeOfAsyncFsWalGoes() throws Exception {
    tellsWhereTheTimeGoes("asyncfs");
  }

  @Test
  public void testTellsWhereTheTimeOfFsHLogGoes() throws Exception {
    tellsWhereTheTimeGoes("filesystem");
  }

  @Test
  public void testThreadsOfHdfsAreToldFromThoseOfTheWal() {
    assertEquals(CpuShares.Part.WAL,
      CpuShares.part("AsyncFSWAL-0-hdfs://localhost:1/hbase-prefix:bench"));
    assertEquals(CpuShares.Part.HDFS_CLIENT, CpuShares.part("AsyncFSWAL-1-1"));
    assertEquals(CpuShares.Part.OTHERS, CpuShares.part("main"));
  }
}
