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

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.KeyValueUtil;
import org.apache.hadoop.hbase.SizeCachedKeyValue;
import org.apache.hadoop.hbase.SizeCachedNoTagsKeyValue;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.io.hfile.composite.FrequencySketch;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Cells that gets have returned, off the heap, for all regions of a process. A row enters when it
 * is read for the second time of late. An entry is the result of one way to read a row, by whole
 * families or by columns; gets that read it otherwise have entries of their own.
 * <p>
 * Cells are returned in an array of the caller's own. Their sequence ids are 0, as those of old
 * cells in files. Thread-safe.
 */
@InterfaceAudience.Private
public final class RowCache {
  private static final int MAX_STRIPE = 128 << 20;
  private static final int MIN_STRIPE = 1 << 20;
  private static final int STRIPES = 64;
  /** Rows are about this large, for the size of the sketch. */
  private static final int EXPECTED_ROW = 1024;

  /** The cells of a row on the way to or from the cache. */
  private static final class Scratch {
    private final RowKey key = new RowKey();
    private byte[] cells = new byte[1024];

    byte[] cells(int length) {
      if (cells.length < length) {
        cells = new byte[Math.max(2 * cells.length, length)];
      }
      return cells;
    }
  }

  private final ThreadLocal<Scratch> scratches = ThreadLocal.withInitial(Scratch::new);
  private final Map<Integer, CachedRegion> regions = new ConcurrentHashMap<>();
  private final AtomicInteger numbers = new AtomicInteger();
  private final RowStripe[] stripes;
  private final FrequencySketch sketch;
  private final RowCacheMetrics metrics;
  private final int maxRow;

  /**
   * @param bytes  memory off the heap, 1 or more; more than 16 MB are rounded down to a multiple of
   *               the number of stripes
   * @param maxRow largest size of a row's cells that is cached, in bytes
   * @throws OutOfMemoryError if the process has not so much memory
   */
  public RowCache(long bytes, int maxRow) {
    int count = 1;
    while (bytes / count > MAX_STRIPE || count < STRIPES && bytes / count / 2 >= MIN_STRIPE) {
      count *= 2;
    }
    // Memory is allocated first, as this fails if the process has not so much off the heap.
    ByteBuffer[] memory = new ByteBuffer[count];
    for (int i = 0; i < count; i++) {
      memory[i] = ByteBuffer.allocateDirect((int) (bytes / count) & -RowRing.UNIT);
    }
    this.maxRow = maxRow;
    this.metrics = new RowCacheMetrics(bytes);
    this.sketch = new FrequencySketch(Math.max(1, bytes / EXPECTED_ROW));
    this.stripes = new RowStripe[count];
    int maxEntry = RowStripe.HEADER + RowKey.MAX_LENGTH + maxRow + RowRing.UNIT;
    for (int i = 0; i < count; i++) {
      stripes[i] = new RowStripe(memory[i], maxEntry, sketch, regions::get, metrics);
    }
  }

  public RowCacheMetrics metrics() {
    return metrics;
  }

  /**
   * Returns a region that has just been opened. To be closed with {@link #close}.
   * @param base no write to it from now on has a number below that
   */
  public CachedRegion open(long base) {
    CachedRegion region = new CachedRegion(numbers.incrementAndGet(), base);
    regions.put(region.number(), region);
    return region;
  }

  /** Forgets a region. Its rows are not found again, and are the next to be evicted. */
  public void close(CachedRegion region) {
    regions.remove(region.number());
  }

  private RowStripe stripe(RowKey key) {
    return stripes[stripe(key.hash(), stripes.length)];
  }

  /** Selects a stripe by the upper bits of the hash; its index uses the lower ones. */
  static int stripe(int hash, int stripes) {
    return (int) ((hash & 0xFFFF_FFFFL) * stripes >>> Integer.SIZE);
  }

