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
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.nio.ByteBuff;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** A pool without direct memory to be had for a new buffer is as large afterwards as before. */
@Category({ IOTests.class, SmallTests.class })
public class TestFailedPoolAllocation {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestFailedPoolAllocation.class);

  private static final int BUFFER = 4096;

  /** How many buffers there is direct memory for. */
  private int memory;

  private final ByteBuffAllocator pool = new ByteBuffAllocator(true, 4, BUFFER, BUFFER / 6) {
    @Override
    ByteBuffer newBuffer() {
      if (memory == 0) {
        throw new OutOfMemoryError("for the test");
      }
      memory--;
      return super.newBuffer();
    }
  };

  @Test
  public void testBufferThatCouldNotBeMadeIsNotCounted() {
    for (int i = 0; i < 10; i++) {
      assertThrows(OutOfMemoryError.class, pool::allocateOneBuffer);
      assertEquals(0, pool.getUsedBufferCount());
      assertEquals(0, pool.getPoolAllocationBytes());
    }
    memory = 4;
    List<ByteBuff> taken = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      taken.add(pool.allocateOneBuffer());
      assertFalse(taken.get(i).hasArray());
    }
    // The pool has no more, so this one is on the heap.
    taken.add(pool.allocateOneBuffer());
    assertTrue(taken.get(4).hasArray());
    taken.forEach(ByteBuff::release);
  }

  @Test
  public void testBuffersTakenBeforeTheFailureGoBack() {
    memory = 2;
    assertThrows(OutOfMemoryError.class, () -> pool.allocate(3 * BUFFER));
    assertEquals(2, pool.getUsedBufferCount());
    assertEquals(2, pool.getFreeBufferCount());
    memory = 2;
    ByteBuff all = pool.allocate(4 * BUFFER);
    for (ByteBuffer buffer : all.nioByteBuffers()) {
      assertTrue(buffer.isDirect());
    }
    all.release();
    assertEquals(4, pool.getFreeBufferCount());
  }
}
