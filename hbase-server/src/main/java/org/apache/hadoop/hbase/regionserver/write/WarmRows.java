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
package org.apache.hadoop.hbase.regionserver.write;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.LongSupplier;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The rows that were incremented within the last ten seconds, so that their next read probably
 * waits for no device. A table of fixed size, 256 kB: a row has one slot, and a newer row of the
 * same slot replaces it. Thread-safe.
 * <p>
 * Invariant: a row is warm only if a row with its tag, which is itself unless 32 bits of two hashes
 * are equal, was the last one of its slot and was touched less than ten seconds before; so a row is
 * cold too often at most, but for equal tags.
 */
@InterfaceAudience.Private
final class WarmRows {
  private static final int SLOT_BITS = 15;
  /** The unit of time, as a power of two in nanoseconds: about a millisecond. */
  private static final int UNIT_BITS = 20;
  private static final int WARM_UNITS = (int) (TimeUnit.SECONDS.toNanos(10) >> UNIT_BITS);
  /** 2<sup>64</sup> divided by the golden ratio: neighbors have slots far from each other. */
  private static final long SPREAD = 0x9E3779B97F4A7C15L;

  /** The tag of a row in the upper half, the time in the lower one. */
  private final AtomicLongArray slots = new AtomicLongArray(1 << SLOT_BITS);
  private final LongSupplier nanos;

  /** @param nanos the time, as of {@link System#nanoTime} */
  WarmRows(LongSupplier nanos) {
    this.nanos = nanos;
  }

  /**
   * Makes a row warm.
   * @param hash of the row and its region
   * @return whether it was warm before
   */
  boolean touch(int hash) {
    long spread = hash * SPREAD;
    int slot = (int) (spread >>> (Long.SIZE - SLOT_BITS));
    int tag = (int) spread;
    int now = (int) (nanos.getAsLong() >> UNIT_BITS);
    long touched = ((long) tag << Integer.SIZE) | Integer.toUnsignedLong(now);
    long before = slots.get(slot);
    if (before != touched) {
      slots.lazySet(slot, touched);
    }
    return (int) (before >>> Integer.SIZE) == tag && now - (int) before < WARM_UNITS;
  }
}
