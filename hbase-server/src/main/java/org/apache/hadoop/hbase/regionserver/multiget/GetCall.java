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

import java.net.InetAddress;
import java.security.cert.X509Certificate;
import java.util.Map;
import java.util.Optional;
import org.apache.hadoop.hbase.CellScanner;
import org.apache.hadoop.hbase.ipc.RpcCall;
import org.apache.hadoop.hbase.ipc.RpcCallback;
import org.apache.hadoop.hbase.security.User;
import org.apache.yetus.audience.InterfaceAudience;

import org.apache.hbase.thirdparty.com.google.protobuf.BlockingService;
import org.apache.hbase.thirdparty.com.google.protobuf.Descriptors.MethodDescriptor;
import org.apache.hbase.thirdparty.com.google.protobuf.Message;

import org.apache.hadoop.hbase.shaded.protobuf.generated.HBaseProtos.VersionInfo;
import org.apache.hadoop.hbase.shaded.protobuf.generated.RPCProtos.RequestHeader;

/**
 * The call of a multi as seen by one of its gets: the same call, of the same user, except for the
 * sizes that accumulate while it is served. Those of a get are counted here, by the thread that
 * serves it, and added to the call's own by the handler when it processes that get. Neither side
 * needs a lock, and code that reads the call's sizes sees the same values as without other threads.
 * <p>
 * Used by one thread at a time, which has it as the current call while it serves the get. It has no
 * response, and does not end with the get.
 */
@InterfaceAudience.Private
final class GetCall implements RpcCall {

  private final RpcCall call;
  private long responseCellSize;
  private long blockBytesScanned;
  private long responseExceptionSize;

  GetCall(RpcCall call) {
    this.call = call;
  }

  /** Resets the counts for the next get. */
  void reset() {
    responseCellSize = 0;
    blockBytesScanned = 0;
    responseExceptionSize = 0;
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
    return call.getService();
  }

  @Override
  public MethodDescriptor getMethod() {
    return call.getMethod();
  }

  @Override
  public Message getParam() {
    return call.getParam();
  }

  @Override
  public CellScanner getCellScanner() {
    return call.getCellScanner();
  }

  @Override
  public long getReceiveTime() {
    return call.getReceiveTime();
  }

  @Override
  public long getStartTime() {
    return call.getStartTime();
  }

  @Override
  public void setStartTime(long startTime) {
    throw new UnsupportedOperationException("The call has started already");
  }

  @Override
  public int getTimeout() {
    return call.getTimeout();
  }

  @Override
  public int getPriority() {
    return call.getPriority();
  }

  @Override
  public long getDeadline() {
    return call.getDeadline();
  }

  @Override
  public long getSize() {
    return call.getSize();
  }

  @Override
  public RequestHeader getHeader() {
    return call.getHeader();
  }

  @Override
  public Map<String, byte[]> getConnectionAttributes() {
    return call.getConnectionAttributes();
  }

  @Override
  public Map<String, byte[]> getRequestAttributes() {
    return call.getRequestAttributes();
  }

  @Override
  public byte[] getRequestAttribute(String key) {
    return call.getRequestAttribute(key);
  }

  @Override
  public int getRemotePort() {
    return call.getRemotePort();
  }

  @Override
  public void setResponse(Message param, CellScanner cells, Throwable errorThrowable,
    String error) {
    throw new UnsupportedOperationException("A get of a multi has no response of its own");
  }

  @Override
  public void sendResponseIfReady() {
    throw new UnsupportedOperationException("A get of a multi has no response of its own");
  }

  @Override
  public void cleanup() {
    throw new UnsupportedOperationException("The call does not end with one of its gets");
  }

  @Override
  public String toShortString() {
    return call.toShortString();
  }

  @Override
  public String toString() {
    return call.toString();
  }

  @Override
  public long disconnectSince() {
    return call.disconnectSince();
  }

  @Override
  public boolean isClientCellBlockSupported() {
    return call.isClientCellBlockSupported();
  }

  @Override
  public Optional<User> getRequestUser() {
    return call.getRequestUser();
  }

  @Override
  public Optional<String> getRequestUserName() {
    return call.getRequestUserName();
  }

  @Override
  public Optional<X509Certificate[]> getClientCertificateChain() {
    return call.getClientCertificateChain();
  }

  @Override
  public InetAddress getRemoteAddress() {
    return call.getRemoteAddress();
  }

  @Override
  public VersionInfo getClientVersionInfo() {
    return call.getClientVersionInfo();
  }

  /** Sets the callback of the multi: one set by a get replaces it, as without parallel gets. */
  @Override
  public void setCallBack(RpcCallback callback) {
    call.setCallBack(callback);
  }

  @Override
  public boolean isRetryImmediatelySupported() {
    return call.isRetryImmediatelySupported();
  }
}
