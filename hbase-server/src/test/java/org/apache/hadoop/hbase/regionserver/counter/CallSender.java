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
package org.apache.hadoop.hbase.regionserver.counter;

import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.hbase.CallDroppedException;
import org.apache.hadoop.hbase.CallQueueTooBigException;
import org.apache.hadoop.hbase.DoNotRetryIOException;
import org.apache.hadoop.hbase.RegionTooBusyException;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.ipc.CallRunner;
import org.apache.hadoop.hbase.ipc.RpcScheduler;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.mockito.Mockito;

import org.apache.hbase.thirdparty.com.google.protobuf.ByteString;

import org.apache.hadoop.hbase.shaded.protobuf.ProtobufUtil;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutationProto;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutationProto.MutationType;

/**
 * Sends increments as calls, which wait without a thread. A call here is what a handler would run,
 * but for what is around the increment.
 */
final class CallSender implements IncrementSender {
  private final IncrementFixture fixture;
  private final RpcScheduler scheduler =
    Mockito.mock(RpcScheduler.class, Mockito.withSettings().stubOnly().defaultAnswer(
      dispatch -> takes((CallRunner) dispatch.getArgument(0))));
  /** How many calls a handler has begun. */
  final AtomicInteger handled = new AtomicInteger();
  /** How many requests were read before a handler began them. */
  final AtomicInteger read = new AtomicInteger();
  /** How many of these were not read once more. */
  final AtomicInteger handedOn = new AtomicInteger();
  /** One call of so many finds the scheduler full, or fails before it gets to its increment. */
  volatile int oneIn = Integer.MAX_VALUE;
  private final AtomicInteger attempts = new AtomicInteger();
  volatile boolean handlersAreBusy;
  /** Of those that are sent. */
  volatile int priority;
  /** Calls that wait for a handler. */
  final Queue<CallRunner> busy = new ConcurrentLinkedQueue<>();

  CallSender(IncrementFixture fixture) {
    this.fixture = fixture;
  }

  private boolean unlucky() {
    return attempts.incrementAndGet() % oneIn == 0;
  }

  private boolean takes(CallRunner call) {
    if (handlersAreBusy) {
      return busy.add(call);
    }
    return !unlucky() && fixture.threads.submit(call::run) != null;
  }

  @Override
  public Future<Result> send(Increment increment, long nonce) {
    return send(increment, nonce, false);
  }

  /** What a client has sent. */
  private final class Request implements IncrementRequest {
    private final MutationProto mutation;
    private final int priority = CallSender.this.priority;

    private Request(Increment increment, long nonce) {
      try {
        mutation = ProtobufUtil.toMutation(MutationType.INCREMENT, increment, nonce);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    public ByteString regionName() {
      return ByteString.copyFrom(fixture.region.getRegionInfo().getRegionName());
    }

    @Override
    public MutationProto mutation() {
      return mutation;
    }

    @Override
    public long nonceGroup() {
      return IncrementFixture.CLIENT;
    }

    @Override
    public int priority() {
      return priority;
    }

    @Override
    public HRegion region() {
      return fixture.region;
    }

    @Override
    public Increment increment() throws IOException {
      read.incrementAndGet();
      return ProtobufUtil.toIncrement(mutation, null);
    }
  }

  Future<Result> send(Increment increment, long nonce, boolean failing) {
    IncrementRequest request = new Request(increment, nonce);
    IncrementCall call = fixture.coalescer.call(request);
    CompletableFuture<Result> answer = new CompletableFuture<>();
    CallRunner runner = Mockito.mock(CallRunner.class,
      Mockito.withSettings().stubOnly().defaultAnswer(method -> {
        if (method.getMethod().getName().equals("run")) {
          run(call, request, answer, failing || unlucky());
        } else if (method.getMethod().getName().equals("drop")) {
          call.end();
          answer.completeExceptionally(new CallDroppedException());
        }
        return null;
      }));
    if (!fixture.coalescer.dispatch(call, runner, scheduler)) {
      answer.completeExceptionally(new CallQueueTooBigException());
    }
    return answer;
  }

  private void run(IncrementCall call, IncrementRequest request, CompletableFuture<Result> answer,
    boolean fails) {
    Result result = null;
    Throwable failure = null;
    Thread handler = Thread.currentThread();
    // Inside of another call it is that one's.
    boolean own = !fixture.running.contains(handler);
    call.begin();
    if (own) {
      handled.incrementAndGet();
      fixture.running.add(handler);
    }
    try {
      if (fails) {
        throw new DoNotRetryIOException("on its way");
      }
      Increment increment = fixture.coalescer.read(request.mutation(), null);
      if (increment == call.increment()) {
        handedOn.incrementAndGet();
      }
      result = fixture.coalescer.increment(fixture.region, increment, IncrementFixture.CLIENT,
        call.nonce());
    } catch (IOException | RuntimeException | Error e) {
      failure = e;
    } finally {
      if (own) {
        fixture.running.remove(handler);
      }
      call.end();
    }
    if (failure == null) {
      answer.complete(result);
    } else {
      answer.completeExceptionally(failure);
    }
  }

  @Override
  public int behindAnotherKind() {
    return 1;
  }

  @Override
  public void assertGaveUp(Future<Result> repeated) {
    ExecutionException e = assertThrows(ExecutionException.class, repeated::get);
    assertTrue(e.toString(), e.getCause() instanceof RegionTooBusyException);
  }

  @Override
  public Result stormy(Increment increment, long nonce) throws Exception {
    oneIn = 50;
    try {
      // Some come in threads, like those of batches.
      return (nonce % 4 == 0 ? fixture.sendInThread(increment, nonce) : send(increment, nonce))
        .get();
    } catch (ExecutionException e) {
      throw new IOException(e.getCause());
    }
  }
}
