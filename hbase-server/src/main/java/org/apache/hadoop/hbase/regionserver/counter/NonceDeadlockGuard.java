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
package org.apache.hadoop.hbase.regionserver.counter;

import org.apache.hadoop.hbase.Stoppable;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Who must not wait for an operation with the same nonce, since that may wait for this thread: one
 * that gives {@link #INSTANCE} to the nonce manager, and one that is in a region with its increment
 * and has the lock of the row.
 */
@InterfaceAudience.Private
public final class NonceDeadlockGuard implements Stoppable {

  static final NonceDeadlockGuard INSTANCE = new NonceDeadlockGuard();

  private static final ThreadLocal<InRegion> IN_REGION = ThreadLocal.withInitial(InRegion::new);

  /** A thread that does an increment of its own in a region. */
  static final class InRegion {
    private boolean inside;
    private boolean gaveUp;

    /** Returns whether it came to nothing because the same operation was going on. */
    boolean timedOut() {
      return gaveUp;
    }

    void end() {
      inside = false;
    }
  }

  private NonceDeadlockGuard() {
  }

  /** Called before this thread does an increment of its own in a region. */
  static InRegion begin() {
    InRegion own = IN_REGION.get();
    own.inside = true;
    own.gaveUp = false;
    return own;
  }

  /** Called when an operation has to wait for another one. */
  public static void check(Stoppable waiting) throws InterruptedException {
    InRegion own = IN_REGION.get();
    if (own.inside || waiting == INSTANCE) {
      own.gaveUp = true;
      throw new InterruptedException("The same operation is going on.");
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
