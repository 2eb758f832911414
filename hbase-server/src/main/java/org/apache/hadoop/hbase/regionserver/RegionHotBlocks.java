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
package org.apache.hadoop.hbase.regionserver;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.client.IsolationLevel;
import org.apache.hadoop.hbase.client.RegionReplicaUtil;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.bucket.BucketCacheAccesses;
import org.apache.hadoop.hbase.io.hfile.bucket.EntryAccesses;
import org.apache.hadoop.hbase.io.hfile.composite.HotBlockCache;
import org.apache.hadoop.hbase.io.hfile.load.HandoverMetrics;
import org.apache.hadoop.hbase.io.hfile.load.HandoverMetrics.Count;
import org.apache.hadoop.hbase.io.hfile.load.HandoverSettings;
import org.apache.hadoop.hbase.io.hfile.load.HotBlockHandover;
import org.apache.hadoop.hbase.io.hfile.load.HotBlockHint;
import org.apache.hadoop.hbase.io.hfile.load.HotBlockMap;
import org.apache.hadoop.hbase.io.hfile.load.PrefetchRequests;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.apache.hbase.thirdparty.com.google.common.util.concurrent.ThreadFactoryBuilder;

/**
 * Hints between servers. One that closes a region leaves a file in the region's directory that
 * names the hot blocks of the region's files; one that opens the region reads and deletes it, and
 * prefetches these blocks. Nothing depends on a hint: files that it does not name are not
 * prefetched, files that it names and that are not there any more are ignored. In the same way, a
 * file that is bulk loaded takes over what is hot in the region.
 * <p>
 * The name begins with a dot and is that of a file, so that nothing takes it for a column family.
 * No method throws. In this package, since {@code io.hfile.load} uses no class of the server.
 */
@InterfaceAudience.Private
final class RegionHotBlocks {
  private static final Logger LOG = LoggerFactory.getLogger(RegionHotBlocks.class);

  /** The name of the file. */
  static final String FILE = ".hot-blocks";

  /**
   * A close waits no longer for hot blocks to be noted, in ms; a later file may be too late. Only
   * tests set it.
   */
  static volatile int maxWaitMillis = 100;
  private static final int THREADS = 8;
  private static final int IDLE_SECONDS = 10;

  /** The hints that are noted or written. */
  private static final AtomicInteger LEAVING = new AtomicInteger();

  private static final ThreadPoolExecutor EXECUTOR = new ThreadPoolExecutor(THREADS, THREADS,
    IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(),
    new ThreadFactoryBuilder().setNameFormat("region-hot-blocks-%d").setDaemon(true).build());

  static {
    EXECUTOR.allowCoreThreadTimeOut(true);
  }

  private RegionHotBlocks() {
  }

  /**
   * A region that still serves is about to be closed. Returns when its hot blocks are noted; the
   * file is written meanwhile and after that.
   */
  static void leave(HRegion region, boolean abort) {
    try {
      if (abort || region.isClosing() || region.isClosed() || !isEnabled(region)) {
        return;
      }
      CompletableFuture<Void> noted = new CompletableFuture<>();
      EXECUTOR.execute(() -> leave(region, noted));
      try {
        // The blocks are noted before the stores are closed, which may evict them.
        noted.get(maxWaitMillis, TimeUnit.MILLISECONDS);
      } catch (TimeoutException e) {
        if (noted.cancel(false)) {
          HandoverMetrics.get().count(Count.LateHintCount);
        }
      } catch (InterruptedException e) {
        noted.cancel(false);
        Thread.currentThread().interrupt();
      }
    } catch (ExecutionException | RuntimeException e) {
      LOG.info("No hint of hot blocks is left for {}: {}", region, e.toString());
    }
  }

  /** A region has opened its files. */
  static void follow(HRegion region) {
    try {
      if (isEnabled(region)) {
        EntryAccesses.countReadMisses();
        StoreCacheHandover.evictUntracked(region);
        EXECUTOR.execute(() -> read(region));
      }
    } catch (RuntimeException e) {
      LOG.info("A hint of hot blocks of {} is not followed: {}", region, e.toString());
    }
  }

  /** A file was bulk loaded into a store. Its blocks for what was hot there are prefetched. */
  static void loaded(HRegion region, HStore store, HStoreFile file) {
    try {
      if (isEnabled(region) && isEnabled(store) && cacheOf(region) != null) {
        List<HFile.Reader> others = StoreCacheHandover.readers(store.getStorefiles());
        others.remove(file.getReader().getHFileReader());
        EXECUTOR.execute(() -> takeOver(region, store, file, others));
      }
    } catch (RuntimeException e) {
      LOG.info("{} takes over no hot blocks: {}", file, e.toString());
    }
  }