  /**
   * Adds the cells that a get would return, if they are cached and current.
   * @param nowMs the time, for cells that expire
   * @param waits whether to wait for another thread that looks up or inserts a row
   * @return false if they are not
   */
  public boolean get(CachedRegion region, Get get, long nowMs, boolean waits,
    List<Cell> results) {
    RowKey key = scratches.get().key;
    if (!key.set(get, region.number())) {
      return false;
    }
    byte[] cells = stripe(key).get(key, region, nowMs, waits);
    if (cells == null) {
      return false;
    }
    sketch.increment(FrequencySketch.hash(key.hash()));
    read(cells, results);
    return true;
  }

  /** Counts a lookup, which the caller is to do once for each get. */
  public void countLookup(boolean hit) {
    metrics.countLookup(hit);
  }

  /**
   * Caches the cells that a get has returned, unless they were not read before, are too large, or a
   * write may have changed them since.
   * @param readPoint at which they were read
   * @param lastWrite the number of the region's last write that has begun
   * @param sinceMs   the time before which they are not valid: cells may be left out by then that a
   *                  clock which is set back has not yet expired; 0 if there are none
   * @param expiresMs the time at which the first of them expires, {@link Long#MAX_VALUE} if none
   *                  does
   * @param waits     whether to wait for another thread that looks up or inserts a row
   */
  public void put(CachedRegion region, Get get, long readPoint, LongSupplier lastWrite,
    long sinceMs, long expiresMs, long nowMs, boolean waits, List<Cell> results) {
    Scratch scratch = scratches.get();
    RowKey key = scratch.key;
    if (!key.set(get, region.number())) {
      return;
    }
    if (sketch.increment(FrequencySketch.hash(key.hash())) < 2) {
      return;
    }
    int expiry = RowStripe.expiry(expiresMs);
    int length = size(results);
    if (length > maxRow || expiry != 0 && RowStripe.expiryMs(expiry) <= nowMs) {
      return;
    }
    if (region.versions().register(key.rowHash(), lastWrite) > readPoint) {
      return;
    }
    byte[] cells = scratch.cells(length);
    write(results, cells);
    if (
      stripe(key).put(key, region, readPoint, RowStripe.since(sinceMs), expiry, cells, length,
        waits)
    ) {
      metrics.countInserted();
      if (waits) {
        region.growVersions();
      }
    }
  }

  private static int size(List<Cell> cells) {
    int size = Integer.BYTES;
    for (int i = 0; i < cells.size(); i++) {
      size += Integer.BYTES + length(cells.get(i));
    }
    return size;
  }

  /** Returns the size of a cell as {@link KeyValueUtil} writes cells of any kind, in bytes. */
  private static int length(Cell cell) {
    return KeyValueUtil.length(cell.getRowLength(), cell.getFamilyLength(),
      cell.getQualifierLength(), cell.getValueLength(), cell.getTagsLength(), true);
  }

  private static void write(List<Cell> cells, byte[] to) {
    int at = Bytes.putInt(to, 0, cells.size());
    for (int i = 0; i < cells.size(); i++) {
      Cell cell = cells.get(i);
      at = Bytes.putInt(to, at, length(cell));
      at = KeyValueUtil.appendToByteArray(cell, to, at, true);
    }
  }

  private static void read(byte[] cells, List<Cell> results) {
    int count = Bytes.toInt(cells, 0);
    int at = Integer.BYTES;
    for (int i = 0; i < count; i++) {
      int length = Bytes.toInt(cells, at);
      at += Integer.BYTES;
      int keyLength = Bytes.toInt(cells, at);
      int valueLength = Bytes.toInt(cells, at + Integer.BYTES);
      boolean tags = length > KeyValue.KEYVALUE_INFRASTRUCTURE_SIZE + keyLength + valueLength;
      results.add(tags
        ? new SizeCachedKeyValue(cells, at, length, 0, keyLength)
        : new SizeCachedNoTagsKeyValue(cells, at, length, 0, keyLength));
      at += length;
    }
  }

  /** Removes all rows. */
  public void clear() {
    for (RowStripe stripe : stripes) {
      stripe.clear();
    }
  }

  RowStripe[] stripes() {
    return stripes;
  }

  int rows() {
    int rows = 0;
    for (RowStripe stripe : stripes) {
      rows += stripe.rows();
    }
    return rows;
  }
}
