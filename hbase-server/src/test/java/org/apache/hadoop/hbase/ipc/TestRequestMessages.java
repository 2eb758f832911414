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

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.client.MetricsConnection;
import org.apache.hadoop.hbase.io.AllocatedBytes;
import org.apache.hadoop.hbase.testclassification.RPCTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

import org.apache.hbase.thirdparty.com.google.protobuf.ByteString;
import org.apache.hbase.thirdparty.com.google.protobuf.BytesValue;
import org.apache.hbase.thirdparty.com.google.protobuf.Message;
import org.apache.hbase.thirdparty.io.netty.buffer.ByteBuf;
import org.apache.hbase.thirdparty.io.netty.buffer.ByteBufUtil;
import org.apache.hbase.thirdparty.io.netty.buffer.UnpooledByteBufAllocator;
import org.apache.hbase.thirdparty.io.netty.channel.embedded.EmbeddedChannel;

import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.ClientService;
import org.apache.hadoop.hbase.shaded.protobuf.generated.RPCProtos.RequestHeader;

/** Tests that the messages of a request are written as protobuf does it, with less garbage. */
@Category({ RPCTests.class, SmallTests.class })
public class TestRequestMessages {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestRequestMessages.class);

  private static final int REQUESTS = 5000;
  private static final Message HEADER =
    RequestHeader.newBuilder().setCallId(7).setMethodName("Multi").setRequestParam(true).build();

  @Test
  public void testSameBytesAsProtobuf() throws IOException {
    int limit = RequestMessages.MAX_LENGTH;
    // Lengths go up, down and up again, over each at which something changes.
    for (int length : new int[] { 0, 1, 127, 128, 1000, 1024, 4096, 100, limit, 5, 2 * limit }) {
      assertSameBytes(length);
    }
    for (int length = limit - 100; length <= limit; length++) {
      assertSameBytes(length);
    }
    assertArrayEquals(expected(null), written(null));
  }

  private static void assertSameBytes(int length) throws IOException {
    Message param = param(length);
    assertArrayEquals("length " + length, expected(param), written(param));
  }

  @Test
  public void testRequestLeavesNoBufferBehind() throws Exception {
    Message param = param(3000);
    OutputStream nowhere = new OutputStream() {
      @Override
      public void write(int b) {
      }

      @Override
      public void write(byte[] bytes, int offset, int length) {
      }
    };
    long each = AllocatedBytes.ofThisThread().perCall(REQUESTS,
      () -> IPCUtil.write(nowhere, HEADER, param, null));
    assertTrue("Allocated " + each + " bytes for a request", each < 1024);
  }

  @Test
  public void testNettyClientWritesTheSameBytesAndLeavesNoBufferBehind() throws Exception {
    Call call = new Call(7, ClientService.getDescriptor().findMethodByName("Multi"), param(3000),
      null, null, 1000, HConstants.PRIORITY_UNSET, null, done -> {
      }, MetricsConnection.newCallStats());
    NettyRpcDuplexHandler handler =
      new NettyRpcDuplexHandler(null, new CellBlockBuilder(new Configuration(false)), null, null);
    EmbeddedChannel channel = new EmbeddedChannel(handler);
    // The memory is off the heap, and not watched for leaks, which takes memory of its own.
    channel.config().setAllocator(new UnpooledByteBufAllocator(true, true));
    ByteBuf request = written(channel, call);
    Message header = IPCUtil.buildRequestHeader(call, null);
    int totalSize = IPCUtil.getTotalSizeWhenWrittenDelimited(header, call.param);
    assertArrayEquals(expected(totalSize, header, call.param), ByteBufUtil.getBytes(request));
    request.release();

    long each = AllocatedBytes.ofThisThread().perCall(REQUESTS,
      () -> written(channel, call).release());
    assertTrue("Allocated " + each + " bytes for a request", each < 2048);
  }

  private static ByteBuf written(EmbeddedChannel channel, Call call) {
    assertTrue(channel.writeOutbound(call));
    return channel.readOutbound();
  }

  private static Message param(int length) {
    return BytesValue.of(ByteString.copyFrom(new byte[length]));
  }

  private static byte[] written(Message param) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    RequestMessages.write(out, 123456789, HEADER, param);
    return out.toByteArray();
  }

  private static byte[] expected(Message param) throws IOException {
    return expected(123456789, HEADER, param);
  }

  private static byte[] expected(int totalSize, Message header, Message param)
    throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write(Bytes.toBytes(totalSize));
    header.writeDelimitedTo(out);
    if (param != null) {
      param.writeDelimitedTo(out);
    }
    return out.toByteArray();
  }
}
