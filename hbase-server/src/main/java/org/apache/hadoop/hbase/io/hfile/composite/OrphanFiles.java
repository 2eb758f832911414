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
package org.apache.hadoop.hbase.io.hfile.composite;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Drops cached files that no online region reads. A server that is killed between a compaction and
 * the archiving of the compacted files leaves such files, and so do regions that move to other
 * servers.
 * <p>
 * A file that is missing in an online region is due at once if all of its blocks were cached by a
 * former process, and else after {@link #COMMIT_NANOS}: a flush or a compaction caches blocks of a
 * file before it commits the file. A file of a region that is not online is due after a grace
 * period, and only if the tier is full, because the region may return; so is a file whose region is
 * not known. Thread-safe.
 */
@InterfaceAudience.Private
public final class OrphanFiles {
  private static final Logger LOG = LoggerFactory.getLogger(OrphanFiles.class);

  /** A file that a tier has blocks of. */
  @InterfaceAudience.Private
  public interface File {
    /** Returns the name of the file, without its directory. */
    String name();

    /** Returns the encoded name of the region whose directory the file is in, null if unknown. */
    default String getRegion() {
      return null;
    }

    /** Returns whether this process has inserted blocks of the file. */
    default boolean isInsertedInto() {
      return true;
    }
  }

  /** How long files of a region that is not online are kept by default. */
  public static final long DEFAULT_GRACE_NANOS = TimeUnit.DAYS.toNanos(1);

  /** Longer than a flush or a compaction takes from its first cached block to its commit. */
  public static final long COMMIT_NANOS = TimeUnit.MINUTES.toNanos(2);

  private final long graceNanos;
  /** By name: the time at which the file was first found to be an orphan. */
  private Map<String, Long> since = new HashMap<>();

  /** @param graceNanos how long files of a region that is not online are kept */
  public OrphanFiles(long graceNanos) {
    this.graceNanos = graceNanos;
  }

  /**
   * Drops the files that are due. A failure is logged: a scan fails, for instance, while a region
   * is being closed, and the next one follows soon.
   * @param tier    name used in logs
   * @param dropper drops a file and returns the number of its blocks
   * @return the number of dropped files; see {@link #look} for the other parameters
   */
  public <F extends File> int drop(String tier, Iterable<F> files, OnlineFiles online,
    boolean needsSpace, long nowNanos, ToLongFunction<F> dropper) {
    try {
      List<F> due = look(files, online.look(), needsSpace, nowNanos);
      long blocks = due.stream().mapToLong(dropper).sum();
      if (!due.isEmpty()) {
        LOG.info("{} tier: dropped {} files that no region reads ({} blocks)", tier, due.size(),
          blocks);
      }
      return due.size();
    } catch (RuntimeException e) {
      LOG.warn("{} tier: scan for files that no region reads failed", tier, e);
      return 0;
    }
  }

  /**
   * Scans all files.
   * @param files      live files
   * @param needsSpace whether files of regions that are not online are due
   * @param nowNanos   value of System.nanoTime()
   * @return the files to be dropped
   */
  public synchronized <F extends File> List<F> look(Iterable<F> files,
    OnlineFiles.Snapshot online, boolean needsSpace, long nowNanos) {
    Map<String, Long> orphans = new HashMap<>();
    List<F> due = new ArrayList<>();
    for (F file : files) {
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
  public synchronized int count() {
    return since.size();
  }
}
