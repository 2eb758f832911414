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
package org.apache.hadoop.hbase.io.hfile.bucket;

import static org.junit.Assert.assertEquals;

import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.hbase.util.EnvironmentEdgeManager;
import org.apache.hadoop.hbase.util.ManualEnvironmentEdge;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * Tests that the rate of hits in the engine is that since the counters were reset, whoever has
 * looked at it since: the log, the RegionServer's page, or both.
 */
@Category({ IOTests.class, SmallTests.class })
public class TestBucketCacheIoHitsPerSecond {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestBucketCacheIoHitsPerSecond.class);

  private final ManualEnvironmentEdge clock = new ManualEnvironmentEdge();
  private BucketCacheStats stats;

  @Before
  public void setUp() {
    clock.setValue(1000);
    EnvironmentEdgeManager.injectEdge(clock);
    stats = new BucketCacheStats(1, 1);
  }

  @After
  public void tearDown() {
    EnvironmentEdgeManager.reset();
  }

  @Test
  public void testRateDoesNotDependOnWhenItWasLastRead() {
    hits(1000);
    clock.incValue(9000);
    assertEquals(111, stats.getIOHitsPerSecond());
    clock.incValue(1000);
    assertEquals(100, stats.getIOHitsPerSecond());
    assertEquals(100, stats.getIOHitsPerSecond());
  }

  @Test
  public void testRateStartsAnewWithTheCounters() {
    hits(1000);
    clock.incValue(10000);
    stats.reset();
    assertEquals(0, stats.getIOHitsPerSecond());
    hits(20);
    clock.incValue(2000);
    assertEquals(10, stats.getIOHitsPerSecond());
  }

  private void hits(int count) {
    for (int i = 0; i < count; i++) {
      stats.ioHit(1);
    }
  }
}
