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
package org.apache.hadoop.hbase.regionserver.write;

import java.util.Collections;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.ipc.RpcCall;
import org.apache.hadoop.hbase.ipc.RpcServerInterface;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.yetus.audience.InterfaceAudience;

import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutateRequest;

/** The call of an increment, and the queues in which it may wait. */
@InterfaceAudience.Private
class IncrementCall extends WriteCall {
  private final IncrementQueueKey rowQueue;
  private final IncrementQueueKey partQueue;
  private boolean contended;

  IncrementCall(RpcServerInterface server, RpcCall call, HRegion region,
    IncrementQueueKey rowQueue, IncrementQueueKey partQueue) {
    super(server, call, region, Collections.singletonList(rowQueue.row()),
      nonceGroup((MutateRequest) call.getParam()), nonce((MutateRequest) call.getParam()));
    this.rowQueue = rowQueue;
    this.partQueue = partQueue;
  }

  private static long nonceGroup(MutateRequest request) {
    return request.hasNonceGroup() ? request.getNonceGroup() : HConstants.NO_NONCE;
  }

  private static long nonce(MutateRequest request) {
    return request.getMutation().hasNonce()
      ? request.getMutation().getNonce()
      : HConstants.NO_NONCE;
  }

  /** Returns the queue of its row. */
  IncrementQueueKey rowQueue() {
    return rowQueue;
  }

  /** Returns the queue of the part of the region that has its row. */
  IncrementQueueKey partQueue() {
    return partQueue;
  }

  byte[] row() {
    return rowQueue.row();
  }

  /** Returns whether it has found its row locked, so that it stays in the queue of the row. */
  boolean isContended() {
    return contended;
  }

  void setContended() {
    contended = true;
  }
}
