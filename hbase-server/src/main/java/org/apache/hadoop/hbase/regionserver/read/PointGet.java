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

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.IntConsumer;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.KeepDeletedCells;
import org.apache.hadoop.hbase.PrivateCellUtil;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.io.TimeRange;
import org.apache.hadoop.hbase.io.hfile.MemoryReads;
import org.apache.hadoop.hbase.io.hfile.MemoryReads.WouldWaitException;
import org.apache.hadoop.hbase.ipc.CallerDisconnectedException;
import org.apache.hadoop.hbase.ipc.RpcCall;
import org.apache.hadoop.hbase.ipc.RpcServer;
import org.apache.hadoop.hbase.regionserver.AbstractMemStore;
import org.apache.hadoop.hbase.regionserver.CompactingMemStore;
import org.apache.hadoop.hbase.regionserver.DefaultMemStore;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HStore;
import org.apache.hadoop.hbase.regionserver.HStoreFile;
import org.apache.hadoop.hbase.regionserver.Region.Operation;
import org.apache.hadoop.hbase.regionserver.RegionAccess;
import org.apache.hadoop.hbase.regionserver.ScanInfo;
import org.apache.hadoop.hbase.regionserver.Segment;
import org.apache.hadoop.hbase.regionserver.StoreEngine;
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
public final class PointGet implements Closeable, IntConsumer {

  private static final Comparator<RowSource> NEWEST_FIRST =
    Comparator.comparingLong(RowSource::maxTimestamp).reversed();
  private static final Comparator<RowSource> OLDEST_FIRST = Comparator
    .comparing(source -> ((FileRowSource) source).file(), RegionAccess.fileOrder());
  /** Number of times to list the segments of a memstore that changes meanwhile. */
  private static final int MAX_ATTEMPTS = 50_000;
  /** Pause between two attempts: the thread that closes a segment updates the list after that. */
  private static final long ATTEMPT_NANOS = 50_000;
  private static final long CURRENT = -1;
  /** What holds the cells of a cached row, which are a copy. */
  static final Closeable NOTHING = () -> {
  };
  /** Number of cells of a source that are passed without waiting, some microseconds' worth. */
  private static final int MAX_TRIED_STEPS = 1000;

  private final HRegion region;
  private final Get get;
  private final List<RowSource> sources = new ArrayList<>(4);
  private final RpcCall call;
  /** Whether locks are tried and not waited for, and nothing but memory is read. */
  private final boolean tries;
  /** Bytes of the blocks that were read. */
  private long blockBytes;
  /** The stores that have a part of the row, and whether all of that is in their memstores. */
  private final List<HStore> found = new ArrayList<>(2);
  private final BitSet onlyFromMemory = new BitSet();
  private boolean filtered;
  /** Whether a cell was selected behind a newer version that is hidden. */
  private boolean behindHidden;
  /** The latest time by which a cell may have been skipped as expired; 0 if none may. */
  private long timed;
  private long readPoint;
  private boolean closed;

  private PointGet(HRegion region, Get get, RpcCall call, boolean tries) {
    this.region = region;
    this.get = get;
    this.call = call;
    this.tries = tries;
  }

  /**
   * Returns whether a store can be read so. The others, with mob files, minimum versions, the new
   * version behavior or classes that are not HBase's own, are read with scanners.
   */
  static boolean supports(HStore store) {
    ScanInfo info = store.getScanInfo();
    Class<?> memstore = RegionAccess.memStore(store).getClass();
    return store.getClass() == HStore.class
      && (memstore == DefaultMemStore.class || memstore == CompactingMemStore.class)
      && info.getMinVersions() == 0 && !info.isNewVersionBehavior();
  }

  /**
   * Adds the cells of a row to the results, and returns what holds them, to be closed.
   * @throws IOException if a file cannot be read, or the region or the call has ended; nothing is
   *                     held then
   */
  public static PointGet read(HRegion region, Get query, List<Cell> results) throws IOException {
    return read(region, query, CURRENT, results);
  }

  /**
   * Reads like {@link #read(HRegion, Get, List)}, or from rows that were read before, which get
   * what was read.
   */
  static Closeable read(HRegion region, Get query, RowLookup rows, List<Cell> results)
    throws IOException {
    RpcCall call = RpcServer.getCurrentCall().orElse(null);
    region.startRegionOperation(Operation.SCAN);
    try {
      boolean hit = rows.get(query, true, results);
      rows.countLookup(hit);
      if (hit) {
        checkCaller(region, call);
        countCached(region, call, results);
        return NOTHING;
      }
      PointGet get = readHere(region, query, CURRENT, call, results);
      boolean done = false;
      try {
        get.cache(rows, true, results);
        done = true;
        return get;
      } finally {
        if (!done) {
          get.close();
        }
      }
    } finally {
      region.closeRegionOperation(Operation.SCAN);
    }
  }

  /** Reads a row at an earlier read point of the region, for tests. */
  public static PointGet read(HRegion region, Get query, long requestedReadPoint,
    List<Cell> results) throws IOException {
    RpcCall call = RpcServer.getCurrentCall().orElse(null);
    region.startRegionOperation(Operation.SCAN);
    try {
      return readHere(region, query, requestedReadPoint, call, results);
    } finally {
      region.closeRegionOperation(Operation.SCAN);
    }
  }

