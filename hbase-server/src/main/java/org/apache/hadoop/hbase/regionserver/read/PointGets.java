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
package org.apache.hadoop.hbase.regionserver.read;

import io.opentelemetry.api.trace.Span;
import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.coprocessor.HookKind;
import org.apache.hadoop.hbase.coprocessor.HookOverrides;
import org.apache.hadoop.hbase.io.hfile.MemoryReads;
import org.apache.hadoop.hbase.ipc.RpcCall;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HStore;
import org.apache.hadoop.hbase.regionserver.RegionAccess;
import org.apache.hadoop.hbase.regionserver.RegionScanner;
import org.apache.hadoop.hbase.regionserver.RegionScannerImpl;
import org.apache.hadoop.hbase.trace.TraceUtil;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the row of a get in a region: as a {@link PointGet} if that is enabled and gives the cells
 * of a scanner, else with a scanner, counted by reason. Thread-safe.
 */
@InterfaceAudience.Private
public final class PointGets {
  private static final Logger LOG = LoggerFactory.getLogger(PointGets.class);

  /**
   * What a region may have whose gets are read without a scanner: not what selects the cells of a
   * scanner. A reader of a file is looked at when the file is read.
   */
  public static final HookOverrides READ =
    HookOverrides.servedWith(HookKind.OPEN_CLOSE, HookKind.REPLAY, HookKind.GETS, HookKind.SCANS,
      HookKind.READERS, HookKind.REWRITES, HookKind.MAINTENANCE, HookKind.BULK_LOADS,
      HookKind.MUTATIONS, HookKind.PUTS_DELETES, HookKind.INCREMENTS, HookKind.APPENDS,
      HookKind.NEW_VALUES, HookKind.CONDITIONS);

  /** What one may have whose gets a connection's thread answers: not what may wait. */
  static final HookOverrides PREPARED = READ.without(HookKind.GETS);

  /** Blocks, and bytes of a row, beyond which a thread that serves others too reads no more. */
  private static final int MAX_PREPARED_BLOCKS = 16;
  private static final int MAX_PREPARED_BYTES = 64 << 10;

  private static final class Metrics {
    static final PointGetMetrics INSTANCE = PointGetMetrics.register();
  }

  private final HRegion region;
  private final PointGetMetrics metrics;
  private final PreparationChance chance = new PreparationChance();
  /** Null if rows are not looked up. */
  private RowLookup lookup;

  public PointGets(HRegion region, Configuration conf) {
    this.region = region;
    this.metrics = PointGetSettings.of(conf).isEnabled() ? Metrics.INSTANCE : null;
  }

  /** Has rows be looked up. Called when the region is opened, before it serves clients. */
  public void setLookup(RowLookup rows) {
    lookup = rows;
  }

  /**
   * Adds the cells of the row to the results.
   * @return what the cells are held by, to be closed when they are no longer used
   * @throws IOException if they cannot be read; nothing is held then
   */
  public Closeable read(Get get, List<Cell> results, long nonceGroup, long nonce)
    throws IOException {
    if (!needsNoScanner(get, nonce)) {
      return scan(get, results, nonceGroup, nonce);
    }
    Closeable held = PreparedRow.take(region, results);
    if (held == null) {
      RowLookup cached = rowsFor(get);
      if (cached == null && lookup != null) {
        lookup.countBypassed();
      }
      held = readTraced(get, cached, results);
    }
    if (held == null) {
      return scan(get, results, nonceGroup, nonce);
    }
    metrics.countPointGet();
    return held;
  }

  /**
   * Reads like {@link #read}, for a write that depends on the row. Rows are neither looked up nor
   * kept, since the caller holds the lock of the row.
   */
  public Closeable readForWrite(Get get, List<Cell> results) throws IOException {
    if (!needsNoScanner(get, HConstants.NO_NONCE)) {
      return next(region.getScanner(new Scan(get)), results);
    }
    Closeable held = readTraced(get, null, results);
    if (held == null) {
      return next(region.getScanner(new Scan(get)), results);
    }
    metrics.countPointGet();
    return held;
  }

  /** Returns whether a get is read without a scanner; counts why if one is needed. */
  private boolean needsNoScanner(Get get, long nonce) {
    if (metrics == null) {
      return false;
    }
    ScanReason reason = reason(get, nonce);
    if (reason != null) {
      metrics.countScan(reason);
    }
    return reason == null;
  }

  /** Returns the bytes of the blocks that were read for what {@link #readForWrite} returned. */
  public long blockBytes(Closeable held) {
    return held instanceof PointGet
      ? ((PointGet) held).blockBytes()
      : RegionAccess.blockBytes((RegionScannerImpl) held);
  }

