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
package org.apache.hadoop.hbase.regionserver.writegroup;

import java.io.IOException;
import org.apache.hadoop.hbase.CellScanner;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.client.Mutation;
import org.apache.hadoop.hbase.ipc.ObservedCallRunner;
import org.apache.hadoop.hbase.ipc.RequestInterceptor;
import org.apache.hadoop.hbase.ipc.RpcCall;
import org.apache.hadoop.hbase.ipc.RpcServerInterface;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.yetus.audience.InterfaceAudience;

import org.apache.hbase.thirdparty.com.google.protobuf.ByteString;
import org.apache.hbase.thirdparty.com.google.protobuf.Message;

import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutateRequest;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutationProto;

/**
 * Shows writes to their {@link WriteGroups} before they are dispatched, so that a write that would
 * only wait for another one does not occupy a handler. All other calls are dispatched as usual.
 * Thread-safe; called by the threads that read requests.
 */
@InterfaceAudience.Private
final class WriteDispatch implements RequestInterceptor {
  private final HRegionServer server;
  private final WriteGroups groups;

  WriteDispatch(HRegionServer server, WriteGroups groups) {
    this.server = server;
    this.groups = groups;
  }

  @Override
  public CellScanner cells(Message param, CellScanner cells) throws IOException {
    return isGroupable(param) ? ReplayableCellScanner.read(cells) : cells;
  }

  @Override
  public Outcome dispatch(RpcServerInterface rpcServer, RpcCall call) {
    if (!isGroupable(call.getParam())) {
      return Outcome.NOT_TAKEN;
    }
    WriteCall write = groups.call(new Request(server, groups.kind(), call));
    return groups.dispatch(write, new ObservedCallRunner(rpcServer, call, write),
      rpcServer.getScheduler()) ? Outcome.ACCEPTED : Outcome.REFUSED;
  }

  /** Whether a request is a write that may be grouped with others. */
  private boolean isGroupable(Message param) {
    return param instanceof MutateRequest && groups.isEnabled()
      && groups.kind().accepts((MutateRequest) param);
  }

  /** What a connection has read. */
  private static final class Request implements WriteRequest {
    private final HRegionServer server;
    private final WriteKind kind;
    private final MutateRequest request;
    private final CellScanner cells;
    private final int priority;

    private Request(HRegionServer server, WriteKind kind, RpcCall call) {
      this.server = server;
      this.kind = kind;
      this.request = (MutateRequest) call.getParam();
      this.cells = call.getCellScanner();
      this.priority = call.getPriority();
    }

    @Override
    public ByteString regionName() {
      return request.getRegion().getValue();
    }

    @Override
    public MutationProto proto() {
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
    public Mutation mutation() throws IOException {
      if (cells != null && !(cells instanceof ReplayableCellScanner)) {
        throw new IOException("The cells of the request can be read once only");
      }
      return kind.parse(proto(),
        cells == null ? null : ((ReplayableCellScanner) cells).cellScanner());
    }
  }
}
