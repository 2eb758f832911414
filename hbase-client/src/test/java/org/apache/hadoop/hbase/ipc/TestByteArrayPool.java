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
package org.apache.hadoop.hbase.ipc;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotSame;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.ClientTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category({ ClientTests.class, SmallTests.class })
public class TestByteArrayPool {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestByteArrayPool.class);

  private static final int MIN = ByteArrayPool.MIN_LENGTH;
  private static final int MAX = ByteArrayPool.MAX_LENGTH;

  @Test
  public void testAnArrayIsTakenAgainForEverySizeThatItFits() {
    ByteArrayPool arrays = new ByteArrayPool(2L * MAX);
    for (int length = MIN; length <= MAX && length > 0; length *= 2) {
      byte[] array = arrays.take(length);
      assertEquals(length, array.length);
      int tooSmall = length == MIN ? 0 : length / 2;
      for (int size : new int[] { tooSmall + 1, tooSmall + 2, length - 1, length }) {
        arrays.give(array);
        assertEquals(length, arrays.bytes());
        byte[] again = arrays.take(size);
        if (size >= MIN) {
          assertSame(array, again);
        } else {
          assertEquals(size, again.length);
          assertSame(array, arrays.take(length));
        }
        assertEquals(0, arrays.bytes());
      }
    }
  }

  @Test
  public void testAnArrayIsNotTakenTwice() {
    ByteArrayPool arrays = new ByteArrayPool(MAX);
    byte[] array = arrays.take(MIN);
    arrays.give(array);
    assertSame(array, arrays.take(MIN));
    assertNotSame(array, arrays.take(MIN));
  }

  @Test
  public void testShortAndLongArraysAreNotKept() {
    ByteArrayPool arrays = new ByteArrayPool(8L * MAX);
    for (int size : new int[] { 0, 1, MIN - 1, MAX + 1, 2 * MAX }) {
      byte[] array = arrays.take(size);
      assertEquals(size, array.length);
      arrays.give(array);
      assertEquals(0, arrays.bytes());
    }
  }

  @Test
  public void testNoMoreIsKeptThanTheBound() {
    ByteArrayPool arrays = new ByteArrayPool(5 * MIN + MIN / 2);
    for (int i = 0; i < 10; i++) {
      arrays.give(new byte[MIN]);
      arrays.give(new byte[2 * MIN]);
      assertTrue(arrays.bytes() <= 5 * MIN + MIN / 2);
    }
    assertEquals(5 * MIN, arrays.bytes());
  }

  @Test
  public void testNoMoreArraysOfALengthAreKeptThanAFew() {
    ByteArrayPool arrays = new ByteArrayPool(Long.MAX_VALUE);
    for (int i = 0; i < 1000; i++) {
      arrays.give(new byte[MIN]);
    }
    assertTrue(arrays.bytes() + " bytes", arrays.bytes() <= 64 * MIN);
    for (int i = 0; i < 8; i++) {
      arrays.give(new byte[MAX]);
    }
    assertTrue(arrays.bytes() + " bytes", arrays.bytes() <= 64 * MIN + 4L * MAX);
  }

  /** Each thread writes its own number into its arrays, which no other thread may have. */
  @Test
  public void testThreadsDoNotShareAnArray() throws Exception {
    ByteArrayPool arrays = new ByteArrayPool(16L * MIN);
    int threads = 8;
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      List<Future<?>> all = new ArrayList<>();
      for (int t = 1; t <= threads; t++) {
        byte number = (byte) t;
        all.add(pool.submit(() -> {
          for (int i = 0; i < 20_000; i++) {
            byte[] array = arrays.take(MIN << (i & 1));
            Arrays.fill(array, 0, 64, number);
            for (int k = 0; k < 64; k++) {
              assertEquals(number, array[k]);
            }
            arrays.give(array);
          }
        }));
      }
      for (Future<?> one : all) {
        one.get();
      }
    } finally {
      pool.shutdownNow();
    }
    assertTrue(arrays.bytes() + " bytes", arrays.bytes() <= 16L * MIN);
  }
}
