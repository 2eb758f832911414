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
package org.apache.hadoop.hbase.io.hfile.segment.index;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongSupplier;
import org.apache.hadoop.hbase.unsafe.HBasePlatformDependent;
import org.apache.hadoop.hbase.util.DirectMemoryUtils;
import org.apache.yetus.audience.InterfaceAudience;

import org.apache.hbase.thirdparty.io.netty.util.internal.PlatformDependent;

/**
 * Pages of off-heap memory that are never used for anything else: a returned page is kept for the
 * next caller, and the memory is freed only when the pool becomes unreachable. A thread that reads
 * a page after it was returned therefore reads valid memory, though perhaps other content; this
 * allows {@link SegmentIndex} to be read without a lock. The memory counts as direct memory of the
 * process.
 * <p>
 * The pool grows in slabs of {@value #SLAB_PAGES} pages up to its budget. It allocates no slab that
 * would leave less than a reserve of the process's direct memory to others, and so never waits for
 * direct memory: a caller gets pages or a refusal at once. Thread-safe.
 */
@InterfaceAudience.Private
public final class PagePool {
  /** Size and alignment of a page, in bytes. */
  static final int PAGE_BYTES = 4096;
  private static final int SLAB_PAGES = 256;
  /** Direct memory of a slab in bytes: its pages, and one more for alignment. */
  public static final int SLAB_BYTES = (SLAB_PAGES + 1) * PAGE_BYTES;
  /**
   * Number of pages that {@link #takeToGrow} leaves when the pool cannot grow any more. A table
   * shrinks by way of a smaller copy, so without them a full pool would get nothing back from
   * emptied tables.
   */
  static final int SPARE_PAGES = 64;
  private static final long MIN_RESERVE_BYTES = 32 << 20;
  private static final int RESERVED_PART = 32;

  private final int maxSlabs;
  private final long reserve;
  private final LongSupplier directMemoryLeft;
  /** Keeps the slabs reachable. */
  private final List<ByteBuffer> slabs = new ArrayList<>();
  private long[] free = new long[SLAB_PAGES];
  private int freePages;

  /** Creates a pool without a budget or a reserve. */
  PagePool() {
    this(Integer.MAX_VALUE);
  }

  /**
   * Creates a pool of at most this many slabs of {@value #SLAB_PAGES} pages, for tests that run out
   * of memory.
   */
  public PagePool(int maxSlabs) {
    this((long) maxSlabs * SLAB_BYTES, 0, () -> Long.MAX_VALUE);
  }

  /**
   * @param maxBytes         the budget in bytes, of which the pool uses whole slabs
   * @param reserve          bytes of direct memory that the pool leaves to others
   * @param directMemoryLeft bytes of direct memory that the process may still allocate
   */
  PagePool(long maxBytes, long reserve, LongSupplier directMemoryLeft) {
    this.maxSlabs = (int) Math.min(Integer.MAX_VALUE, maxBytes / SLAB_BYTES);
    this.reserve = reserve;
    this.directMemoryLeft = directMemoryLeft;
  }

  /**
   * Creates a pool that leaves {@link #reserveBytes} to others.
   * @param maxBytes the budget in bytes, of which the pool uses whole slabs
   */
  public static PagePool withReserve(long maxBytes) {
    return new PagePool(maxBytes, reserveBytes(), PagePool::directMemoryLeft);
  }

  /**
   * Returns the direct memory that is left to others, in bytes: 32 MB, or a 32nd of the process's
   * limit if that is more. A component that cannot allocate fails a request, while an index that
   * does not grow only costs misses. 32 MB is what the other components allocate at once when load
   * rises: several chunks of 4 MB of Netty's arenas, and responses of 2 MB for some handlers. A
   * server with a larger limit has more handlers and connections.
   */
  public static long reserveBytes() {
    return reserveBytes(DirectMemoryUtils.getDirectMemorySize());
  }

  public static long reserveBytes(long limit) {
    return Math.max(MIN_RESERVE_BYTES, limit / RESERVED_PART);
  }

  static long directMemoryLeft() {
    return DirectMemoryUtils.getDirectMemorySize() - DirectMemoryUtils.getDirectMemoryUsage();
  }

  /** Returns the size in bytes of the whole slabs that hold at least this many bytes of pages. */
  static long bytesOfSlabsFor(long bytesInPages) {
    long slabBytes = (long) SLAB_PAGES * PAGE_BYTES;
    return (bytesInPages + slabBytes - 1) / slabBytes * SLAB_BYTES;
  }

  /**
   * Takes zeroed pages.
   * @return their addresses, or null if no memory is available
   */
  public synchronized long[] take(int pages) {
    return ensureFree(pages) ? poll(pages) : null;
  }

  /**
   * Takes zeroed pages as {@link #take} does, but leaves {@value #SPARE_PAGES} pages to tables that
   * shrink.
   */
  synchronized long[] takeToGrow(int pages) {
    return ensureFree(pages + SPARE_PAGES) ? poll(pages) : null;
  }

  private boolean ensureFree(int pages) {
    while (freePages < pages) {
      if (!addSlab()) {
        return false;
      }
    }
    return true;
  }

  private long[] poll(int pages) {
    long[] taken = new long[pages];
    freePages -= pages;
    System.arraycopy(free, freePages, taken, 0, pages);
    for (long page : taken) {
      HBasePlatformDependent.setMemory(page, PAGE_BYTES, (byte) 0);
    }
    return taken;
  }

  private boolean addSlab() {
    if (slabs.size() >= maxSlabs || directMemoryLeft.getAsLong() - SLAB_BYTES < reserve) {
      return false;
    }
    ByteBuffer slab;
    try {
      slab = ByteBuffer.allocateDirect(SLAB_BYTES);
    } catch (OutOfMemoryError e) {
      // Direct memory has its own limit; the heap need not be exhausted.
      return false;
    }
    slabs.add(slab);
    ensureSpaceFor(freePages + SLAB_PAGES);
    long address = PlatformDependent.directBufferAddress(slab) + PAGE_BYTES - 1 & -PAGE_BYTES;
    for (int i = SLAB_PAGES - 1; i >= 0; i--) {
      free[freePages++] = address + (long) i * PAGE_BYTES;
    }
    return true;
  }

  private void ensureSpaceFor(int pages) {
    if (free.length < pages) {
      free = Arrays.copyOf(free, Math.max(pages, free.length + (free.length >> 1)));
    }
  }

  /** Returns pages to the pool, which may hand them out again at once. */
  public synchronized void give(long[] pages) {
    ensureSpaceFor(freePages + pages.length);
    System.arraycopy(pages, 0, free, freePages, pages.length);
    freePages += pages.length;
  }

  /** Returns the memory of the pool in bytes, including that of unused pages. */
  synchronized long getBytes() {
    return (long) slabs.size() * SLAB_BYTES;
  }

  /** Returns the budget in bytes, the maximum of {@link #getBytes}. */
  long getMaxBytes() {
    return (long) maxSlabs * SLAB_BYTES;
  }
}
