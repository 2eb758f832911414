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
package org.apache.hadoop.hbase.io;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How often a {@link ByteBuffAllocator} had no buffer left for what it should have served, and how
 * much that has put on the heap. What is too small for the pool is no part of it. Says so in the
 * log, once a minute at most. Thread-safe; costs two additions for each allocation that it counts.
 */
@InterfaceAudience.Private
public final class HeapFallbackStats {
  private static final Logger LOG = LoggerFactory.getLogger(HeapFallbackStats.class);

  private static final long HINT_PERIOD_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final LongSupplier nanoTime;
  private final LongAdder count = new LongAdder();
  private final LongAdder bytes = new LongAdder();
  /** When the log may be told again; a difference of times, so that an overflow is of no matter. */
  private final AtomicLong nextHint;
  private volatile long countAtHint;
  private volatile long bytesAtHint;

  HeapFallbackStats() {
    this(System::nanoTime);
  }

  HeapFallbackStats(LongSupplier nanoTime) {
    this.nanoTime = nanoTime;
    this.nextHint = new AtomicLong(nanoTime.getAsLong());
  }

  /** Returns how many allocations found the pool empty, since the start. */
  public long getCount() {
    return count.sum();
  }

  /** Returns the bytes that these allocated on the heap, since the start. */
  public long getBytes() {
    return bytes.sum();
  }

  /**
   * Counts an allocation.
   * @param size        the bytes that come from the heap
   * @param bufferCount the buffers that the pool has at most
   * @return whether that was said in the log
   */
  boolean fellToHeap(int size, int bufferCount) {
    count.increment();
    bytes.add(size);
    long now = nanoTime.getAsLong();
    long hint = nextHint.get();
    if (now - hint < 0 || !nextHint.compareAndSet(hint, now + HINT_PERIOD_NANOS)) {
      return false;
    }
    long counted = count.sum();
    long summed = bytes.sum();
    LOG.warn(
      "All {} buffers of the pool are in use: {} allocations of {} bytes in all went to the heap"
        + " since this was said last. If that goes on, raise {}.",
      bufferCount, counted - countAtHint, summed - bytesAtHint,
      ByteBuffAllocator.MAX_BUFFER_COUNT_KEY);
    countAtHint = counted;
    bytesAtHint = summed;
    return true;
  }
}
