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

import org.apache.hadoop.hbase.Stoppable;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Keeps threads from waiting for an operation with the same nonce that may wait for them: a thread
 * that passes {@link #INSTANCE} to the nonce manager, and one that applies its own increment in a
 * region and has the lock of the row.
 */
@InterfaceAudience.Private
public final class NonceDeadlockGuard implements Stoppable {

  static final NonceDeadlockGuard INSTANCE = new NonceDeadlockGuard();

  private static final ThreadLocal<InRegion> IN_REGION = ThreadLocal.withInitial(InRegion::new);

  /** A thread that applies its own increment in a region. */
  static final class InRegion {
    private boolean inside;
    private boolean interrupted;

    /** Returns whether it was not applied because an operation with its nonce is in flight. */
    boolean isDuplicate() {
      return interrupted;
    }

    void end() {
      inside = false;
    }
  }

  private NonceDeadlockGuard() {
  }

  /** Called before this thread applies its own increment in a region. */
  static InRegion begin() {
    InRegion own = IN_REGION.get();
    own.inside = true;
    own.interrupted = false;
    return own;
  }

  /**
   * Called before an operation waits for another one with the same nonce.
   * @throws InterruptedException if it must not
   */
  public static void check(Stoppable waiting) throws InterruptedException {
    InRegion own = IN_REGION.get();
    if (own.inside || waiting == INSTANCE) {
      own.interrupted = true;
      throw new InterruptedException("An operation with the same nonce is in flight.");
    }
  }

  @Override
  public void stop(String why) {
    throw new UnsupportedOperationException(why);
  }

  @Override
  public boolean isStopped() {
    return false;
  }
}
