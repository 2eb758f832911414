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
package org.apache.hadoop.hbase.regionserver.rowcache;

import java.nio.ByteBuffer;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * A part of a buffer that is filled as a ring: entries of different lengths, each contiguous, are
 * removed in the order in which they were added. Lengths and the limits of the ring are multiples
 * of {@value #UNIT}. Not thread-safe.
 */
@InterfaceAudience.Private
final class RowRing {

  static final int UNIT = 8;
  /** In place of the link of an entry that is no longer in the index. */
  static final int DEAD = -1;
  /** Offsets in an entry: the link first, then the length. */
  static final int NEXT = 0;
  static final int LENGTH = 4;

  private final ByteBuffer memory;
  private final int start;
  private final int end;
  private int head;
  private int tail;
  private int used;

  RowRing(ByteBuffer memory, int start, int end) {
    this.memory = memory;
    this.start = start;
    this.end = end;
    this.head = start;
    this.tail = start;
  }

  /** Bytes from the first to the last, fillers included. */
  int capacity() {
    return end - start;
  }

  void clear() {
    head = start;
    tail = start;
    used = 0;
  }

  /**
   * Returns the position for a new entry, whose length is written there.
   * @return -1 if entries have to be removed first
   */
  int add(int length) {
    boolean wrapped = used > 0 && head <= tail;
    if (!wrapped && length > end - head) {
      if (length > tail - start || used == 0) {
        return used == 0 ? addToEmpty(length) : -1;
      }
      fill();
    } else if (wrapped && length > tail - head) {
      return -1;
    }
    int position = head;
    memory.putInt(position + LENGTH, length);
    advance(length);
    return position;
  }

  private int addToEmpty(int length) {
    clear();
    if (length > end - start) {
      return -1;
    }
    memory.putInt(head + LENGTH, length);
    advance(length);
    return start;
  }

  /** Skips the rest before the end, which an entry does not fit into. */
  private void fill() {
    int rest = end - head;
    memory.putInt(head + NEXT, DEAD);
    memory.putInt(head + LENGTH, rest);
    advance(rest);
  }

  private void advance(int length) {
    used += length;
    head += length;
    if (head == end) {
      head = start;
    }
  }

  /** Returns the position of the oldest entry. There must be one. */
  int oldest() {
    return tail;
  }

  /** Removes the oldest entry. */
  void removeOldest() {
    int length = memory.getInt(tail + LENGTH);
    used -= length;
    tail += length;
    if (tail == end) {
      tail = start;
    }
  }
}
