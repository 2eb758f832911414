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
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.RPCTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.After;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

import org.apache.hbase.thirdparty.io.netty.bootstrap.ServerBootstrap;
import org.apache.hbase.thirdparty.io.netty.buffer.ByteBuf;
import org.apache.hbase.thirdparty.io.netty.buffer.Unpooled;
import org.apache.hbase.thirdparty.io.netty.channel.ChannelInboundHandlerAdapter;
import org.apache.hbase.thirdparty.io.netty.channel.DefaultEventLoopGroup;
import org.apache.hbase.thirdparty.io.netty.channel.EventLoop;
import org.apache.hbase.thirdparty.io.netty.channel.embedded.EmbeddedChannel;
import org.apache.hbase.thirdparty.io.netty.channel.local.LocalAddress;
import org.apache.hbase.thirdparty.io.netty.channel.local.LocalChannel;
import org.apache.hbase.thirdparty.io.netty.channel.local.LocalServerChannel;

@Category({ RPCTests.class, SmallTests.class })
public class TestFlushConsolidation {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestFlushConsolidation.class);

  private final EmbeddedChannel channel = new EmbeddedChannel();
  private final long responsesBefore = FlushConsolidation.responses();
  private final long flushesBefore = FlushConsolidation.flushes();

  @After
  public void tearDown() {
    channel.finishAndReleaseAll();
  }

  private void enable(String value) {
    Configuration conf = new Configuration(false);
    if (value != null) {
      conf.set(FlushConsolidationSettings.ENABLED_KEY, value);
    }
    FlushConsolidation.of(conf).addTo(channel.pipeline());
  }

  /** Writes a response like a handler that has run a call of this connection. */
  private void respond(int number) {
    channel.eventLoop().execute(() -> channel.writeAndFlush(bytes(number)));
  }

  private static ByteBuf bytes(int number) {
    return Unpooled.copiedBuffer(Integer.toString(number), StandardCharsets.UTF_8);
  }

  private void assertSent(int number) {
    ByteBuf sent = channel.readOutbound();
    assertEquals(Integer.toString(number), sent.toString(StandardCharsets.UTF_8));
    sent.release();
  }

  @Test
  public void testResponsesThatAreReadyLeaveTogether() {
    enable("true");
    for (int i = 0; i < 3; i++) {
      respond(i);
    }
    channel.runPendingTasks();
    for (int i = 0; i < 3; i++) {
      assertSent(i);
    }
    assertEquals(3, FlushConsolidation.responses() - responsesBefore);
    assertEquals(1, FlushConsolidation.flushes() - flushesBefore);
    respond(3);
    channel.runPendingTasks();
    assertSent(3);
    assertEquals("nothing to wait for", 2, FlushConsolidation.flushes() - flushesBefore);
  }

  /** The event loop is a server's, which tells what waits in its queue. */
  @Test
  public void testALoneResponseLeavesAtOnce() throws Exception {
    DefaultEventLoopGroup loops = new DefaultEventLoopGroup(1);
    LocalChannel connection = new LocalChannel();
    try {
      LocalAddress address = new LocalAddress(TestFlushConsolidation.class);
      new ServerBootstrap().group(loops).channel(LocalServerChannel.class)
        .childHandler(new ChannelInboundHandlerAdapter()).bind(address).sync();
      loops.register(connection).sync();
      connection.connect(address).sync();
      Configuration conf = new Configuration(false);
      conf.setBoolean(FlushConsolidationSettings.ENABLED_KEY, true);
      FlushConsolidation.of(conf).addTo(connection.pipeline());
      EventLoop loop = connection.eventLoop();
      loop.submit(() -> {
        connection.writeAndFlush(bytes(0));
        assertEquals("nobody else", 1, FlushConsolidation.flushes() - flushesBefore);
        loop.execute(() -> connection.writeAndFlush(bytes(2)));
        connection.writeAndFlush(bytes(1));
        assertEquals("another is ready", 1, FlushConsolidation.flushes() - flushesBefore);
      }).sync();
      loop.submit(() -> {
      }).sync();
      assertEquals(2, FlushConsolidation.flushes() - flushesBefore);
      assertEquals(3, FlushConsolidation.responses() - responsesBefore);
    } finally {
      connection.close().sync();
      loops.shutdownGracefully(0, 1, TimeUnit.SECONDS);
    }
  }

  @Test
  public void testResponsesToWhatIsBeingReadLeaveWhenItIsRead() {
    enable("true");
    channel.pipeline().fireChannelRead("request");
    channel.writeAndFlush(bytes(0));
    channel.writeAndFlush(bytes(1));
    assertNull(channel.readOutbound());
    channel.pipeline().fireChannelReadComplete();
    assertSent(0);
    assertSent(1);
    assertEquals(1, FlushConsolidation.flushes() - flushesBefore);
  }

  @Test
  public void testManyResponsesLeaveInBetween() {
    enable("true");
    int responses = ConsolidatedFlushes.MAX_MESSAGES;
    channel.pipeline().fireChannelRead("request");
    for (int i = 0; i < responses; i++) {
      assertNull(channel.readOutbound());
      channel.writeAndFlush(bytes(i));
    }
    for (int i = 0; i < responses; i++) {
      assertSent(i);
    }
  }

  @Test
  public void testWhatIsReadyIsSentBeforeTheConnectionIsClosed() {
    enable("true");
    channel.pipeline().fireChannelRead("request");
    channel.writeAndFlush(bytes(0));
    channel.close();
    assertSent(0);
  }

  @Test
  public void testOffUnlessAskedFor() {
    enable(null);
    assertNull(channel.pipeline().first());
  }

  @Test
  public void testRefusesWhatIsNoBoolean() {
    String message =
      assertThrows(IllegalArgumentException.class, () -> enable("ture")).getMessage();
    assertEquals(FlushConsolidationSettings.ENABLED_KEY + " is ture; must be true or false. Set "
      + "one of these, or remove the key for the default of false.", message);
    Configuration conf = new Configuration(false);
    conf.set(RequestConsolidation.ENABLED_KEY, "on");
    message = assertThrows("a server is a client, too", IllegalArgumentException.class,
      () -> FlushConsolidation.of(conf)).getMessage();
    assertEquals(RequestConsolidation.ENABLED_KEY + " is on; must be true or false. Set one of "
      + "these, or remove the key for the default of false.", message);
  }
}
