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

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntConsumer;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.KeepDeletedCells;
import org.apache.hadoop.hbase.client.PackagePrivateFieldAccessor;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.io.TimeRange;
import org.apache.hadoop.hbase.ipc.CallerDisconnectedException;
import org.apache.hadoop.hbase.ipc.RpcCall;
import org.apache.hadoop.hbase.ipc.RpcServer;
import org.apache.hadoop.hbase.regionserver.Region.Operation;
import org.apache.hadoop.hbase.regionserver.get.RowQuery;
import org.apache.hadoop.hbase.regionserver.get.RowReader;
import org.apache.hadoop.hbase.regionserver.get.RowSource;
import org.apache.hadoop.hbase.util.EnvironmentEdgeManager;
import org.apache.yetus.audience.InterfaceAudience;

import org.apache.hbase.thirdparty.io.netty.util.IllegalReferenceCountException;

/**
 * Reads one row without scanners. The read point is registered before a store is looked at, and the
 * segments and files of a store are taken together under its read lock, so that a concurrent flush,
 * compaction or bulk load neither removes a version that is visible here nor separates families.
 * <p>
 * All that the cells are in, blocks, files, segments and the read point, is held until
 * {@link #close()}, which the call does when its response is encoded. Not thread-safe.
 */
@InterfaceAudience.Private
final class PointGet implements Closeable {

  private static final Comparator<RowSource> NEWEST_FIRST =
    Comparator.comparingLong(RowSource::maxTimestamp).reversed();
  private static final Comparator<FileRowSource> OLDEST_FIRST =
    Comparator.comparing(FileRowSource::file, StoreFileComparators.SEQ_ID);
  /** Number of times to list the segments of a memstore that changes meanwhile. */
  private static final int MAX_ATTEMPTS = 50_000;
  /** Between two attempts: the thread that closes a segment updates the list after that. */
  private static final long ATTEMPT_NANOS = 50_000;
  private static final IntConsumer NO_CALL = size -> {
  };

  private final HRegion region;
  private final List<RowSource> sources = new ArrayList<>(4);
  private final IntConsumer blockSizes;
  private long readPoint;
  private boolean closed;

  private PointGet(HRegion region, RpcCall call) {
    this.region = region;
    this.blockSizes = call == null ? NO_CALL : call::incrementBlockBytesScanned;
  }

  /**
   * Returns whether a store can be read so. The others, with mob files, minimum versions or the new
   * version behavior, are read with scanners.
   */
  static boolean supports(HStore store) {
    ScanInfo info = store.getScanInfo();
    return store.getClass() == HStore.class && store.memstore instanceof AbstractMemStore
      && info.getMinVersions() == 0 && !info.isNewVersionBehavior();
  }

  /**
   * Adds the cells of a row to the results, and returns what holds them, to be closed.
   * @throws IOException if a file cannot be read, or the region or the call has ended; nothing is
   *                     held then
   */
  static PointGet read(HRegion region, Scan scan, List<Cell> results) throws IOException {
    RpcCall call = RpcServer.getCurrentCall().orElse(null);
    PointGet get = new PointGet(region, call);
    boolean done = false;
    region.startRegionOperation(Operation.SCAN);
    try {
      get.registerReadPoint(scan);
      get.checkCaller(call);
      get.readFamilies(scan, results);
      done = true;
      return get;
    } finally {
      try {
        if (!done) {
          get.close();
        }
      } finally {
        region.closeRegionOperation(Operation.SCAN);
      }
    }
  }

  private void registerReadPoint(Scan scan) {
    long requested = PackagePrivateFieldAccessor.getMvccReadPoint(scan);
    region.smallestReadPointCalcLock.lock(ReadPointCalculationLock.LockType.RECORDING_LOCK);
    try {
      readPoint = requested > 0 ? requested : region.getReadPoint(scan.getIsolationLevel());
      region.scannerReadPoints.put(this, readPoint);
    } finally {
      region.smallestReadPointCalcLock.unlock(ReadPointCalculationLock.LockType.RECORDING_LOCK);
    }
  }

  private void checkCaller(RpcCall call) throws IOException {
    long disconnected = call == null ? -1 : call.disconnectSince();
    if (disconnected >= 0) {
      throw new CallerDisconnectedException(
        "Aborting a get on region " + region.getRegionInfo().getRegionNameAsString() + " after "
          + disconnected + " ms, since caller disconnected");
    }
  }

