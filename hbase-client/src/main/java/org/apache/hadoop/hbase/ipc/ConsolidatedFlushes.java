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

import org.apache.hbase.thirdparty.io.netty.channel.ChannelHandlerContext;
import org.apache.hbase.thirdparty.io.netty.channel.EventLoop;
import org.apache.hbase.thirdparty.io.netty.channel.SingleThreadEventLoop;
import org.apache.hbase.thirdparty.io.netty.handler.flush.FlushConsolidationHandler;

/**
 * Sends what a connection's network thread has to send with as few writes to the socket as it can:
 * at once if the thread has nothing else to do, and else when it has done what it has in its queue,
 * or has read what there is to read, and after {@link #MAX_MESSAGES} in any case. So messages wait
 * for that thread's work only, never for time to pass or for each other.
 * <p>
 * There is one instance for each connection, which only the connection's network thread uses.
 */
@InterfaceAudience.Private
class ConsolidatedFlushes extends FlushConsolidationHandler {
  /** The number of messages that are sent together even if the network thread has more to do. */
  static final int MAX_MESSAGES = 256;

  private boolean reading;

  ConsolidatedFlushes() {
    super(MAX_MESSAGES, true);
  }

  @Override
  public void channelRead(ChannelHandlerContext ctx, Object msg) throws Exception {
    reading = true;
    super.channelRead(ctx, msg);
  }

  @Override
  public void channelReadComplete(ChannelHandlerContext ctx) throws Exception {
    reading = false;
    super.channelReadComplete(ctx);
  }

  @Override
  public void flush(ChannelHandlerContext ctx) throws Exception {
    if (!reading && isIdle(ctx.channel().eventLoop())) {
      // No other message can leave with it, so the flush is not delayed.
      ctx.flush();
    } else {
      super.flush(ctx);
    }
  }

  private static boolean isIdle(EventLoop loop) {
    return loop instanceof SingleThreadEventLoop
      && ((SingleThreadEventLoop) loop).pendingTasks() == 0;
  }
}
