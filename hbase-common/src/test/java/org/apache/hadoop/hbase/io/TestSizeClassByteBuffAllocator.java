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
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.nio.ByteBuff;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

import org.apache.hbase.thirdparty.io.netty.util.ResourceLeakDetector;

@Category({ IOTests.class, SmallTests.class })
public class TestSizeClassByteBuffAllocator {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestSizeClassByteBuffAllocator.class);

  private static final int BUFFER = ByteBuffAllocator.DEFAULT_BUFFER_SIZE;
  private static final int[] PIECES = { 24, 12, 6, 3 };

  private final SizeClassByteBuffAllocator allocator = allocator(16);

  @Test
  public void testIsMadeWhenTheKeyIsSet() {
    Configuration conf = HBaseConfiguration.create();
    assertSame(ByteBuffAllocator.class, ByteBuffAllocator.create(conf, true).getClass());
    conf.set(SizeClassByteBuffAllocator.ENABLED_KEY, " TRUE ");
    assertSame(SizeClassByteBuffAllocator.class, ByteBuffAllocator.create(conf, true).getClass());
    assertSame(ByteBuffAllocator.HEAP, ByteBuffAllocator.create(conf, false));
    conf.setBoolean(SizeClassByteBuffAllocator.ENABLED_KEY, false);
    assertSame(ByteBuffAllocator.class, ByteBuffAllocator.create(conf, true).getClass());
  }

  @Test
  public void testClassThatIsNamedComesFirst() {
    Configuration conf = HBaseConfiguration.create();
    conf.setBoolean(SizeClassByteBuffAllocator.ENABLED_KEY, true);
    conf.set(ByteBuffAllocator.BYTEBUFF_ALLOCATOR_CLASS,
      DeallocateRewriteByteBuffAllocator.class.getName());
    assertSame(DeallocateRewriteByteBuffAllocator.class,
      ByteBuffAllocator.create(conf, true).getClass());
  }

  @Test
  public void testBadValueIsNamed() {
    Configuration conf = HBaseConfiguration.create();
    conf.set(SizeClassByteBuffAllocator.ENABLED_KEY, "ture");
    IllegalArgumentException e =
      assertThrows(IllegalArgumentException.class, () -> ByteBuffAllocator.create(conf, true));
    assertEquals(
      "hbase.server.allocator.size.classes.enabled is ture; must be true or false. Set one of "
        + "these, or remove the key for the default of false.",
      e.getMessage());
  }

  @Test
  public void testEachSizeIsServedFromTheSmallestPieceThatItFitsIn() {
    int least = BUFFER / 48;
    assertOnHeap(0);
    assertOnHeap(1);
    assertOnHeap(least - 1);
    int from = least;
    for (int pieces : PIECES) {
      assertPieceOf(BUFFER / pieces, from);
      assertPieceOf(BUFFER / pieces, BUFFER / pieces);
      from = BUFFER / pieces + 1;
    }
    assertPieceOf(BUFFER, from);
    assertPieceOf(BUFFER, BUFFER);
    assertEquals("One buffer for each size of pieces, and a whole one", 5,
      allocator.getUsedBufferCount());
  }

  @Test
  public void testWhatALargeBlockHasBeyondWholeBuffersIsAPiece() {
    for (int tail : new int[] { BUFFER / 48, BUFFER / 12, BUFFER / 12 + 1, BUFFER / 3 }) {
      ByteBuff block = allocator.allocate(2 * BUFFER + tail);
      ByteBuffer[] buffers = block.nioByteBuffers();
      assertEquals(3, buffers.length);
      for (ByteBuffer buffer : buffers) {
        assertTrue(buffer.isDirect());
      }
      assertEquals(2 * BUFFER + tail, block.limit());
      fill(block, tail);
      assertHolds(block, tail);
      block.release();
    }
    assertEquals(2, allocator.getFreeBufferCount());
  }

  @Test
  public void testPiecesDoNotOverlap() {
    Random random = new Random(1);
    List<ByteBuff> live = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      ByteBuff piece = allocator.allocate(BUFFER / 48 + random.nextInt(BUFFER / 3));
      fill(piece, i);
      live.add(piece);
    }
    for (int i = 0; i < live.size(); i++) {
      assertHolds(live.get(i), i);
      live.get(i).release();
    }
  }

  @Test
  public void testBuffersThatAreWholeAgainServeAnySize() {
    List<ByteBuff> pieces = new ArrayList<>();
    for (int i = 0; i < 16 * 12; i++) {
      pieces.add(allocator.allocate(BUFFER / 12));
      assertFalse(pieces.get(i).hasArray());
    }
    assertEquals(16, allocator.getUsedBufferCount());
    assertOnHeap(BUFFER / 12);
    // The pieces are released in random order, since buffers have to become whole in any order.
    Collections.shuffle(pieces, new Random(1));
    pieces.forEach(ByteBuff::release);
    assertEquals("One stays divided", 15, allocator.getFreeBufferCount());
    ByteBuff large = allocator.allocate(15 * BUFFER);
    for (ByteBuffer buffer : large.nioByteBuffers()) {
      assertTrue(buffer.isDirect());
    }
    assertEquals("No memory was added", 16, allocator.getUsedBufferCount());
    assertPieceOf(BUFFER / 12, BUFFER / 12);
    large.release();
    assertEquals(15, allocator.getFreeBufferCount());
  }

  @Test
  public void testBoundIsThatOfBuffers() {
    SizeClassByteBuffAllocator small = allocator(2);
    List<ByteBuff> all = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      all.add(small.allocate(8 * 1024));
      assertTrue(small.getUsedBufferCount() <= 2);
    }
    assertEquals(12, all.stream().filter(piece -> !piece.hasArray()).count());
    all.forEach(ByteBuff::release);
    assertEquals(2, small.getUsedBufferCount());
    assertEquals(1, small.getFreeBufferCount());
  }

  @Test
  public void testSlicesAndDuplicatesHoldThePiece() {
    ByteBuff piece = allocator.allocate(4096);
    fill(piece, 1);
    ByteBuff slice = piece.duplicate().position(8).slice();
    slice.retain();
    piece.release();
    ByteBuff other = allocator.allocate(4096);
    fill(other, 2);
    assertEquals(4088, slice.remaining());
    for (int i = 0; i < 4088; i++) {
      assertEquals((byte) (1 + 8 + i), slice.get(i));
    }
    slice.release();
    other.release();
  }

  @Test
  public void testBytesAreCountedAsTheyAreAskedFor() {
    allocator.allocate(4096).release();
    allocator.allocate(8192).release();
    allocator.allocate(BUFFER).release();
    allocator.allocate(100).release();
    assertEquals(4096 + 8192 + BUFFER, allocator.getPoolAllocationBytes());
    assertEquals(100, allocator.getHeapAllocationBytes());
    assertEquals(100.0 / (4096 + 8192 + BUFFER + 100),
      ByteBuffAllocator.getHeapAllocationRatio(allocator), 1e-9);
    assertEquals(0.0, ByteBuffAllocator.getHeapAllocationRatio(allocator), 0);
  }

  @Test
  public void testWhatComesBackAfterACleanIsLeftAlone() {
    ByteBuff before = allocator.allocate(8192);
    ByteBuff full = allocator.allocate(BUFFER / 3);
    allocator.clean();
    assertEquals(0, allocator.getUsedBufferCount());
    ByteBuff after = allocator.allocate(8192);
    fill(after, 3);
    before.release();
    full.release();
    assertHolds(after, 3);
    after.release();
    assertPieceOf(BUFFER / 6, 8192);
  }

  @Test
  public void testTakingAPieceLeavesLittleBehind() {
    // The level is that of a server; the paranoid level of tests allocates more than what it
    // tracks.
    ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.SIMPLE);
    int times = 100_000;
    takeAndRelease(times);
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long thread = Thread.currentThread().getId();
    long start = threads.getThreadAllocatedBytes(thread);
    takeAndRelease(times);
    long each = (threads.getThreadAllocatedBytes(thread) - start) / times;
    assertTrue(each + " bytes for each", each <= 200);
  }

  @Test
  public void testThreadsShareThePool() throws Exception {
    for (int threads : new int[] { 1, 8, 33 }) {
      testThreadsShareThePool(threads);
    }
  }

  private void testThreadsShareThePool(int threads) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      List<Future<?>> ends = new ArrayList<>();
      for (int t = 0; t < threads; t++) {
        int seed = t;
        ends.add(pool.submit(() -> churn(new Random(seed), 80_000 / threads)));
      }
      for (Future<?> end : ends) {
        end.get();
      }
    } finally {
      pool.shutdownNow();
    }
    assertTrue(allocator.getUsedBufferCount() <= 16);
    int divided = allocator.getUsedBufferCount() - allocator.getFreeBufferCount();
    assertTrue(divided + " buffers stay divided", divided <= PIECES.length);
  }

  /** A pool whose next new buffer takes as long as a test wants, as when direct memory is short. */
  private static final class SlowAllocator extends SizeClassByteBuffAllocator {
    private final AtomicInteger slow = new AtomicInteger();
    private final CountDownLatch begun = new CountDownLatch(1);
    private final CountDownLatch end = new CountDownLatch(1);
    private volatile boolean failing;

    SlowAllocator() {
      super(true, 4, BUFFER, BUFFER / 6);
    }

    @Override
    ByteBuffer getBuffer() {
      if (slow.getAndDecrement() == 1) {
        begun.countDown();
        try {
          assertTrue(end.await(60, TimeUnit.SECONDS));
        } catch (InterruptedException e) {
          throw new AssertionError(e);
        }
        if (failing) {
          throw new OutOfMemoryError("for the test");
        }
      }
      return super.getBuffer();
    }
  }

  /** Tests what others do with pieces of a size while a buffer is allocated for it. */
  private void testOthersDuringAllocation(boolean failing) throws Exception {
    SlowAllocator pool = new SlowAllocator();
    pool.failing = failing;
    ExecutorService threads = Executors.newCachedThreadPool();
    try {
      List<ByteBuff> pieces = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        pieces.add(pool.allocate(BUFFER / 3));
      }
      pool.slow.set(1);
      Future<ByteBuff> slow = threads.submit(() -> pool.allocate(BUFFER / 3));
      assertTrue(pool.begun.await(60, TimeUnit.SECONDS));
      for (int i = 0; i < 2; i++) {
        threads.submit(() -> pieces.remove(0).release()).get(2, TimeUnit.MINUTES);
        ByteBuff piece = threads.submit(() -> pool.allocate(BUFFER / 3)).get(2, TimeUnit.MINUTES);
        assertFalse("one that was released", piece.hasArray());
        assertEquals(1, pool.getUsedBufferCount());
        pieces.add(piece);
      }
      // None is free, and whoever waits for the slow one does not wait long.
      ByteBuff other = threads.submit(() -> pool.allocate(BUFFER / 3)).get(2, TimeUnit.MINUTES);
      assertFalse(other.hasArray());
      assertEquals(2, pool.getUsedBufferCount());
      pieces.add(other);
      pool.end.countDown();
      if (failing) {
        assertEquals("for the test",
          assertThrows(ExecutionException.class, () -> slow.get(2, TimeUnit.MINUTES)).getCause()
            .getMessage());
      } else {
        pieces.add(slow.get(2, TimeUnit.MINUTES));
      }
      int used = failing ? 2 : 3;
      assertEquals(used, pool.getUsedBufferCount());
      assertEquals(BUFFER / 3 * (failing ? 6 : 7), pool.getPoolAllocationBytes());
      for (int i = 0; i < pieces.size(); i++) {
        fill(pieces.get(i), i);
      }
      for (int i = 0; i < pieces.size(); i++) {
        assertHolds(pieces.get(i), i);
        pieces.get(i).release();
      }
      assertEquals("One stays divided", used - 1, pool.getFreeBufferCount());
    } finally {
      pool.end.countDown();
      threads.shutdownNow();
    }
  }

  @Test
  public void testAllocationHoldsUpNeitherReleasesNorPooledPieces() throws Exception {
    testOthersDuringAllocation(false);
  }

  @Test
  public void testFailedAllocationTakesNothingAway() throws Exception {
    testOthersDuringAllocation(true);
  }

  private void churn(Random random, int times) {
    List<ByteBuff> live = new ArrayList<>();
    List<Integer> seeds = new ArrayList<>();
    for (int i = 0; i < times; i++) {
      if (live.size() < 10 && random.nextInt(3) > 0) {
        ByteBuff buff = allocator.allocate(1 + random.nextInt(BUFFER / 2));
        int seed = random.nextInt();
        // Its ends tell whether it is anybody else's as well.
        mark(buff, seed);
        live.add(buff);
        seeds.add(seed);
      } else if (!live.isEmpty()) {
        int index = random.nextInt(live.size());
        ByteBuff buff = live.remove(index);
        assertMarked(buff, seeds.remove(index));
        buff.release();
      }
    }
    live.forEach(ByteBuff::release);
  }

  private static void mark(ByteBuff buff, int seed) {
    buff.put(0, (byte) seed);
    buff.put(buff.limit() - 1, (byte) seed);
  }

  private static void assertMarked(ByteBuff buff, int seed) {
    assertEquals((byte) seed, buff.get(0));
    assertEquals((byte) seed, buff.get(buff.limit() - 1));
  }

  private void takeAndRelease(int times) {
    for (int i = 0; i < times; i++) {
      allocator.allocate(8192).release();
    }
  }

  private void assertOnHeap(int size) {
    ByteBuff buff = allocator.allocate(size);
    assertTrue(buff.hasArray());
    assertEquals(size, buff.limit());
    assertSame(ByteBuffAllocator.NONE, buff.getRefCnt().getRecycler());
    buff.release();
  }

  private void assertPieceOf(int pieceSize, int size) {
    ByteBuff buff = allocator.allocate(size);
    assertEquals(1, buff.nioByteBuffers().length);
    assertTrue("size " + size, buff.nioByteBuffers()[0].isDirect());
    assertEquals("size " + size, pieceSize, buff.capacity());
    assertEquals(size, buff.limit());
    assertEquals(0, buff.position());
    fill(buff, size);
    assertHolds(buff, size);
    buff.release();
  }

  private static void fill(ByteBuff buff, int seed) {
    byte[] bytes = bytes(buff.limit(), seed);
    buff.rewind();
    buff.put(bytes);
    buff.rewind();
  }

  private static void assertHolds(ByteBuff buff, int seed) {
    byte[] bytes = new byte[buff.limit()];
    buff.rewind();
    buff.get(bytes);
    assertTrue(Arrays.equals(bytes(bytes.length, seed), bytes));
  }

  private static byte[] bytes(int length, int seed) {
    byte[] bytes = new byte[length];
    for (int i = 0; i < length; i++) {
      bytes[i] = (byte) (seed + i);
    }
    return bytes;
  }

  @Test
  public void testEachSizeIsCountedOnceWhenThePoolIsExhausted() {
    ByteBuffAllocator allocator = allocator(1);
    ByteBuff all = allocator.allocate(BUFFER);
    int[] sizes = { 4096, 8192, 16 * 1024, 32 * 1024 };
    int bytes = 0;
    for (int i = 0; i < sizes.length; i++) {
      allocator.allocate(sizes[i]).release();
      bytes += sizes[i];
      assertEquals(i + 1, allocator.getExhaustion().getCount());
      assertEquals(bytes, allocator.getExhaustion().getBytes());
    }
    allocator.allocate(100).release();
    assertEquals(sizes.length, allocator.getExhaustion().getCount());
    all.release();
  }

  private static SizeClassByteBuffAllocator allocator(int buffers) {
    return new SizeClassByteBuffAllocator(true, buffers, BUFFER, BUFFER / 6);
  }
}
