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
import java.util.Arrays;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The memory of a stripe. An entry's address, 4 bytes, is the number of its page and its offset
 * there in units of {@value #UNIT} bytes. Not thread-safe.
 */
@InterfaceAudience.Private
final class RowPages {

  /** Lengths and offsets of entries, and sizes of pages, are multiples of it, in bytes. */
  static final int UNIT = 8;
  /** No address is this one. */
  static final int NONE = 0;

  private static final int OFFSET_BITS = 17;
  private static final int OFFSETS = (1 << OFFSET_BITS) - 1;
  /** Largest size of a page, in bytes. */
  static final int MAX_PAGE = UNIT << OFFSET_BITS;
  /** The largest number of a page. With it, all addresses are above {@link #NONE}. */
  private static final int MAX_NUMBER = (1 << Integer.SIZE - 1 - OFFSET_BITS) - 1;

  /** The pages by number, from 1. */
  private ByteBuffer[] memory = new ByteBuffer[4];

  static int address(int page, int offset) {
    return page << OFFSET_BITS | offset / UNIT;
  }

  /** Returns the offset of an entry in {@link #memory(int)}. */
  static int offset(int address) {
    return (address & OFFSETS) * UNIT;
  }

  /** Returns the page of an entry. */
  ByteBuffer memory(int address) {
    return memory[address >>> OFFSET_BITS];
  }

  int getInt(int address, int field) {
    return memory(address).getInt(offset(address) + field);
  }

  void putInt(int address, int field, int value) {
    memory(address).putInt(offset(address) + field, value);
  }

  /**
   * Adds a page.
   * @param page all of a buffer, at most {@link #MAX_PAGE} bytes
   * @return null if there are too many
   */
  RowPage add(ByteBuffer page) {
    int number = 1;
    while (number < memory.length && memory[number] != null) {
      number++;
    }
    if (number > MAX_NUMBER) {
      return null;
    }
    if (number == memory.length) {
      memory = Arrays.copyOf(memory, 2 * number);
    }
    memory[number] = page;
    return new RowPage(page, number);
  }

  /** Adds a part of a buffer to a ring, as pages of equal size. */
  void addAll(ByteBuffer buffer, int from, int to, RowRing ring) {
    int count = Math.max(1, (to - from + MAX_PAGE - 1) / MAX_PAGE);
    int size = (to - from) / count & -UNIT;
    for (int i = 0; i < count; i++) {
      ByteBuffer page = buffer.duplicate();
      page.position(from + i * size).limit(from + (i + 1) * size);
      ring.add(add(page.slice()));
    }
  }

  /** Removes a page, to whose entries there are no links any more. */
  void remove(RowPage page) {
    memory[page.number()] = null;
  }
}
