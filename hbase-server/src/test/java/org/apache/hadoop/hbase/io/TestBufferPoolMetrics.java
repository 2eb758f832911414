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
import static org.junit.Assert.assertFalse;

import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.metrics.Counter;
import org.apache.hadoop.hbase.metrics.MetricRegistries;
import org.apache.hadoop.hbase.nio.ByteBuff;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.After;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category({ IOTests.class, SmallTests.class })
public class TestBufferPoolMetrics {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestBufferPoolMetrics.class);

  @After
  public void remove() {
    MetricRegistries.global().remove(BufferPoolMetrics.INFO);
  }

  @Test
  public void testGaugesFollowThePool() {
    ByteBuffAllocator pool = new ByteBuffAllocator(true, 1, 60_000, 10_000);
    BufferPoolMetrics.register(pool);
    assertEquals(0, gauge("ExhaustedCount"));
    ByteBuff all = pool.allocate(60_000);
    pool.allocate(20_000).release();
    pool.allocate(30_000).release();
    assertEquals(2, gauge("ExhaustedCount"));
    assertEquals(50_000, gauge("ExhaustedBytes"));
    all.release();
  }

  @Test
  public void testLastServerOfAProcessIsShown() {
    ByteBuffAllocator first = new ByteBuffAllocator(true, 0, 60_000, 10_000);
    BufferPoolMetrics.register(first);
    first.allocate(20_000).release();
    assertEquals(1, gauge("ExhaustedCount"));
    BufferPoolMetrics.register(new ByteBuffAllocator(true, 0, 60_000, 10_000));
    assertEquals(0, gauge("ExhaustedCount"));
  }

  @Test
  public void testServerWithoutAPoolHasNone() {
    BufferPoolMetrics.register(ByteBuffAllocator.HEAP);
    BufferPoolMetrics.register(null);
    assertFalse(MetricRegistries.global().get(BufferPoolMetrics.INFO).isPresent());
  }

  private static long gauge(String name) {
    return ((Counter) MetricRegistries.global().get(BufferPoolMetrics.INFO).get().getMetrics()
      .get(name)).getCount();
  }
}
