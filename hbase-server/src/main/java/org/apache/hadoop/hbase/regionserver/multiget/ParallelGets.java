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

import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.exceptions.TimeoutIOException;
import org.apache.hadoop.hbase.io.hfile.load.BatchReadCoalescer;
import org.apache.hadoop.hbase.ipc.CallerDisconnectedException;
import org.apache.hadoop.hbase.ipc.RpcCall;
import org.apache.hadoop.hbase.ipc.RpcCallContext;
import org.apache.hadoop.hbase.ipc.RpcServer;
import org.apache.hadoop.hbase.monitoring.ThreadLocalServerSideScanMetrics;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.MetricsRegionServer;
import org.apache.hadoop.hbase.util.EnvironmentEdgeManager;
import org.apache.yetus.audience.InterfaceAudience;

import org.apache.hadoop.hbase.shaded.protobuf.ProtobufUtil;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.Action;

/**
 * The gets that a multi has for one region, served by its handler and additional threads.
 * <p>
 * The handler processes the actions in order, as in a sequential multi, and takes the result of
 * each get when it reaches it ({@link #take}). If there is no result yet, the handler serves the
 * next get that is not started; only if all are started, it waits for the result. So a request
 * makes progress whether or not a thread is free for it, and without any, it is served as in a
 * sequential multi.
 * <p>
 * Gets are started in order, at most {@value #WINDOW} ahead of the handler. When those that were
 * served fill the response, none is started but the one that the handler is to take, so that at
 * most one per thread is read unnecessarily. No get is started before the increments, appends and
 * service calls ahead of it are done; puts and deletes are done last in any case. The sizes that a
 * get adds to the call are added when its result is taken, see {@link GetCall}, and its exception
 * is thrown then.
 * <p>
 * {@link #has}, {@link #take} and {@link #close} must be called only by the handler. See
 * HBASE-23063.
 */
@InterfaceAudience.Private
public final class ParallelGets implements AutoCloseable {

  /** Serves a get in the calling thread, and keeps its scanner until the response is built. */
  public interface RowReader {
    Result read(Get get, RpcCallContext call) throws IOException;
  }

  /** Provides additional threads on request, and receives what is done. Thread-safe. */
  interface Threads {
    /**
     * Requests threads.
     * @param workers number of requested threads that have not ended; incremented here
     * @param gets    number of gets that are not started
     * @param waiting whether they wait for a device
     * @return whether a thread was handed the multi
     */
    boolean requestThreads(ParallelGets multiget, AtomicInteger workers, int gets,
      boolean waiting);

    /** Returns whether other multis wait for a thread. */
    boolean othersWait();

    /** Returns a coalescer for the reads of a batch. */
    BatchReadCoalescer shareReads();

    /** Records that more gets of a batch may be started. */
    void windowAdvanced();

    /** Records a batch that waits for a device. */
    void batchWaitsForDevice();

    /** Records the end of a handoff: gets served, and nanoseconds until the thread started. */
    void handoffEnded(long gets, long waited);

    /** Records the end of an offered batch, with the number of gets served by its handler. */
    void served(long gets);
  }

  /** Maximum number of gets that are started ahead of the one whose result is taken. */
  static final int WINDOW = 64;

  /** How long the handler spins for a result before it parks, in nanoseconds. */
  private static final long SPIN_NANOS = 20_000;

  /** Replaces a result that has been taken. */
  private static final Object TAKEN = new Object();

  /** The result or failure of a get. Published through {@link #answers}. */
  private static final class Answer {
    private Result result;
    private Throwable failure;
    private long millis;
    private long responseCellSize;
    private long blockBytesScanned;
    private long responseExceptionSize;
    private long fsReadTime;
  }

  private final Threads threads;
  private final RpcCall call;
  private final HRegion region;
  private final MetricsRegionServer metrics;
  private final RowReader reader;
  private final List<Action> actions;
  /** The positions of the gets among the actions. */
  private final int[] gets;
  /** For each get, the number of gets before the next action that gets must not overtake. */
  private final int[] runEnds;
  /**
   * For each served get, an {@link Answer}, or what was thrown around the read: that needs no
   * memory, of which there may be none. Each started get has one, whatever is thrown.
   */
  private final AtomicReferenceArray<Object> answers;
  /** The next get to be started. */
  private final AtomicInteger next = new AtomicInteger();
  /** Gets before this one may be started. */
  private volatile int limit;
  /** Sizes of the response with all gets that were served, taken or not, as the call has them. */
  private final AtomicLong cellSize;
  private final AtomicLong blockSize;
  private final long maxSize;
  /** Number of threads that were requested and have not ended. */
  private final AtomicInteger workers = new AtomicInteger();
  private final Thread handler = Thread.currentThread();
  /** The get for whose result the handler is parked. */
  private volatile int awaited = -1;
  private final Context trace = Context.current();
  private final BatchReadCoalescer reads;
  /** Counts this batch unless threads are used after all; null if it is offered at once. */
  private final LongAdder refusalCounter;

