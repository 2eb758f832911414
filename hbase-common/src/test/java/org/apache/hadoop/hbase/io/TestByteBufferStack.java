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
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertTrue;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.nio.ByteBuff;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category({ IOTests.class, SmallTests.class })
public class TestByteBufferStack {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestByteBufferStack.class);

  private static final int BUFFER = ByteBuffAllocator.DEFAULT_BUFFER_SIZE;
  private static final int THREADS = 4;
  private static final int ROUNDS = 50_000;

  @Test
  public void testBufferReleasedLastIsTakenFirst() {
    ByteBufferStack free = new ByteBufferStack();
    ByteBuffer one = ByteBuffer.allocate(1);
    ByteBuffer two = ByteBuffer.allocate(2);
    assertTrue(free.isEmpty());
    assertNull(free.poll());
    assertNull(free.peek());
    free.offer(one);
    free.offer(two);
    assertEquals(2, free.size());
    Iterator<ByteBuffer> fromTop = free.iterator();
    assertSame(two, fromTop.next());
    assertSame(one, fromTop.next());
    assertFalse(fromTop.hasNext());
    assertSame(two, free.peek());
    assertSame(two, free.poll());
    assertSame(one, free.poll());
    assertNull(free.poll());
    assertTrue(free.isEmpty());
  }

  @Test
  public void testPoolHandsOutWhatWasInUseLast() {
    ByteBuffAllocator allocator = new ByteBuffAllocator(true, 3, BUFFER, BUFFER / 6);
    ByteBuff first = allocator.allocate(BUFFER);
    ByteBuff second = allocator.allocate(BUFFER);
    ByteBuffer released = second.nioByteBuffers()[0];
    first.release();
    second.release();
    assertEquals(2, allocator.getFreeBufferCount());
    ByteBuff again = allocator.allocate(BUFFER);
    assertSame(released, again.nioByteBuffers()[0]);
    again.release();
    assertEquals(2, allocator.getUsedBufferCount());
    allocator.clean();
    assertEquals(0, allocator.getFreeBufferCount());
  }

  @Test
  public void testNoBufferIsInTwoHands() throws Exception {
    ByteBufferStack free = new ByteBufferStack();
    // The threads want more, so that they find it empty as well.
    int buffers = 2 * THREADS - 1;
    for (int i = 0; i < buffers; i++) {
      free.offer(ByteBuffer.allocate(Long.BYTES));
    }
    ExecutorService pool = Executors.newFixedThreadPool(THREADS);
    try {
      List<Future<?>> results = new ArrayList<>();
      for (int i = 1; i <= THREADS; i++) {
        long mine = i;
        results.add(pool.submit(() -> takeAndPutBack(free, mine)));
      }
      for (Future<?> result : results) {
        result.get();
      }
    } finally {
      pool.shutdownNow();
    }
    Set<ByteBuffer> left = Collections.newSetFromMap(new IdentityHashMap<>());
    for (ByteBuffer buffer = free.poll(); buffer != null; buffer = free.poll()) {
      assertTrue("twice in the pool", left.add(buffer));
    }
    assertEquals(buffers, left.size());
  }

  private static void takeAndPutBack(ByteBufferStack free, long mine) {
    for (int i = 0; i < ROUNDS; i++) {
      ByteBuffer one = free.poll();
      ByteBuffer two = free.poll();
      for (ByteBuffer buffer : new ByteBuffer[] { one, two }) {
        if (buffer != null) {
          buffer.putLong(0, mine);
        }
      }
      for (ByteBuffer buffer : new ByteBuffer[] { one, two }) {
        if (buffer != null) {
          assertEquals("somebody else has it too", mine, buffer.getLong(0));
          free.offer(buffer);
        }
      }
    }
  }
}
