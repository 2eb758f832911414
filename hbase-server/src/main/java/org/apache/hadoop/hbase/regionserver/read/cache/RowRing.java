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
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Entries of any length in a ring, which is a part of a stripe's memory, first in, first out. An
 * entry's address is its offset in the memory. Entries are contiguous: what is left before the end
 * of the ring, if the next entry does not fit there, is filled with a dead entry. Not thread-safe.
 */
@InterfaceAudience.Private
final class RowRing {

  /** Lengths and offsets of entries, and sizes of rings, are multiples of it, in bytes. */
  static final int UNIT = 8;
  /** No address is this one. */
  static final int NONE = 0;
  /** Replaces the link of an entry that is no longer in the index. */
  static final int DEAD = -1;
  /** Offsets in an entry: the link first, then the length. */
  static final int NEXT = 0;
  static final int LENGTH = 4;

  private final ByteBuffer memory;
  private final int from;
  private final int to;
  /** Where the next entry is written: behind the newest. */
  private int head;
  /** Where the oldest entry is. */
  private int tail;
  private int used;

  /** @param from where the ring begins in the memory, above {@link #NONE} */
  RowRing(ByteBuffer memory, int from, int to) {
    this.memory = memory;
    this.from = from;
    this.to = to;
    clear();
  }

  /** Returns the bytes of the ring. */
  int size() {
    return to - from;
  }

  /** Removes all entries. */
  void clear() {
    head = from;
    tail = from;
    used = 0;
  }

  /**
   * Returns the address of a new entry, whose length is written there.
   * @return {@link #NONE} if entries have to be removed first
   */
  int add(int length) {
    if (used == 0) {
      clear();
    }
    boolean wrapped = used > 0 && head <= tail;
    if (length > (wrapped ? tail : to) - head) {
      if (wrapped || length > tail - from) {
        return NONE;
      }
      int rest = to - head;
      if (rest > 0) {
        memory.putInt(head + NEXT, DEAD);
        memory.putInt(head + LENGTH, rest);
        used += rest;
      }
      head = from;
    }
    int entry = head;
    memory.putInt(entry + LENGTH, length);
    head += length;
    used += length;
    return entry;
  }

  /** Returns the address of the oldest entry. There must be one. */
  int oldest() {
    return tail;
  }

  /** Removes the oldest entry. */
  void removeOldest() {
    int length = memory.getInt(tail + LENGTH);
    used -= length;
    tail += length;
    if (tail == to && used > 0) {
      tail = from;
    }
  }
}
