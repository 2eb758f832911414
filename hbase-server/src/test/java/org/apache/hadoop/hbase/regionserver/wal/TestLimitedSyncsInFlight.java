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
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.Waiter;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.wal.AsyncFSWALProvider;
import org.apache.hadoop.hbase.wal.WALFactory;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

import org.apache.hbase.thirdparty.io.netty.channel.Channel;
import org.apache.hbase.thirdparty.io.netty.channel.EventLoopGroup;

/** An AsyncFSWAL in HDFS with one sync on its way at most. */
@Category({ RegionServerTests.class, LargeTests.class })
public class TestLimitedSyncsInFlight {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestLimitedSyncsInFlight.class);

  @ClassRule
  public static final RegionsInHdfs.Hdfs HDFS = new RegionsInHdfs.Hdfs();

  private static final AtomicInteger IN_FLIGHT = new AtomicInteger();
  private static final AtomicInteger MAX_IN_FLIGHT = new AtomicInteger();
  private static final AtomicInteger SYNCS = new AtomicInteger();

  /** What syncs wait for, and fail with if it is anything. */
  private static volatile CompletableFuture<Exception> gate;

  /** A writer whose syncs are counted, and may be held up. */
  public static final class CountingWriter extends AsyncProtobufLogWriter {
    public CountingWriter(EventLoopGroup group, Class<? extends Channel> channelClass) {
      super(group, channelClass);
    }

    @Override
    public CompletableFuture<Long> sync(boolean forceSync) {
      SYNCS.incrementAndGet();
      MAX_IN_FLIGHT.accumulateAndGet(IN_FLIGHT.incrementAndGet(), Math::max);
      CompletableFuture<Long> done = new CompletableFuture<>();
      super.sync(forceSync).whenComplete((length, error) -> gate.thenAccept(failure -> {
        IN_FLIGHT.decrementAndGet();
        if (failure != null || error != null) {
          done.completeExceptionally(failure == null ? error : failure);
        } else {
          done.complete(length);
        }
      }));
      return done;
    }
  }

  private final RegionsInHdfs regions = new RegionsInHdfs();
  private final ExecutorService writers = Executors.newCachedThreadPool();
  private final AtomicInteger rows = new AtomicInteger();
  private Configuration conf;
  private HRegion region;

  @Before
  public void open() throws Exception {
    gate = CompletableFuture.completedFuture(null);
    conf = HDFS.configuration();
    conf.set(SyncsInFlightSettings.MAX_KEY, "1");
    conf.set(WALFactory.WAL_PROVIDER, "asyncfs");
    conf.setClass(AsyncFSWALProvider.WRITER_IMPL, CountingWriter.class,
      AsyncFSWALProvider.AsyncWriter.class);
    region = regions.open(conf, TableName.valueOf("t" + System.nanoTime()),
      Durability.USE_DEFAULT);
    MAX_IN_FLIGHT.set(0);
  }

  @After
  public void close() throws Exception {
    gate.complete(null);
    writers.shutdownNow();
    regions.close();
  }

  private Future<?> write(int count) {
    return writers.submit(() -> {
      for (int i = 0; i < count; i++) {
        region.put(RegionsInHdfs.put(rows.getAndIncrement(), Durability.SYNC_WAL, 100));
      }
      return null;
    });
  }

  private void assertAllWritten(List<Future<?>> running, int count) throws Exception {
    for (Future<?> one : running) {
      one.get(5, TimeUnit.MINUTES);
    }
    assertEquals(count, rows.get());
    for (int row = 0; row < count; row++) {
      assertTrue(region.get(new Get(Bytes.toBytes(row)).setCheckExistenceOnly(true)).getExists());
    }
  }

  @Test
  public void testOneSyncTakesAllWhoHaveComeMeanwhile() throws Exception {
    List<Future<?>> running = new ArrayList<>();
    gate = new CompletableFuture<>();
    int before = SYNCS.get();
    running.add(write(1));
    Waiter.waitFor(conf, 120_000, 5, () -> SYNCS.get() == before + 1);
    for (int i = 0; i < 8; i++) {
      running.add(write(1));
    }
    Waiter.waitFor(conf, 120_000, 5, () -> rows.get() == 9);
    gate.complete(null);
    assertAllWritten(running, 9);
    assertEquals(1, MAX_IN_FLIGHT.get());
  }

  @Test
  public void testAllAreSyncedWithOneInFlightAtMost() throws Exception {
    List<Future<?>> running = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      running.add(write(300));
    }
    assertAllWritten(running, 2_400);
    assertEquals(1, MAX_IN_FLIGHT.get());
  }

  @Test
  public void testNoneIsForgottenWhenTheWalRolls() throws Exception {
    List<Future<?>> running = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      running.add(write(100));
    }
    while (!running.stream().allMatch(Future::isDone)) {
      regions.wal().rollWriter(true);
    }
    assertAllWritten(running, 400);
  }

  @Test
  public void testNoneIsForgottenWhenSyncsFail() throws Exception {
    List<Future<?>> running = new ArrayList<>();
    gate = new CompletableFuture<>();
    int before = SYNCS.get();
    running.add(write(100));
    Waiter.waitFor(conf, 120_000, 5, () -> SYNCS.get() == before + 1);
    for (int i = 0; i < 4; i++) {
      running.add(write(100));
    }
    CompletableFuture<Exception> failing = gate;
    gate = CompletableFuture.completedFuture(null);
    failing.complete(new IllegalStateException("HDFS is away"));
    // Only the test rolls here; a server's roller does after a failure.
    regions.wal().rollWriter(true);
    assertAllWritten(running, 500);
  }
}
