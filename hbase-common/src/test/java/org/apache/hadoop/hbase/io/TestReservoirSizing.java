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
package org.apache.hadoop.hbase.io;

import static org.junit.Assert.assertEquals;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** Tests the default of the maximum number of buffers of a pool. */
@Category({ IOTests.class, SmallTests.class })
public class TestReservoirSizing {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestReservoirSizing.class);

  /** 2 MB in buffers of 65 KB. */
  private static final int BUFFERS = 31;

  private final Configuration conf = HBaseConfiguration.create();

  @Before
  public void setHandlers() {
    conf.setInt(HConstants.REGION_SERVER_HANDLER_COUNT, 30);
  }

  @Test
  public void testAsStockWithoutNewKeys() {
    assertEquals(30 * BUFFERS * 2, count());
    conf.setInt(HConstants.REGION_SERVER_HANDLER_COUNT, 7);
    conf.setInt(ReservoirSizing.PREFETCH_THREADS_KEY, 16);
    conf.setInt(ReservoirSizing.MULTIGET_THREADS_KEY, 16);
    assertEquals(7 * BUFFERS * 2, count());
    conf.setBoolean(ReservoirSizing.MULTIGET_KEY, false);
    assertEquals(7 * BUFFERS * 2, count());
  }

  @Test
  public void testGrowsByPrefetchThreadsWhereWarmUpIsUsed() {
    for (String key : ReservoirSizing.PREFETCH_DEFAULTS.keySet()) {
      Configuration warm = new Configuration(conf);
      warm.set(key, "0.5");
      assertEquals(key, 4, ReservoirSizing.beyondHandlers(warm));
      warm.setInt(ReservoirSizing.PREFETCH_THREADS_KEY, 16);
      assertEquals(key, 16, ReservoirSizing.beyondHandlers(warm));
      assertEquals(key, (30 * 2 + 16) * BUFFERS, count(warm));
    }
  }

  @Test
  public void testGrowsByThreadsOfMultigets() {
    conf.setBoolean(ReservoirSizing.MULTIGET_KEY, true);
    assertEquals(Runtime.getRuntime().availableProcessors(),
      ReservoirSizing.beyondHandlers(conf));
    conf.setInt(ReservoirSizing.MULTIGET_THREADS_KEY, 12);
    assertEquals((30 * 2 + 12) * BUFFERS, count());
    conf.set("hbase.rs.prefetch.limit.mb.per.sec", "1");
    assertEquals((30 * 2 + 12 + 4) * BUFFERS, count());
    conf.set(ReservoirSizing.MULTIGET_THREADS_KEY, "many");
    assertEquals((30 * 2 + 4) * BUFFERS, count());
    conf.unset(ReservoirSizing.MULTIGET_THREADS_KEY);
    conf.set(ReservoirSizing.MULTIGET_KEY, "ture");
    assertEquals("left to the check of settings", (30 * 2 + 4) * BUFFERS, count());
  }

  @Test
  public void testWhatTheOperatorSetsStays() {
    conf.set("hbase.rs.prefetch.limit.mb.per.sec", "1");
    conf.setInt(ByteBuffAllocator.MAX_BUFFER_COUNT_KEY, 5);
    assertEquals(5, count());
  }

  private int count() {
    return count(conf);
  }

  private static int count(Configuration conf) {
    return ByteBuffAllocator.create(conf, true).getTotalBufferCount();
  }
}
