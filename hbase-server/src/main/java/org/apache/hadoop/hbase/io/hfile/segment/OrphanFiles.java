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
package org.apache.hadoop.hbase.io.hfile.segment;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.io.hfile.composite.OnlineFiles;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Finds cached files that no online region reads. A server that is killed between a compaction and
 * the archiving of the compacted files leaves such files, and so do regions that move to other
 * servers.
 * <p>
 * A file that is missing in an online region is due at once if all of its blocks were cached by a
 * former process, and else after {@link #COMMIT_NANOS}: a flush or a compaction caches blocks of a
 * file before it commits the file. A file of a region that is not online is due after a grace
 * period, and only if the tier is full, because the region may return. Not thread-safe.
 */
@InterfaceAudience.Private
final class OrphanFiles {
  /** Longer than a flush or a compaction takes from its first cached block to its commit. */
  static final long COMMIT_NANOS = TimeUnit.MINUTES.toNanos(2);

  private final long graceNanos;
  /** By name: the time at which the file was first found to be an orphan. */
  private Map<String, Long> since = new HashMap<>();

  /** @param graceNanos how long files of a region that is not online are kept */
  OrphanFiles(long graceNanos) {
    this.graceNanos = graceNanos;
  }

  /**
   * Scans all files.
   * @param files      live files
   * @param needsSpace whether files of regions that are not online are due
   * @param nowNanos   value of System.nanoTime()
   * @return the files to be dropped
   */
  List<CachedFile> look(Iterable<CachedFile> files, OnlineFiles.Snapshot online, boolean needsSpace,
    long nowNanos) {
    Map<String, Long> orphans = new HashMap<>();
    List<CachedFile> due = new ArrayList<>();
    for (CachedFile file : files) {
      String region = file.getRegion();
      if (online.isRead(file.name(), region)) {
        continue;
      }
      long first = since.getOrDefault(file.name(), nowNanos);
      long age = nowNanos - first;
      if (
        online.isOnline(region)
          ? age >= (file.isInsertedInto() ? COMMIT_NANOS : 0)
          : needsSpace && age >= graceNanos
      ) {
        due.add(file);
      } else {
        orphans.put(file.name(), first);
      }
    }
    since = orphans;
    return due;
  }

  /** Returns the number of orphans that the last scan found and kept. */
  int count() {
    return since.size();
  }
}
