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

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.IntConsumer;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Entries of any length in a ring of pages, first in, first out. Entries are contiguous: what is
 * left before the end of a page, if the next entry does not fit there, is filled with a dead entry.
 * Pages can be added and removed at any time. Not thread-safe.
 */
@InterfaceAudience.Private
final class RowRing {

  /** Replaces the link of an entry that is no longer in the index. */
  static final int DEAD = -1;
  /** Offsets in an entry: the link first, then the length. */
  static final int NEXT = 0;
  static final int LENGTH = 4;

  /** Pages to be put behind the one that is being filled, when it is full. */
  private final Deque<RowPage> added = new ArrayDeque<>();
  /** Where the next entry is written: behind the newest. */
  private RowPage head;
  private int headOffset;
  /** Where the oldest entry is. The pages from the one of the head to this one are free. */
  private RowPage tail;
  private int tailOffset;
  private long capacity;
  private long used;
  private int minPage = Integer.MAX_VALUE;

  /** Returns the bytes of all pages. */
  long capacity() {
    return capacity;
  }

  /** Returns the bytes of the smallest page. */
  int minPage() {
    return minPage;
  }

  /** Adds a page. All are to be as large as the largest entry at least. */
  void add(RowPage page) {
    page.setRing(this);
    capacity += page.size();
    minPage = Math.min(minPage, page.size());
    if (head == null) {
      head = page;
      tail = page;
    } else {
      added.add(page);
    }
  }

  /** Removes all entries. */
  void clear() {
    tail = head;
    tailOffset = 0;
    headOffset = 0;
    used = 0;
  }

  /**
   * Returns the address of a new entry, whose length is written there.
   * @return {@link RowPages#NONE} if entries have to be removed first
   */
  int add(int length) {
    if (used == 0) {
      clear();
    }
    int end = isWrapped() ? tailOffset : head.size();
    if (length > end - headOffset && !nextPage(length)) {
      return RowPages.NONE;
    }
    head.memory().putInt(headOffset + LENGTH, length);
    int entry = head.address(headOffset);
    headOffset += length;
    used += length;
    return entry;
  }

  /** Returns whether new entries are in front of the oldest of the same page. */
  private boolean isWrapped() {
    return used > 0 && head == tail && headOffset <= tailOffset;
  }

  private boolean nextPage(int length) {
    if (isWrapped() || added.isEmpty() && head.next() == tail && length > tailOffset) {
      return false;
    }
    int rest = head.size() - headOffset;
    if (rest > 0) {
      head.memory().putInt(headOffset + NEXT, DEAD);
      head.memory().putInt(headOffset + LENGTH, rest);
      used += rest;
    }
    if (!added.isEmpty()) {
      RowPage page = added.remove();
      page.setNext(head.next());
      head.setNext(page);
    }
    head = head.next();
    headOffset = 0;
    return true;
  }

  /** Returns the address of the oldest entry. There must be one. */
  int oldest() {
    return tail.address(tailOffset);
  }

  /** Removes the oldest entry. */
  void removeOldest() {
    int length = tail.memory().getInt(tailOffset + LENGTH);
    used -= length;
    tailOffset += length;
    if (tailOffset == tail.size() && used > 0) {
      tail = tail.next();
      tailOffset = 0;
    }
  }

  /**
   * Removes a page, which is not the first that was added.
   * @param removed gets the addresses of its entries, dead ones too
   */
  void remove(RowPage page, IntConsumer removed) {
    capacity -= page.size();
    if (added.remove(page)) {
      return;
    }
    while (used > 0 && tail == page) {
      removed.accept(oldest());
      removeOldest();
    }
    RowPage before = page;
    while (before.next() != page) {
      before = before.next();
    }
    if (used == 0) {
      head = page.next();
      clear();
    } else if (head == page) {
      removeEntries(page, headOffset, removed);
      head = before;
      headOffset = before.size();
    } else if (isFull(page)) {
      removeEntries(page, page.size(), removed);
    }
    before.setNext(page.next());
  }

  /** Returns whether a page other than those of head and tail has entries. */
  private boolean isFull(RowPage page) {
    if (head == tail) {
      return isWrapped();
    }
    RowPage full = tail.next();
    while (full != head && full != page) {
      full = full.next();
    }
    return full == page;
  }

  private void removeEntries(RowPage page, int end, IntConsumer removed) {
    int offset = 0;
    while (offset < end) {
      removed.accept(page.address(offset));
      offset += page.memory().getInt(offset + LENGTH);
    }
    used -= end;
  }
}
