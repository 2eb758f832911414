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
package org.apache.hadoop.hbase.regionserver.multiget;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotSame;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.KeyValueUtil;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.CombinedBlockCache;
import org.apache.hadoop.hbase.io.hfile.LruBlockCache;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.io.hfile.bucket.CountedFileReads;
import org.apache.hadoop.hbase.io.hfile.load.BatchReadCoalescer;
import org.apache.hadoop.hbase.ipc.RpcServer;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.RegionScanner;
import org.apache.hadoop.hbase.regionserver.multiget.MultigetMetrics.Count;
import org.apache.hadoop.hbase.security.User;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

import org.apache.hadoop.hbase.shaded.protobuf.ProtobufUtil;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.Action;

/** What a batch reads from a block cache's file is read once, whoever needs it. */
@Category({ RegionServerTests.class, MediumTests.class })
public class TestBatchReadCoalescer {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestBatchReadCoalescer.class);

  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final int ROWS = 600;
  private static final int VALUE_BYTES = 200;
  private static final int BLOCK_BYTES = 2048;
  private static final int MB = 1 << 20;
  /** Blocks on the heap have no references that are counted. */
  private static final ByteBuffAllocator POOL =
    CachedBlockFixture.pool(HBaseConfiguration.create(), 64);

  @Rule
  public final RefCntLeakRule leakRule = new RefCntLeakRule();

  private final LongAdder spared = new LongAdder();
  private final BatchReadCoalescer reads = new BatchReadCoalescer(spared);

  private static Cacheable block() {
    return CachedBlockFixture.block(BlockType.DATA, 0, 1000, POOL);
  }

  @Test
  public void testABlockIsReadOnceAndStaysUntilTheBatchIsOver() throws IOException {
    AtomicInteger count = new AtomicInteger();
    reads.enter();
    Cacheable first;
    Cacheable second;
    try {
      first = BatchReadCoalescer.read("a", position -> {
        count.incrementAndGet();
        return block();
      });
      assertEquals(2, first.refCnt());
      assertTrue(!first.release());
      second = BatchReadCoalescer.read("a", position -> {
        count.incrementAndGet();
        return block();
      });
    } finally {
      BatchReadCoalescer.leave();
    }
    assertSame(first, second);
    assertEquals(1, count.get());
    assertEquals(1, spared.sum());
    reads.release();
    assertEquals(1, second.refCnt());
    assertTrue(second.release());
  }

  @Test
  public void testOutsideABatchEachReadsForItself() throws IOException {
    Cacheable first = BatchReadCoalescer.read("a", position -> block());
    Cacheable second = BatchReadCoalescer.read("a", position -> block());
    assertNotSame(first, second);
    assertTrue(first.release());
    assertTrue(second.release());
    assertEquals(0, spared.sum());
  }

  @Test
  public void testWhatOneFailsToReadTheOthersReadForThemselves() throws IOException {
    reads.enter();
    try {
      assertThrows(IOException.class, () -> BatchReadCoalescer.read("a", position -> {
        throw new IOException("for the test");
      }));
      Cacheable block = BatchReadCoalescer.read("a", position -> block());
      assertEquals(1, block.refCnt());
      assertTrue(block.release());
    } finally {
      BatchReadCoalescer.leave();
    }
    reads.release();
    assertEquals(0, spared.sum());
  }

  /** Reads a block, which takes so long by the clock of the test. */
  private static void read(String name, AtomicLong clock, long nanos) throws IOException {
    BatchReadCoalescer.read(name, position -> {
      clock.addAndGet(nanos);
      return block();
    }).release();
  }

  @Test
  public void testReadsOfADeviceAreTold() throws IOException {
    // This clock overflows soon, as System.nanoTime may.
    AtomicLong clock = new AtomicLong(Long.MAX_VALUE - BatchReadCoalescer.WAIT_NANOS);
    BatchReadCoalescer timed = new BatchReadCoalescer(spared, clock::get);
    timed.enter();
    try {
      for (int i = 0; i < 10; i++) {
        read("cached " + i, clock, BatchReadCoalescer.WAIT_NANOS - 1);
        assertFalse(timed.haveWaited(i + 1));
      }
      read("first", clock, BatchReadCoalescer.WAIT_NANOS);
      assertFalse("once may be chance", timed.haveWaited(1));
      read("second", clock, BatchReadCoalescer.WAIT_NANOS);
      assertTrue(timed.haveWaited(8));
      assertFalse("not most of the time", timed.haveWaited(9));
      read("second", clock, BatchReadCoalescer.WAIT_NANOS);
      assertFalse("of another get", timed.haveWaited(9));
      timed.waited();
      assertTrue(timed.haveWaited(12));
    } finally {
      BatchReadCoalescer.leave();
      timed.release();
    }
  }

  @Test
  public void testAReadInFlightIsWaitedFor() throws Exception {
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch end = new CountDownLatch(1);
    AtomicInteger count = new AtomicInteger();
    BatchReadCoalescer.BlockReader<String> reader = position -> {
      count.incrementAndGet();
      begun.countDown();
      try {
        assertTrue(end.await(60, TimeUnit.SECONDS));
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
      return block();
    };
    List<FutureTask<Cacheable>> gets = new ArrayList<>();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      FutureTask<Cacheable> get = new FutureTask<>(() -> {
        reads.enter();
        return BatchReadCoalescer.read("a", reader);
      });
      Thread thread = new Thread(get);
      gets.add(get);
      threads.add(thread);
      thread.start();
      assertTrue(begun.await(60, TimeUnit.SECONDS));
    }
    // One that is interrupted is so afterwards, and has the block.
    threads.get(2).interrupt();
    end.countDown();
    Cacheable block = gets.get(0).get(60, TimeUnit.SECONDS);
    for (FutureTask<Cacheable> get : gets) {
      assertSame(block, get.get(60, TimeUnit.SECONDS));
      block.release();
    }
    assertEquals(1, count.get());
    assertEquals(2, spared.sum());
    assertEquals(1, block.refCnt());
    reads.release();
    assertEquals(0, block.refCnt());
  }

  @Test
  public void testDifferentBlocksAreReadAtTheSameTime() throws Exception {
    CountDownLatch both = new CountDownLatch(2);
    BatchReadCoalescer.BlockReader<String> reader = position -> {
      both.countDown();
      try {
        assertTrue(both.await(60, TimeUnit.SECONDS));
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
      return block();
    };
    FutureTask<Cacheable> other = new FutureTask<>(() -> {
      reads.enter();
      return BatchReadCoalescer.read("b", reader);
    });
    new Thread(other).start();
    reads.enter();
    try {
      BatchReadCoalescer.read("a", reader).release();
    } finally {
      BatchReadCoalescer.leave();
    }
    other.get(60, TimeUnit.SECONDS).release();
    reads.release();
    assertEquals(0, spared.sum());
  }

  /** Blocks of a file that lie one behind the other, by their numbers. */
  private static final class Blocks implements BatchReadCoalescer.NeighbourReader<Integer> {
    private final Map<Integer, Integer> positions = new HashMap<>();
    private final List<Cacheable> read = new ArrayList<>();
    private int failing = -1;

    /** Returns one object for each number, since a position is equal to itself only. */
    private Integer position(int number) {
      return positions.computeIfAbsent(number, Integer::valueOf);
    }

    private Cacheable readOne() {
      Cacheable block = block();
      read.add(block);
      return block;
    }

    @Override
    public Cacheable read(Integer position) {
      return readOne();
    }

    @Override
    public Integer next(Integer position, Cacheable block) {
      if (position == failing) {
        throw new OutOfMemoryError("for the test");
      }
      return position(position + 1);
    }

    @Override
    public Cacheable readWithNext(Integer position, BiConsumer<Integer, Cacheable> others) {
      others.accept(position(position + 1), readOne());
      return readOne();
    }
  }

  @Test
  public void testNobodyWaitsForAReadThatHasFailedInWhateverWay() throws Exception {
    AtomicInteger looks = new AtomicInteger();
    for (int failing = 1; failing <= 2; failing++) {
      int last = failing;
      looks.set(0);
      BatchReadCoalescer timed = new BatchReadCoalescer(spared, () -> {
        if (looks.incrementAndGet() == last) {
          throw new OutOfMemoryError("for the test");
        }
        return 0;
      });
      timed.enter();
      try {
        assertThrows(OutOfMemoryError.class,
          () -> BatchReadCoalescer.read("a", position -> block()));
      } finally {
        BatchReadCoalescer.leave();
      }
      FutureTask<Cacheable> other = new FutureTask<>(() -> {
        timed.enter();
        return BatchReadCoalescer.read("a", position -> block());
      });
      Thread thread = new Thread(other);
      thread.setDaemon(true);
      thread.start();
      Cacheable block = other.get(60, TimeUnit.SECONDS);
      block.release();
      timed.release();
      assertEquals(0, block.refCnt());
    }
  }

  @Test
  public void testNoBlockIsLostIfAReadFailsBehindIt() throws IOException {
    for (int failing = 1; failing <= 3; failing++) {
      Blocks blocks = new Blocks();
      blocks.failing = failing;
      BatchReadCoalescer ordered = new BatchReadCoalescer(spared);
      ordered.enter();
      try {
        for (int number = 1; number <= 4; number++) {
          try {
            BatchReadCoalescer.read(blocks.position(number), blocks).release();
          } catch (OutOfMemoryError e) {
            assertEquals("for the test", e.getMessage());
            blocks.failing = -1;
          }
        }
      } finally {
        BatchReadCoalescer.leave();
        ordered.release();
      }
      for (Cacheable each : blocks.read) {
        assertEquals("failing at " + failing, 0, each.refCnt());
      }
    }
  }

  private static byte[] row(int i) {
    return Bytes.toBytes(String.format("row-%06d", i));
  }

  private static byte[] value(int i) {
    return Bytes.padTail(row(i), VALUE_BYTES);
  }

  /** Reads as a server does that holds the blocks until the response is made, but copies. */
  private static Result read(HRegion region, Get get) throws IOException {
    try (RegionScanner scanner = region.getScanner(new Scan(get))) {
      List<Cell> cells = new ArrayList<>();
      scanner.next(cells);
      List<Cell> copies = new ArrayList<>();
      for (Cell cell : cells) {
        copies.add(KeyValueUtil.copyToNewKeyValue(cell));
      }
      return Result.create(copies);
    }
  }

  @Test
  public void testEachBlockOfACachesFileIsReadOnceInABatch() throws Exception {
    HBaseTestingUtility util = new HBaseTestingUtility();
    Configuration conf = util.getConfiguration();
    conf.setBoolean(MultigetSettings.ENABLED_KEY, true);
    conf.setInt(MultigetSettings.THREADS_KEY, 4);
    // The cache keeps its entries when it is shut down.
    conf.setBoolean(CacheConfig.EVICT_BLOCKS_ON_CLOSE_KEY, true);
    File folder = new File(util.getDataTestDir().toUri().getPath());
    assertTrue(folder.mkdirs());
    CountedFileReads file =
      new CountedFileReads(new File(folder, "bucket").getPath(), 32 * MB, BLOCK_BYTES, conf);
    LruBlockCache meta = new LruBlockCache(MB, BLOCK_BYTES, true, conf);
    CombinedBlockCache cache = new CombinedBlockCache(meta, file);
    RegionInfo info = RegionInfoBuilder.newBuilder(TableName.valueOf("t")).build();
    HRegion region = HBaseTestingUtility.createRegionAndWAL(info, util.getDataTestDir("region"),
      conf,
      TableDescriptorBuilder.newBuilder(info.getTable())
        .setColumnFamily(
          ColumnFamilyDescriptorBuilder.newBuilder(FAMILY).setBlocksize(BLOCK_BYTES).build())
        .build(),
      cache);
    MultigetPool pool = new MultigetPool(conf, Thread::new, threads -> null);
    try {
      for (int i = 0; i < ROWS; i++) {
        region.put(new Put(row(i)).addColumn(FAMILY, FAMILY, value(i)));
      }
      region.flush(true);
      for (int i = 0; i < ROWS; i++) {
        assertArrayEquals(value(i), read(region, new Get(row(i))).value());
      }
      util.waitFor(60_000, file::isWritten);
      List<Action> actions = new ArrayList<>();
      for (int i = 0; i < ROWS; i++) {
        actions.add(
          Action.newBuilder().setIndex(i).setGet(ProtobufUtil.toGet(new Get(row(i)))).build());
      }
      long blocks = file.getBlockCount();
      assertTrue("blocks " + blocks, blocks >= ROWS * VALUE_BYTES / BLOCK_BYTES);
      long readBefore = file.reads();
      long foundBefore = file.getStats().getHitCount();
      multiget(pool, region, actions);
      assertEquals(blocks, file.reads() - readBefore);
      long found = file.getStats().getHitCount() - foundBefore;
      assertTrue("found " + found, found >= ROWS);
      assertEquals(found - blocks, pool.get(Count.SharedBlockCount));
    } finally {
      pool.shutdown();
      HBaseTestingUtility.closeRegionAndWAL(region);
      cache.shutdown();
      util.cleanupTestDir();
    }
  }

  private static void multiget(MultigetPool pool, HRegion region, List<Action> actions)
    throws IOException {
    ServedMulti call = ServedMulti.of(User.getCurrent());
    RpcServer.setCurrentCall(call);
    try (ParallelGets gets =
      pool.start(actions, call, region, null, Long.MAX_VALUE, (get, as) -> read(region, get))) {
      for (int i = 0; i < ROWS; i++) {
        assertTrue(gets.has(actions.get(i)));
        Result result = gets.take();
        assertTrue(CellUtil.matchingRows(result.rawCells()[0], row(i)));
        assertArrayEquals(value(i), result.value());
      }
    } finally {
      RpcServer.unsetCurrentCall();
    }
  }
}
