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
package org.apache.hadoop.hbase.regionserver.wal;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.Waiter;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.wal.AsyncFSWALProvider;
import org.apache.hadoop.hbase.wal.FSHLogProvider;
import org.apache.hadoop.hbase.wal.WAL;
import org.apache.hadoop.hbase.wal.WALFactory;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;
import org.junit.runners.Parameterized.Parameter;
import org.junit.runners.Parameterized.Parameters;

import org.apache.hbase.thirdparty.io.netty.channel.Channel;
import org.apache.hbase.thirdparty.io.netty.channel.EventLoopGroup;

/** Regions on a WAL in HDFS, of both kinds, whose syncs can be held up. */
@RunWith(Parameterized.class)
@Category({ RegionServerTests.class, LargeTests.class })
public class TestBoundedAsyncWal {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestBoundedAsyncWal.class);

  @ClassRule
  public static final RegionsInHdfs.Hdfs HDFS = new RegionsInHdfs.Hdfs();

  private static final CompletableFuture<Void> OPEN = CompletableFuture.completedFuture(null);

  /** What syncs wait for. */
  private static volatile CompletableFuture<Void> gate = OPEN;

  /** The writer of AsyncFSWAL whose syncs may be held up. */
  public static final class GatedAsyncWriter extends AsyncProtobufLogWriter {
    public GatedAsyncWriter(EventLoopGroup group, Class<? extends Channel> channelClass) {
      super(group, channelClass);
    }

    @Override
    public CompletableFuture<Long> sync(boolean forceSync) {
      return super.sync(forceSync).thenCombine(gate, (length, nothing) -> length);
    }
  }

  /** The writer of FSHLog whose syncs may be held up. */
  public static final class GatedWriter extends ProtobufLogWriter {
    @Override
    public void sync(boolean forceSync) throws IOException {
      super.sync(forceSync);
      gate.join();
    }
  }

  @Parameters(name = "{0}")
  public static List<Object[]> providers() {
    return Arrays.asList(new Object[] { "asyncfs" }, new Object[] { "filesystem" });
  }

  @Parameter
  public String provider;

  private final AsyncWalMetrics metrics = AsyncWalMetrics.get();
  private final RegionsInHdfs regions = new RegionsInHdfs();
  private final ExecutorService writers = Executors.newCachedThreadPool();
  private Configuration conf;
  private AbstractFSWAL<?> wal;
  private int rows;

  @Before
  public void prepare() throws Exception {
    conf = HDFS.configuration();
    conf.set(WALFactory.WAL_PROVIDER, provider);
    conf.setClass(AsyncFSWALProvider.WRITER_IMPL, GatedAsyncWriter.class,
      AsyncFSWALProvider.AsyncWriter.class);
    conf.setClass(FSHLogProvider.WRITER_IMPL, GatedWriter.class, FSHLogProvider.Writer.class);
  }

  @After
  public void cleanUp() throws Exception {
    gate.complete(null);
    gate = OPEN;
    writers.shutdownNow();
    regions.close();
  }

  private HRegion open(String name) throws IOException {
    return open(TableName.valueOf(name), Durability.USE_DEFAULT);
  }

  private HRegion open(TableName name, Durability durability) throws IOException {
    HRegion region = regions.open(conf, name, durability);
    wal = regions.wal();
    return region;
  }

  private void put(HRegion region, Durability durability) throws IOException {
    put(region, durability, 100);
  }

  private void put(HRegion region, Durability durability, int size) throws IOException {
    region.put(RegionsInHdfs.put(rows++, durability, size));
  }

  private void await(Waiter.Predicate<Exception> condition) {
    Waiter.waitFor(conf, 120_000, 5, condition);
  }

  private void stall() {
    gate = new CompletableFuture<>();
  }

  private void goOn() {
    gate.complete(null);
  }

  private List<Integer> allRows() {
    List<Integer> all = new ArrayList<>();
    for (int i = 0; i < rows; i++) {
      all.add(i);
    }
    return all;
  }

  @Test
  public void testWithoutKeysThereIsNoBound() throws Exception {
    HRegion region = open("stock");
    assertNull(wal.asyncBound);
    put(region, Durability.ASYNC_WAL);
  }

  @Test
  public void testTailReachesHdfsByItself() throws Exception {
    conf.set(AsyncWalSettings.INTERVAL_KEY, "10");
    HRegion region = open("tail");
    for (int i = 0; i < 20; i++) {
      put(region, Durability.ASYNC_WAL);
      await(() -> wal.asyncBound.unsyncedBytes() == 0);
      assertEquals(allRows(), regions.rowsIn(wal.getCurrentFileName()));
    }
  }

  @Test
  public void testIdleWalIsNotSynced() throws Exception {
    conf.set(AsyncWalSettings.INTERVAL_KEY, "1");
    HRegion region = open("idle");
    long syncs = metrics.startedCount(AsyncWalBound.Cause.TIME);
    put(region, Durability.SYNC_WAL);
    put(region, Durability.FSYNC_WAL);
    assertEquals("Who waits for his sync is not at risk", 0, wal.asyncBound.unsyncedBytes());
    put(region, Durability.ASYNC_WAL);
    await(() -> wal.asyncBound.unsyncedBytes() == 0);
    put(region, Durability.SKIP_WAL);
    put(region, Durability.SYNC_WAL);
    assertTrue(metrics.startedCount(AsyncWalBound.Cause.TIME) <= syncs + 1);
  }

  @Test
  public void testWritersWaitForRoomAndGoOn() throws Exception {
    conf.set(AsyncWalSettings.MAX_UNSYNCED_KEY, "10000");
    HRegion region = open("room");
    stall();
    Future<?> writer = writers.submit(() -> {
      for (int i = 0; i < 50; i++) {
        put(region, Durability.ASYNC_WAL, 1_000);
      }
      return null;
    });
    await(() -> wal.asyncBound.blockedWriters() == 1);
    assertTrue("Acknowledged less than the room", rows <= 10);
    goOn();
    writer.get(2, TimeUnit.MINUTES);
    put(region, Durability.SYNC_WAL);
    assertEquals(allRows(), regions.rowsIn(wal.getCurrentFileName()));
  }

  @Test
  public void testShutdownLetsWritersFail() throws Exception {
    conf.set(AsyncWalSettings.MAX_UNSYNCED_KEY, "1000");
    HRegion region = open("shutdown");
    stall();
    Future<?> writer = writers.submit(() -> {
      put(region, Durability.ASYNC_WAL, 2_000);
      return null;
    });
    await(() -> wal.asyncBound.blockedWriters() == 1);
    Future<?> shutdown = writers.submit(() -> {
      wal.shutdown();
      return null;
    });
    assertTrue(assertThrows(ExecutionException.class, () -> writer.get(2, TimeUnit.MINUTES))
      .getCause() instanceof IOException);
    goOn();
    shutdown.get(2, TimeUnit.MINUTES);
  }

  /** A region is closed when its server stops or it is moved. */
  @Test
  public void testClosedRegionLeavesNothingUnsynced() throws Exception {
    conf.set(AsyncWalSettings.INTERVAL_KEY, "3600000");
    HRegion region = open("closed");
    for (int i = 0; i < 100; i++) {
      put(region, Durability.ASYNC_WAL);
    }
    assertTrue("At risk for an hour", wal.asyncBound.unsyncedBytes() > 100 * 100);
    region.close();
    assertEquals(0, wal.asyncBound.unsyncedBytes());
    assertEquals(allRows(), regions.rowsIn(wal.getCurrentFileName()));
  }

  /**
   * There are more writers than HBase has handlers by default, and the limit allows half of their
   * writes to be unsynced.
   */
  @Test
  public void testRollsLoseNothingOfManyWritersToSeveralRegions() throws Exception {
    conf.set(AsyncWalSettings.INTERVAL_KEY, "1");
    conf.set(AsyncWalSettings.MAX_UNSYNCED_KEY, "2000");
    List<HRegion> several =
      Arrays.asList(open("several-1"), open("several-2"), open("several-3"));
    int count = 31;
    int each = 20;
    List<Future<?>> all = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int first = i * each;
      all.add(writers.submit(() -> {
        for (int row = first; row < first + each; row++) {
          several.get(row % several.size()).put(RegionsInHdfs.put(row,
            row % each == each - 1 ? Durability.SYNC_WAL : Durability.ASYNC_WAL, 100));
        }
        return null;
      }));
    }
    do {
      wal.rollWriter(true);
    } while (!all.stream().allMatch(Future::isDone));
    for (Future<?> one : all) {
      one.get();
    }
    await(() -> wal.asyncBound.unsyncedBytes() == 0);
    rows = count * each;
    List<Integer> found = regions.rowsInAllFiles();
    for (int i = 0; i < count; i++) {
      int writer = i;
      List<Integer> own =
        found.stream().filter(row -> row / each == writer).collect(Collectors.toList());
      assertEquals("in the order of its writer", allRows().subList(i * each, (i + 1) * each), own);
    }
    assertEquals(rows, found.size());
  }

  @Test
  public void testAsyncWritesAloneMakeTheWalRollBySize() throws Exception {
    conf.set(AsyncWalSettings.INTERVAL_KEY, "1");
    conf.setLong("hbase.regionserver.hlog.blocksize", 1024 * 1024);
    conf.setFloat(AbstractFSWAL.WAL_ROLL_MULTIPLIER, 0.05f);
    HRegion region = open("size");
    CompletableFuture<WALActionsListener.RollRequestReason> asked = new CompletableFuture<>();
    wal.registerWALActionsListener(new WALActionsListener() {
      @Override
      public void logRollRequested(RollRequestReason reason) {
        asked.complete(reason);
      }
    });
    while (!asked.isDone()) {
      put(region, Durability.ASYNC_WAL, 10_000);
      await(() -> wal.asyncBound.unsyncedBytes() == 0 || asked.isDone());
      assertTrue(rows < 1_000);
    }
    assertEquals(WALActionsListener.RollRequestReason.SIZE, asked.get());
  }

  @Test
  public void testMetaWalIsBoundToo() throws Exception {
    conf.set(AsyncWalSettings.INTERVAL_KEY, "10");
    open("any");
    AbstractFSWAL<?> meta =
      (AbstractFSWAL<?>) regions.factory().getWAL(RegionInfoBuilder.FIRST_META_REGIONINFO);
    assertTrue(meta != wal && meta.asyncBound != null);
  }

  @Test
  public void testEachGroupOfMultiwalHasItsOwnBound() throws Exception {
    conf.set(AsyncWalSettings.INTERVAL_KEY, "10");
    conf.set(WALFactory.WAL_PROVIDER, "multiwal");
    conf.set("hbase.wal.regiongrouping.delegate.provider", provider);
    conf.setInt("hbase.wal.regiongrouping.numgroups", 2);
    WALFactory multi = new WALFactory(conf, "multi" + provider + System.nanoTime());
    try {
      for (int i = 0; i < 16; i++) {
        multi.getWAL(RegionInfoBuilder.newBuilder(TableName.valueOf("m" + i)).build());
      }
      assertEquals(2, multi.getWALs().size());
      for (WAL one : multi.getWALs()) {
        assertTrue(((AbstractFSWAL<?>) one).asyncBound != null);
      }
    } finally {
      multi.close();
    }
  }
}