  private static void takeOver(HRegion region, HStore store, HStoreFile file,
    List<HFile.Reader> others) {
    try {
      HFile.Reader reader = file.getReader().getHFileReader();
      HotBlockMap hot = HotBlockHandover.hotBlocksOf(reader, StoreCacheHandover.rangeOf(region),
        cacheOf(region), others);
      if (hot.count() > 0 && !region.isClosing() && !region.isClosed()) {
        HandoverMetrics.get().count(Count.LoadedFileCount);
        HandoverMetrics.get().count(Count.LoadedBlockCount, hot.count());
        PrefetchRequests.request(reader, store.getCacheConfig(),
          store.getReadOnlyConfiguration(), hot);
      }
    } catch (IOException | RuntimeException e) {
      LOG.info("{} takes over no hot blocks: {}", file, e.toString());
    }
  }

  /** Returns null if the cache does not count accesses. */
  private static HotBlockCache cacheOf(HRegion region) {
    return BucketCacheAccesses.of(region.getBlockCache());
  }

  /** Regions without a server are those of tools and tests. */
  private static boolean isEnabled(HRegion region) {
    return region.getRegionServerServices() != null && region.getBlockCache() != null
      && RegionReplicaUtil.isDefaultReplica(region.getRegionInfo())
      && region.getStores().stream().anyMatch(RegionHotBlocks::isEnabled);
  }

  private static boolean isEnabled(HStore store) {
    return HandoverSettings.of(store.getReadOnlyConfiguration()).isEnabled()
      && store.getCacheConfig().getBlockCache().isPresent()
      && store.getCacheConfig().shouldCacheDataOnRead();
  }

  private static Path file(HRegion region) {
    return new Path(region.getRegionFileSystem().getRegionDir(), FILE);
  }

  /** Leaves a hint, unless the close has stopped waiting before it is known. */
  private static void leave(HRegion region, CompletableFuture<Void> noted) {
    long start = System.nanoTime();
    LEAVING.incrementAndGet();
    try {
      HotBlockHint hint = hintOf(region);
      if (noted.complete(null) && hint != null && !hint.isEmpty()) {
        hint.write(region.getFilesystem(), file(region));
        long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
        HandoverMetrics.get()
          .count(millis <= maxWaitMillis ? Count.HintCount : Count.LateHintCount);
      }
    } catch (IOException | RuntimeException e) {
      noted.complete(null);
      LOG.info("No hint of hot blocks is left for {}: {}", region, e.toString());
    } finally {
      LEAVING.decrementAndGet();
    }
  }

  /** Returns if a hint of any region of this JVM is not written yet. */
  static boolean isLeaving() {
    return LEAVING.get() > 0;
  }

  /** Returns null if the cache does not count accesses, or there are too many files. */
  private static HotBlockHint hintOf(HRegion region) {
    HotBlockCache cache = cacheOf(region);
    List<HFile.Reader> readers = new ArrayList<>();
    for (HStore store : region.getStores()) {
      if (isEnabled(store)) {
        readers.addAll(StoreCacheHandover.readers(store.getStorefiles()));
      }
    }
    int shift = HotBlockHint.shiftFor(readers);
    if (cache == null || shift < 0) {
      return null;
    }
    HotBlockHint hint = new HotBlockHint(region.getReadPoint(IsolationLevel.READ_COMMITTED));
    hint.add(readers, StoreCacheHandover.rangeOf(region), cache, shift);
    return hint;
  }

  private static void read(HRegion region) {
    try {
      HotBlockHint hint = HotBlockHint.readAndDelete(region.getFilesystem(), file(region));
      if (hint == null || hint.sequenceId() >= region.getOpenSeqNum()) {
        return;
      }
      HandoverMetrics.get().count(Count.FollowedHintCount);
      for (HStore store : region.getStores()) {
        // The files of one that is closed again have no prefetch any more.
        if (isEnabled(store) && !region.isClosing() && !region.isClosed()) {
          follow(store, hint);
        }
      }
    } catch (IOException | RuntimeException e) {
      LOG.info("A hint of hot blocks of {} is not followed: {}", region, e.toString());
    }
  }

  private static void follow(HStore store, HotBlockHint hint) {
    for (HFile.Reader reader : StoreCacheHandover.readers(store.getStorefiles())) {
      HotBlockMap hot = hint.of(reader.getName());
      if (hot != null) {
        HandoverMetrics.get().count(Count.FollowedBlockCount, hot.count());
        PrefetchRequests.request(reader, store.getCacheConfig(),
          store.getReadOnlyConfiguration(), hot);
      }
    }
  }
}
