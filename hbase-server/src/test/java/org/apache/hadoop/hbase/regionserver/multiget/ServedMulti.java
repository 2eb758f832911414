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
package org.apache.hadoop.hbase.regionserver.multiget;

import java.io.IOException;
import java.net.InetAddress;
import java.util.Optional;
import org.apache.hadoop.hbase.ipc.RpcCall;
import org.apache.hadoop.hbase.ipc.RpcCallback;
import org.apache.hadoop.hbase.security.User;
import org.mockito.Answers;
import org.mockito.Mockito;

import org.apache.hadoop.hbase.shaded.protobuf.ProtobufUtil;
import org.apache.hadoop.hbase.shaded.protobuf.generated.HBaseProtos.VersionInfo;
import org.apache.hadoop.hbase.shaded.protobuf.generated.RPCProtos.RequestHeader;

/**
 * The call of a multi whose client takes cell blocks, without a connection behind it. Its counters
 * are as those of a real call: counting from another thread than the handler's fails. Mockito adds
 * the methods that are not here, which return null, zero or nothing.
 */
abstract class ServedMulti implements RpcCall {
  private static final VersionInfo CLIENT = ProtobufUtil.getVersionInfo();
  private static final RequestHeader HEADER = RequestHeader.getDefaultInstance();

  private final User user;
  private final Thread handler = Thread.currentThread();
  private RpcCallback callback;
  private long responseCellSize;
  private long blockBytesScanned;
  private long responseExceptionSize;
  private volatile long deadline = Long.MAX_VALUE;
  private volatile long disconnected = -1;
  private volatile RuntimeException failure;

  ServedMulti(User user) {
    this.user = user;
  }

  static ServedMulti of(User user) {
    return Mockito.mock(ServedMulti.class, Mockito.withSettings().useConstructor(user).stubOnly()
      .defaultAnswer(Answers.CALLS_REAL_METHODS));
  }

  void setDeadline(long deadline) {
    this.deadline = deadline;
  }

  void disconnect() {
    disconnected = 1;
  }

  /** Has whoever looks whether the client is there fail. */
  void failWith(RuntimeException failure) {
    this.failure = failure;
  }

  /** Does what is to be done when the response has been made. */
  void end() throws IOException {
    if (callback != null) {
      callback.run();
    }
  }

  private void checkThread() {
    if (Thread.currentThread() != handler) {
      throw new AssertionError("Counted by " + Thread.currentThread());
    }
  }

  @Override
  public void setCallBack(RpcCallback callback) {
    checkThread();
    this.callback = callback;
  }

  @Override
  public long getResponseCellSize() {
    checkThread();
    return responseCellSize;
  }

  @Override
  public void incrementResponseCellSize(long cellSize) {
    checkThread();
    responseCellSize += cellSize;
  }

  @Override
  public long getBlockBytesScanned() {
    checkThread();
    return blockBytesScanned;
  }

  @Override
  public void incrementBlockBytesScanned(long blockSize) {
    checkThread();
    blockBytesScanned += blockSize;
  }

  @Override
  public long getResponseExceptionSize() {
    checkThread();
    return responseExceptionSize;
  }

  @Override
  public void incrementResponseExceptionSize(long exceptionSize) {
    checkThread();
    responseExceptionSize += exceptionSize;
  }

  @Override
  public long disconnectSince() {
    if (failure != null) {
      throw failure;
    }
    return disconnected;
  }

  @Override
  public boolean isClientCellBlockSupported() {
    return true;
  }

  @Override
  public Optional<User> getRequestUser() {
    return Optional.of(user);
  }

  @Override
  public InetAddress getRemoteAddress() {
    return InetAddress.getLoopbackAddress();
  }

  @Override
  public VersionInfo getClientVersionInfo() {
    return CLIENT;
  }

  @Override
  public boolean isRetryImmediatelySupported() {
    return true;
  }

  @Override
  public long getDeadline() {
    return deadline;
  }

  @Override
  public RequestHeader getHeader() {
    return HEADER;
  }
}
