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

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.io.hfile.load.BatchReadCoalescer;
import org.apache.hadoop.hbase.ipc.RequestInterceptor;
import org.apache.hadoop.hbase.ipc.RequestInterceptors;
import org.apache.hadoop.hbase.ipc.RpcCall;
import org.apache.hadoop.hbase.ipc.RpcCallContext;
import org.apache.hadoop.hbase.ipc.RpcServerInterface;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.MetricsRegionServer;
import org.apache.hadoop.hbase.regionserver.multiget.MultigetMetrics.Count;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.apache.hbase.thirdparty.com.google.common.util.concurrent.ThreadFactoryBuilder;
import org.apache.hbase.thirdparty.com.google.protobuf.Message;

import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.Action;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MultiRequest;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutationProto.MutationType;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.RegionAction;

/**
 * The threads that serve gets of a multi in addition to its handler, and the decision which multis
 * they serve. One per RegionServer. Thread-safe.
 * <p>
 * A thread that is handed a multi stays until no get of it is left to start, or until another multi
 * waits for a thread. The number of pending handoffs is limited to twice the number of threads, and
 * by the processors' headroom ({@link CpuHeadroom}); at that limit a handler serves its gets alone,
 * as all handlers do at saturation. A device-bound batch, as determined by its first gets
 * ({@link BatchReadCoalescer#haveWaited}), requests threads repeatedly, and gets some even then.
 */
@InterfaceAudience.Private
public final class MultigetPool implements ParallelGets.Threads {
  private static final Logger LOG = LoggerFactory.getLogger(MultigetPool.class);

  /** Number of gets per additional thread, if they do not wait for a device. */
  private static final int GETS_PER_WORKER = 3;
  private static final long KEEP_ALIVE_NANOS = TimeUnit.SECONDS.toNanos(60);
  /**
   * How long a thread stays awake for an expected request: until a handler is awake and has the
   * request.
   */
  private static final long EXPECT_NANOS = TimeUnit.MICROSECONDS.toNanos(150);

  /** Replaced by tests that must not depend on the load of their host. */
  private static volatile Function<HandoffThreadPool, CpuHeadroom> defaults = CpuHeadroom::of;

  private final ThreadFactory factory;
  private final Function<HandoffThreadPool, CpuHeadroom> headrooms;
  private volatile MultigetSettings settings;
  /** Null until first used, as is {@link #headroom}. */
  private volatile HandoffThreadPool threads;
  private volatile CpuHeadroom headroom;
  private boolean stopped;
  /** Number of handoffs that are waiting or running. */
  private final AtomicInteger pendingHandoffs = new AtomicInteger();
  private final DeviceWaitProbe deviceWaits = new DeviceWaitProbe();

  private final MultigetMetrics counts = new MultigetMetrics();

  /** @throws IllegalArgumentException if a setting is invalid, with a message for the operator */
  public MultigetPool(Configuration conf) {
    this(conf, new ThreadFactoryBuilder().setNameFormat("Multiget-%d").setDaemon(true).build());
  }

  MultigetPool(Configuration conf, ThreadFactory factory) {
    this(conf, factory, defaults);
  }

  MultigetPool(Configuration conf, ThreadFactory factory,
    Function<HandoffThreadPool, CpuHeadroom> headrooms) {
    this.factory = factory;
    this.headrooms = headrooms;
    settings = MultigetSettings.of(conf);
    apply(settings);
  }

  /**
   * Sets, for tests, whether pools created from now on use threads even if the processors have no
   * headroom.
   */
  static void ignoreCpuLoad(boolean ignored) {
    defaults = ignored ? threads -> null : CpuHeadroom::of;
  }

  /** Applies changed settings; if one is invalid, logs it and changes none. */
  public void onConfigurationChange(Configuration conf) {
    MultigetSettings before = settings;
    try {
      MultigetSettings next = MultigetSettings.of(conf);
      apply(next);
      settings = next;
      if (!before.toString().equals(next.toString())) {
        LOG.info("Multigets are served with {}", next);
      }
    } catch (IllegalArgumentException e) {
      LOG.error("{} Until then multigets are served with {}.", e.getMessage(), before);
    }
  }

