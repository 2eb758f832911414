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

import org.apache.hadoop.hbase.coprocessor.HookOverrides;
import org.apache.hadoop.hbase.coprocessor.RegionCoprocessor;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.RegionCoprocessorHost;
import org.apache.hadoop.hbase.security.access.AccessControlConstants;
import org.apache.hadoop.hbase.security.access.AccessController;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Which regions have coprocessors that observe each write of a kind, so that it cannot be in a
 * group. An endpoint alone observes none. AccessController is called by each call of a group,
 * unless it may have to read the row to decide. Thread-safe.
 */
@InterfaceAudience.Private
public final class WriteObservers {
  private final HookOverrides hooks;

  /** @param hooks names of the methods of RegionObserver that concern the kind */
  public WriteObservers(String... hooks) {
    this.hooks = new HookOverrides(hooks);
  }

  public boolean observe(HRegion region) {
    RegionCoprocessorHost host = region.getCoprocessorHost();
    if (host == null) {
      return false;
    }
    for (RegionCoprocessor coprocessor : host.findCoprocessors(RegionCoprocessor.class)) {
      Class<?> observer =
        coprocessor.getRegionObserver().<Class<?>> map(Object::getClass).orElse(null);
      if (observer == AccessController.class) {
        if (readsRows(region)) {
          return true;
        }
      } else if (observer != null && hooks.get(observer)) {
        return true;
      }
    }
    return false;
  }

  /** Returns whether AccessController looks for permissions in cells of the row. */
  private static boolean readsRows(HRegion region) {
    return !region.getReadOnlyConfiguration().getBoolean(
      AccessControlConstants.CF_ATTRIBUTE_EARLY_OUT,
      AccessControlConstants.DEFAULT_ATTRIBUTE_EARLY_OUT);
  }
}
