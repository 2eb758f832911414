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

import java.util.List;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.PrivateCellUtil;
import org.apache.hadoop.hbase.Tag;
import org.apache.hadoop.hbase.TagType;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.IsolationLevel;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.coprocessor.HookKind;
import org.apache.hadoop.hbase.coprocessor.HookOverrides;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HStore;
import org.apache.hadoop.hbase.regionserver.MultiVersionConcurrencyControl.WriteEntry;
import org.apache.hadoop.hbase.regionserver.RegionCoprocessorHost;
import org.apache.hadoop.hbase.regionserver.read.PointGets;
import org.apache.hadoop.hbase.regionserver.read.RowLookup;
import org.apache.hadoop.hbase.security.access.AccessController;
import org.apache.hadoop.hbase.util.EnvironmentEdgeManager;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The cached rows of an open region, which its point gets look up. Lookups are to be made while the
 * region's lock is held, so that the region cannot move and be written elsewhere meanwhile.
 * Thread-safe.
 */
@InterfaceAudience.Private
public final class RegionRows implements RowLookup {
  private static final Logger LOG = LoggerFactory.getLogger(RegionRows.class);
  private static final int TUNING_PERIOD_MS = 1000;

  /** What a region may have whose rows are cached: not what changes cells without a write. */
  static final HookOverrides CACHED =
    PointGets.READ.without(HookKind.READERS, HookKind.REWRITES);

  /** The cache of the process, made when the first region with cached rows is opened. */
  private static RowCache processCache;
  private static boolean lacksMemory;

  private final HRegion region;
  private final RowCacheSettings settings;
  /** Null before the region is open, and if its table or the settings exclude its rows. */
  private RowCache cache;
  private CachedRegion cached;
  /** The coprocessors that the region had at the last lookup, and their host. */
  private volatile Object coprocessors;
  private volatile RegionCoprocessorHost host;

  public RegionRows(HRegion region, Configuration conf) {
    this.region = region;
    this.settings = RowCacheSettings.of(conf);
  }

  /**
   * Opens the cache. Called when the region is opened, before it serves clients. A master makes
   * regions that it does not open, for which there is to be no cache.
   */
  public void open() {
    cache = isCached(region, settings) ? cache(settings) : null;
    cached = cache == null ? null : cache.open(region.getMVCC().getReadPoint());
    host = region.getCoprocessorHost();
    coprocessors = HookOverrides.loaded(host);
    if (cached != null) {
      region.pointGets.setLookup(this);
    }
  }

  private static boolean isCached(HRegion region, RowCacheSettings settings) {
    TableDescriptor table = region.getTableDescriptor();
    // Files of a region that is read-only may be refreshed.
    return settings.bytes() > 0 && settings.isEnabled(table)
      && region.getRegionInfo().getReplicaId() == 0 && !table.isReadOnly();
  }

  /** Returns whether rows of the region are cached. */
  public boolean isEnabled() {
    return cached != null;
  }

  /** Returns null if there is no memory for the cache: the server works without. */
  private static synchronized RowCache cache(RowCacheSettings settings) {
    if (processCache == null && !lacksMemory) {
      try {
        processCache = new RowCache(settings.bytes(), settings.maxRow());
        LOG.info("Row cache of {} MB", settings.bytes() >> 20);
      } catch (OutOfMemoryError e) {
        lacksMemory = true;
        LOG.error("Rows are not cached: {}={} MB of direct memory are not there. Raise "
          + "-XX:MaxDirectMemorySize, or lower the key", RowCacheSettings.SIZE_KEY,
          settings.bytes() >> 20, e);
      }
    }
    return processCache;
  }

  /** Forgets the cache of the process, for tests with another. */
  public static synchronized void forgetCache() {
    processCache = null;
    lacksMemory = false;
  }

  /** Returns whether the process has memory of a cache, for tests. */
  public static synchronized boolean isAllocated() {
    return processCache != null;
  }

  @Override
  public boolean serves(Get get) {
    if (!isCacheable(get)) {
      return false;
    }
    RegionCoprocessorHost current = region.getCoprocessorHost();
    // It returns the scanner of a compaction as it was.
    if (CACHED.any(current, AccessController.class)) {
      return false;
    }
    observedBy(current);
    return true;
  }

  /** Returns whether the cells of a get are cached. */
  private static boolean isCacheable(Get get) {
    return get.getMaxVersions() == 1 && get.getTimeRange().isAllTime()
      && get.getColumnFamilyTimeRange().isEmpty() && get.getCacheBlocks()
      && get.getIsolationLevel() == IsolationLevel.READ_COMMITTED && !get.isCheckExistenceOnly()
      && !get.isQueryMetricsEnabled();
  }

