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
import org.apache.yetus.audience.InterfaceAudience;

import org.apache.hbase.thirdparty.com.google.protobuf.Message;

import org.apache.hadoop.hbase.shaded.protobuf.ProtobufUtil;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutateRequest;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutationProto.MutationType;

/**
 * How calls get from a connection to the scheduler. Increments that could be merged with others are
 * shown to the {@link IncrementCoalescer} first, so that those that would only wait for another one
 * need no handler to wait in. All other calls go straight to the scheduler. For the threads that
 * read requests.
 */
@InterfaceAudience.Private
final class IncrementDispatch {

  private IncrementDispatch() {
  }

  /** Returns the request's cells, in a form in which they can be looked at before they are used. */
  static CellScanner cells(RpcServer server, Message param, CellScanner cells)
    throws IOException {
    return cells == null || coalescer(server, param) == null ? cells : PeekedCells.read(cells);
  }

  /** Returns false if there are too many calls already. */
  static boolean dispatch(RpcServer server, ServerCall<?> call) {
    IncrementCoalescer coalescer = coalescer(server, call.getParam());
    IncrementCall increment = coalescer == null ? null : increment(server, coalescer, call);
    if (increment == null) {
      return server.getScheduler().dispatch(new CallRunner(server, call));
    }
    return coalescer.dispatch(increment, new WatchedCallRunner(server, call, increment),
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

  /** Returns null if it is to be done by itself. */
  private static IncrementCall increment(RpcServer server, IncrementCoalescer coalescer,
    ServerCall<?> call) {
    MutateRequest request = (MutateRequest) call.getParam();
    HRegion region = ((HRegionServer) server.server)
      .getOnlineRegion(request.getRegion().getValue().toByteArray());
    CellScanner cells = call.getCellScanner();
    if (region == null || cells != null && !(cells instanceof PeekedCells)) {
      return null;
    }
    try {
      Increment increment = ProtobufUtil.toIncrement(request.getMutation(),
        cells == null ? null : ((PeekedCells) cells).cellScanner());
      long group = request.hasNonceGroup() ? request.getNonceGroup() : HConstants.NO_NONCE;
      long nonce = request.getMutation().hasNonce()
        ? request.getMutation().getNonce()
        : HConstants.NO_NONCE;
      return coalescer.call(region, increment, group, nonce);
    } catch (IOException | RuntimeException e) {
      // The handler says what is wrong with it.
      return null;
    }
  }
}
