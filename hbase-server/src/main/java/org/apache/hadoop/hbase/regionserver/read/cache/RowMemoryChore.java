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
package org.apache.hadoop.hbase.regionserver.read.cache;

import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.ChoreService;
import org.apache.hadoop.hbase.ScheduledChore;
import org.apache.hadoop.hbase.regionserver.RegionServerServices;
import org.apache.yetus.audience.InterfaceAudience;

/** Moves memory between the row cache and L1, once per second. */
@InterfaceAudience.Private
final class RowMemoryChore extends ScheduledChore {
  private static final int PERIOD_MS = (int) TimeUnit.SECONDS.toMillis(1);

  private final RowCache cache;

  private RowMemoryChore(RegionServerServices server, RowCache cache) {
    super("RowMemoryChore", server, PERIOD_MS);
    this.cache = cache;
  }

  /**
   * Schedules the chore until the server stops.
   * @param server null if there is none, in tests
   */
  static void schedule(RegionServerServices server, RowCache cache) {
    ChoreService chores = server == null ? null : server.getChoreService();
    if (chores != null) {
      chores.scheduleChore(new RowMemoryChore(server, cache));
    }
  }

  @Override
  protected void chore() {
    cache.tuneMemory();
  }
}
