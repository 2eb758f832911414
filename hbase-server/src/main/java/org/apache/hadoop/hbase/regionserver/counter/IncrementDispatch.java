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
package org.apache.hadoop.hbase.regionserver.counter;

import java.io.IOException;
import org.apache.hadoop.hbase.CellScanner;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.ipc.ObservedCallRunner;
import org.apache.hadoop.hbase.ipc.RequestInterceptor;
import org.apache.hadoop.hbase.ipc.RpcCall;
import org.apache.hadoop.hbase.ipc.RpcServerInterface;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.yetus.audience.InterfaceAudience;

import org.apache.hbase.thirdparty.com.google.protobuf.ByteString;
import org.apache.hbase.thirdparty.com.google.protobuf.Message;

import org.apache.hadoop.hbase.shaded.protobuf.ProtobufUtil;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutateRequest;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutationProto;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutationProto.MutationType;

/**
 * Shows increments to the {@link IncrementCoalescer} before they are dispatched, so that an
 * increment that would only wait for another one does not occupy a handler. All other calls are
 * dispatched as usual. Thread-safe; called by the threads that read requests.
 */
@InterfaceAudience.Private
final class IncrementDispatch implements RequestInterceptor {
  private final HRegionServer server;
  private final IncrementCoalescer coalescer;

  IncrementDispatch(HRegionServer server, IncrementCoalescer coalescer) {
    this.server = server;
    this.coalescer = coalescer;
  }

  @Override
  public CellScanner cells(Message param, CellScanner cells) throws IOException {
    return isMergeable(param) ? ReplayableCellScanner.read(cells) : cells;
  }

  @Override
  public Outcome dispatch(RpcServerInterface rpcServer, RpcCall call) {
    if (!isMergeable(call.getParam())) {
      return Outcome.NOT_TAKEN;
    }
    IncrementCall increment = coalescer.call(new Request(server, call));
    return coalescer.dispatch(increment, new ObservedCallRunner(rpcServer, call, increment),
      rpcServer.getScheduler()) ? Outcome.ACCEPTED : Outcome.REFUSED;
  }

  /** Whether a request is an increment that may be merged with others. */
  private boolean isMergeable(Message param) {
    if (!(param instanceof MutateRequest) || !coalescer.isEnabled()) {
      return false;
    }
    MutateRequest request = (MutateRequest) param;
    return request.getMutation().getMutateType() == MutationType.INCREMENT
      && !request.hasCondition();
  }

  /** What a connection has read. */
  private static final class Request implements IncrementRequest {
    private final HRegionServer server;
    private final MutateRequest request;
    private final CellScanner cells;
    private final int priority;

    private Request(HRegionServer server, RpcCall call) {
      this.server = server;
      this.request = (MutateRequest) call.getParam();
      this.cells = call.getCellScanner();
      this.priority = call.getPriority();
    }

    @Override
    public ByteString regionName() {
      return request.getRegion().getValue();
    }

    @Override
    public MutationProto mutation() {
      return request.getMutation();
    }

    @Override
    public long nonceGroup() {
      return request.hasNonceGroup() ? request.getNonceGroup() : HConstants.NO_NONCE;
    }

    @Override
    public int priority() {
      return priority;
    }

    @Override
    public HRegion region() {
      return server.getOnlineRegion(regionName().toByteArray());
    }

    @Override
    public Increment increment() throws IOException {
      if (cells != null && !(cells instanceof ReplayableCellScanner)) {
        throw new IOException("The cells of the request can be read once only");
      }
      return ProtobufUtil.toIncrement(mutation(),
        cells == null ? null : ((ReplayableCellScanner) cells).cellScanner());
    }
  }
}
