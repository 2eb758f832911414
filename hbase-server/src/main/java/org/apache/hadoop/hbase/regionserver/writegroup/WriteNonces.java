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

import java.io.InterruptedIOException;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.Stoppable;
import org.apache.hadoop.hbase.regionserver.RegionServerServices;
import org.apache.hadoop.hbase.regionserver.ServerNonceManager;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts and ends the nonces of writes that are merged, as the region does for single ones.
 * Invariant: a nonce that was started is ended once, whatever is thrown. Thread-safe.
 */
@InterfaceAudience.Private
final class WriteNonces {
  private static final Logger LOG = LoggerFactory.getLogger(WriteNonces.class);

  /** Null in tests. */
  private final RegionServerServices server;

  WriteNonces(RegionServerServices server) {
    this.server = server;
  }

  /** Returns null if there is no nonce, or nothing that keeps nonces. */
  private ServerNonceManager manager(long nonce) {
    return server == null || nonce == HConstants.NO_NONCE ? null : server.getNonceManager();
  }

  /**
   * Starts a nonce. If a write with the same nonce is in flight, waits for its end.
   * @return false if a write with this nonce has been done
   * @throws InterruptedIOException if the thread is interrupted while it waits
   */
  boolean start(long nonceGroup, long nonce) throws InterruptedIOException {
    return start(nonceGroup, nonce, server);
  }

  private boolean start(long nonceGroup, long nonce, Stoppable waiting)
    throws InterruptedIOException {
    ServerNonceManager manager = manager(nonce);
    try {
      return manager == null || manager.startOperation(nonceGroup, nonce, waiting);
    } catch (InterruptedException e) {
      throw new InterruptedIOException("Nonce start operation interrupted");
    }
  }

  /**
   * Starts the nonce of a call, without waiting.
   * @return false if a write with this nonce has been done or is in flight
   */
  boolean tryStart(PendingWrite call) {
    try {
      if (!start(call.nonceGroup(), call.nonce(), NonceDeadlockGuard.INSTANCE)) {
        return false;
      }
    } catch (InterruptedIOException e) {
      return false;
    } catch (RuntimeException | Error e) {
      LOG.error("Cannot start the nonce of a write; its call is dispatched to a handler", e);
      return false;
    }
    call.start();
    return true;
  }

  /** Ends the nonce of a write, if it was started and has not been ended. */
  void end(PendingWrite write, boolean success) {
    ServerNonceManager manager = manager(write.nonce());
    if (!write.stop() || manager == null) {
      return;
    }
    try {
      if (success) {
        manager.addMvccToOperationContext(write.nonceGroup(), write.nonce(),
          write.sequenceId());
      }
    } finally {
      manager.endOperation(write.nonceGroup(), write.nonce(), success);
    }
  }
}
