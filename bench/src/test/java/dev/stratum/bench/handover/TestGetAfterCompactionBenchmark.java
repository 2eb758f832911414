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
package dev.stratum.bench.handover;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import dev.stratum.bench.blockcache.TemporaryFiles;
import dev.stratum.bench.harness.ForkClass;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.junit.After;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category(LargeTests.class)
public class TestGetAfterCompactionBenchmark {
  @Rule
  public final TemporaryFiles files = new TemporaryFiles();

  private final GetAfterCompactionBenchmark benchmark = new GetAfterCompactionBenchmark();

  @After
  public void close() throws Exception {
    benchmark.close();
  }

  @Test
  public void testGetsFindAllRows() throws Exception {
    benchmark.rows = 2000;
    benchmark.cacheMb = 80;
    benchmark.handover = true;
    benchmark.fill();
    for (int i = 0; i < 2; i++) {
      benchmark.heat();
      benchmark.compact();
      long before = benchmark.misses();
      assertEquals(GetAfterCompactionBenchmark.GETS, benchmark.gets());
      long misses = benchmark.misses() - before;
      // Stock misses about as many as the file has blocks, the fork none.
      assertTrue(misses + " misses",
        ForkClass.COMPOSITE_BUCKET_CACHE.isPresent() ? misses < 5 : misses > 20);
    }
  }
}