  // Only the handler uses these fields.
  private final GetCall ownCall;
  private int cursor;
  private int ownGets;
  /** Whether a get took too long for spinning to be worthwhile. */
  private boolean slow;
  /** Whether the gets wait for a device. */
  private boolean waiting;
  /** Whether threads were requested. */
  private boolean offered;

  /**
   * @param call           the current call
   * @param metrics        may be null
   * @param gets           positions of the actions that are gets to be served here
   * @param runEnds        for each get, the number of gets before the next action that must wait
   *                       for anything other than gets, puts and deletes
   * @param maxSize        bytes of cells, or of scanned blocks and exceptions, beyond which the
   *                       response has no more results
   * @param refusalCounter counts the batch if no threads are used, because there is headroom only
   *                       if the gets wait for a device; null if there is headroom
   */
  ParallelGets(Threads threads, RpcCall call, HRegion region, MetricsRegionServer metrics,
    RowReader reader, List<Action> actions, int[] gets, int[] runEnds, long maxSize,
    LongAdder refusalCounter) {
    this.threads = threads;
    this.call = call;
    this.region = region;
    this.metrics = metrics;
    this.reader = reader;
    this.actions = actions;
    this.gets = gets;
    this.runEnds = runEnds;
    this.answers = new AtomicReferenceArray<>(gets.length);
    this.ownCall = new GetCall(call);
    this.cellSize = new AtomicLong(call.getResponseCellSize());
    this.blockSize =
      new AtomicLong(call.getBlockBytesScanned() + call.getResponseExceptionSize());
    this.maxSize = maxSize;
    this.reads = threads.shareReads();
    this.refusalCounter = refusalCounter;
    this.offered = refusalCounter == null;
  }

  /** Returns whether an action is a get that can be served here. */
  static boolean isServedHere(Action action) {
    return action.hasGet() && !action.getGet().getClosestRowBefore();
  }

  /**
   * Returns whether the result of this action must be taken by a call of {@link #take}, which must
   * be the next call. Must be called in the order of the actions; some may be left out.
   */
  public boolean has(Action action) {
    if (!isServedHere(action)) {
      return false;
    }
    int i = cursor;
    while (i < gets.length && actions.get(gets[i]) != action) {
      i++;
    }
    if (i == gets.length) {
      return false;
    }
    cursor = i;
    return true;
  }

  /**
   * Returns the result of the action that was passed to {@link #has}, waiting for it if necessary.
   * @throws IOException the exception of the get, or because the caller no longer waits for the
   *                     result
   */
  public Result take() throws IOException {
    int i = cursor++;
    advance(i);
    Object answer = answers.get(i);
    while (answer == null) {
      if (serveNext(i)) {
        requestThreadsIfWaiting();
      } else {
        await(i);
      }
      answer = answers.get(i);
    }
    answers.lazySet(i, TAKEN);
    if (answer instanceof Throwable) {
      rethrow((Throwable) answer);
    }
    return account((Answer) answer);
  }

  /**
   * Serves the next get that is not started, in the handler. Returns false if there is none.
   * @param needed whose result the handler waits for
   */
  private boolean serveNext(int needed) {
    // Throws, if anything is thrown, before a get is started.
    reads.enter();
    try {
      int begun = begin(needed);
      if (begun < 0) {
        return false;
      }
      serve(begun, ownCall);
      ownGets++;
      return true;
    } finally {
      BatchReadCoalescer.leave();
    }
  }

  /** Allows gets from this one on to start, and requests threads if there are enough of them. */
  private void advance(int i) throws IOException {
    int target = Math.min(runEnds[i], i + WINDOW);
    // It advances by half a window at least, so that a requested thread finds gets to serve.
    if (target <= limit || limit - i > WINDOW / 2) {
      return;
    }
    if (i > 0) {
      checkCaller();
    }
    limit = target;
    threads.windowAdvanced();
    offered |= !isFull()
      && threads.requestThreads(this, workers, target - Math.max(i, next.get()), waiting);
  }

  /** Requests more threads if gets wait for a device, as determined by the first ones. */
  private void requestThreadsIfWaiting() {
    int begun = next.get();
    if (!waiting) {
      if (!reads.haveWaited(begun)) {
        return;
      }
      waiting = true;
      threads.batchWaitsForDevice();
    }
    offered |= !isFull() && threads.requestThreads(this, workers, limit - begun, true);
  }

  private void checkCaller() throws IOException {
    if (call.disconnectSince() >= 0) {
      throw new CallerDisconnectedException(
        "The caller of a multi on " + region.getRegionInfo().getRegionNameAsString()
          + " disconnected " + call.disconnectSince() + " ms ago");
    }
    if (EnvironmentEdgeManager.currentTime() > call.getDeadline()) {
      throw new TimeoutIOException("The deadline of a multi on "
        + region.getRegionInfo().getRegionNameAsString() + " has passed");
    }
  }

  /**
   * Returns the index of a get for the calling thread to serve, or -1.
   * @param needed that may be served even if the response is full; -1 if there is none
   */
  private int begin(int needed) {
    while (true) {
      int i = next.get();
      if (i >= limit || i != needed && isFull()) {
        return -1;
      }
      if (next.compareAndSet(i, i + 1)) {
        return i;
      }
    }
  }

