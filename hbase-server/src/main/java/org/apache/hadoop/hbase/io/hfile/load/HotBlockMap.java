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
package org.apache.hadoop.hbase.io.hfile.load;

import java.util.BitSet;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The hot data blocks of a file: one bit for so many bytes of the file, set if a hot block begins
 * there. Thread-safe once no block is added any more.
 */
@InterfaceAudience.Private
public final class HotBlockMap {
  /** Blocks are seldom smaller than the bytes of a bit. */
  public static final int MIN_SHIFT = 12;

  private final int shift;
  private final BitSet cells;

  /** @param shift a bit stands for 2<sup>shift</sup> bytes; 0 to 62 */
  public HotBlockMap(int shift) {
    this(shift, new BitSet());
  }

  private HotBlockMap(int shift, BitSet cells) {
    if (shift < 0 || shift >= Long.SIZE - 1) {
      throw new IllegalArgumentException("2^" + shift + " bytes for each bit");
    }
    this.shift = shift;
    this.cells = cells;
  }

  /** @param bytes what {@link #toBytes} returned */
  public static HotBlockMap of(int shift, byte[] bytes) {
    return new HotBlockMap(shift, BitSet.valueOf(bytes));
  }

  /** The block at an offset is hot. */
  public void add(long offset) {
    cells.set(Math.toIntExact(offset >>> shift));
  }

  /** Returns whether a block at an offset is hot, or one that begins close to it. */
  public boolean isHot(long offset) {
    long cell = offset >>> shift;
    return cell <= Integer.MAX_VALUE && cells.get((int) cell);
  }

  /** Returns the number of hot blocks; fewer if some begin close to each other. */
  public int count() {
    return cells.cardinality();
  }

  /** Returns the binary logarithm of the bytes that a bit stands for. */
  public int shift() {
    return shift;
  }

  /** Returns the bits; at most one byte for eight times 2<sup>shift</sup> bytes of the file. */
  public byte[] toBytes() {
    return cells.toByteArray();
  }
}
