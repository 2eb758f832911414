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

import io.opentelemetry.api.trace.Span;
import java.io.IOException;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.SortedSet;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.io.TimeRange;
import org.apache.hadoop.hbase.io.hfile.HFileScanner;
import org.apache.hadoop.hbase.regionserver.ReadPointCalculationLock.LockType;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The members of {@link HRegion}, {@link HStore} and their parts that are package-private and that
 * the package {@code regionserver.read} uses. Each method is one of them, and has no logic. The
 * package {@code regionserver.write} has {@code GroupBatchOperation} and {@code RegionLocks}, which
 * name nested classes that are package-private.
 */
@InterfaceAudience.Private
public final class RegionAccess {

  private RegionAccess() {
  }

  public static ReentrantReadWriteLock lock(HRegion region) {
    return region.lock;
  }

  public static boolean isReadsEnabled(HRegion region) {
    return region.writestate.readsEnabled;
  }

  public static void lockReadPoints(HRegion region) {
    region.smallestReadPointCalcLock.lock(LockType.RECORDING_LOCK);
  }

  public static boolean tryLockReadPoints(HRegion region) {
    return region.smallestReadPointCalcLock.tryLock();
  }

  public static void unlockReadPoints(HRegion region) {
    region.smallestReadPointCalcLock.unlock(LockType.RECORDING_LOCK);
  }

  public static Map<Object, Long> readPoints(HRegion region) {
    return region.scannerReadPoints;
  }

  public static void checkInterrupt(HRegion region) throws IOException {
    region.checkInterrupt();
  }

  public static void countFiltered(HRegion region) {
    region.filteredReadRequestsCount.increment();
  }

  public static Span createSpan(HRegion region, String name) {
    return region.createRegionSpan(name);
  }

  public static void prepareGet(HRegion region, Get get) throws IOException {
    region.prepareGet(get);
  }

  public static RegionScannerImpl getScanner(HRegion region, Scan scan, long nonceGroup, long nonce)
    throws IOException {
    return region.getScanner(scan, null, nonceGroup, nonce);
  }

  public static long blockBytes(RegionScannerImpl scanner) {
    return scanner.getContext().getBlockSizeProgress();
  }

  public static MemStore memStore(HStore store) {
    return store.memstore;
  }

  public static List<Segment> segments(AbstractMemStore memStore) throws IOException {
    return memStore.getSegments();
  }

  public static NavigableSet<Cell> cells(Segment segment) {
    return segment.getCellSet();
  }

  public static ReadWriteLock lock(StoreEngine<?, ?, ?, ?> engine) {
    return engine.getLock();
  }

  public static long maxRowSize(ScanInfo info) {
    return info.getTableMaxRowSize();
  }

  public static void countRead(HStore store, boolean onlyFromMemory) {
    store.updateMetricsStore(onlyFromMemory);
  }

  public static Comparator<HStoreFile> fileOrder() {
    return StoreFileComparators.SEQ_ID;
  }

  public static void retain(HStoreFile file) {
    file.increaseRefCount();
  }

  public static void release(HStoreFile file) {
    file.decreaseRefCount();
  }

  public static boolean passesTimeRange(StoreFileReader reader, TimeRange range, long oldest) {
    return reader.passesTimerangeFilter(range, oldest);
  }

  public static boolean passesBloomFilter(StoreFileReader reader, Scan scan,
    SortedSet<byte[]> columns) {
    return reader.passesBloomFilter(scan, columns);
  }

  public static boolean passesRowBloomFilter(StoreFileReader reader, byte[] row) {
    return reader.passesGeneralRowBloomFilter(row, 0, row.length);
  }

  public static boolean keepsSequenceIds(StoreFileReader reader) {
    return reader.isSkipResetSeqId();
  }

  public static boolean reseek(HFileScanner scanner, Cell key) throws IOException {
    return StoreFileScanner.reseekAtOrAfter(scanner, key);
  }
}