  private synchronized void apply(MultigetSettings next) {
    if (stopped || !next.isEnabled()) {
      return;
    }
    if (threads == null) {
      HandoffThreadPool created =
        new HandoffThreadPool(factory, next.threads(), KEEP_ALIVE_NANOS, EXPECT_NANOS);
      headroom = headrooms.apply(created);
      threads = created;
      counts.register(this);
    } else {
      threads.setMax(next.threads());
    }
  }

  /** Stops the threads after their current gets. Handlers then serve their gets alone. */
  public synchronized void shutdown() {
    stopped = true;
    if (threads != null) {
      threads.stop();
    }
  }

  /**
   * Decides whether the gets among some actions are served by several threads.
   * @param actions of one region, which are not atomic
   * @param context of the current call; may be null
   * @param metrics may be null
   * @param maxSize bytes of cells, or of blocks scanned for them, beyond which the response of the
   *                call has no more results
   * @return the gets, which the caller must close; null if they must be served sequentially
   */
  public ParallelGets start(List<Action> actions, RpcCallContext context, HRegion region,
    MetricsRegionServer metrics, long maxSize, ParallelGets.RowReader reader) {
    MultigetSettings current = settings;
    if (!current.isEnabled() || !(context instanceof RpcCall) || actions.size() < 2) {
      return null;
    }
    int count = 0;
    int[] gets = new int[actions.size()];
    int[] runEnds = new int[actions.size()];
    int runStart = 0;
    int longestRun = 0;
    for (int i = 0; i < actions.size(); i++) {
      Action action = actions.get(i);
      if (ParallelGets.isServedHere(action)) {
        gets[count++] = i;
      } else if (hasToBeDoneBefore(action)) {
        Arrays.fill(runEnds, runStart, count, count);
        longestRun = Math.max(longestRun, count - runStart);
        runStart = count;
      }
    }
    Arrays.fill(runEnds, runStart, count, count);
    longestRun = Math.max(longestRun, count - runStart);
    if (longestRun < Math.max(2, current.minBatch())) {
      if (count > 1) {
        count(Count.SmallBatchCount);
      }
      return null;
    }
    // A longer run requests threads again with its next window.
    LongAdder refusal = longestRun <= ParallelGets.WINDOW ? refusalCounter(current) : null;
    if (refusal != null && !deviceWaits.isExpected()) {
      refusal.increment();
      return null;
    }
    // A client of before HBASE-14978 gets all results, whatever their size.
    return new ParallelGets(this, (RpcCall) context, region, metrics, reader, actions,
      Arrays.copyOf(gets, count), runEnds,
      context.isRetryImmediatelySupported() ? maxSize : Long.MAX_VALUE, refusal);
  }

  /** Returns the counter of batches refused for the current reason; null if none is refused. */
  private LongAdder refusalCounter(MultigetSettings current) {
    int calls = pendingHandoffs.get();
    if (calls >= maxWaiting(current)) {
      return counts.of(Count.BusyBatchCount);
    }
    return calls >= headroom() ? counts.of(Count.CpuBoundBatchCount) : null;
  }

  /**
   * Registers an interceptor that wakes up a thread together with the handler of each multi of
   * gets.
   */
  public void intercept(RpcServerInterface server) {
    RequestInterceptors.of(server).add((rpcServer, call) -> {
      expect(call.getParam());
      return RequestInterceptor.Outcome.NOT_TAKEN;
    });
  }

  /**
   * Wakes up a sleeping thread if the request that a handler is about to get is a multi of gets. A
   * wakeup takes as long as that of a handler, and several gets.
   */
  void expect(Message request) {
    MultigetSettings current = settings;
    HandoffThreadPool known = threads;
    if (known == null || !current.isEnabled() || !(request instanceof MultiRequest)) {
      return;
    }
    MultiRequest multi = (MultiRequest) request;
    if (multi.getRegionActionCount() == 0) {
      return;
    }
    RegionAction first = multi.getRegionAction(0);
    if (first.getActionCount() >= Math.max(2, current.minBatch()) && first.getAction(0).hasGet()
      && refusalCounter(current) == null && known.expectWork()) {
      count(Count.ExpectedCount);
    }
  }

