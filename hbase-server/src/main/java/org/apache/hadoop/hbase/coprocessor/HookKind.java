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
package org.apache.hadoop.hbase.coprocessor;

import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.Map;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Kinds of the hooks of {@link RegionObserver}, by what they observe. Each method of the base's
 * interface is of one kind; one that a later version adds is {@link #UNKNOWN} until it is named
 * here. The page docs/coprocessors.md has them all, with what each feature does if a region has an
 * observer of that kind.
 */
@InterfaceAudience.Private
public enum HookKind {
  OPEN_CLOSE("preOpen", "postOpen", "preClose", "postClose"),
  /** The replay of a WAL's edits when a region is opened, or by a secondary replica. */
  REPLAY("preReplayWALs", "postReplayWALs", "preWALRestore", "postWALRestore"),
  /** Begin and end of each operation, whatever it is. */
  OPERATIONS("postStartRegionOperation", "postCloseRegionOperation"),
  GETS("preGetOp", "postGetOp", "preExists", "postExists"),
  /** Scans of clients: the scanner of a region, and batches of its rows. */
  SCANS("preScannerOpen", "postScannerOpen", "preScannerNext", "postScannerNext",
    "preScannerClose", "postScannerClose"),
  /** What a scanner selects, also for a get, or for a write that reads its row. */
  SELECTION("preStoreScannerOpen", "postInstantiateDeleteTracker", "postScannerFilterRow"),
  /** The reader of a store file. */
  READERS("preStoreFileReaderOpen", "postStoreFileReaderOpen"),
  /** The cells that a flush or compaction writes. */
  REWRITES("preFlushScannerOpen", "preFlush/4", "preCompactScannerOpen", "preCompact",
    "preMemStoreCompactionCompactScannerOpen", "preMemStoreCompactionCompact"),
  /** Flushes and compactions, but not the cells that they write. */
  MAINTENANCE("preFlush/2", "postFlush", "preMemStoreCompaction", "postMemStoreCompaction",
    "preCompactSelection", "postCompactSelection", "postCompact"),
  BULK_LOADS("preBulkLoadHFile", "preCommitStoreFile", "postCommitStoreFile", "postBulkLoadHFile"),
  /** All mutations: the batches that they are written in, and the keys of their WAL entries. */
  MUTATIONS("preBatchMutate", "postBatchMutate", "postBatchMutateIndispensably", "preWALAppend"),
  PUTS_DELETES("prePut", "postPut", "preDelete", "postDelete",
    "prePrepareTimeStampForDeleteVersion"),
  INCREMENTS("preIncrement", "preIncrementAfterRowLock", "postIncrement",
    "postIncrementBeforeWAL"),
  APPENDS("preAppend", "preAppendAfterRowLock", "postAppend", "postAppendBeforeWAL"),
  /** Increments and appends. */
  NEW_VALUES("postMutationBeforeWAL"),
  CONDITIONS("preCheckAndPut", "preCheckAndPutAfterRowLock", "postCheckAndPut",
    "preCheckAndDelete", "preCheckAndDeleteAfterRowLock", "postCheckAndDelete",
    "preCheckAndMutate", "preCheckAndMutateAfterRowLock", "postCheckAndMutate"),
  UNKNOWN;

  private static final Map<String, HookKind> BY_NAME = new HashMap<>();
  static {
    for (HookKind kind : values()) {
      for (String hook : kind.hooks) {
        BY_NAME.put(hook, kind);
      }
    }
  }

  /** Names of methods, with the number of parameters where those of one name differ in kind. */
  private final String[] hooks;

  HookKind(String... hooks) {
    this.hooks = hooks;
  }

  /** Returns the kind of a method of {@link RegionObserver}. */
  public static HookKind of(Method hook) {
    String name = hook.getName();
    HookKind kind = BY_NAME.get(name);
    return kind != null
      ? kind
      : BY_NAME.getOrDefault(name + '/' + hook.getParameterCount(), UNKNOWN);
  }
}
