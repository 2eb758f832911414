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
import static org.junit.Assert.assertTrue;

import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.nio.ByteBuff;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category({ IOTests.class, SmallTests.class })
public class TestHeapFallbackStats {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestHeapFallbackStats.class);

  private static final int BUFFER = ByteBuffAllocator.DEFAULT_BUFFER_SIZE;

  private long now = Long.MAX_VALUE - 5;

  @Test
  public void testLogIsToldOnceAMinute() {
    HeapFallbackStats exhaustion = new HeapFallbackStats(() -> now);
    assertTrue(exhaustion.fellToHeap(100, 1));
    assertFalse(exhaustion.fellToHeap(100, 1));
    now += TimeUnit.MINUTES.toNanos(1) - 1;
    assertFalse(exhaustion.fellToHeap(100, 1));
    now++;
    assertTrue(exhaustion.fellToHeap(100, 1));
    assertFalse(exhaustion.fellToHeap(100, 1));
    assertEquals(5, exhaustion.getCount());
    assertEquals(500, exhaustion.getBytes());
  }

  @Test
  public void testWhatThePoolShouldHaveServedIsCounted() {
    ByteBuffAllocator allocator = new ByteBuffAllocator(true, 2, BUFFER, BUFFER / 6);
    ByteBuff first = allocator.allocate(BUFFER);
    ByteBuff small = allocator.allocate(100);
    assertEquals(0, allocator.getExhaustion().getCount());
    ByteBuff part = allocator.allocate(2 * BUFFER + 50);
    assertEquals(1, allocator.getExhaustion().getCount());
    assertEquals(BUFFER + 50, allocator.getExhaustion().getBytes());
    ByteBuff one = allocator.allocateOneBuffer();
    assertEquals(2, allocator.getExhaustion().getCount());
    assertEquals(2 * BUFFER + 50, allocator.getExhaustion().getBytes());
    first.release();
    small.release();
    part.release();
    one.release();
    allocator.allocate(2 * BUFFER).release();
    assertEquals(2, allocator.getExhaustion().getCount());
  }

  @Test
  public void testAllocatorWithoutAPoolIsNeverExhausted() {
    ByteBuffAllocator.HEAP.allocate(BUFFER).release();
    ByteBuffAllocator.HEAP.allocateOneBuffer().release();
    assertEquals(0, ByteBuffAllocator.HEAP.getExhaustion().getCount());
  }
}
