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
import org.apache.yetus.audience.InterfaceAudience;

import org.apache.hbase.thirdparty.com.google.protobuf.Message;

/**
 * Intercepts requests after they are read and before they are dispatched. Implementations must be
 * thread-safe and must not block: they are called by the threads that read requests, which serve
 * many connections. Registered in {@link RequestInterceptors}.
 */
@InterfaceAudience.Private
public interface RequestInterceptor {

  /** The outcome of an interception. */
  enum Outcome {
    /** The interceptor has not taken the call, which is dispatched as usual. */
    NOT_TAKEN,
    /** The interceptor has taken the call, and will respond to it. */
    ACCEPTED,
    /** The interceptor has taken the call, but the server has too many calls. */
    REFUSED
  }

  /**
   * Returns the cells of a request in a form that can be inspected before a handler reads them, or
   * the cells unchanged.
   * @param param the parsed request
   * @param cells not null
   */
  default CellScanner cells(Message param, CellScanner cells) throws IOException {
    return cells;
  }

  /** Takes a call, or leaves it to the next interceptor and the scheduler. */
  Outcome dispatch(RpcServerInterface server, RpcCall call);
}