  /**
   * Reads the row of a get whose call is not yet run, without waiting.
   * @return null if that is not possible, or has rarely been of late
   */
  public PreparedRow prepare(Get get, RpcCall call) {
    if (
      metrics == null || reason(get, HConstants.NO_NONCE) != null
        || PREPARED.any(region.getCoprocessorHost(), null)
    ) {
      return null;
    }
    RowLookup cached = rowsFor(get);
    PreparedRow row = cached == null ? null : tryCached(get, cached, call);
    if (row != null) {
      metrics.countPrepared(true);
      return row;
    }
    if (!chance.isWorthATry()) {
      return null;
    }
    row = tryPrepare(get, cached, call);
    chance.tried(row != null);
    metrics.countPrepared(row != null);
    return row;
  }

  private PreparedRow tryCached(Get get, RowLookup cached, RpcCall call) {
    List<Cell> cells = new ArrayList<>();
    return PointGet.tryCached(region, get, cached, cells)
      ? new PreparedRow(region, cells, PointGet.NOTHING, () -> {
        cached.countLookup(true);
        PointGet.countCached(region, call, cells);
      })
      : null;
  }

  /** @param cached gets the row when it is taken; null if it is not to be cached */
  private PreparedRow tryPrepare(Get query, RowLookup cached, RpcCall call) {
    List<Cell> cells = new ArrayList<>();
    PointGet held = null;
    MemoryReads reads = MemoryReads.begin(MAX_PREPARED_BLOCKS);
    try {
      held = PointGet.tryRead(region, query, call, cells);
    } catch (IOException | RuntimeException e) {
      // The read would wait, or it failed. A handler repeats it, and answers with the failure.
      LOG.trace("A handler is to read the row", e);
    } finally {
      reads.end();
    }
    if (held == null) {
      return null;
    }
    if (PointGet.size(cells) > MAX_PREPARED_BYTES) {
      held.close();
      return null;
    }
    PointGet get = held;
    return new PreparedRow(region, cells, get, () -> {
      reads.count();
      get.count();
      if (cached != null) {
        cached.countLookup(false);
        get.cache(cached, false, cells);
      }
    });
  }

  /** Returns null, and adds no cells, if a file has a reader that needs a scanner. */
  private Closeable readTraced(Get get, RowLookup cached, List<Cell> results)
    throws IOException {
    int before = results.size();
    Span span = RegionAccess.createSpan(region, "Region.pointGet");
    try {
      return span.isRecording()
        ? TraceUtil.trace(() -> read(get, cached, results), () -> span)
        : read(get, cached, results);
    } catch (FileRowSource.OwnReaderException e) {
      results.subList(before, results.size()).clear();
      metrics.countScan(ScanReason.COPROCESSOR);
      return null;
    }
  }

  private Closeable read(Get get, RowLookup cached, List<Cell> results) throws IOException {
    return cached == null
      ? PointGet.read(region, get, results)
      : PointGet.read(region, get, cached, results);
  }

  /** Returns null if rows are not looked up for this get, which needs no scanner. */
  private RowLookup rowsFor(Get get) {
    return lookup != null && lookup.serves(get) ? lookup : null;
  }

  private Closeable scan(Get get, List<Cell> results, long nonceGroup, long nonce)
    throws IOException {
    Scan scan = new Scan(get);
    if (scan.getLoadColumnFamiliesOnDemandValue() == null) {
      scan.setLoadColumnFamiliesOnDemand(region.isLoadingCfsOnDemandDefault());
    }
    return next(nonce == HConstants.NO_NONCE
      ? region.getScanner(scan)
      : RegionAccess.getScanner(region, scan, nonceGroup, nonce), results);
  }

  private static Closeable next(RegionScanner scanner, List<Cell> results) throws IOException {
    boolean done = false;
    try {
      scanner.next(results);
      done = true;
      return scanner;
    } finally {
      if (!done) {
        scanner.close();
      }
    }
  }

  /** Returns why a scanner is used, null if none is. */
  private ScanReason reason(Get get, long nonce) {
    if (get.getFilter() != null) {
      return ScanReason.FILTER;
    }
    if (
      nonce != HConstants.NO_NONCE || get.getMaxResultsPerColumnFamily() >= 0
        || get.getRowOffsetPerColumnFamily() > 0 || isRaw(get) || !get.hasFamilies()
    ) {
      // A get without families is not from a client, and only a scanner adds them.
      return ScanReason.OPTION;
    }
    if (region.getClass() != HRegion.class) {
      return ScanReason.FAMILY;
    }
    // The loop uses the map's one entry set, as the read does, so that no key set is allocated.
    for (Map.Entry<byte[], NavigableSet<byte[]>> family : get.getFamilyMap().entrySet()) {
      HStore store = region.getStore(family.getKey());
      if (store == null || !PointGet.supports(store)) {
        return ScanReason.FAMILY;
      }
    }
    return READ.any(region.getCoprocessorHost(), null) ? ScanReason.COPROCESSOR : null;
  }

  /** Returns whether attributes of a get, which its scan has as well, request markers too. */
  private static boolean isRaw(Get get) {
    return !get.getAttributesMap().isEmpty() && new Scan(get).isRaw();
  }
}
