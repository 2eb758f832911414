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

import java.io.IOException;
import org.apache.hadoop.hbase.CellScanner;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.regionserver.RSRpcServices;
import org.apache.hadoop.hbase.regionserver.counter.IncrementCall;
import org.apache.hadoop.hbase.regionserver.counter.IncrementCoalescer;
import org.apache.hadoop.hbase.regionserver.counter.IncrementRequest;
import org.apache.yetus.audience.InterfaceAudience;

import org.apache.hbase.thirdparty.com.google.protobuf.ByteString;
import org.apache.hbase.thirdparty.com.google.protobuf.Message;

import org.apache.hadoop.hbase.shaded.protobuf.ProtobufUtil;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutateRequest;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutationProto;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutationProto.MutationType;

/**
 * How calls get from a connection to the scheduler. Increments are shown to the
 * {@link IncrementCoalescer} first, so that those that would only wait for another one need no
 * handler to wait in. All other calls go straight to the scheduler. For the threads that
 * read requests.
 */
@InterfaceAudience.Private
final class IncrementDispatch {

  private IncrementDispatch() {
  }

  /** Returns the request's cells, in a form in which they can be looked at before they are used. */
  static CellScanner cells(RpcServer server, Message param, CellScanner cells)
    throws IOException {
    return cells == null || coalescer(server, param) == null
      ? cells
      : ReplayableCellScanner.read(cells);
  }

  /** Returns false if there are too many calls already. */
  static boolean dispatch(RpcServer server, ServerCall<?> call) {
    IncrementCoalescer coalescer = coalescer(server, call.getParam());
    if (coalescer == null) {
      return server.getScheduler().dispatch(new CallRunner(server, call));
    }
    IncrementCall increment = coalescer.call(new Request((HRegionServer) server.server, call));
    return coalescer.dispatch(increment, new ObservedCallRunner(server, call, increment),
      server.getScheduler());
  }

  /** Returns null if the request is nothing that it could have to do with. */
  private static IncrementCoalescer coalescer(RpcServer server, Message param) {
    if (!(param instanceof MutateRequest) || !(server.server instanceof HRegionServer)) {
      return null;
    }
    MutateRequest request = (MutateRequest) param;
    if (
      request.getMutation().getMutateType() != MutationType.INCREMENT || request.hasCondition()
    ) {
      return null;
    }
    RSRpcServices services = ((HRegionServer) server.server).getRSRpcServices();
    IncrementCoalescer coalescer = services == null ? null : services.getIncrementCoalescer();
    return coalescer == null || !coalescer.isEnabled() ? null : coalescer;
  }

  /** What a connection has read. */
  private static final class Request implements IncrementRequest {
    private final HRegionServer server;
    private final MutateRequest request;
    private final CellScanner cells;
    private final int priority;

    private Request(HRegionServer server, ServerCall<?> call) {
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
        throw new IOException("Its cells can be read once only");
      }
      return ProtobufUtil.toIncrement(mutation(),
        cells == null ? null : ((ReplayableCellScanner) cells).cellScanner());
    }
  }
}
