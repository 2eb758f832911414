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
package org.apache.hadoop.hbase.ipc;

import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Arrays of bytes that are used again: of lengths that are powers of two, a few of each, and
 * together no longer than a bound. What is taken and never given back is the garbage collector's,
 * as if there were no pool.
 * <p>
 * Thread-safe, without a lock.
 */
@InterfaceAudience.Private
final class ByteArrayPool {
  /** The length of the shortest arrays that are kept; shorter ones are cheap. */
  static final int MIN_LENGTH = 1 << 10;

  /** The length of the longest arrays that are kept: the results of a scan are up to 2 MB. */
  static final int MAX_LENGTH = 1 << 22;

  /** Maximum number of arrays of one length that are kept. */
  private static final int MAX_COUNT = 64;

  /** Maximum bytes of arrays of one length that are kept, but for a few of the long ones. */
  private static final int MAX_BYTES_OF_A_LENGTH = 1 << 20;
  private static final int MIN_COUNT = 4;

  private final AtomicReferenceArray<byte[]>[] byLength;
  private final long maxBytes;
  private final AtomicLong bytes = new AtomicLong();

  /** Creates it empty; it keeps at most {@code maxBytes}. */
  @SuppressWarnings("unchecked")
  ByteArrayPool(long maxBytes) {
    this.maxBytes = maxBytes;
    this.byLength = new AtomicReferenceArray[index(MAX_LENGTH) + 1];
    for (int i = 0; i < byLength.length; i++) {
      int count = MAX_BYTES_OF_A_LENGTH / (MIN_LENGTH << i);
      byLength[i] = new AtomicReferenceArray<>(Math.max(MIN_COUNT, Math.min(MAX_COUNT, count)));
    }
  }

  /** Returns an array of at least {@code size} bytes, with anything in them. */
  byte[] take(int size) {
    if (size < MIN_LENGTH || size > MAX_LENGTH) {
      return new byte[size];
    }
    int index = index(size);
    AtomicReferenceArray<byte[]> kept = byLength[index];
    for (int i = 0; i < kept.length(); i++) {
      byte[] array = kept.get(i);
      if (array != null && kept.compareAndSet(i, array, null)) {
        bytes.addAndGet(-array.length);
        return array;
      }
    }
    return new byte[MIN_LENGTH << index];
  }

  /** Takes back an array of {@link #take} that is not used any more; only once. */
  void give(byte[] array) {
    int length = array.length;
    if (length < MIN_LENGTH || length > MAX_LENGTH || Integer.bitCount(length) != 1) {
      return;
    }
    if (bytes.addAndGet(length) <= maxBytes) {
      AtomicReferenceArray<byte[]> kept = byLength[index(length)];
      for (int i = 0; i < kept.length(); i++) {
        if (kept.get(i) == null && kept.compareAndSet(i, null, array)) {
          return;
        }
      }
    }
    bytes.addAndGet(-length);
  }

  /** The bytes of the arrays that are kept at present. */
  long bytes() {
    return bytes.get();
  }

  /** The index of the shortest kept length that is {@code size} or more. */
  private static int index(int size) {
    return Integer.SIZE - Integer.numberOfLeadingZeros((size - 1) / MIN_LENGTH);
  }
}
