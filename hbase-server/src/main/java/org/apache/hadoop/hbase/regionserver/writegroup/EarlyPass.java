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

import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Passes the leadership on as soon as the edit is appended, so that the next group is formed and
 * appended while this one is synced. If as many groups of the lane are being synced as may be, it
 * is passed on when one of them ends. Invariant: a leadership is passed on once, by its own leader
 * at the latest. For the thread that appends; {@link #end} must be called once the write is
 * answered, or failed.
 */
@InterfaceAudience.Private
final class EarlyPass implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(EarlyPass.class);

  private final WritesInFlight.Lane lane;
  private final Runnable pass;
  private boolean appended;

  /** @param pass does nothing if the leadership was passed on before; may be run by any thread */
  EarlyPass(WritesInFlight.Lane lane, Runnable pass) {
    this.lane = lane;
    this.pass = pass;
  }

  /** Must not throw: the edit has a place in the WAL, and would never be complete. */
  @Override
  public void run() {
    if (appended) {
      // A batch has a second edit, of rows that were locked.
      return;
    }
    appended = true;
    if (lane.appended(pass)) {
      run(pass);
    }
  }

  private static void run(Runnable pass) {
    try {
      pass.run();
    } catch (RuntimeException | Error e) {
      LOG.error("The next group of writes is late", e);
    }
  }

  void end() {
    Runnable deferred = appended ? lane.synced() : null;
    if (deferred != null) {
      run(deferred);
    }
  }
}
