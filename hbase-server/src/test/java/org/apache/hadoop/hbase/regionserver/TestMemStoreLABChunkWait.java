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
package org.apache.hadoop.hbase.regionserver;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.Waiter;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * Handlers whose cells need a chunk while one of them makes it.
 */
@Category({ RegionServerTests.class, SmallTests.class })
public class TestMemStoreLABChunkWait {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestMemStoreLABChunkWait.class);

  private static final byte[] F = Bytes.toBytes("f");
  private static final int CHUNK_BYTES = 4096;
  private static final int HANDLERS = 8;

  private final List<Thread> handlers = new ArrayList<>();
  private final ExecutorService pool = Executors.newCachedThreadPool(r -> {
    Thread thread = new Thread(r);
    handlers.add(thread);
    return thread;
  });
  private final Chunks chunks = new Chunks();
  private ChunkCreator before;
  private MemStoreLABImpl lab;

  /** Makes chunks when it may, and says how many. */
  private static final class Chunks extends ChunkCreator {
    private final AtomicInteger made = new AtomicInteger();
    private volatile CountDownLatch mayMake = new CountDownLatch(0);
    private volatile boolean fails;

    Chunks() {
      super(CHUNK_BYTES, false, 0, 0, 0, null,
        MemStoreLAB.INDEX_CHUNK_SIZE_PERCENTAGE_DEFAULT);
    }

    @Override
    Chunk getChunk() {
      made.incrementAndGet();
      try {
        assertTrue(mayMake.await(1, TimeUnit.MINUTES));
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
      if (fails) {
        fails = false;
        throw new OutOfMemoryError("as the test asks");
      }
      return super.getChunk();
    }
  }

  @Before
  public void setUp() {
    Configuration conf = new Configuration();
    conf.setInt(MemStoreLAB.CHUNK_SIZE_KEY, CHUNK_BYTES);
    conf.setInt(MemStoreLAB.MAX_ALLOC_KEY, CHUNK_BYTES / 4);
    before = ChunkCreator.instance;
    ChunkCreator.instance = chunks;
    lab = new MemStoreLABImpl(conf);
  }

  @After
  public void tearDown() {
    chunks.mayMake.countDown();
    pool.shutdownNow();
    lab.close();
    ChunkCreator.instance = before;
  }

  private static KeyValue cell(int handler, int number) {
    byte[] value = new byte[100];
    Bytes.random(value);
    return new KeyValue(Bytes.toBytes(handler), F, Bytes.toBytes(number), value);
  }

  private List<Future<Cell>> copyInEach() {
    List<Future<Cell>> copies = new ArrayList<>();
    for (int i = 0; i < HANDLERS; i++) {
      KeyValue cell = cell(i, 0);
      copies.add(pool.submit((Callable<Cell>) () -> {
        Cell copy = lab.copyCellInto(cell);
        assertSame(cell, copy);
        return copy;
      }));
    }
    return copies;
  }

  /** All but the one that makes the chunk, which waits for the test, wait for that one. */
  private void awaitHandlersAsleep() {
    Waiter.waitFor(new Configuration(), 120_000, () -> handlers.stream()
      .filter(handler -> handler.getState() == Thread.State.WAITING).count() == HANDLERS - 1);
  }

  private static void assertSame(Cell cell, Cell copy) {
    assertTrue(CellUtil.equals(cell, copy));
    assertTrue(CellUtil.matchingValue(cell, copy));
  }

  @Test
  public void testHandlersSleepWhileAChunkIsMade() throws Exception {
    chunks.mayMake = new CountDownLatch(1);
    List<Future<Cell>> copies = copyInEach();
    awaitHandlersAsleep();
    chunks.mayMake.countDown();
    for (Future<Cell> copy : copies) {
      copy.get(1, TimeUnit.MINUTES);
    }
    assertEquals(1, chunks.made.get());
  }

  @Test
  public void testAChunkThatCannotBeMadeFailsOne() throws Exception {
    chunks.mayMake = new CountDownLatch(1);
    chunks.fails = true;
    List<Future<Cell>> copies = copyInEach();
    awaitHandlersAsleep();
    chunks.mayMake.countDown();
    int failed = 0;
    for (Future<Cell> copy : copies) {
      try {
        copy.get(1, TimeUnit.MINUTES);
      } catch (ExecutionException e) {
        assertEquals(OutOfMemoryError.class, e.getCause().getClass());
        failed++;
      }
    }
    assertEquals(1, failed);
    assertEquals(2, chunks.made.get());
  }

  /** Each cell is in a chunk, and no other where it is. */
  @Test
  public void testManyHandlersAndSmallChunks() throws Exception {
    int cells = 5000;
    List<Future<Void>> done = new ArrayList<>();
    for (int i = 0; i < HANDLERS; i++) {
      int handler = i;
      done.add(pool.submit(() -> {
        List<KeyValue> originals = new ArrayList<>();
        List<Cell> copies = new ArrayList<>();
        for (int j = 0; j < cells; j++) {
          originals.add(cell(handler, j));
          copies.add(lab.copyCellInto(originals.get(j)));
        }
        for (int j = 0; j < cells; j++) {
          assertSame(originals.get(j), copies.get(j));
        }
        return null;
      }));
    }
    for (Future<Void> each : done) {
      each.get(2, TimeUnit.MINUTES);
    }
    assertEquals(chunks.made.get(), lab.chunks.size());
    int bytes = HANDLERS * cells * cell(0, 0).getSerializedSize();
    assertTrue(chunks.made.get() >= bytes / CHUNK_BYTES);
  }
}
