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
package org.apache.hadoop.hbase.regionserver.read;

import io.opentelemetry.api.trace.Span;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.ipc.ConnectionThreadCalls;
import org.apache.hadoop.hbase.ipc.RequestInterceptor;
import org.apache.hadoop.hbase.ipc.RequestInterceptors;
import org.apache.hadoop.hbase.ipc.RpcCall;
import org.apache.hadoop.hbase.ipc.RpcServerInterface;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.regionserver.RegionAccess;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.apache.hbase.thirdparty.com.google.protobuf.Message;

import org.apache.hadoop.hbase.shaded.protobuf.ProtobufUtil;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.GetRequest;

/**
 * Answers gets whose blocks are in memory on the threads of their connections. The row is read
 * before the call is run, with all locks tried and none waited for; if that fails, the call is
 * dispatched to a handler as usual. The call itself is then run as by a handler, with its
 * checks, quotas, metrics and response. Thread-safe.
 */
@InterfaceAudience.Private
public final class ConnectionThreadGets implements RequestInterceptor {
  private static final Logger LOG = LoggerFactory.getLogger(ConnectionThreadGets.class);

  private final HRegionServer server;
  private final ConnectionThreadCalls calls;

  private ConnectionThreadGets(HRegionServer server, int maxInRow) {
    this.server = server;
    this.calls = new ConnectionThreadCalls(maxInRow);
  }

  /** Intercepts the gets of a server if that is configured. */
  public static void intercept(RpcServerInterface rpcServer, HRegionServer server,
    Configuration conf) {
    int maxInRow = PointGetSettings.of(conf).maxOnConnectionThread();
    if (maxInRow > 0) {
      RequestInterceptors.of(rpcServer).add(new ConnectionThreadGets(server, maxInRow));
    }
  }

  @Override
  public Outcome dispatch(RpcServerInterface rpcServer, RpcCall call) {
    Message param = call.getParam();
    // A call that is traced has the spans of a handler's.
    if (
      !(param instanceof GetRequest) || !calls.mayRun(call) || Span.current().isRecording()
    ) {
      return Outcome.NOT_TAKEN;
    }
    PreparedRow row = prepare((GetRequest) param, call);
    if (row == null) {
      return Outcome.NOT_TAKEN;
    }
    try {
      PreparedRow.offer(row);
      calls.run(rpcServer, call);
    } finally {
      row.close();
    }
    return Outcome.ACCEPTED;
  }

  /** Returns null if a handler is to serve the request, also because of an error in it. */
  private PreparedRow prepare(GetRequest request, RpcCall call) {
    ClientProtos.Get get = request.getGet();
    // The class of a filter may have to be loaded from a file.
    if (get.hasFilter() || get.getClosestRowBefore()) {
      return null;
    }
    try {
      HRegion region = server.getRegion(ProtobufUtil.getRegionEncodedName(request.getRegion()));
      return region == null
        ? null
        : region.pointGets.prepare(toGet(get, region), call);
    } catch (IOException | RuntimeException e) {
      // A get of an empty row fails like this. Thrown here, it would close the connection.
      LOG.trace("A handler is to answer the get", e);
      return null;
    }
  }

  private static Get toGet(ClientProtos.Get proto, HRegion region) throws IOException {
    Get get = ProtobufUtil.toGet(proto);
    RegionAccess.prepareGet(region, get);
    return get;
  }
}
