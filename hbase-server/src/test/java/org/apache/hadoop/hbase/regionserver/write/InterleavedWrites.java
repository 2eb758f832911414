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
package org.apache.hadoop.hbase.regionserver.write;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.client.Row;
import org.apache.hadoop.hbase.ipc.CallRunner;
import org.apache.hadoop.hbase.ipc.RpcCall;
import org.apache.hadoop.hbase.ipc.RpcScheduler;
import org.apache.hadoop.hbase.ipc.RpcServerInterface;
import org.apache.hadoop.hbase.regionserver.WriteCallsFixture;
import org.apache.hadoop.hbase.util.Interleavings;
import org.apache.hadoop.hbase.util.Pair;
import org.mockito.Mockito;

import org.apache.hbase.thirdparty.com.google.protobuf.Message;

/**
 * Committers whose threads are run one at a time by {@link Interleavings}, and the calls that they
 * commit, each of which is to end once: answered, or left to the scheduler.
 */
final class InterleavedWrites extends AbstractExecutorService implements AutoCloseable {

  /** A call of a write. */
  static final class Call {
    private final RpcCall call;
    private int ended;
    private String answer = "";

    private Call(Message param) {
      call = WriteCallsFixture.call(param, HConstants.NORMAL_QOS, Long.MAX_VALUE, (message,
        failure) -> end(failure == null ? "written" : failure.getMessage()));
    }

    private void end(String with) {
      answer = with;
      ended++;
    }

    RpcCall call() {
      return call;
    }

    /** Returns "written", "left", or the message that it failed with. */
    String answer() {
      return answer;
    }
  }

  /** A committer without work. */
  private final class Idle {
    private final Interleavings.Permits started = threads.new Permits(0);
    /** Null if the run has ended. */
    private Runnable work;
  }

  private final Row write;
  private final Interleavings threads;
  private final RpcServerInterface server = server();
  private final List<Interleavings.Permits> waiting = new ArrayList<>();
  private final ArrayDeque<Idle> idle = new ArrayDeque<>();
  private final List<Call> calls = new ArrayList<>();
  private int left;
  private boolean refuses;

  /** @param write what each of the calls writes */
  InterleavedWrites(int preemptions, Row write) {
    this.write = write;
    this.threads = new Interleavings(preemptions, Committer.factory("committer"));
  }

  private RpcServerInterface server() {
    RpcScheduler scheduler = Mockito.mock(RpcScheduler.class,
      Mockito.withSettings().stubOnly().defaultAnswer(call -> leave(call.getArgument(0))));
    return Mockito.mock(RpcServerInterface.class,
      Mockito.withSettings().stubOnly().defaultAnswer(call -> {
        switch (call.getMethod().getName()) {
          case "isStarted":
            return true;
          case "getScheduler":
            return scheduler;
          case "call":
            Committer.group().arrive(write);
            return new Pair<>(null, null);
          default:
            return null;
        }
      }));
  }

  private Object leave(CallRunner runner) {
    left++;
    calls.stream().filter(call -> call.call == runner.getRpcCall())
      .forEach(call -> call.end("left"));
    return true;
  }

  RpcServerInterface rpcServer() {
    return server;
  }

  /** Makes a call, which {@link #run} checks. */
  Call call(Message param) {
    Call call = new Call(param);
    calls.add(call);
    return call;
  }

  /** From now on no committer is started. */
  void refuse() {
    refuses = true;
  }

  /** Must be called before each access to what threads share. */
  void point() {
    threads.point();
  }

  /** Waits until a condition holds, which is checked after each {@link #changed}. */
  void await(BooleanSupplier condition) {
    try {
      while (!condition.getAsBoolean()) {
        Interleavings.Permits change = threads.new Permits(0);
        waiting.add(change);
        change.acquire();
      }
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** Called after each change of what {@link #await} waits for. */
  void changed() {
    List<Interleavings.Permits> all = new ArrayList<>(waiting);
    waiting.clear();
    all.forEach(Interleavings.Permits::release);
  }

  /** Forgets the calls of the run before. */
  void clear() {
    waiting.clear();
    idle.clear();
    calls.clear();
  }

  /**
   * Runs threads and committers in the next order, and checks that each call has ended once.
   * @return the calls
   */
  List<Call> run(int committers, Interleavings.Body... bodies) throws Exception {
    for (int i = 0; i < committers; i++) {
      threads.run(false, this::commit);
    }
    threads.run(true, bodies);
    threads.check();
    for (Call call : calls) {
      assertEquals("ended", 1, call.ended);
    }
    return calls;
  }

  /** Ends the run. Returns whether there is another order. */
  boolean next() throws Exception {
    threads.run(false, () -> idle.forEach(committer -> committer.started.release()));
    return threads.next();
  }

  /** Returns how many calls of all runs were left to the scheduler. */
  int left() {
    return left;
  }

  private void commit() throws InterruptedException {
    boolean more = true;
    while (more) {
      Idle committer = new Idle();
      idle.add(committer);
      committer.started.acquire();
      more = committer.work != null;
      if (more) {
        committer.work.run();
      }
    }
  }

  @Override
  public void execute(Runnable command) {
    if (refuses) {
      throw new RejectedExecutionException("shutdown");
    }
    assertTrue("committers", !idle.isEmpty());
    Idle committer = idle.poll();
    committer.work = command;
    committer.started.release();
  }

  @Override
  public void close() {
    threads.close();
  }

  @Override
  public void shutdown() {
    throw new UnsupportedOperationException();
  }

  @Override
  public List<Runnable> shutdownNow() {
    throw new UnsupportedOperationException();
  }

  @Override
  public boolean isShutdown() {
    return false;
  }

  @Override
  public boolean isTerminated() {
    return false;
  }

  @Override
  public boolean awaitTermination(long timeout, TimeUnit unit) {
    throw new UnsupportedOperationException();
  }
}
