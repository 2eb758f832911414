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

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.RPCTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.After;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

import org.apache.hbase.thirdparty.io.netty.buffer.Unpooled;
import org.apache.hbase.thirdparty.io.netty.channel.ChannelHandlerContext;
import org.apache.hbase.thirdparty.io.netty.channel.ChannelOutboundHandlerAdapter;
import org.apache.hbase.thirdparty.io.netty.channel.ChannelPromise;
import org.apache.hbase.thirdparty.io.netty.channel.embedded.EmbeddedChannel;

@Category({ RPCTests.class, SmallTests.class })
public class TestRequestConsolidation {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestRequestConsolidation.class);

  /** Writes and flushes that come to the socket, as w and f. */
  private final StringBuilder socket = new StringBuilder();
  private final EmbeddedChannel channel = new EmbeddedChannel(new ChannelOutboundHandlerAdapter() {
    @Override
    public void write(ChannelHandlerContext ctx, Object msg, ChannelPromise promise) {
      socket.append('w');
      ctx.write(msg, promise);
    }

    @Override
    public void flush(ChannelHandlerContext ctx) {
      socket.append('f');
      ctx.flush();
    }
  });

  @After
  public void tearDown() {
    channel.finishAndReleaseAll();
  }

  /** Configures the channel as a connection does when it is established. */
  private void establish(String value) {
    Configuration conf = new Configuration(false);
    if (value != null) {
      conf.set(RequestConsolidation.ENABLED_KEY, value);
    }
    RequestConsolidation consolidation = RequestConsolidation.of(conf);
    channel.pipeline().addLast(BufferCallBeforeInitHandler.NAME, new BufferCallBeforeInitHandler());
    consolidation.addTo(channel.pipeline());
    channel.pipeline()
      .fireUserEventTriggered(BufferCallBeforeInitHandler.BufferCallEvent.success());
    channel.runPendingTasks();
    socket.setLength(0);
  }

  /** Writes requests like threads that share the connection. */
  private void request(int requests) {
    for (int i = 0; i < requests; i++) {
      channel.eventLoop()
        .execute(() -> channel.writeAndFlush(Unpooled.wrappedBuffer(new byte[] { 1 })));
    }
    channel.runPendingTasks();
  }

  @Test
  public void testRequestsThatAreReadyLeaveTogether() {
    establish("true");
    request(3);
    assertEquals("wwwf", socket.toString());
    request(1);
    assertEquals("wwwfwf", socket.toString());
  }

  @Test
  public void testEachLeavesAloneUnlessAskedFor() {
    for (String value : new String[] { null, "false" }) {
      establish(value);
      request(2);
      assertEquals("wfwf", socket.toString());
    }
  }

  @Test
  public void testRefusesWhatIsNoBoolean() {
    String message =
      assertThrows(IllegalArgumentException.class, () -> establish("ture")).getMessage();
    assertEquals(RequestConsolidation.ENABLED_KEY + " is ture; must be true or false. Set one of "
      + "these, or remove the key for the default of false.", message);
  }
}
