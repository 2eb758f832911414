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
package dev.stratum.bench.blockcache;

import java.io.IOException;
import java.net.InetAddress;
import java.security.cert.X509Certificate;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.hbase.CellScanner;
import org.apache.hadoop.hbase.ipc.RpcCall;
import org.apache.hadoop.hbase.ipc.RpcCallback;
import org.apache.hadoop.hbase.security.User;
import org.apache.hadoop.hbase.shaded.protobuf.ProtobufUtil;
import org.apache.hadoop.hbase.shaded.protobuf.generated.HBaseProtos.VersionInfo;
import org.apache.hadoop.hbase.shaded.protobuf.generated.RPCProtos.RequestHeader;
import org.apache.hbase.thirdparty.com.google.protobuf.BlockingService;
import org.apache.hbase.thirdparty.com.google.protobuf.Descriptors.MethodDescriptor;
import org.apache.hbase.thirdparty.com.google.protobuf.Message;

/**
 * The RPC call of one get by a client that supports cell blocks, without a connection. For one get
 * and one thread.
 */
final class GetRpcCall implements RpcCall {
  private static final VersionInfo CLIENT = ProtobufUtil.getVersionInfo();
  private static final RequestHeader HEADER = RequestHeader.getDefaultInstance();

  private final User user;
  private final InetAddress address;
  private final long receiveTime;
  private long startTime;
  private RpcCallback callback;
  private long responseCellSize;
  private long blockBytesScanned;
  private long responseExceptionSize;

  GetRpcCall(User user, InetAddress address) {
    this.user = user;
    this.address = address;
    this.receiveTime = System.currentTimeMillis();
    this.startTime = receiveTime;
  }

  /** What the server does once the response is encoded: closes the scanner, releases its blocks. */
  void end() throws IOException {
    callback.run();
  }

  @Override
  public long disconnectSince() {
    return -1;
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
  public Optional<X509Certificate[]> getClientCertificateChain() {
    return Optional.empty();
  }

  @Override
  public InetAddress getRemoteAddress() {
    return address;
  }

  @Override
  public VersionInfo getClientVersionInfo() {
    return CLIENT;
  }

  @Override
  public void setCallBack(RpcCallback callback) {
    this.callback = callback;
  }

  @Override
  public boolean isRetryImmediatelySupported() {
    return true;
  }

  @Override
  public long getResponseCellSize() {
    return responseCellSize;
  }

  @Override
  public void incrementResponseCellSize(long cellSize) {
    responseCellSize += cellSize;
  }

  @Override
  public long getBlockBytesScanned() {
    return blockBytesScanned;
  }

  @Override
  public void incrementBlockBytesScanned(long blockSize) {
    blockBytesScanned += blockSize;
  }

  @Override
  public long getResponseExceptionSize() {
    return responseExceptionSize;
  }

  @Override
  public void incrementResponseExceptionSize(long exceptionSize) {
    responseExceptionSize += exceptionSize;
  }

  @Override
  public BlockingService getService() {
    return null;
  }

  @Override
  public MethodDescriptor getMethod() {
    return null;
  }

  @Override
  public Message getParam() {
    return null;
  }

  @Override
  public CellScanner getCellScanner() {
    return null;
  }

  @Override
  public long getReceiveTime() {
    return receiveTime;
  }

  @Override
  public long getStartTime() {
    return startTime;
  }

  @Override
  public void setStartTime(long startTime) {
    this.startTime = startTime;
  }

  @Override
  public int getTimeout() {
    return 0;
  }

  @Override
  public int getPriority() {
    return 0;
  }

  @Override
  public long getDeadline() {
    return Long.MAX_VALUE;
  }

  @Override
  public long getSize() {
    return 0;
  }

  @Override
  public RequestHeader getHeader() {
    return HEADER;
  }

  @Override
  public Map<String, byte[]> getConnectionAttributes() {
    return Collections.emptyMap();
  }

  @Override
  public Map<String, byte[]> getRequestAttributes() {
    return Collections.emptyMap();
  }

  @Override
  public byte[] getRequestAttribute(String key) {
    return null;
  }

  @Override
  public int getRemotePort() {
    return 0;
  }

  @Override
  public void setResponse(Message param, CellScanner cells, Throwable errorThrowable,
    String error) {
    throw new UnsupportedOperationException("The benchmark encodes the response itself");
  }

  @Override
  public void sendResponseIfReady() {
    throw new UnsupportedOperationException("There is no connection");
  }

  @Override
  public void cleanup() {
  }

  @Override
  public String toShortString() {
    return "get";
  }
}
