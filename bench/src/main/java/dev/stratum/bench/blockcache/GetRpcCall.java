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

import static net.bytebuddy.matcher.ElementMatchers.isAbstract;
import static net.bytebuddy.matcher.ElementMatchers.named;

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.net.InetAddress;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.dynamic.loading.ClassLoadingStrategy;
import net.bytebuddy.implementation.MethodCall;
import net.bytebuddy.implementation.StubMethod;
import org.apache.hadoop.hbase.ipc.RpcCall;
import org.apache.hadoop.hbase.ipc.RpcCallback;
import org.apache.hadoop.hbase.security.User;
import org.apache.hadoop.hbase.shaded.protobuf.ProtobufUtil;
import org.apache.hadoop.hbase.shaded.protobuf.generated.HBaseProtos.VersionInfo;
import org.apache.hadoop.hbase.shaded.protobuf.generated.RPCProtos.RequestHeader;

/**
 * The RPC call of one get by a client that supports cell blocks, without a connection. For one get
 * and one thread. The methods that are not here return null, zero or nothing.
 */
abstract class GetRpcCall implements RpcCall {
  /** Creates calls. */
  static final Factory FACTORY = factory();
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

  /** Has the method that creates a call, which costs what a constructor does. */
  interface Factory {
    GetRpcCall create(User user, InetAddress address);
  }

  GetRpcCall(User user, InetAddress address) {
    this.user = user;
    this.address = address;
    this.receiveTime = System.currentTimeMillis();
    this.startTime = receiveTime;
  }

  private static Factory factory() {
    ClassLoader loader = GetRpcCall.class.getClassLoader();
    ClassLoadingStrategy<ClassLoader> strategy =
      ClassLoadingStrategy.UsingLookup.of(MethodHandles.lookup());
    try {
      Class<?> calls = new ByteBuddy().subclass(GetRpcCall.class).method(isAbstract())
        .intercept(StubMethod.INSTANCE).make().load(loader, strategy).getLoaded();
      return new ByteBuddy().subclass(Factory.class).method(named("create"))
        .intercept(MethodCall.construct(calls.getDeclaredConstructors()[0]).withAllArguments())
        .make().load(loader, strategy).getLoaded().getDeclaredConstructor().newInstance();
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Closes the scanner and releases its blocks, as the server does with an encoded response. */
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
  public long getDeadline() {
    return Long.MAX_VALUE;
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
}
