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
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.exceptions.TimeoutIOException;
import org.apache.hadoop.hbase.io.hfile.batch.BatchReadCoalescer;
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
 * The gets that a multi has for one region, served by its handler and whichever threads of a
 * {@link MultigetPool} come to help.
 * <p>
 * The handler goes through the actions in their order, as it does without help, and takes the
 * answer to each get when it comes to it ({@link #take}). If there is none yet it serves a get by
 * itself, the next that nobody has begun; only if all have been begun it waits for the one it
 * wants. So a request gets on whether a thread is free for it or not, and when none is, it is
 * served as without help.
 * <p>
 * Gets are begun in order and not more than {@value #WINDOW} ahead of the handler, which is how
 * much is served in vain when the response is found too large. None is begun before the increments,
 * appends and service calls ahead of it are done; puts and deletes are done last in any case. What
 * a get adds to the call's sizes is added when its answer is taken, see {@link GetCall}, and an
 * exception is thrown then.
 * <p>
 * {@link #has}, {@link #take} and {@link #close} are for the handler. See HBASE-23063.
 */
@InterfaceAudience.Private
public final class ParallelGets implements AutoCloseable {

  /** Serves a get in the thread that calls it, and keeps its scanner until the response is made. */
  public interface RowReader {
    Result read(Get get, RpcCallContext call) throws IOException;
  }

  /** How many gets may be begun ahead of the one whose answer is taken. */
  static final int WINDOW = 64;

  /** How long the handler waits for an answer before it goes to sleep. */
  private static final long SPIN_NANOS = 20_000;

  /** In place of an answer that has been taken. */
  private static final Object TAKEN = new Object();

  /** What became of a get that was read, or failed to be. Handed over by {@link #answers}. */
  private static final class Answer {
    private Result result;
    private Throwable failure;
    private long millis;
    private long responseCellSize;
    private long blockBytesScanned;
    private long responseExceptionSize;
    private long fsReadTime;
  }

  private final MultigetPool pool;
  private final RpcCall call;
  private final HRegion region;
  private final MetricsRegionServer metrics;
  private final RowReader reader;
  private final List<Action> actions;
  /** The actions that are gets, by their position. */
  private final int[] gets;
  /** For each get, how many gets there are up to the next action that gets must not overtake. */
  private final int[] runEnds;
  /**
   * An {@link Answer} for each get that was served, or what was thrown around the read: that needs
   * no memory, of which there may be none. Each get that was begun has one, whatever is thrown.
   */
  private final AtomicReferenceArray<Object> answers;
  /** The get to be begun next. */
  private final AtomicInteger next = new AtomicInteger();
  /** The gets before it may be begun. */
  private volatile int limit;
  /** Threads that are on their way here or at work. */
  private final AtomicInteger helpers = new AtomicInteger();
  private final Thread handler = Thread.currentThread();
  /** The get whose answer the handler sleeps for. */
  private volatile int awaited = -1;
  private final Context trace = Context.current();
  private final BatchReadCoalescer reads;
  /** Counts this batch unless it is helped with after all; null if it is offered at once. */
  private final LongAdder alone;

  // Of the handler.
  private final GetCall ownCall;
  private int cursor;
  private int ownGets;
  /** Whether a get took longer than is worth waiting for awake. */
  private boolean slow;
  /** Whether the gets wait for a device. */
  private boolean waiting;
  /** Whether threads may come or have come. */
  private boolean offered;

  /**
   * @param call    the current call
   * @param metrics may be null
   * @param gets    which of the actions are gets to be served here
   * @param runEnds for each of these, the number of them up to the next that has to wait for
   *                something else than gets, puts and deletes
   * @param alone   counts the batch if it is served without help, there being no room for any
   *                unless the gets wait for a device; null if there is
   */
  ParallelGets(MultigetPool pool, RpcCall call, HRegion region, MetricsRegionServer metrics,
    RowReader reader, List<Action> actions, int[] gets, int[] runEnds, LongAdder alone) {
    this.pool = pool;
    this.call = call;
    this.region = region;
    this.metrics = metrics;
    this.reader = reader;
    this.actions = actions;
    this.gets = gets;
    this.runEnds = runEnds;
    this.answers = new AtomicReferenceArray<>(gets.length);
    this.ownCall = new GetCall(call);
    this.reads = pool.shareReads();
    this.alone = alone;
    this.offered = alone == null;
  }

  /**
   * Whether the answer to this action is to be taken here, by a call of {@link #take} that comes
   * next. To be asked in the order of the actions; some may be left out.
   */
  public boolean has(Action action) {
    if (!MultigetPool.isServedHere(action)) {
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
   * Returns the answer to the action that {@link #has} was asked for, when there is one.
   * @throws IOException what the get has thrown, or since nobody waits for it any more
   */
  public Result take() throws IOException {
    int i = cursor++;
    advance(i);
    Object answer = answers.get(i);
    while (answer == null) {
      if (serveNext()) {
        callIfWaiting();
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

  /** Has the handler serve the next get that nobody has begun. Returns false if there is none. */
  private boolean serveNext() {
    // What may be thrown is thrown before a get is begun.
    reads.enter();
    try {
      int begun = begin();
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

  /** Lets gets be begun from this one on, and has others come to help if there are enough. */
  private void advance(int i) throws IOException {
    int target = Math.min(runEnds[i], i + WINDOW);
    // By half a window at least, so that whoever comes to help finds something to do.
    if (target <= limit || limit - i > WINDOW / 2) {
      return;
    }
    if (i > 0) {
      checkCaller();
    }
    limit = target;
    pool.wave();
    offered |= pool.enlist(this, helpers, target - Math.max(i, next.get()), waiting);
  }

  /** Has more threads come if gets wait for a device, which the first ones show. */
  private void callIfWaiting() {
    int begun = next.get();
    if (!waiting) {
      if (!reads.haveWaited(begun)) {
        return;
      }
      waiting = true;
      pool.waits();
    }
    offered |= pool.enlist(this, helpers, limit - begun, true);
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

  /** Returns the number of a get for the calling thread to serve, or -1. */
  private int begin() {
    while (true) {
      int i = next.get();
      if (i >= limit) {
        return -1;
      }
      if (next.compareAndSet(i, i + 1)) {
        return i;
      }
    }
  }

  /** Serves a get that the calling thread has begun, and answers it whatever is thrown. */
  private void serve(int i, GetCall as) {
    Object answer;
    try {
      answer = read(i, as);
    } catch (Throwable e) {
      answer = e;
    }
    answers.set(i, answer);
    // After the answer, as the handler looks for it after it has said what it waits for.
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

  /** Waits for a get that another thread has begun. An interruption is put off. */
  private void await(int i) {
    // A get from memory is over before this thread would be asleep, and awake again. Where one is
    // not, the next ones are not either.
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
      // Waits without a limit: whoever has begun a get answers it, see serve, and until then it is
      // at work in the region.
      LockSupport.park(this);
      // That of a region that is closed goes to the threads at work there.
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
   * What another thread does to help.
   * @param called when it was called, as {@link System#nanoTime}
   */
  Runnable helper(long called) {
    return () -> help(System.nanoTime() - called);
  }

  private void help(long waited) {
    long served = 0;
    try (Scope ignored = trace.makeCurrent()) {
      GetCall as = new GetCall(call);
      reads.enter();
      for (int i = begin(); i >= 0; i = begin()) {
        // What is left of a region that was closed under the get before.
        Thread.interrupted();
        serve(i, as);
        served++;
        if (pool.othersWait()) {
          break;
        }
      }
    } finally {
      try {
        BatchReadCoalescer.leave();
        RpcServer.unsetCurrentCall();
      } finally {
        helpers.decrementAndGet();
        pool.helped(served, waited);
      }
    }
  }

  /** Lets no more gets be begun, and waits for those that were. */
  @Override
  public void close() {
    int begun = Math.min(next.getAndSet(Integer.MAX_VALUE), gets.length);
    // From the first: of those behind the cursor some were begun and not taken, for a caller that
    // went away meanwhile.
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
      pool.served(ownGets);
    } else {
      alone.increment();
    }
  }
}
