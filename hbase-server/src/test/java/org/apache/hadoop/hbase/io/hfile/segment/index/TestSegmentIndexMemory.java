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
package org.apache.hadoop.hbase.io.hfile.segment.index;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.io.hfile.segment.device.Location;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.util.DirectMemoryUtils;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** The budget of {@link SegmentIndex}, and the direct memory that it leaves to others. */
@Category({ IOTests.class, LargeTests.class })
public class TestSegmentIndexMemory {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestSegmentIndexMemory.class);

  private static final int PER_FILE = 1000;
  private static final int BLOCK_BYTES = 33_024;
  private static final int MB = 1 << 20;

  private static int file(int block) {
    return 1 + block / PER_FILE;
  }

  private static long offset(int block) {
    return (long) (block % PER_FILE) * BLOCK_BYTES;
  }

  private static long put(SegmentIndex index, int block) {
    return index.put(file(block), offset(block),
      Location.of(block & Location.MAX_SEGMENTS - 1, 0, Location.UNIT, 0, 0));
  }

  /** Puts blocks until one is refused, and returns how many were taken. */
  private static int fill(SegmentIndex index) {
    int block = 0;
    while (put(index, block) == Location.ABSENT) {
      block++;
    }
    assertEquals(1, index.getRefusedCount());
    assertEquals(block, index.size());
    return block;
  }

  private static void assertBlocks(SegmentIndex index, int from, int to) {
    for (int block = from; block < to; block++) {
      assertEquals(block & Location.MAX_SEGMENTS - 1,
        Location.segment(index.get(file(block), offset(block))));
    }
  }

  @Test
  public void testIndexStaysWithinItsBudget() {
    long slab = PagePool.SLAB_BYTES;
    long[] budgets = { slab, slab + 1, 2 * slab - 1, 2 * slab, 5 * slab / 2 + 3, 4 * slab };
    for (long budget : budgets) {
      SegmentIndex index =
        new SegmentIndex(100_000, new PagePool(budget, 0, () -> Long.MAX_VALUE));
      assertEquals(budget / slab * slab, index.getMaxOffHeapBytes());
      int taken = fill(index);
      assertEquals(index.getMaxOffHeapBytes(), index.getOffHeapBytes());
      // A slab has 65,536 slots; a quarter of the first is for tables that shrink.
      assertTrue(budget + " bytes hold " + taken, taken > budget / slab * 65_536 / 2);
      assertBlocks(index, 0, taken);
      assertEquals(Location.ABSENT, index.get(file(taken), offset(taken)));
    }
  }

  @Test
  public void testIndexWithLessThanASlabRefusesAll() {
    for (long budget : new long[] { 0, 1, PagePool.SLAB_BYTES - 1 }) {
      SegmentIndex index = new SegmentIndex(1, new PagePool(budget, 0, () -> Long.MAX_VALUE));
      assertEquals(0, fill(index));
      assertEquals(0, index.getOffHeapBytes());
      assertEquals(Location.ABSENT, index.get(1, 0));
      assertEquals(Location.ABSENT, index.remove(1, 0));
    }
  }

  /** The pool's limit is that of the JVM's direct memory, of which others use a part. */
  @Test
  public void testIndexLeavesTheReserveToOthers() {
    ByteBuffer others = ByteBuffer.allocateDirect(4 * MB);
    // The reserve is all but 8 MB of the memory that is left, which simulates a limit that is near.
    long reserve = PagePool.directMemoryLeft() - 8 * MB;
    long[] allocatedLater = { 0 };
    PagePool pool = new PagePool(Long.MAX_VALUE, reserve,
      () -> PagePool.directMemoryLeft() - allocatedLater[0]);
    SegmentIndex index = new SegmentIndex(1_000_000, pool);
    int taken = fill(index);
    assertTrue("only " + taken, taken > 100_000);
    assertTrue("not all that is left", index.getOffHeapBytes() <= 8 * MB);
    for (int block = taken; block < taken + 20_000; block++) {
      put(index, block);
    }
    assertTrue(index.getRefusedCount() > 1);
    assertBlocks(index, 0, taken);
    long size = index.size();
    for (int block = 0; block < taken; block++) {
      assertTrue(Location.isPresent(index.remove(file(block), offset(block))));
    }
    assertEquals(size - taken, index.size());
    // Memory that others allocate later is not taken from the index.
    allocatedLater[0] = 64 * MB;
    assertEquals(Location.ABSENT, put(index, 0));
    assertEquals("kept until here", 4 * MB, others.capacity());
  }

  @Test
  public void testPoolTakesNoSlabThatWouldReachIntoTheReserve() {
    int reserve = 10 * MB;
    long[] left = { reserve + PagePool.SLAB_BYTES - 1 };
    PagePool pool = new PagePool(2 * PagePool.SLAB_BYTES, reserve, () -> left[0]);
    assertNull(pool.take(1));
    assertEquals(0, pool.getBytes());
    left[0]++;
    assertEquals(1, pool.take(1).length);
    assertEquals(PagePool.SLAB_BYTES, pool.getBytes());
    left[0] = 0;
    assertEquals("of the slab that is there", 255, pool.take(255).length);
    assertNull(pool.take(1));
    left[0] = Long.MAX_VALUE;
    long[] last = pool.take(256);
    assertNull("the budget", pool.take(1));
    pool.give(last);
    assertNotNull(pool.take(1));
  }

  @Test
  public void testPoolKeepsPagesForTablesThatShrink() {
    PagePool pool = new PagePool(1);
    assertNull(pool.takeToGrow(256 - PagePool.SPARE_PAGES + 1));
    assertNotNull(pool.takeToGrow(256 - PagePool.SPARE_PAGES));
    assertNull(pool.takeToGrow(1));
    assertNotNull(pool.take(PagePool.SPARE_PAGES));
    assertNull(pool.take(1));
  }

  @Test
  public void testReserveIsAPartOfTheLimit() {
    long limit = DirectMemoryUtils.getDirectMemorySize();
    assertEquals(Math.max(32 * MB, limit / 32), PagePool.reserveBytes());
  }

  /** No partition is empty then, so that only tables that shrink free memory. */
  @Test
  public void testRefusalEndsWhenBlocksAreEvicted() {
    SegmentIndex index =
      new SegmentIndex(250_000, new PagePool(4L * PagePool.SLAB_BYTES, 0, () -> Long.MAX_VALUE));
    int taken = fill(index);
    int next = taken;
    List<Integer> refused = new ArrayList<>();
    for (; next < taken + 20_000; next++) {
      if (put(index, next) == Location.REFUSED) {
        refused.add(next);
      }
    }
    assertTrue("only " + refused.size(), refused.size() > 10_000);
    assertEquals(1 + refused.size(), index.getRefusedCount());
    for (int block = 0; block < taken; block++) {
      if (block % 8 < 5) {
        assertTrue(Location.isPresent(index.remove(file(block), offset(block))));
      }
    }
    long before = index.getRefusedCount();
    for (int block : refused) {
      assertEquals(Location.ABSENT, put(index, block));
    }
    assertEquals(before, index.getRefusedCount());
    for (int block : refused) {
      assertBlocks(index, block, block + 1);
    }
  }

  /** Each block is replaced by another, in the order in which they were inserted. */
  @Test
  public void testBudgetSufficesForTheExpectedBlocks() {
    int[] numbers = { 1, 1000, 4097, 40_000, 100_000, 300_000, 1_000_000 };
    for (int blocks : numbers) {
      PagePool pool =
        new PagePool(SegmentIndex.maxBytesFor(blocks), 0, () -> Long.MAX_VALUE);
      SegmentIndex index = new SegmentIndex(blocks, pool);
      for (int block = 0; block < 3 * blocks; block++) {
        assertEquals(Location.ABSENT, put(index, block));
        if (block >= blocks) {
          index.remove(file(block - blocks), offset(block - blocks));
        }
      }
      assertEquals(0, index.getRefusedCount());
      assertTrue(blocks + " blocks: " + index.getOffHeapBytes(),
        index.getOffHeapBytes() <= index.getMaxOffHeapBytes());
      assertTrue(index.getMaxOffHeapBytes() <= 4.2 * MB + 25L * blocks);
    }
  }
}