  /** Returns whether no result behind those of the gets that were served has space. */
  private boolean isFull() {
    return cellSize.get() > maxSize || blockSize.get() > maxSize;
  }

  /**
   * Serves a get that the calling thread has started, and publishes its result, whatever is thrown.
   */
  private void serve(int i, GetCall as) {
    Object answer;
    try {
      answer = read(i, as);
    } catch (Throwable e) {
      answer = e;
    }
    answers.set(i, answer);
    // The check follows the publication: the handler checks for a result after it has set awaited.
    if (awaited == i) {
      LockSupport.unpark(handler);
    }
  }

  private Answer read(int i, GetCall as) {
    Answer answer = new Answer();
    as.reset();
    long before = EnvironmentEdgeManager.currentTime();
    long fsReadTimeBefore = ThreadLocalServerSideScanMetrics.getFsReadTimeCounter().get();
    RpcServer.setCurrentCall(as);
    try {
      answer.result = reader.read(ProtobufUtil.toGet(actions.get(gets[i]).getGet()), as);
    } catch (Throwable e) {
      answer.failure = e;
    } finally {
      RpcServer.setCurrentCall(call);
    }
    answer.millis = EnvironmentEdgeManager.currentTime() - before;
    answer.responseCellSize = as.getResponseCellSize();
    answer.blockBytesScanned = as.getBlockBytesScanned();
    answer.responseExceptionSize = as.getResponseExceptionSize();
    cellSize.addAndGet(answer.responseCellSize);
    blockSize.addAndGet(answer.blockBytesScanned + answer.responseExceptionSize);
    long fsReadTime =
      ThreadLocalServerSideScanMetrics.getFsReadTimeCounter().get() - fsReadTimeBefore;
    if (fsReadTime > 0) {
      reads.waited();
    }
    if (as != ownCall) {
      answer.fsReadTime = fsReadTime;
    }
    return answer;
  }

  /** Waits for a get that another thread has started. An interrupt is deferred. */
  private void await(int i) {
    // A get from memory takes less time than parking and waking up this thread. If one takes
    // longer, the next ones do as well.
    if (!slow) {
      long start = System.nanoTime();
      while (System.nanoTime() - start < SPIN_NANOS) {
        if (answers.get(i) != null) {
          return;
        }
      }
      slow = true;
    }
    boolean interrupted = false;
    awaited = i;
    while (answers.get(i) == null) {
      // Waits without a limit: the thread that has started a get publishes its result, see serve,
      // and until then it is at work in the region.
      LockSupport.park(this);
      // An interrupt by the close of a region is meant for threads working in that region.
      interrupted |= Thread.interrupted();
    }
    awaited = -1;
    if (interrupted) {
      handler.interrupt();
    }
  }

  private Result account(Answer answer) throws IOException {
    call.incrementResponseCellSize(answer.responseCellSize);
    call.incrementBlockBytesScanned(answer.blockBytesScanned);
    call.incrementResponseExceptionSize(answer.responseExceptionSize);
    if (answer.fsReadTime > 0) {
      ThreadLocalServerSideScanMetrics.addFsReadTime(answer.fsReadTime);
    }
    if (metrics != null) {
      metrics.updateGet(region, answer.millis, answer.blockBytesScanned);
    }
    if (answer.failure != null) {
      rethrow(answer.failure);
    }
    return answer.result;
  }

  private static void rethrow(Throwable failure) throws IOException {
    if (failure instanceof RuntimeException) {
      throw (RuntimeException) failure;
    } else if (failure instanceof Error) {
      throw (Error) failure;
    }
    throw (IOException) failure;
  }

  /**
   * Returns the task of an additional thread.
   * @param called time of the handoff, as {@link System#nanoTime}
   */
  Runnable worker(long called) {
    return () -> help(System.nanoTime() - called);
  }

  private void help(long waited) {
    long served = 0;
    try (Scope ignored = trace.makeCurrent()) {
      GetCall as = new GetCall(call);
      reads.enter();
      for (int i = begin(-1); i >= 0; i = begin(-1)) {
        // The close of a region may have interrupted the preceding get.
        Thread.interrupted();
        serve(i, as);
        served++;
        if (threads.othersWait()) {
          break;
        }
      }
    } finally {
      try {
        BatchReadCoalescer.leave();
        RpcServer.unsetCurrentCall();
      } finally {
        workers.decrementAndGet();
        threads.handoffEnded(served, waited);
      }
    }
  }

  /** Stops starting gets, and waits for those that were started. */
  @Override
  public void close() {
    int begun = Math.min(next.getAndSet(Integer.MAX_VALUE), gets.length);
    // The loop starts at the first get: if the caller has disconnected, any of the started gets may
    // not have been taken.
    for (int i = 0; i < begun; i++) {
      await(i);
    }
    try {
      reads.release();
    } finally {
      count();
    }
  }

  private void count() {
    if (offered) {
      threads.served(ownGets);
    } else {
      refusalCounter.increment();
    }
  }
}
