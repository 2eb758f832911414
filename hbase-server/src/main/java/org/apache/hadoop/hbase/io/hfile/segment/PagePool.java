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
package org.apache.hadoop.hbase.io.hfile.segment;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.apache.hadoop.hbase.unsafe.HBasePlatformDependent;
import org.apache.hadoop.hbase.util.DirectMemoryUtils;
import org.apache.yetus.audience.InterfaceAudience;

import org.apache.hbase.thirdparty.io.netty.util.internal.PlatformDependent;

/**
 * Pages of memory outside the heap that are never anything else: a page that is given back is kept
 * for the next who takes one, and memory goes back to the system only when nobody refers to the
 * pool any more. So one who reads a page that was given back meanwhile reads something, if not what
 * he looked for; that is what lets {@link SegmentIndex} be read without a lock. The memory counts
 * as direct memory of the process. Thread-safe.
 */
@InterfaceAudience.Private
final class PagePool {
  /** Bytes of a page, and what its address is a multiple of. */
  static final int PAGE_BYTES = 4096;
  private static final int SLAB_PAGES = 256;
  /** Between two attempts to get memory that was not to be had. */
  private static final long PAUSE = TimeUnit.SECONDS.toNanos(10);
  private static final int SLAB_BYTES = (SLAB_PAGES + 1) * PAGE_BYTES;

  private final int maxSlabs;
  private final LongSupplier directMemoryLeft;
  /** Null if those who take pages may wait for memory. */
  private final Executor background;
  private boolean asked;
  private long nextQuestion = System.nanoTime();
  /** Keeps the memory. */
  private final List<ByteBuffer> slabs = new ArrayList<>();
  private long[] free = new long[SLAB_PAGES];
  private int freePages;

  PagePool() {
    this(Integer.MAX_VALUE);
  }

  /**
   * A pool for those who must not wait. When no direct memory is left, the next of it is to be had
   * by waiting for collections, half a second in all, of which something may come; then pages are
   * refused until that was done in the background.
   */
  PagePool(Executor background) {
    this(Integer.MAX_VALUE, background, PagePool::directMemoryLeft);
    ByteBuffer first = allocate();
    if (first != null) {
      add(first);
    }
  }

  /** For tests that run out of memory, with so many times {@value #SLAB_PAGES} pages. */
  PagePool(int maxSlabs) {
    this(maxSlabs, null, PagePool::directMemoryLeft);
  }

  /** @param directMemoryLeft bytes that the process may have outside the heap besides */
  PagePool(int maxSlabs, Executor background, LongSupplier directMemoryLeft) {
    this.maxSlabs = maxSlabs;
    this.background = background;
    this.directMemoryLeft = directMemoryLeft;
  }

  private static long directMemoryLeft() {
    return DirectMemoryUtils.getDirectMemorySize() - DirectMemoryUtils.getDirectMemoryUsage();
  }

  /**
   * Takes pages, all of whose bytes are 0.
   * @return their addresses, or null if there is no memory for them
   */
  synchronized long[] take(int pages) {
    while (freePages < pages) {
      if (!addSlab()) {
        return null;
      }
    }
    long[] taken = new long[pages];
    freePages -= pages;
    System.arraycopy(free, freePages, taken, 0, pages);
    for (long page : taken) {
      HBasePlatformDependent.setMemory(page, PAGE_BYTES, (byte) 0);
    }
    return taken;
  }

  private boolean addSlab() {
    if (slabs.size() >= maxSlabs) {
      return false;
    }
    if (background != null && directMemoryLeft.getAsLong() < SLAB_BYTES) {
      askForSlab();
      return false;
    }
    ByteBuffer slab = allocate();
    return slab != null && add(slab);
  }

  private static ByteBuffer allocate() {
    try {
      return ByteBuffer.allocateDirect(SLAB_BYTES);
    } catch (OutOfMemoryError e) {
      // Direct memory has a limit of its own; the heap need not be short.
      return null;
    }
  }

  private boolean add(ByteBuffer slab) {
    slabs.add(slab);
    reserve(freePages + SLAB_PAGES);
    long address = PlatformDependent.directBufferAddress(slab) + PAGE_BYTES - 1 & -PAGE_BYTES;
    for (int i = SLAB_PAGES - 1; i >= 0; i--) {
      free[freePages++] = address + (long) i * PAGE_BYTES;
    }
    return true;
  }

  private void askForSlab() {
    if (!asked && System.nanoTime() - nextQuestion >= 0) {
      asked = true;
      background.execute(() -> {
        // Without the lock, so that nobody waits for it.
        ByteBuffer slab = allocate();
        synchronized (this) {
          asked = false;
          if (slab == null) {
            nextQuestion = System.nanoTime() + PAUSE;
          } else if (slabs.size() < maxSlabs) {
            add(slab);
          }
        }
      });
    }
  }

  private void reserve(int pages) {
    if (free.length < pages) {
      free = Arrays.copyOf(free, Math.max(pages, free.length + (free.length >> 1)));
    }
  }

  /** Gives pages back, which others may get at once. */
  synchronized void give(long[] pages) {
    reserve(freePages + pages.length);
    System.arraycopy(pages, 0, free, freePages, pages.length);
    freePages += pages.length;
  }

  /** Returns all the memory of the pool, in bytes, that of pages which nobody has included. */
  synchronized long getBytes() {
    return (long) slabs.size() * SLAB_BYTES;
  }

  /** Returns what the pool itself takes of the heap, in bytes. */
  synchronized long getHeapBytes() {
    return (long) free.length * Long.BYTES + slabs.size() * 128L;
  }
}