  private static PointGet readHere(HRegion region, Get query, long requestedReadPoint, RpcCall call,
    List<Cell> results) throws IOException {
    PointGet get = new PointGet(region, query, call, false);
    boolean done = false;
    try {
      get.registerReadPoint(requestedReadPoint);
      checkCaller(region, call);
      get.readFamilies(results);
      get.count();
      done = true;
      return get;
    } finally {
      if (!done) {
        get.close();
      }
    }
  }

  /**
   * Reads like {@link #read}, but without waiting for a lock, or for a block within the caller's
   * {@link MemoryReads}. Counts nothing before {@link #count()}, and is not known to the region as
   * a holder of its lock, which a close of the region may interrupt.
   * @return null if the region does not serve reads now
   * @throws WouldWaitException if it would wait; nothing is held then
   */
  public static PointGet tryRead(HRegion region, Get query, RpcCall call, List<Cell> results)
    throws IOException {
    ReadWriteLock lock = RegionAccess.lock(region);
    if (region.isClosing() || !tryLock(lock)) {
      throw new WouldWaitException();
    }
    try {
      if (region.isClosed() || !RegionAccess.isReadsEnabled(region)) {
        return null;
      }
      PointGet get = new PointGet(region, query, call, true);
      boolean done = false;
      try {
        get.registerReadPoint(CURRENT);
        get.readFamilies(results);
        done = true;
        return get;
      } finally {
        if (!done) {
          get.close();
        }
      }
    } finally {
      lock.readLock().unlock();
    }
  }

  /**
   * Adds the cells of a row if they were read before, without waiting for a lock. Counts nothing
   * before {@link #countRead}.
   */
  public static boolean tryCached(HRegion region, Get query, RowLookup rows, List<Cell> results) {
    ReadWriteLock lock = RegionAccess.lock(region);
    if (region.isClosing() || !tryLock(lock)) {
      return false;
    }
    try {
      return !region.isClosed() && RegionAccess.isReadsEnabled(region)
        && rows.get(query, false, results);
    } finally {
      lock.readLock().unlock();
    }
  }

  /** Tries to get a read lock, and does not overtake those that wait for it. */
  private static boolean tryLock(ReadWriteLock lock) {
    return !((ReentrantReadWriteLock) lock).hasQueuedThreads() && lock.readLock().tryLock();
  }

  private void registerReadPoint(long requested) {
    if (!tries) {
      RegionAccess.lockReadPoints(region);
    } else if (!RegionAccess.tryLockReadPoints(region)) {
      throw new WouldWaitException();
    }
    try {
      readPoint =
        requested == CURRENT ? region.getReadPoint(get.getIsolationLevel()) : requested;
      RegionAccess.readPoints(region).put(this, readPoint);
    } finally {
      RegionAccess.unlockReadPoints(region);
    }
  }

  private static void checkCaller(HRegion region, RpcCall call) throws IOException {
    long disconnected = call == null ? -1 : call.disconnectSince();
    if (disconnected >= 0) {
      throw new CallerDisconnectedException(
        "Aborting a get on region " + region.getRegionInfo().getRegionNameAsString() + " after "
          + disconnected + " ms, since caller disconnected");
    }
  }

  private void readFamilies(List<Cell> results) throws IOException {
    boolean any = false;
    for (Map.Entry<byte[], NavigableSet<byte[]>> family : get.getFamilyMap().entrySet()) {
      RegionAccess.checkInterrupt(region);
      any |= readFamily(family.getKey(), family.getValue(), results);
    }
    filtered = any && results.isEmpty();
  }

  /**
   * Caches the row, unless a compaction may change it without a write.
   * @param waits whether to wait for another thread that looks up or inserts a row
   */
  void cache(RowLookup rows, boolean waits, List<Cell> results) {
    if (!behindHidden) {
      rows.put(get, readPoint, timed, waits, results);
    }
  }

  /** Counts the read in the metrics of the call, the region and its stores. To be called once. */
  void count() {
    if (call != null && blockBytes > 0) {
      call.incrementBlockBytesScanned(blockBytes);
    }
    for (int i = 0; i < found.size(); i++) {
      RegionAccess.countRead(found.get(i), onlyFromMemory.get(i));
    }
    if (filtered) {
      RegionAccess.countFiltered(region);
    }
    countRead(region);
  }

  /**
   * Counts the read of a cached row in the metrics of its region, and its size as that of blocks
   * that were read, which quotas of these bytes go by.
   */
  static void countCached(HRegion region, RpcCall call, List<Cell> results) {
    if (call != null) {
      call.incrementBlockBytesScanned(size(results));
    }
    countRead(region);
  }

  static long size(List<Cell> cells) {
    long size = 0;
    for (int i = 0; i < cells.size(); i++) {
      size += PrivateCellUtil.estimatedSerializedSizeOf(cells.get(i));
    }
    return size;
  }

