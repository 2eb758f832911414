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

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
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
import org.apache.hadoop.hbase.wal.FSHLogProvider;
import org.apache.hadoop.hbase.wal.WALFactory;
import org.junit.After;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

import org.apache.hbase.thirdparty.io.netty.channel.Channel;
import org.apache.hbase.thirdparty.io.netty.channel.EventLoopGroup;

/**
 * WALs in HDFS that choose how many syncs they have in flight, with more writers than a server has
 * handlers by default, while the WAL rolls and HDFS becomes slower and faster.
 */
@Category({ RegionServerTests.class, LargeTests.class })
public class TestTunedSyncsInFlight {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestTunedSyncsInFlight.class);

  @ClassRule
  public static final RegionsInHdfs.Hdfs HDFS = new RegionsInHdfs.Hdfs();

  private static final int WRITERS = 31;
  private static final ScheduledExecutorService TIMER = Executors.newScheduledThreadPool(1);
  private static final Lock ONE_AT_A_TIME = new ReentrantLock();

  /** How long a sync takes at least. */
  private static volatile long delayMs;
  /** Whether syncs are processed one after the other. */
  private static volatile boolean serial;

  /** A writer of AsyncFSWAL with slow syncs. */
  public static final class SlowAsyncWriter extends AsyncProtobufLogWriter {
    private long idleFrom = System.nanoTime();

    public SlowAsyncWriter(EventLoopGroup group, Class<? extends Channel> channelClass) {
      super(group, channelClass);
    }

    @Override
    public CompletableFuture<Long> sync(boolean forceSync) {
      long now = System.nanoTime();
      long from = serial ? Math.max(now, idleFrom) : now;
      idleFrom = from + TimeUnit.MILLISECONDS.toNanos(delayMs);
      long delay = idleFrom - now;
      CompletableFuture<Long> done = new CompletableFuture<>();
      super.sync(forceSync).whenComplete((length, error) -> TIMER.schedule(() -> {
        if (error != null) {
          done.completeExceptionally(error);
        } else {
          done.complete(length);
        }
      }, delay, TimeUnit.NANOSECONDS));
      return done;
    }
  }

  /** A writer of FSHLog with slow syncs. */
  public static final class SlowWriter extends ProtobufLogWriter {
    @Override
    public void sync(boolean forceSync) throws IOException {
      boolean locks = serial;
      if (locks) {
        ONE_AT_A_TIME.lock();
      }
      try {
        Thread.sleep(delayMs);
      } catch (InterruptedException e) {
        throw (IOException) new InterruptedIOException().initCause(e);
      } finally {
        if (locks) {
          ONE_AT_A_TIME.unlock();
        }
      }
      super.sync(forceSync);
    }
  }

  private final RegionsInHdfs regions = new RegionsInHdfs();
  private final ExecutorService writers = Executors.newCachedThreadPool();
  private final AtomicInteger rows = new AtomicInteger();
  private volatile boolean stopped;

  @After
  public void close() throws Exception {
    stopped = true;
    writers.shutdown();
    delayMs = 0;
    regions.close();
  }

  /**
   * @param max      the limit at first
   * @param ofSerial the maximum that is chosen for serial syncs
   */
  private void run(String provider, int max, int ofSerial) throws Exception {
    Configuration conf = HDFS.configuration();
    conf.set(SyncsInFlightSettings.MAX_KEY, "auto");
    conf.set(WALFactory.WAL_PROVIDER, provider);
    conf.setClass(AsyncFSWALProvider.WRITER_IMPL, SlowAsyncWriter.class,
      AsyncFSWALProvider.AsyncWriter.class);
    conf.setClass("hbase.regionserver.hlog.writer.impl", SlowWriter.class,
      FSHLogProvider.Writer.class);
    serial = true;
    delayMs = 3;
    HRegion region =
      regions.open(conf, TableName.valueOf("t" + System.nanoTime()), Durability.USE_DEFAULT);
    SyncLimit limit = regions.wal().syncLimit;
    assertEquals(max, limit.get());
    List<Future<?>> running = new ArrayList<>();
    for (int i = 0; i < WRITERS; i++) {
      running.add(writers.submit(() -> {
        while (!stopped) {
          region.put(RegionsInHdfs.put(rows.getAndIncrement(), Durability.SYNC_WAL, 100));
        }
        return null;
      }));
    }
    waitForLimit(conf, 1, ofSerial);
    serial = false;
    delayMs = 40;
    waitForLimit(conf, 2, SyncLimit.NONE);
    serial = true;
    delayMs = 3;
    waitForLimit(conf, 1, ofSerial);
    stopped = true;
    for (Future<?> one : running) {
      one.get(5, TimeUnit.MINUTES);
    }
    for (int row = 0; row < rows.get(); row++) {
      assertTrue(region.get(new Get(Bytes.toBytes(row)).setCheckExistenceOnly(true)).getExists());
    }
  }

  /** Waits for a limit that is chosen, and rolls the WAL meanwhile. */
  private void waitForLimit(Configuration conf, int min, int max) {
    Waiter.waitFor(conf, 120_000, 500, () -> {
      regions.wal().rollWriter(true);
      long chosen = SyncLimitMetrics.get().minLimit();
      return chosen == 0 ? max == SyncLimit.NONE : chosen >= min && chosen <= max;
    });
  }

  @Test
  public void testAsyncFSWAL() throws Exception {
    run("asyncfs", SyncLimit.NONE, 1);
  }

  /** A thread that syncs skips what another one has synced, so that more of them do no harm. */
  @Test
  public void testFSHLog() throws Exception {
    run("filesystem", 5, 5);
  }
}
