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
import static org.junit.Assert.assertTrue;

import dev.stratum.bench.blockcache.TemporaryFiles;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.util.VersionInfo;
import org.junit.After;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category(LargeTests.class)
public class TestOpenLargeFileBenchmark {
  private static final int DATA_BLOCKS = 16 * 16;

  @Rule
  public final TemporaryFiles files = new TemporaryFiles();

  private final OpenLargeFileBenchmark benchmark = new OpenLargeFileBenchmark();

  @Before
  public void setUp() {
    benchmark.megabytes = 16;
  }

  @After
  public void close() throws Exception {
    benchmark.close();
  }

  private long blocksCached() throws Exception {
    benchmark.write();
    long blocks = 0;
    for (int i = 0; i < 2; i++) {
      blocks = benchmark.open();
      benchmark.evict();
      assertEquals("blocks left", 0, benchmark.blockCache.getBlockCount());
    }
    return blocks;
  }

  @Test
  public void testOfAFileAboveTheLimitTheForkCachesIndexAndBloomOnly() throws Exception {
    benchmark.limit = 8;
    long blocks = blocksCached();
    boolean fork = VersionInfo.getVersion().contains("stratum");
    assertTrue(blocks + " blocks", fork ? blocks < 10 : blocks >= DATA_BLOCKS / 2);
  }

  @Test
  public void testAFileUpToTheLimitIsCachedWholly() throws Exception {
    benchmark.limit = 32;
    long blocks = blocksCached();
    assertTrue(blocks + " blocks", blocks >= DATA_BLOCKS / 2);
  }
}
