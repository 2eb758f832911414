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
package org.apache.hadoop.hbase.regionserver.writegroup;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Collection;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.apache.hadoop.hbase.CallDroppedException;
import org.apache.hadoop.hbase.CallQueueTooBigException;
import org.apache.hadoop.hbase.DoNotRetryIOException;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Mutation;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Row;
import org.apache.hadoop.hbase.ipc.CallRunner;
import org.apache.hadoop.hbase.ipc.RpcScheduler;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.mockito.Mockito;

import org.apache.hbase.thirdparty.com.google.protobuf.ByteString;
import org.apache.hbase.thirdparty.com.google.protobuf.Message;

import org.apache.hadoop.hbase.shaded.protobuf.ProtobufUtil;
import org.apache.hadoop.hbase.shaded.protobuf.RequestConverter;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutateRequest;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutationProto;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutationProto.MutationType;
import org.apache.hadoop.hbase.shaded.protobuf.generated.HBaseProtos.RegionSpecifier.RegionSpecifierType;

/**
 * Sends writes to a region as calls, which wait without a thread. A call here is what a handler
 * would run, but for what is around the write.
 */
public final class CallSender {
  private final Supplier<WriteGroups> groups;
  private final Supplier<HRegion> region;
  private final long nonceGroup;
  private final ExecutorService threads;
  private final RpcScheduler scheduler =
    Mockito.mock(RpcScheduler.class, Mockito.withSettings().stubOnly().defaultAnswer(
      dispatch -> takes((CallRunner) dispatch.getArgument(0))));
  /** Threads that run calls, and may be interrupted. */
  public final Collection<Thread> running;
  /** How many calls a handler has begun. */
  public final AtomicInteger handled = new AtomicInteger();
  /** How many requests were read before a handler began them. */
  public final AtomicInteger read = new AtomicInteger();
  /** How many of these were not read once more. */
  public final AtomicInteger handedOn = new AtomicInteger();
  /** One call of so many finds the scheduler full, or fails before it gets to its write. */
  public volatile int oneIn = Integer.MAX_VALUE;
  private final AtomicInteger attempts = new AtomicInteger();
  public volatile boolean handlersAreBusy;
  /** With which a dispatch ends, null for none. */
  public volatile Error dispatchError;
  /** Of those that are sent. */
  public volatile int priority;
  /** Calls that wait for a handler. */
  public final Queue<CallRunner> busy = new ConcurrentLinkedQueue<>();

  /**
   * @param threads the handlers
   * @param running to which they are added while they run a call
   */
  public CallSender(Supplier<WriteGroups> groups, Supplier<HRegion> region, long nonceGroup,
    ExecutorService threads, Collection<Thread> running) {
    this.groups = groups;
    this.region = region;
    this.nonceGroup = nonceGroup;
    this.threads = threads;
    this.running = running;
  }

  public CallSender(Supplier<WriteGroups> groups, Supplier<HRegion> region,
    ExecutorService threads) {
    this(groups, region, 0, threads, new CopyOnWriteArrayList<>());
  }

  private boolean unlucky() {
    return attempts.incrementAndGet() % oneIn == 0;
  }

  private boolean takes(CallRunner call) {
    Error error = dispatchError;
    if (error != null) {
      throw error;
    }
    if (handlersAreBusy) {
      return busy.add(call);
    }
    return !unlucky() && threads.submit(call::run) != null;
  }

  private static MutationType typeOf(Mutation mutation) {
    if (mutation instanceof Increment) {
      return MutationType.INCREMENT;
    }
    return mutation instanceof Delete ? MutationType.DELETE : MutationType.PUT;
  }

  /** What a client has sent. */
  private final class Request implements WriteRequest {
    private final Supplier<HRegion> region;
    private final MutationProto mutation;
    private final int priority = CallSender.this.priority;

    private Request(Supplier<HRegion> region, Mutation write, long nonce) {
      this.region = region;
      try {
        mutation = ProtobufUtil.toMutation(typeOf(write), write, nonce);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    public ByteString regionName() {
      return ByteString.copyFrom(region.get().getRegionInfo().getRegionName());
    }

    @Override
    public MutationProto proto() {
      return mutation;
    }

    @Override
    public Message param() {
      return MutateRequest.newBuilder()
        .setRegion(RequestConverter.buildRegionSpecifier(RegionSpecifierType.REGION_NAME,
          region.get().getRegionInfo().getRegionName()))
        .setMutation(mutation).build();
    }

    @Override
    public long nonce() {
      return mutation.hasNonce() ? mutation.getNonce() : HConstants.NO_NONCE;
    }

    @Override
    public long nonceGroup() {
      return nonceGroup;
    }

    @Override
    public int priority() {
      return priority;
    }

    @Override
    public long size() {
      return mutation.getSerializedSize();
    }

    @Override
    public HRegion region() {
      return region.get();
    }

    @Override
    public Row write() throws IOException {
      read.incrementAndGet();
      return groups.get().kind().parse(mutation, null);
    }
  }

  public Future<Result> send(Mutation write) {
    return send(write, 0, false);
  }

  /** @param failing whether the call fails before it gets to its write */
  public Future<Result> send(Mutation write, long nonce, boolean failing) {
    return send(region, write, nonce, failing);
  }

  public Future<Result> send(HRegion to, Mutation write) {
    return send(() -> to, write, 0, false);
  }

  private Future<Result> send(Supplier<HRegion> to, Mutation write, long nonce, boolean failing) {
    WriteRequest request = new Request(to, write, nonce);
    WriteCall call = groups.get().call(request);
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
    if (!groups.get().dispatch(call, runner, scheduler)) {
      answer.completeExceptionally(new CallQueueTooBigException());
    }
    return answer;
  }

  private void run(WriteCall call, WriteRequest request, CompletableFuture<Result> answer,
    boolean fails) {
    Result result = null;
    Throwable failure = null;
    Thread handler = Thread.currentThread();
    // Inside of another call it is that one's.
    boolean own = !running.contains(handler);
    call.begin();
    if (own) {
      handled.incrementAndGet();
      running.add(handler);
    }
    try {
      if (fails) {
        throw new DoNotRetryIOException("on its way");
      }
      Row write = groups.get().read(request.proto(), null);
      if (write == call.write()) {
        handedOn.incrementAndGet();
      }
      result = groups.get().apply(request.region(), write, nonceGroup, call.nonce());
    } catch (IOException | RuntimeException | Error e) {
      failure = e;
    } finally {
      if (own) {
        running.remove(handler);
      }
      call.end();
    }
    if (failure == null) {
      answer.complete(result);
    } else {
      answer.completeExceptionally(failure);
    }
  }
}
