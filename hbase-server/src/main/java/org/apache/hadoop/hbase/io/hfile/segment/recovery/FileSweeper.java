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
package org.apache.hadoop.hbase.io.hfile.segment.recovery;

import java.util.Collections;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.hbase.io.hfile.composite.OnlineFiles;
import org.apache.hadoop.hbase.io.hfile.composite.OrphanFiles;
import org.apache.hadoop.hbase.io.hfile.segment.device.Tombstone;
import org.apache.hadoop.hbase.io.hfile.segment.index.CachedFile;
import org.apache.hadoop.hbase.io.hfile.segment.index.CachedFiles;
import org.apache.hadoop.hbase.io.hfile.segment.index.IndexedBlocks;
import org.apache.hadoop.hbase.io.hfile.segment.index.SegmentDirectory;
import org.apache.hadoop.hbase.io.hfile.segment.store.SegmentStore;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Drops files, and frees their index entries in the background. Its thread also looks for files
 * that no region reads: every ten seconds, or every second while blocks of a former process are
 * being recovered. Before a device reclaims a segment, it triggers an immediate scan if regions
 * were opened or closed since the last one, so that dead blocks of a former process are evicted
 * before live ones.
 * <p>
 * Invariants: the index entries of a file are freed only after each device has logged its
 * tombstone, or has failed to do so for ten seconds; no segment is reclaimed between the opening of
 * a region and the scan that finds its dead files, nor while those are being freed, for eleven
 * seconds at most. Thread-safe.
 */
@InterfaceAudience.Private
public final class FileSweeper {
  private static final Logger LOG = LoggerFactory.getLogger(FileSweeper.class);

  private static final long RETRY_MS = 100;
  private static final long MAX_LOG_WAIT_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final long LOG_INTERVAL_NANOS = TimeUnit.MINUTES.toNanos(5);
  private static final long RECOVERY_INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long ORPHANS_INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(10);
  /** Maximum time that a reclaim waits until files dropped by a scan are freed. */
  private static final long MAX_FREEING_NANOS = MAX_LOG_WAIT_NANOS + TimeUnit.SECONDS.toNanos(1);
  private static final long MAX_STOP_MS = TimeUnit.SECONDS.toMillis(10);

  private final String name;
  private final IndexedBlocks blocks;
  private final SegmentStore store;
  private final CachedFiles files;
  private final OrphanFiles orphans;
  /** Null if files that no region reads are kept. */
  private final OnlineFiles online;
  private final BlockingQueue<Sweep> dropped = new LinkedBlockingQueue<>();
  /** Number of dropped files that have not been freed yet. */
  private final AtomicInteger unfreed = new AtomicInteger();
  private volatile boolean stopped;
  private Thread thread;
  private Set<String> regionsAtLastLook = Collections.emptySet();
  /** Whether a scan has dropped files, and the last such scan. */
  private boolean orphansDropped;
  private long lastDropNanos;
  private long lastLookNanos = System.nanoTime();

  /** A dropped file. */
  private static final class Sweep {
    private final CachedFile file;
    /** Null if a former process has logged the tombstone. */
    private final Tombstone tombstone;
    private final long start = System.nanoTime();

    Sweep(CachedFile file, Tombstone tombstone) {
      this.file = file;
      this.tombstone = tombstone;
    }
  }

  /**
   * @param tierName name used in logs and thread names
   * @param online   null if files that no region reads are kept
   */
  public FileSweeper(String tierName, IndexedBlocks blocks, SegmentStore store, CachedFiles files,
    OrphanFiles orphans, OnlineFiles online) {
    this.name = tierName;
    this.blocks = blocks;
    this.store = store;
    this.files = files;
    this.orphans = orphans;
    this.online = online;
    files.dropped().forEach(file -> add(new Sweep(file, null)));
  }

  private void add(Sweep sweep) {
    unfreed.incrementAndGet();
    dropped.add(sweep);
  }

  /**
   * Starts the thread.
   * @param report runs every five minutes
   */
  public void start(Runnable report) {
    thread = new Thread(() -> run(report), name + "-SegmentSweeper");
    thread.setDaemon(true);
    thread.start();
  }

  /**
   * Stops the thread and waits for its end for at most ten seconds. An interrupt ends the wait.
   * @return whether the calling thread was interrupted. The caller must restore the flag: a channel
   *         that is written with the flag set is closed
   */
  public boolean stop() {
    stopped = true;
    thread.interrupt();
    try {
      thread.join(MAX_STOP_MS);
      return false;
    } catch (InterruptedException e) {
      return true;
    }
  }

  /**
   * Drops a file: none of its blocks is found from now on, neither by this process nor after a
   * restart.
   * @return the number of blocks it had
   */
  public long drop(String hfileName) {
    Tombstone tombstone = store.dropped().dropping(hfileName);
    CachedFile file;
    try {
      file = blocks.drop(hfileName);
    } finally {
      store.dropped().dropped(tombstone);
    }
    if (file == null) {
      return 0;
    }
    add(new Sweep(file, tombstone));
    return file.droppedBlockCount();
  }

  /** Returns whether the entries of a file can be freed: the devices have logged its tombstone. */
  private boolean isDue(Sweep sweep) {
    return sweep.tombstone == null || store.dropped().isLogged(sweep.tombstone)
      || System.nanoTime() - sweep.start > MAX_LOG_WAIT_NANOS;
  }

  /**
   * Drops files that no region reads; files of regions that are not online only if the tier is
   * full.
   * @return the number of dropped files
   */
  public synchronized int dropOrphans(long nowNanos) {
    if (online == null) {
      return 0;
    }
    Set<String> regions = new HashSet<>(online.regions());
    int count = orphans.drop(name, files.live(), online, !store.hasSpareSegments(), nowNanos,
      file -> drop(file.name()));
    store.metrics().orphanFiles.add(count);
    regionsAtLastLook = regions;
    lastLookNanos = System.nanoTime();
    if (count > 0) {
      orphansDropped = true;
      lastDropNanos = lastLookNanos;
    }
    return count;
  }

  /** See {@link SegmentDirectory#isFreeingOrphans}. */
  public synchronized boolean isFreeingOrphans() {
    if (online == null) {
      return false;
    }
    if (!online.regions().equals(regionsAtLastLook)) {
      dropOrphans(System.nanoTime());
    }
    return orphansDropped && unfreed.get() > 0
      && System.nanoTime() - lastDropNanos < MAX_FREEING_NANOS;
  }

  private synchronized void lookForOrphans() {
    long interval = store.isRecovered() ? ORPHANS_INTERVAL_NANOS : RECOVERY_INTERVAL_NANOS;
    if (System.nanoTime() - lastLookNanos >= interval) {
      dropOrphans(System.nanoTime());
    }
  }

  private void run(Runnable report) {
    long nextReport = System.nanoTime() + LOG_INTERVAL_NANOS;
    try {
      while (!stopped) {
        Sweep sweep = dropped.poll(RECOVERY_INTERVAL_NANOS, TimeUnit.NANOSECONDS);
        if (sweep != null) {
          if (isDue(sweep) && blocks.sweep(sweep.file)) {
            unfreed.decrementAndGet();
          } else {
            // Another thread is inserting a block of it, or a device is logging it; both end soon.
            TimeUnit.MILLISECONDS.sleep(RETRY_MS);
            dropped.add(sweep);
          }
        }
        lookForOrphans();
        if (System.nanoTime() - nextReport >= 0) {
          nextReport += LOG_INTERVAL_NANOS;
          report.run();
        }
      }
    } catch (InterruptedException e) {
      LOG.debug("{} tier: the sweeper stops", name);
    }
  }
}
