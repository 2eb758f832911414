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
package org.apache.hadoop.hbase.io.util;

import java.util.Arrays;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * A thread-local array through which a block is read if its source does not accept its destination
 * directly: a stream that cannot fill a direct buffer, a decompressor, the pieces of a block that
 * spans several buffers.
 * <p>
 * Thread-safe, since each thread has its own. The caller owns the array until its thread calls
 * again, so it must not call code that uses the array as well.
 */
@InterfaceAudience.Private
public final class ThreadLocalScratch {
  /** Maximum size of a kept array, in bytes; longer arrays are garbage after use. */
  static final int MAX_KEPT = 256 << 10;

  /** Minimum size of a kept array, in bytes; headers, and the blocks of tests, are shorter. */
  static final int MIN_KEPT = 256;

  /**
   * Granularity of sizes: blocks differ slightly in length, and the array should be allocated once.
   */
  private static final int STEP = 4 << 10;

  private static final ThreadLocal<byte[]> SCRATCH = new ThreadLocal<>();

  private ThreadLocalScratch() {
  }

  /**
   * Returns an array of {@code length} bytes or more, with arbitrary content; of exactly that
   * length if it is less than 256.
   * @throws NegativeArraySizeException if {@code length} is negative
   */
  public static byte[] atLeast(int length) {
    if (length < MIN_KEPT || length > MAX_KEPT) {
      return new byte[length];
    }
    byte[] scratch = SCRATCH.get();
    if (scratch != null && scratch.length >= length) {
      return scratch;
    }
    scratch = new byte[(length + STEP - 1) / STEP * STEP];
    SCRATCH.set(scratch);
    return scratch;
  }

  /**
   * Returns an array as {@link #atLeast(int)}, in which {@code extra} bytes after the first
   * {@code necessary} ones are 0: they may be copied although nothing has been read into them.
   */
  static byte[] zeroed(int necessary, int extra) {
    byte[] scratch = atLeast(necessary + extra);
    Arrays.fill(scratch, necessary, necessary + extra, (byte) 0);
    return scratch;
  }
}
