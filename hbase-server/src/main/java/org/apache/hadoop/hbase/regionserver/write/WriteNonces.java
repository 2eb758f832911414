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

import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.Stoppable;
import org.apache.hadoop.hbase.regionserver.RegionServerServices;
import org.apache.hadoop.hbase.regionserver.ServerNonceManager;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts and ends the nonces of writes that are merged, as the region does for single ones, but
 * never waits for an operation that has the same nonce. Thread-safe.
 */
@InterfaceAudience.Private
public final class WriteNonces {
  private static final Logger LOG = LoggerFactory.getLogger(WriteNonces.class);

  /** Passed to the nonce manager by threads that must not wait there. */
  private static final Stoppable NO_WAIT = new Stoppable() {
    @Override
    public void stop(String why) {
      // Nothing runs.
    }

    @Override
    public boolean isStopped() {
      return false;
    }
  };

  /** Null in tests. */
  private final RegionServerServices server;

  public WriteNonces(RegionServerServices server) {
    this.server = server;
  }

  /** Returns null if there is no nonce, or nothing that keeps nonces. */
  private ServerNonceManager manager(long nonce) {
    return server == null || nonce == HConstants.NO_NONCE ? null : server.getNonceManager();
  }

  /**
   * Starts the nonce of a write.
   * @return false if a write with this nonce has been done or is in flight
   */
  public boolean tryStart(WriteCall write) {
    ServerNonceManager manager = manager(write.nonce());
    try {
      return manager == null
        || manager.startOperation(write.nonceGroup(), write.nonce(), NO_WAIT);
    } catch (InterruptedException e) {
      return false;
    } catch (RuntimeException | Error e) {
      LOG.error("Cannot start the nonce of a write; its call is left to a handler", e);
      return false;
    }
  }

  /** Ends the nonce of a write that was started. Does not throw. */
  public void end(WriteCall write) {
    ServerNonceManager manager = manager(write.nonce());
    if (manager == null) {
      return;
    }
    try {
      if (write.isWritten()) {
        manager.addMvccToOperationContext(write.nonceGroup(), write.nonce(), write.sequenceId());
      }
      manager.endOperation(write.nonceGroup(), write.nonce(), write.isWritten());
    } catch (RuntimeException | Error e) {
      LOG.error("Cannot end the nonce of a write", e);
    }
  }

  /**
   * Called before an operation waits for another one with the same nonce.
   * @throws InterruptedException if it must not
   */
  public static void check(Stoppable waiting) throws InterruptedException {
    if (waiting == NO_WAIT) {
      throw new InterruptedException("An operation with the same nonce is in flight.");
    }
  }
}
