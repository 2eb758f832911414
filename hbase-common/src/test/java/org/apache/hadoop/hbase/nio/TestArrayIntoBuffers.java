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
package org.apache.hadoop.hbase.nio;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;

import java.nio.BufferOverflowException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** An array put into several buffers, by parts of any size. */
@Category({ IOTests.class, SmallTests.class })
public class TestArrayIntoBuffers {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestArrayIntoBuffers.class);

  private static final int ROUNDS = 5000;

  private static MultiByteBuff buffers(Random random, int count, boolean direct) {
    ByteBuffer[] items = new ByteBuffer[count];
    for (int i = 0; i < count; i++) {
      int size = 1 + random.nextInt(40);
      items[i] = direct ? ByteBuffer.allocateDirect(size) : ByteBuffer.allocate(size);
    }
    return new MultiByteBuff(items);
  }

  private static byte[] bytes(Random random, int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }

  @Test
  public void testBytesAreWhereTheyBelong() {
    Random random = new Random(1);
    for (int round = 0; round < ROUNDS; round++) {
      MultiByteBuff target = buffers(random, 1 + random.nextInt(6), round % 2 == 0);
      byte[] expected = bytes(random, target.capacity());
      for (int done = 0; done < expected.length;) {
        int length = random.nextInt(expected.length - done + 1);
        if (random.nextInt(4) == 0 && length > 0) {
          target.put(Arrays.copyOfRange(expected, done, done + length));
        } else {
          target.put(expected, done, length);
        }
        done += length;
        assertEquals(done, target.position());
      }
      assertEquals(0, target.remaining());
      assertArrayEquals(expected, target.toBytes(0, expected.length));
      target.rewind();
      byte[] read = new byte[expected.length];
      target.get(read);
      assertArrayEquals(expected, read);
    }
  }

  @Test
  public void testMoreThanFitsIsRefused() {
    Random random = new Random(2);
    for (int round = 0; round < ROUNDS; round++) {
      MultiByteBuff target = buffers(random, 1 + random.nextInt(6), round % 2 == 0);
      int limit = random.nextInt(target.capacity() + 1);
      target.limit(limit);
      byte[] source = bytes(random, limit + 1 + random.nextInt(10));
      assertThrows(BufferOverflowException.class, () -> target.put(source, 0, source.length));
      // What fits is there, as it is if each byte is put by itself.
      assertArrayEquals(Arrays.copyOf(source, limit), target.toBytes(0, limit));
    }
  }

  @Test
  public void testLessThanTheArrayShouldHaveIsRefused() {
    Random random = new Random(3);
    for (boolean direct : new boolean[] { true, false }) {
      MultiByteBuff target = buffers(random, 6, direct);
      byte[] source = bytes(random, target.capacity() - 1);
      assertThrows(IndexOutOfBoundsException.class,
        () -> target.put(source, 0, target.capacity()));
    }
  }
}
