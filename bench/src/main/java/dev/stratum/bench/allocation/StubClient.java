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
package dev.stratum.bench.allocation;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.codec.KeyValueCodec;
import org.apache.hadoop.hbase.shaded.ipc.protobuf.generated.TestProtos.EmptyRequestProto;
import org.apache.hadoop.hbase.shaded.protobuf.generated.RPCProtos.CellBlockMeta;
import org.apache.hadoop.hbase.shaded.protobuf.generated.RPCProtos.ConnectionHeader;
import org.apache.hadoop.hbase.shaded.protobuf.generated.RPCProtos.RequestHeader;
import org.apache.hadoop.hbase.shaded.protobuf.generated.RPCProtos.UserInformation;
import org.apache.hbase.thirdparty.com.google.protobuf.CodedOutputStream;
import org.apache.hbase.thirdparty.com.google.protobuf.Message;

/**
 * A client that says the same every time, allocates nothing, and does not look at the answers, so
 * that what is allocated is the server's.
 */
final class StubClient implements Closeable {
  private static final byte SIMPLE_AUTHENTICATION = 80;
  private static final int CALL_ID = 1;

  private final SocketChannel socket;
  private final ByteBuffer request;
  private final ByteBuffer response;

  /**
   * @param address     of an RPC server with the service of {@link Pings}
   * @param cellBlock   to send along with each request; may be empty
   * @param maxResponse in bytes
   */
  StubClient(InetSocketAddress address, byte[] cellBlock, int maxResponse) throws IOException {
    socket = SocketChannel.open(address).setOption(StandardSocketOptions.TCP_NODELAY, true);
    ConnectionHeader connection = ConnectionHeader.newBuilder().setServiceName(Pings.NAME)
      .setUserInfo(UserInformation.newBuilder().setEffectiveUser("benchmark"))
      .setCellBlockCodecClass(KeyValueCodec.class.getName()).build();
    byte[] header = connection.toByteArray();
    ByteBuffer hello =
      ByteBuffer.allocate(HConstants.RPC_HEADER.length + 2 + Integer.BYTES + header.length);
    hello.put(HConstants.RPC_HEADER).put(HConstants.RPC_CURRENT_VERSION).put(SIMPLE_AUTHENTICATION)
      .putInt(header.length).put(header).flip();
    writeFully(hello);
    request = request(cellBlock);
    response = ByteBuffer.allocateDirect(maxResponse);
  }

  private static ByteBuffer request(byte[] cellBlock) throws IOException {
    RequestHeader.Builder header =
      RequestHeader.newBuilder().setCallId(CALL_ID).setMethodName("ping").setRequestParam(true);
    if (cellBlock.length > 0) {
      header.setCellBlockMeta(CellBlockMeta.newBuilder().setLength(cellBlock.length));
    }
    Message[] messages = { header.build(), EmptyRequestProto.getDefaultInstance() };
    int size = cellBlock.length;
    for (Message message : messages) {
      int length = message.getSerializedSize();
      size += CodedOutputStream.computeUInt32SizeNoTag(length) + length;
    }
    byte[] bytes = new byte[size - cellBlock.length];
    CodedOutputStream out = CodedOutputStream.newInstance(bytes);
    for (Message message : messages) {
      out.writeMessageNoTag(message);
    }
    out.checkNoSpaceLeft();
    ByteBuffer request = ByteBuffer.allocateDirect(Integer.BYTES + size);
    request.putInt(size).put(bytes).put(cellBlock).flip();
    return request;
  }

  /** @return the number of bytes of the response */
  int call() throws IOException {
    request.rewind();
    writeFully(request);
    response.clear().limit(Integer.BYTES);
    readFully();
    int size = response.flip().getInt();
    response.clear().limit(size);
    readFully();
    return size;
  }

  private void writeFully(ByteBuffer buffer) throws IOException {
    while (buffer.hasRemaining()) {
      socket.write(buffer);
    }
  }

  private void readFully() throws IOException {
    while (response.hasRemaining()) {
      if (socket.read(response) < 0) {
        throw new EOFException("The server has closed the connection");
      }
    }
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
