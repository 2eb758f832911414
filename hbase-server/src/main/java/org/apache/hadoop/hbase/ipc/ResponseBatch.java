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

import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.hbase.util.NettyFutureUtils;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.apache.hbase.thirdparty.io.netty.channel.Channel;

/**
 * Collects the responses that a thread has ready at about the same time: those of a connection are
 * sent together, with one write to its socket and one wakeup of its network thread. Used only by
 * the thread that began it.
 */
@InterfaceAudience.Private
public final class ResponseBatch implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(ResponseBatch.class);
  private static final ThreadLocal<ResponseBatch> CURRENT = new ThreadLocal<>();

  private final ResponseBatch outer = CURRENT.get();
  /** Channels with pending responses; a few, usually one. */
  private final List<Channel> channels = new ArrayList<>(1);

  private ResponseBatch() {
  }

  /** Holds back this thread's responses until the batch is closed. */
  public static ResponseBatch begin() {
    ResponseBatch batch = new ResponseBatch();
    CURRENT.set(batch);
    return batch;
  }

  /** Sends a response; together with the thread's batch, if there is one. */
  static void send(Channel channel, RpcResponse response) {
    ResponseBatch batch = CURRENT.get();
    if (batch == null) {
      NettyFutureUtils.safeWriteAndFlush(channel, response);
      return;
    }
    NettyFutureUtils.safeWrite(channel, response);
    if (!batch.channels.contains(channel)) {
      batch.channels.add(channel);
    }
  }

  /** Sends the responses collected so far. */
  public void flush() {
    for (Channel channel : channels) {
      try {
        channel.flush();
      } catch (RuntimeException e) {
        LOG.warn("Cannot send the responses to {}", channel, e);
      }
    }
    channels.clear();
  }

  /** Sends the collected responses. */
  @Override
  public void close() {
    if (outer == null) {
      CURRENT.remove();
    } else {
      CURRENT.set(outer);
    }
    flush();
  }
}
