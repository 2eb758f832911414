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
import org.apache.hadoop.hbase.client.Row;
import org.apache.hadoop.hbase.ipc.ObservedCallRunner;
import org.apache.hadoop.hbase.ipc.RequestInterceptor;
import org.apache.hadoop.hbase.ipc.RpcCall;
import org.apache.hadoop.hbase.ipc.RpcServerInterface;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.yetus.audience.InterfaceAudience;

import org.apache.hbase.thirdparty.com.google.protobuf.ByteString;
import org.apache.hbase.thirdparty.com.google.protobuf.Message;

import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MultiRequest;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutateRequest;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutationProto;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.RegionAction;

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
    return param instanceof MutateRequest && isGroupable(param)
      ? ReplayableCellScanner.read(cells)
      : cells;
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
    return groups.isEnabled() && groups.kind().accepts(param);
  }

  /** What a connection has read: a mutation, or a batch of a region. */
  private static final class Request implements WriteRequest {
    private final HRegionServer server;
    private final WriteKind kind;
    private final Message param;
    private final CellScanner cells;
    private final int priority;
    private final long size;
    /** Null of a batch. */
    private final MutateRequest single;
    /** Null of a single mutation. */
    private final RegionAction batch;

    private Request(HRegionServer server, WriteKind kind, RpcCall call) {
      this.server = server;
      this.kind = kind;
      this.param = call.getParam();
      this.cells = call.getCellScanner();
      this.priority = call.getPriority();
      this.size = call.getSize();
      single = param instanceof MutateRequest ? (MutateRequest) param : null;
      batch = single == null ? ((MultiRequest) param).getRegionAction(0) : null;
    }

    @Override
    public ByteString regionName() {
      return (single == null ? batch.getRegion() : single.getRegion()).getValue();
    }

    @Override
    public MutationProto proto() {
      return single == null ? null : single.getMutation();
    }

    @Override
    public Message param() {
      return param;
    }

    @Override
    public long nonceGroup() {
      return single != null && single.hasNonceGroup()
        ? single.getNonceGroup()
        : HConstants.NO_NONCE;
    }

    @Override
    public long nonce() {
      return single != null && proto().hasNonce() ? proto().getNonce() : HConstants.NO_NONCE;
    }

    @Override
    public int priority() {
      return priority;
    }

    @Override
    public long size() {
      return size;
    }

    @Override
    public HRegion region() {
      return server.getOnlineRegion(regionName().toByteArray());
    }

    @Override
    public Row write() throws IOException {
      if (single == null) {
        return kind.batch(batch);
      }
      if (cells != null && !(cells instanceof ReplayableCellScanner)) {
        throw new IOException("The cells of the request can be read once only");
      }
      return kind.parse(proto(),
        cells == null ? null : ((ReplayableCellScanner) cells).cellScanner());
    }
  }
}
