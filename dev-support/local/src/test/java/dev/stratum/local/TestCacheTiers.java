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
package dev.stratum.local;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

public class TestCacheTiers {
  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  @Test
  public void testRatioIsADashWithoutRequests() {
    assertEquals("-", CacheTiers.ratio(0, 0));
  }

  @Test
  public void testRatioIsRoundedDownSoThatOneMissIsNeverHidden() {
    assertEquals("99.99 %", CacheTiers.ratio(999_999, 1));
    assertEquals("100.00 %", CacheTiers.ratio(999_999, 0));
    assertEquals("0.00 %", CacheTiers.ratio(0, 5));
    assertEquals("66.66 %", CacheTiers.ratio(2, 1));
  }

  @Test
  public void testEngineIsNamedWithoutPathsAndSizes() {
    assertEquals("FileIOEngine",
      CacheTiers.engineName("ioengine=FileIOEngine, paths=[/a b/l2.cache], capacity=1,024"));
    assertEquals("ByteBufferIOEngine",
      CacheTiers.engineName("ioengine=ByteBufferIOEngine, capacity=1,024"));
    assertEquals("offheap", CacheTiers.engineName("offheap"));
  }

  @Test
  public void testTierOfSegmentsIsNotNamedHeap() {
    Configuration conf = LocalSettings.create(folder.getRoot().toPath(), 32, 64,
      Map.of("hbase.bucketcache.l2.ioengine", "segments:" + folder.getRoot() + "/l2",
        "hbase.segmentcache.segment.mb", "1"));
    BlockCache cache = BlockCacheFactory.createBlockCache(conf);
    try {
      String report = new CacheTiers(cache).report().toString();
      assertTrue(report, report.contains(" ByteBufferIOEngine "));
      assertTrue(report, report.contains(" segments "));
      assertFalse(report, report.contains("heap"));
    } finally {
      cache.shutdown();
    }
  }
}