  /**
   * Notes the coprocessors before a lookup. If some were loaded or removed since the last one, none
   * of the rows is found: those between may have had files or segments written with other cells.
   */
  private void observedBy(RegionCoprocessorHost current) {
    Object loaded = HookOverrides.loaded(current);
    if (current != host || loaded != coprocessors) {
      // The order matters: a thread that sees the new coprocessors finds no earlier row.
      filesChanged();
      coprocessors = loaded;
      host = current;
    }
  }

  @Override
  public void countBypassed() {
    cache.metrics().countBypassed();
  }

  @Override
  public boolean get(Get get, boolean waits, List<Cell> results) {
    return cache.get(cached, get, EnvironmentEdgeManager.currentTime(), waits, results);
  }

  @Override
  public void countLookup(boolean hit) {
    cache.countLookup(hit);
  }

  @Override
  public void put(Get get, long readPoint, long since, boolean waits, List<Cell> results) {
    long expires = Long.MAX_VALUE;
    HStore store = null;
    for (int i = 0; i < results.size(); i++) {
      Cell cell = results.get(i);
      if (
        store == null
          || !CellUtil.matchingFamily(cell, store.getColumnFamilyDescriptor().getName())
      ) {
        store = region.getStore(CellUtil.cloneFamily(cell));
      }
      expires = Math.min(expires, expiry(cell, store.getScanInfo().getTtl()));
    }
    cache.put(cached, get, readPoint, region.getMVCC()::getWritePoint, since, expires,
      EnvironmentEdgeManager.currentTime(), waits, results);
  }

  private static long expiry(Cell cell, long ttl) {
    long expires = Long.MAX_VALUE;
    long timestamp = cell.getTimestamp();
    if (ttl != HConstants.FOREVER && ttl != Long.MAX_VALUE && timestamp < Long.MAX_VALUE - ttl) {
      expires = timestamp + ttl;
    }
    if (cell.getTagsLength() > 0) {
      Optional<Tag> own = PrivateCellUtil.getTag(cell, TagType.TTL_TAG_TYPE);
      if (own.isPresent()) {
        expires = Math.min(expires, timestamp + Tag.getValueAsLong(own.get()));
      }
    }
    return expires;
  }

  /** Notes a write, before its cells are inserted into a memstore. Does not throw. */
  public void write(List<Cell> cells) {
    if (cached == null) {
      return;
    }
    Cell last = null;
    for (int i = 0; i < cells.size(); i++) {
      Cell cell = cells.get(i);
      if (last == null || !CellUtil.matchingRows(cell, last)) {
        write(cell);
        last = cell;
      }
    }
  }

  /** Notes the write of a cell, before it is inserted into a memstore. Does not throw. */
  public void write(Cell cell) {
    if (cached == null) {
      return;
    }
    long number = cell.getSequenceId();
    // A write has its number by now. If not, that of the last write that has begun is not below it.
    long write = number > 0 ? number : region.getMVCC().getWritePoint();
    cached.versions().raise(RowHash.of(cell), write);
  }

  /** Notes that this thread has compacted files, under the write lock of their store. */
  public void filesCompacted() {
    // Once a marker is dropped, a write with an earlier timestamp that it hid is visible again.
    if (DroppedMarkers.getAndClear()) {
      filesChanged();
    }
  }

  /**
   * Notes that a store has read the list of its files again, which only a coprocessor requests of a
   * region with cached rows. To be called after that: gets that begin later find none of them.
   */
  public void filesRefreshed() {
    filesChanged();
  }

  /**
   * Notes that files of the region were changed in a way that may change what is read: to be called
   * under the write lock of the store, after the change.
   */
  public void filesChanged() {
    if (cached == null) {
      return;
    }
    WriteEntry number = region.getMVCC().begin();
    try {
      cached.versions().raiseFloor(number.getWriteNumber());
    } finally {
      region.getMVCC().complete(number);
    }
    cache.metrics().countFilesChanged();
  }

  /**
   * Removes the region from the cache. Called once the region is closed and no lookup holds its
   * lock.
   */
  public void close() {
    if (cached != null) {
      cache.close(cached);
    }
  }

  /** Has none of the rows be found again, until they are read anew. */
  public void clear() {
    if (cached != null) {
      filesChanged();
    }
  }
}
