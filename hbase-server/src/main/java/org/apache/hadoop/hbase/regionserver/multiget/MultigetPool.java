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
import org.apache.hadoop.hbase.io.hfile.batch.BatchReadCoalescer;
import org.apache.hadoop.hbase.ipc.RequestInterceptor;
import org.apache.hadoop.hbase.ipc.RequestInterceptors;
import org.apache.hadoop.hbase.ipc.RpcCall;
import org.apache.hadoop.hbase.ipc.RpcCallContext;
import org.apache.hadoop.hbase.ipc.RpcServerInterface;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.MetricsRegionServer;
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
 * The threads that help handlers with the gets of a multi, and the decision which multis they help
 * with. One of a RegionServer. Thread-safe.
 * <p>
 * A thread that comes to help stays until no get of that multi is left to begin, or until another
 * multi waits for help. There are never more calls for help than twice the threads, nor than the
 * processors have room for ({@link CpuHeadroom}); a handler that finds that many does without,
 * which at saturation is what all do. A batch that waits for a device, as its first gets show
 * ({@link BatchReadCoalescer#haveWaited}), calls for help again and again, and has some even then.
 */
@InterfaceAudience.Private
public final class MultigetPool {
  private static final Logger LOG = LoggerFactory.getLogger(MultigetPool.class);

  /** How many gets there have to be for one more thread, if they do not wait for a device. */
  private static final int GETS_PER_HELPER = 3;
  private static final long KEEP_ALIVE_NANOS = TimeUnit.SECONDS.toNanos(60);
  /** For how long a thread is kept awake for a request: until a handler is awake, and has it. */
  private static final long EXPECT_NANOS = TimeUnit.MICROSECONDS.toNanos(150);

  private final ThreadFactory factory;
  private final Function<HandoffThreadPool, CpuHeadroom> rooms;
  private volatile MultigetSettings settings;
  /** Null until it is needed, as is {@link #room}. */
  private volatile HandoffThreadPool threads;
  private volatile CpuHeadroom room;
  private boolean stopped;
  /** Calls for help that wait or are followed. */
  private final AtomicInteger pendingHandoffs = new AtomicInteger();
  private final DeviceWaitProbe deviceWaits = new DeviceWaitProbe();

  private final LongAdder parallelBatches = new LongAdder();
  private final LongAdder smallBatches = new LongAdder();
  private final LongAdder busyBatches = new LongAdder();
  private final LongAdder cpuBoundBatches = new LongAdder();
  private final LongAdder deviceBatches = new LongAdder();
  private final LongAdder windowAdvances = new LongAdder();
  private final LongAdder handlerGets = new LongAdder();
  private final LongAdder helperGets = new LongAdder();
  private final LongAdder expected = new LongAdder();
  private final LongAdder handoffs = new LongAdder();
  private final LongAdder spuriousHandoffs = new LongAdder();
  private final LongAdder waitedNanos = new LongAdder();
  private final LongAdder sparedReads = new LongAdder();

  /**
   * @throws IllegalArgumentException if a setting is wrong, in words for an operator
   */
  public MultigetPool(Configuration conf) {
    this(conf, new ThreadFactoryBuilder().setNameFormat("Multiget-%d").setDaemon(true).build());
  }

  MultigetPool(Configuration conf, ThreadFactory factory) {
    this(conf, factory, CpuHeadroom::of);
  }

  MultigetPool(Configuration conf, ThreadFactory factory,
    Function<HandoffThreadPool, CpuHeadroom> rooms) {
    this.factory = factory;
    this.rooms = rooms;
    settings = MultigetSettings.of(conf);
    apply(settings);
  }

  /** Takes changed settings over; says so, and leaves all as it was, if one is wrong. */
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
      room = rooms.apply(created);
      threads = created;
      MultigetMetrics.register(this);
    } else {
      threads.setMax(next.threads());
    }
  }

  /** Ends the threads, after the gets that they are at. Handlers do without them from then on. */
  public synchronized void shutdown() {
    stopped = true;
    if (threads != null) {
      threads.stop();
    }
  }

  /**
   * Has the gets among some actions served by more than one thread, if that is worth it.
   * @param actions of one region, which are not atomic
   * @param context of the current call; may be null
   * @param metrics may be null
   * @return null if they are to be served one after the other, as without this; else to be closed
   */
  public ParallelGets start(List<Action> actions, RpcCallContext context, HRegion region,
    MetricsRegionServer metrics, ParallelGets.RowReader reader) {
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
      if (isServedHere(action)) {
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
        smallBatches.increment();
      }
      return null;
    }
    // In a longer one there is another chance for help.
    LongAdder alone = longestRun <= ParallelGets.WINDOW ? refusalCounter(current) : null;
    if (alone != null && !deviceWaits.isExpected()) {
      alone.increment();
      return null;
    }
    return new ParallelGets(this, (RpcCall) context, region, metrics, reader, actions,
      Arrays.copyOf(gets, count), runEnds, alone);
  }

  /** Returns what counts a batch that is not helped with now; null if one may be. */
  private LongAdder refusalCounter(MultigetSettings current) {
    int calls = pendingHandoffs.get();
    if (calls >= maxWaiting(current)) {
      return busyBatches;
    }
    return calls >= room(current) ? cpuBoundBatches : null;
  }

  /** Has a thread wake up with the handler of each multi of gets that this server dispatches. */
  public void intercept(RpcServerInterface server) {
    RequestInterceptors.of(server).add((rpcServer, call) -> {
      expect(call.getParam());
      return RequestInterceptor.Outcome.NOT_TAKEN;
    });
  }

  /**
   * Wakes up a sleeping thread if a request that a handler is about to get is a multi of gets. That
   * takes as long as waking up a handler, and several gets.
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
      expected.increment();
    }
  }

  /** Whether an action is a get, and one that can be answered. */
  static boolean isServedHere(Action action) {
    return action.hasGet() && !action.getGet().getClosestRowBefore();
  }

  /** Whether gets behind an action must not be begun before it is done. */
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

  /** Returns how many calls for help there may be for the processors' sake. */
  private int room(MultigetSettings current) {
    CpuHeadroom known = room;
    return current.isHelpedWhenBusy() || known == null ? Integer.MAX_VALUE : known.threads();
  }

  /** As {@link #room}, for gets that wait for a device. */
  private int roomToWait(MultigetSettings current) {
    CpuHeadroom known = room;
    return current.isHelpedWhenBusy() || known == null
      ? Integer.MAX_VALUE
      : known.threadsThatWait();
  }

  /** Whether a thread is wanted elsewhere more. */
  boolean othersWait() {
    return threads.hasWaiting();
  }

  /**
   * Calls for help.
   * @param helpers  how many threads were called and have not ended; is counted up here
   * @param gets     that nobody has begun
   * @param waiting  whether they wait for a device
   * @return whether a thread was called
   */
  boolean enlist(ParallelGets multiget, AtomicInteger helpers, int gets, boolean waiting) {
    MultigetSettings current = settings;
    HandoffThreadPool called = threads;
    if (!current.isEnabled() || called == null) {
      return false;
    }
    int wanted = Math.min(current.maxTasks() - 1, waiting ? gets : gets / GETS_PER_HELPER);
    int missing = wanted - helpers.get();
    if (missing <= 0) {
      return false;
    }
    int most = Math.min(maxWaiting(current), waiting ? roomToWait(current) : room(current));
    boolean any = false;
    for (; missing > 0 && pendingHandoffs.get() < most; missing--) {
      if (pendingHandoffs.incrementAndGet() > most) {
        pendingHandoffs.decrementAndGet();
        return any;
      }
      helpers.incrementAndGet();
      boolean comes = false;
      try {
        comes = called.call(multiget.helper(System.nanoTime()));
      } finally {
        if (!comes) {
          pendingHandoffs.decrementAndGet();
          helpers.decrementAndGet();
        }
      }
      if (!comes) {
        // The server stops, or the system has no more threads.
        return any;
      }
      any = true;
    }
    return any;
  }

  /** To be told of the end of a thread's help. */
  void helped(long gets, long waited) {
    try {
      handoffs.increment();
      waitedNanos.add(waited);
      if (gets == 0) {
        spuriousHandoffs.increment();
      }
      helperGets.add(gets);
    } finally {
      // Last: who sees nobody enlisted sees all that they did.
      pendingHandoffs.decrementAndGet();
    }
  }

  /** Returns what the gets of a batch share. */
  BatchReadCoalescer shareReads() {
    return new BatchReadCoalescer(sparedReads);
  }

  /** To be told of a batch that waits for a device. */
  void waits() {
    deviceBatches.increment();
    deviceWaits.came();
  }

  /** To be told when more gets of a batch may be begun. */
  void wave() {
    windowAdvances.increment();
  }

  /** To be told of the end of an offered batch, and how many gets its handler has served. */
  void served(long gets) {
    parallelBatches.increment();
    handlerGets.add(gets);
  }

  /** Returns how many batches of gets were offered to more than one thread. */
  long getParallelBatchCount() {
    return parallelBatches.sum();
  }

  /** Returns how many batches of two gets or more were too small to be offered. */
  long getSmallBatchCount() {
    return smallBatches.sum();
  }

  /** Returns how many batches were large enough, but all threads had enough to do. */
  long getBusyBatchCount() {
    return busyBatches.sum();
  }

  /** Returns how many batches were large enough, but the processors had no room for threads. */
  long getCpuBoundBatchCount() {
    return cpuBoundBatches.sum();
  }

  /** Returns how many batches were found to wait for a device. */
  long getDeviceBatchCount() {
    return deviceBatches.sum();
  }

  /** Returns how often more gets of a parallel batch were let begin. */
  long getWindowAdvanceCount() {
    return windowAdvances.sum();
  }

  /** Returns how many gets of parallel batches their handlers have served. */
  long getHandlerGetCount() {
    return handlerGets.sum();
  }

  /** Returns how many gets of parallel batches other threads have served. */
  long getHelperGetCount() {
    return helperGets.sum();
  }

  /** Returns how often a thread was woken up ahead, for a request that a handler was to get. */
  long getExpectedCount() {
    return expected.sum();
  }

  /** Returns how often a thread came to help. */
  long getHandoffCount() {
    return handoffs.sum();
  }

  /** Returns how often a thread came to help when nothing was left to do. */
  long getSpuriousHandoffCount() {
    return spuriousHandoffs.sum();
  }

  /** Returns how often a get took a block that another one of its batch had read from a file. */
  long getSharedBlockCount() {
    return sparedReads.sum();
  }

  /** Returns how long threads took until they came, all together, in microseconds. */
  long getHandoffWaitMicros() {
    return TimeUnit.NANOSECONDS.toMicros(waitedNanos.sum());
  }

  /** Returns how many calls for help wait or are being followed. */
  long getPendingHandoffCount() {
    return pendingHandoffs.get();
  }

  /** Returns how many threads there are. */
  long getThreadCount() {
    HandoffThreadPool known = threads;
    return known == null ? 0 : known.count();
  }

  /** Returns how often the system refused a thread. */
  long getFailedThreadCount() {
    HandoffThreadPool known = threads;
    return known == null ? 0 : known.failures();
  }

  /** Returns how many threads the processors have room for, at most as many as there may be. */
  long getCpuHeadroomCount() {
    MultigetSettings current = settings;
    return current.isEnabled() ? Math.min(current.threads(), room(current)) : 0;
  }
}
