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

import java.util.Set;
import org.apache.hadoop.hbase.coprocessor.HookKind;
import org.apache.hadoop.hbase.coprocessor.HookOverrides;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.RegionCoprocessorHost;
import org.apache.hadoop.hbase.security.access.AccessControlConstants;
import org.apache.hadoop.hbase.security.access.AccessController;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Finds the regions with coprocessors that may observe each write of a kind, so that it cannot be
 * in a group: all but those with hooks of other kinds only. An endpoint alone observes none.
 * AccessController is called by each call of a group, unless it may have to read the row to decide.
 * Thread-safe.
 */
@InterfaceAudience.Private
public final class WriteObservers {
  /** What a region may have whose puts and deletes are in groups. They read nothing. */
  public static final WriteObservers OF_MUTATIONS =
    new WriteObservers(HookOverrides.servedWith(HookKind.OPEN_CLOSE, HookKind.REPLAY,
      HookKind.GETS, HookKind.SCANS, HookKind.SELECTION, HookKind.READERS, HookKind.REWRITES,
      HookKind.MAINTENANCE, HookKind.BULK_LOADS, HookKind.INCREMENTS, HookKind.APPENDS,
      HookKind.NEW_VALUES, HookKind.CONDITIONS));

  /** What one may have whose increments are merged: what they read is not selected by others. */
  public static final WriteObservers OF_INCREMENTS =
    new WriteObservers(HookOverrides.servedWith(HookKind.OPEN_CLOSE, HookKind.REPLAY,
      HookKind.GETS, HookKind.SCANS, HookKind.READERS, HookKind.REWRITES, HookKind.MAINTENANCE,
      HookKind.BULK_LOADS, HookKind.PUTS_DELETES, HookKind.APPENDS, HookKind.CONDITIONS));

  private final HookOverrides hooks;

  private WriteObservers(HookOverrides hooks) {
    this.hooks = hooks;
  }

  /** Returns the kinds of hooks with which a region's writes are in groups. */
  public Set<HookKind> served() {
    return hooks.served();
  }

  public boolean observe(HRegion region) {
    RegionCoprocessorHost host = region.getCoprocessorHost();
    return hooks.any(host, AccessController.class) || host != null
      && host.findCoprocessor(AccessController.class) != null && readsRows(region);
  }

  /** Returns whether AccessController looks for permissions in cells of the row. */
  private static boolean readsRows(HRegion region) {
    return !region.getReadOnlyConfiguration().getBoolean(
      AccessControlConstants.CF_ATTRIBUTE_EARLY_OUT,
      AccessControlConstants.DEFAULT_ATTRIBUTE_EARLY_OUT);
  }
}