  private static void countRead(HRegion region) {
    region.addReadRequestsCount(1);
    if (region.getMetrics() != null) {
      region.getMetrics().updateReadRequestCount();
    }
  }

  private boolean readFamily(byte[] family, NavigableSet<byte[]> columns, List<Cell> results)
    throws IOException {
    HStore store = region.getStore(family);
    RowQuery query = query(store.getScanInfo(), family, columns);
    int first = sources.size();
    int firstFile = hold(store, query);
    RowSource[] selected = new RowSource[sources.size() - first];
    int count = select(first, firstFile, selected);
    if (columns != null && !columns.isEmpty() && count > 1) {
      Arrays.sort(selected, 0, count, NEWEST_FIRST);
    }
    int before = results.size();
    RowReader reader =
      new RowReader(get.getRow(), family, query, store.getComparator(), selected, count);
    reader.read(results);
    behindHidden |= reader.isBehindHidden();
    if (reader.isTimed() || store.getScanInfo().getTtl() != Long.MAX_VALUE) {
      timed = Math.max(timed, query.now());
    }
    if (results.size() > before) {
      onlyFromMemory.set(found.size(), reader.isOnlyFromMemory());
      found.add(store);
    }
    return reader.hasFound();
  }

  private RowQuery query(ScanInfo info, byte[] family, NavigableSet<byte[]> columns) {
    TimeRange timeRange = get.getColumnFamilyTimeRange().get(family);
    long now = EnvironmentEdgeManager.currentTime();
    return new RowQuery(columns, timeRange == null ? get.getTimeRange() : timeRange,
      Math.min(get.getMaxVersions(), info.getMaxVersions()),
      info.getKeepDeletedCells() != KeepDeletedCells.FALSE, now - info.getTtl(), now,
      RegionAccess.maxRowSize(info));
  }

  /**
   * Retains what the store consists of at one moment: segments, then files. Returns the index of
   * the first file among the sources.
   */
  private int hold(HStore store, RowQuery query) throws IOException {
    byte[] row = get.getRow();
    boolean latest = get.getTimeRange().getMax() == HConstants.LATEST_TIMESTAMP;
    StoreEngine<?, ?, ?, ?> engine = store.getStoreEngine();
    lock(engine);
    try {
      holdSegments(store, query);
      int firstFile = sources.size();
      for (HStoreFile file : engine.getStoreFileManager().getFilesForScan(row, true, row, true,
        latest)) {
        add(new FileRowSource(file, store.getComparator(), get, query, readPoint, this));
      }
      return firstFile;
    } finally {
      engine.readUnlock();
    }
  }

  private void lock(StoreEngine<?, ?, ?, ?> engine) {
    if (!tries) {
      engine.readLock();
    } else if (!tryLock(RegionAccess.lock(engine))) {
      throw new WouldWaitException();
    }
  }

  private void add(RowSource source) {
    sources.add(source);
    if (tries) {
      source.limitSteps(MAX_TRIED_STEPS);
    }
  }

  /** Accepts the size of a block that was read, in bytes. */
  @Override
  public void accept(int blockSize) {
    blockBytes += blockSize;
  }

  /** Returns the bytes of the blocks that were read. */
  long blockBytes() {
    return blockBytes;
  }

  private void holdSegments(HStore store, RowQuery query) throws IOException {
    AbstractMemStore memstore = (AbstractMemStore) RegionAccess.memStore(store);
    int first = sources.size();
    for (int attempt = 1;; attempt++) {
      try {
        for (Segment segment : RegionAccess.segments(memstore)) {
          if (segment.shouldSeek(query.timeRange(), query.oldestUnexpired())) {
            add(new MemStoreRowSource(get.getRow(), segment, store.getComparator(), readPoint));
          }
        }
        return;
      } catch (IllegalReferenceCountException e) {
        // An in-memory compaction has closed a segment after it was listed; the next list has what
        // replaces it.
        closeFrom(first);
        sources.subList(first, sources.size()).clear();
        if (tries) {
          throw new WouldWaitException();
        }
        if (attempt == MAX_ATTEMPTS) {
          throw new IOException("Segments of a memstore are closed as fast as they are listed", e);
        }
        LockSupport.parkNanos(ATTEMPT_NANOS);
      }
    }
  }

  /** Selects the segments, and the files that may have the row. Returns how many they are. */
  private int select(int first, int firstFile, RowSource[] selected) throws IOException {
    int count = 0;
    while (first + count < firstFile) {
      selected[count] = sources.get(first + count);
      count++;
    }
    List<RowSource> files = sources.subList(firstFile, sources.size());
    for (RowSource file : files) {
      if (tries && !((FileRowSource) file).isOpen()) {
        throw new WouldWaitException();
      }
      ((FileRowSource) file).initReader();
    }
    if (files.size() > 1) {
      files.sort(OLDEST_FIRST);
    }
    for (int order = 0; order < files.size(); order++) {
      FileRowSource file = (FileRowSource) files.get(order);
      file.setOrder(order);
      if (file.mayHaveRow()) {
        selected[count++] = file;
      }
    }
    return count;
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
      RegionAccess.readPoints(region).remove(this);
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
