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
import java.util.Arrays;
import org.apache.hadoop.hbase.CellScanner;
import org.apache.yetus.audience.InterfaceAudience;

import org.apache.hbase.thirdparty.com.google.protobuf.Message;

/**
 * The interceptors of a server's requests, in the order in which they were added. Without
 * interceptors, requests are dispatched as in upstream. Thread-safe.
 */
@InterfaceAudience.Private
public final class RequestInterceptors {
  /** Replaced and never changed, so that a request allocates nothing to pass through it. */
  private volatile RequestInterceptor[] interceptors = {};

  /** Returns the interceptors of a server. */
  public static RequestInterceptors of(RpcServerInterface server) {
    return ((RpcServer) server).interceptors;
  }

  /** Returns what runs a call that an interceptor has taken, and answers it. */
  public static CallRunner runner(RpcServerInterface server, RpcCall call) {
    return new CallRunner(server, call);
  }

  /** Adds an interceptor, which is called for requests that are read from now on. */
  public synchronized void add(RequestInterceptor interceptor) {
    RequestInterceptor[] more = Arrays.copyOf(interceptors, interceptors.length + 1);
    more[interceptors.length] = interceptor;
    interceptors = more;
  }

  /** Returns the cells of a request, as the interceptors need them; null if it has none. */
  CellScanner cells(Message param, CellScanner cells) throws IOException {
    CellScanner result = cells;
    for (RequestInterceptor interceptor : interceptors) {
      result = result == null ? null : interceptor.cells(param, result);
    }
    return result;
  }

  /**
   * Dispatches a call to the interceptors and then to the scheduler. Returns false if there are too
   * many calls.
   */
  boolean dispatch(RpcServer server, ServerCall<?> call) {
    for (RequestInterceptor interceptor : interceptors) {
      RequestInterceptor.Outcome outcome = interceptor.dispatch(server, call);
      if (outcome != RequestInterceptor.Outcome.NOT_TAKEN) {
        return outcome == RequestInterceptor.Outcome.ACCEPTED;
      }
    }
    return server.getScheduler().dispatch(new CallRunner(server, call));
  }
}
