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
package org.apache.hadoop.hbase.ipc;

import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.apache.hbase.thirdparty.io.netty.channel.EventLoop;

/**
 * Runs calls on the threads of their connections, which costs neither a queue nor the wakeup of a
 * handler. Such a thread serves many connections: only calls that do not wait may be run, and no
 * more in a row than a number, after which the thread writes the responses of handlers before it
 * runs another. Thread-safe.
 */
@InterfaceAudience.Private
public final class ConnectionThreadCalls {
  private static final Logger LOG = LoggerFactory.getLogger(ConnectionThreadCalls.class);

  /** The calls that a thread has run since it last did the tasks of its queue. */
  private static final class Turn implements Runnable {
    private int calls;

    /** Is one of those tasks itself. */
    @Override
    public void run() {
      calls = 0;
    }
  }

  private final ThreadLocal<Turn> turns = ThreadLocal.withInitial(Turn::new);
  private final int maxInRow;

  /** @param maxInRow 1 or more */
  public ConnectionThreadCalls(int maxInRow) {
    this.maxInRow = maxInRow;
  }

  /** Returns whether this thread is that of the call's connection and may run one more call. */
  public boolean mayRun(RpcCall call) {
    return call instanceof NettyServerCall && eventLoop(call).inEventLoop()
      && turns.get().calls < maxInRow;
  }

  private static EventLoop eventLoop(RpcCall call) {
    return ((NettyServerCall) call).connection.channel.eventLoop();
  }

  /** Runs and answers a call as a handler does, whose current call it is meanwhile. */
  public void run(RpcServerInterface server, RpcCall call) {
    Turn turn = turns.get();
    if (turn.calls++ == 0) {
      eventLoop(call).execute(turn);
    }
    CallRunner runner = new CallRunner(server, call);
    runner.setStatus(RpcServer.getStatus());
    try {
      runner.run();
    } catch (RuntimeException | Error e) {
      // As with a handler, the call is lost, and the thread serves others.
      LOG.warn("A call on the thread of its connection failed", e);
    }
  }
}
