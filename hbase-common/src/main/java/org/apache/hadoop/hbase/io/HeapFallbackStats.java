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
 * Counts the allocations of a {@link ByteBuffAllocator} that used the heap because the pool was
 * empty, and their bytes. Allocations too small for the pool are not counted. Logs a hint at most
 * once a minute. Thread-safe; costs two additions for each counted allocation.
 */
@InterfaceAudience.Private
public final class HeapFallbackStats {
  private static final Logger LOG = LoggerFactory.getLogger(HeapFallbackStats.class);

  private static final long HINT_PERIOD_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final LongSupplier nanoTime;
  private final LongAdder count = new LongAdder();
  private final LongAdder bytes = new LongAdder();
  /** Time of the next hint; compared by difference, so that an overflow is harmless. */
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

  /** Returns the number of allocations that found the pool empty since the start. */
  public long getCount() {
    return count.sum();
  }

  /** Returns the bytes that these allocated on the heap since the start. */
  public long getBytes() {
    return bytes.sum();
  }

  /**
   * Counts an allocation.
   * @param size        the bytes allocated on the heap
   * @param bufferCount the maximum number of buffers of the pool
   * @return whether a hint was logged
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
      "All {} buffers of the pool are in use: {} allocations of {} bytes in total used the heap"
        + " since the last such message. If this persists, raise {}.",
      bufferCount, counted - countAtHint, summed - bytesAtHint,
      ByteBuffAllocator.MAX_BUFFER_COUNT_KEY);
    countAtHint = counted;
    bytesAtHint = summed;
    return true;
  }
}
