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

import java.io.IOException;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.coprocessor.HookOverrides;
import org.apache.hadoop.hbase.coprocessor.RegionCoprocessor;
import org.apache.hadoop.hbase.regionserver.RegionCoprocessorHost;
import org.apache.hadoop.hbase.security.access.AccessController;
import org.apache.hadoop.hbase.wal.WALEdit;
import org.apache.yetus.audience.InterfaceAudience;

/** Which coprocessors of a region observe its increments. An endpoint alone observes none. */
@InterfaceAudience.Private
enum IncrementHooks {

  /** None. */
  NONE,
  /** AccessController checks the caller of each increment; no other coprocessor observes them. */
  PERMISSIONS,
  /** A coprocessor observes each increment, so that none can be merged. */
  EACH;

  private static final HookOverrides HAS_HOOKS = new HookOverrides("preIncrement",
    "preIncrementAfterRowLock", "postIncrement", "postIncrementBeforeWAL", "postMutationBeforeWAL",
    "preBatchMutate", "postBatchMutate", "postBatchMutateIndispensably", "preWALAppend",
    "preStoreScannerOpen", "postStartRegionOperation", "postCloseRegionOperation");

  /** The attribute by which AccessController has itself check the cells. */
  private static final String CELLS_DECIDE = "check_covering_perm";

  static IncrementHooks of(RegionCoprocessorHost host) {
    IncrementHooks hooks = NONE;
    if (host == null) {
      return hooks;
    }
    for (RegionCoprocessor coprocessor : host.findCoprocessors(RegionCoprocessor.class)) {
      Class<?> observer =
        coprocessor.getRegionObserver().<Class<?>> map(Object::getClass).orElse(null);
      if (observer == AccessController.class) {
        hooks = PERMISSIONS;
      } else if (observer != null && HAS_HOOKS.get(observer)) {
        return EACH;
      }
    }
    return hooks;
  }

  /**
   * Checks the permissions for {@link #PERMISSIONS}, in the thread that serves the caller.
   * @return false if they depend on the cells in the row, which only the region can check
   * @throws IOException if the caller has no permission
   */
  static boolean permit(RegionCoprocessorHost host, Increment increment) throws IOException {
    host.preIncrement(increment, new WALEdit());
    return increment.getAttribute(CELLS_DECIDE) == null;
  }
}