  private void readFamilies(Scan scan, List<Cell> results) throws IOException {
    boolean found = false;
    for (Map.Entry<byte[], NavigableSet<byte[]>> family : scan.getFamilyMap().entrySet()) {
      region.checkInterrupt();
      found |= readFamily(region.getStore(family.getKey()), scan, family.getValue(), results);
    }
    if (found && results.isEmpty()) {
      region.filteredReadRequestsCount.increment();
    }
    region.addReadRequestsCount(1);
    if (region.getMetrics() != null) {
      region.getMetrics().updateReadRequestCount();
    }
  }

  private boolean readFamily(HStore store, Scan scan, NavigableSet<byte[]> columns,
    List<Cell> results) throws IOException {
    byte[] family = store.getColumnFamilyDescriptor().getName();
    RowQuery query = query(store.getScanInfo(), scan, family, columns);
    List<RowSource> selected = new ArrayList<>(4);
    List<FileRowSource> files = new ArrayList<>(4);
    hold(store, scan, query, selected, files);
    selectFiles(files, selected);
    if (columns != null && !columns.isEmpty() && selected.size() > 1) {
      selected.sort(NEWEST_FIRST);
    }
    int before = results.size();
    RowReader reader =
      new RowReader(scan.getStartRow(), family, query, store.getComparator(), selected);
    reader.read(results);
    if (results.size() > before) {
      store.updateMetricsStore(reader.isOnlyFromMemory());
    }
    return reader.hasFound();
  }

  private static RowQuery query(ScanInfo info, Scan scan, byte[] family,
    NavigableSet<byte[]> columns) {
    TimeRange timeRange = scan.getColumnFamilyTimeRange().get(family);
    long now = EnvironmentEdgeManager.currentTime();
    return new RowQuery(columns, timeRange == null ? scan.getTimeRange() : timeRange,
      Math.min(scan.getMaxVersions(), info.getMaxVersions()),
      info.getKeepDeletedCells() != KeepDeletedCells.FALSE, now - info.getTtl(), now,
      info.getTableMaxRowSize());
  }

  /** Retains what the store consists of at one moment. */
  private void hold(HStore store, Scan scan, RowQuery query, List<RowSource> segments,
    List<FileRowSource> files) throws IOException {
    byte[] row = scan.getStartRow();
    boolean latest = scan.getTimeRange().getMax() == HConstants.LATEST_TIMESTAMP;
    store.storeEngine.readLock();
    try {
      holdSegments((AbstractMemStore) store.memstore, row, query, segments);
      sources.addAll(segments);
      for (HStoreFile file : store.storeEngine.getStoreFileManager().getFilesForScan(row, true, row,
        true, latest)) {
        FileRowSource source =
          new FileRowSource(file, store.getComparator(), scan, query, readPoint, blockSizes);
        sources.add(source);
        files.add(source);
      }
    } finally {
      store.storeEngine.readUnlock();
    }
  }

  private void holdSegments(AbstractMemStore memstore, byte[] row, RowQuery query,
    List<RowSource> segments) throws IOException {
    for (int attempt = 1;; attempt++) {
      try {
        for (Segment segment : memstore.getSegments()) {
          if (segment.shouldSeek(query.timeRange(), query.oldestUnexpired())) {
            segments.add(new SegmentRowSource(row, segment, readPoint));
          }
        }
        return;
      } catch (IllegalReferenceCountException e) {
        // An in-memory compaction has closed a segment after it was listed; the next list has what
        // replaces it.
        segments.forEach(RowSource::close);
        segments.clear();
        if (attempt == MAX_ATTEMPTS) {
          throw new IOException("Segments of a memstore are closed as fast as they are listed", e);
        }
        LockSupport.parkNanos(ATTEMPT_NANOS);
      }
    }
  }

  /** Adds those that may have the row. */
  private static void selectFiles(List<FileRowSource> files, List<RowSource> selected)
    throws IOException {
    for (FileRowSource file : files) {
      file.initReader();
    }
    if (files.size() > 1) {
      files.sort(OLDEST_FIRST);
    }
    for (int order = 0; order < files.size(); order++) {
      FileRowSource file = files.get(order);
      file.setOrder(order);
      if (file.mayHaveRow()) {
        selected.add(file);
      }
    }
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    try {
      closeFrom(0);
    } finally {
      region.scannerReadPoints.remove(this);
    }
  }

  /** Closes all sources from this one on, whatever one of them throws. */
  private void closeFrom(int index) {
    if (index < sources.size()) {
      try {
        sources.get(index).close();
      } finally {
        closeFrom(index + 1);
      }
    }
  }
}