  /** Returns whether gets after an action must not be started before it is done. */
  private static boolean hasToBeDoneBefore(Action action) {
    if (action.hasGet()) {
      return false;
    }
    if (action.hasMutation()) {
      MutationType type = action.getMutation().getMutateType();
      return type != MutationType.PUT && type != MutationType.DELETE;
    }
    return true;
  }

  private static int maxWaiting(MultigetSettings current) {
    return 2 * current.threads();
  }

  /** Returns the maximum number of pending handoffs for which the processors have headroom. */
  private int headroom() {
    CpuHeadroom known = headroom;
    return known == null ? Integer.MAX_VALUE : known.threads();
  }

  /** Returns the maximum number of pending handoffs for gets that wait for a device. */
  private int waitingHeadroom() {
    CpuHeadroom known = headroom;
    return known == null ? Integer.MAX_VALUE : known.threadsThatWait();
  }

  @Override
  public boolean othersWait() {
    return threads.hasWaiting();
  }

  @Override
  public boolean requestThreads(ParallelGets multiget, AtomicInteger workers, int gets,
    boolean waiting) {
    MultigetSettings current = settings;
    HandoffThreadPool called = threads;
    if (!current.isEnabled() || called == null) {
      return false;
    }
    int wanted = Math.min(current.maxTasks() - 1, waiting ? gets : gets / GETS_PER_WORKER);
    int missing = wanted - workers.get();
    if (missing <= 0) {
      return false;
    }
    int max = Math.min(maxWaiting(current), waiting ? waitingHeadroom() : headroom());
    boolean any = false;
    for (; missing > 0 && pendingHandoffs.get() < max; missing--) {
      if (pendingHandoffs.incrementAndGet() > max) {
        pendingHandoffs.decrementAndGet();
        return any;
      }
      workers.incrementAndGet();
      boolean accepted = false;
      try {
        accepted = called.call(multiget.worker(System.nanoTime()));
      } finally {
        if (!accepted) {
          pendingHandoffs.decrementAndGet();
          workers.decrementAndGet();
        }
      }
      if (!accepted) {
        // The server is stopping, or the system has no more threads.
        return any;
      }
      any = true;
    }
    return any;
  }

  @Override
  public void handoffEnded(long gets, long waited) {
    try {
      count(Count.HandoffCount);
      counts.waitedNanos.add(waited);
      if (gets == 0) {
        count(Count.SpuriousHandoffCount);
      }
      counts.of(Count.HelperGetCount).add(gets);
    } finally {
      // This is last, so that a caller that sees no pending handoff sees all of their effects.
      pendingHandoffs.decrementAndGet();
    }
  }

  @Override
  public BatchReadCoalescer shareReads() {
    return new BatchReadCoalescer(counts.of(Count.SharedBlockCount));
  }

  @Override
  public void batchWaitsForDevice() {
    count(Count.DeviceBatchCount);
    deviceWaits.recordWait();
  }

  @Override
  public void windowAdvanced() {
    count(Count.WindowAdvanceCount);
  }

  @Override
  public void served(long gets) {
    count(Count.ParallelBatchCount);
    counts.of(Count.HandlerGetCount).add(gets);
  }

  private void count(Count count) {
    counts.of(count).increment();
  }

  long get(Count count) {
    return counts.of(count).sum();
  }

  /** Returns the number of handoffs that are waiting or running. */
  long getPendingHandoffCount() {
    return pendingHandoffs.get();
  }

  /** Returns the number of threads. */
  long getThreadCount() {
    HandoffThreadPool known = threads;
    return known == null ? 0 : known.count();
  }

  /** Returns the number of failed attempts to start a thread. */
  long getFailedThreadCount() {
    HandoffThreadPool known = threads;
    return known == null ? 0 : known.failures();
  }

  /**
   * Returns the number of threads for which the processors have headroom, at most the configured
   * number.
   */
  long getCpuHeadroomCount() {
    MultigetSettings current = settings;
    return current.isEnabled() ? Math.min(current.threads(), headroom()) : 0;
  }
}
