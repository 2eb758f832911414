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
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.ServerName;

/**
 * A server of one connection that answers every request with the same cell block, allocates
 * nothing, and looks at nothing of a request but its number, so that what is allocated is the
 * client's.
 */
final class StubServer implements Closeable {
  private static final int CALL_ID_TAG = 1 << 3;
  private static final int CELL_BLOCK_META_TAG = 3 << 3 | 2;
  private static final int LENGTH_TAG = 1 << 3;
  private static final int CONTINUED = 0x80;
  private static final int BITS = 7;
  private static final int MAX_REQUEST = 1 << 20;

  private final ServerSocketChannel listener;
  private final Thread thread;
  private final byte[] cellBlock;
  private final ByteBuffer request = ByteBuffer.allocateDirect(MAX_REQUEST);
  private final ByteBuffer response;
  private volatile SocketChannel socket;
  private volatile IOException failure;

  /** @param cellBlock to answer with; may be empty */
  StubServer(byte[] cellBlock) throws IOException {
    this.cellBlock = cellBlock;
    response = ByteBuffer.allocateDirect(cellBlock.length + 64);
    listener = ServerSocketChannel.open()
      .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    thread = new Thread(this::run, "canned-server");
    thread.setDaemon(true);
    thread.start();
  }

  ServerName name() throws IOException {
    return ServerName.valueOf("localhost",
      ((InetSocketAddress) listener.getLocalAddress()).getPort(), 1);
  }

  private void run() {
    try (SocketChannel accepted = listener.accept()) {
      socket = accepted.setOption(StandardSocketOptions.TCP_NODELAY, true);
      read(HConstants.RPC_HEADER.length + 2);
      read(readInt());
      while (true) {
        read(readInt());
        answer(callId());
      }
    } catch (EOFException | AsynchronousCloseException e) {
      // The client has gone, or close() was called.
    } catch (IOException e) {
      failure = e;
    }
  }

  private int readInt() throws IOException {
    read(Integer.BYTES);
    return request.getInt();
  }

  private void read(int bytes) throws IOException {
    request.clear().limit(bytes);
    while (request.hasRemaining()) {
      if (socket.read(request) < 0) {
        throw new EOFException();
      }
    }
    request.flip();
  }

  /** The number is the first field of the request's header. */
  private int callId() throws IOException {
    readVarint();
    if (request.get() != CALL_ID_TAG) {
      throw new IOException("The request's header does not begin with its number");
    }
    return readVarint();
  }

  private int readVarint() {
    int value = 0;
    int shift = 0;
    byte next = request.get();
    while (next < 0) {
      value |= (next & CONTINUED - 1) << shift;
      shift += BITS;
      next = request.get();
    }
    return value | next << shift;
  }

  private void answer(int callId) throws IOException {
    response.clear().position(Integer.BYTES + 1);
    response.put((byte) CALL_ID_TAG);
    writeVarint(callId);
    if (cellBlock.length > 0) {
      response.put((byte) CELL_BLOCK_META_TAG);
      int length = response.position();
      response.put((byte) 0).put((byte) LENGTH_TAG);
      writeVarint(cellBlock.length);
      response.put(length, (byte) (response.position() - length - 1));
    }
    // Lengths of less than 128 take one byte: the header's, and the empty message's.
    response.put(Integer.BYTES, (byte) (response.position() - Integer.BYTES - 1));
    response.put((byte) 0).put(cellBlock).flip();
    response.putInt(0, response.limit() - Integer.BYTES);
    while (response.hasRemaining()) {
      socket.write(response);
    }
  }

  private void writeVarint(int value) {
    int rest = value;
    while (rest >= CONTINUED) {
      response.put((byte) (rest & CONTINUED - 1 | CONTINUED));
      rest >>>= BITS;
    }
    response.put((byte) rest);
  }

  /** @throws IOException if a request could not be served */
  @Override
  public void close() throws IOException {
    listener.close();
    if (socket != null) {
      socket.close();
    }
    if (failure != null) {
      throw failure;
    }
  }
}
