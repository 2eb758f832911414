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

import java.util.concurrent.atomic.LongAdder;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.metrics.MetricKind;
import org.apache.hadoop.hbase.metrics.MetricRegistries;
import org.apache.hadoop.hbase.metrics.MetricRegistry;
import org.apache.hadoop.hbase.metrics.MetricRegistryInfo;
import org.apache.yetus.audience.InterfaceAudience;

import org.apache.hbase.thirdparty.io.netty.channel.ChannelHandler;
import org.apache.hbase.thirdparty.io.netty.channel.ChannelHandlerContext;
import org.apache.hbase.thirdparty.io.netty.channel.ChannelOutboundHandlerAdapter;
import org.apache.hbase.thirdparty.io.netty.channel.ChannelPipeline;
import org.apache.hbase.thirdparty.io.netty.channel.ChannelPromise;

/**
 * Consolidates the flushes of a connection: responses that are ready at about the same time are
 * sent with one write to its socket. Each write is a system call, which on a fast network costs
 * more than all other work for the response of a small get.
 * <p>
 * {@link ConsolidatedFlushes} decides when to flush. Unwritable connections are flushed by Netty as
 * usual.
 * <p>
 * Thread-safe. The numbers of responses and writes are in JMX under
 * <code>Hadoop:service=HBase,name=RegionServer,sub=Responses</code>; if one process has several
 * servers, as a test cluster does, they are totals.
 */
@InterfaceAudience.Private
final class FlushConsolidation {
  private final boolean enabled;

  private FlushConsolidation(boolean enabled) {
    this.enabled = enabled;
  }

  /** @throws IllegalArgumentException if a setting is invalid */
  static FlushConsolidation of(Configuration conf) {
    return new FlushConsolidation(FlushConsolidationSettings.of(conf).isEnabled());
  }

  /**
   * Enables consolidation for a connection, if configured. Must be called before the handlers that
   * write responses are added, and after those that encrypt.
   */
  void addTo(ChannelPipeline pipeline) {
    if (enabled) {
      pipeline.addLast(Counter.INSTANCE, new ConsolidatedFlushes());
    }
  }

  static long responses() {
    return Counter.INSTANCE.responses.sum();
  }

  static long flushes() {
    return Counter.INSTANCE.flushes.sum();
  }

  /** Counts the responses and writes of all connections. */
  @ChannelHandler.Sharable
  private static final class Counter extends ChannelOutboundHandlerAdapter {
    static final Counter INSTANCE = new Counter();

    private final LongAdder responses = new LongAdder();
    private final LongAdder flushes = new LongAdder();

    Counter() {
      MetricRegistry registry = MetricRegistries.global()
        .create(new MetricRegistryInfo("Responses", "Responses that were sent together",
          "RegionServer,sub=Responses", "regionserver", false));
      MetricKind.COUNTER.register(registry, "ResponseCount", responses::sum);
      MetricKind.COUNTER.register(registry, "FlushCount", flushes::sum);
    }

    @Override
    public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
      responses.increment();
      ctx.write(msg, promise);
    }

    @Override
    public void flush(ChannelHandlerContext ctx) {
      flushes.increment();
      ctx.flush();
    }
  }
}
