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

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** Rings whose pages are added and removed at any time, compared with a queue. */
@Category({ RegionServerTests.class, SmallTests.class })
public class TestRowRing {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestRowRing.class);

  private static final int ID = 8;

  /** An entry, with its number in its memory. */
  private static final class Entry {
    final int address;
    final int length;
    final int id;

    Entry(int address, int length, int id) {
      this.address = address;
      this.length = length;
      this.id = id;
    }
  }

  private final RowPages pages = new RowPages();
  private final RowRing ring = new RowRing();
  private final Deque<Entry> entries = new ArrayDeque<>();
  private final List<RowPage> added = new ArrayList<>();
  private int ids;

  private boolean add(int length) {
    int address = ring.add(length);
    if (address == RowPages.NONE) {
      return false;
    }
    pages.putInt(address, RowRing.NEXT, RowPages.NONE);
    assertEquals(length, pages.getInt(address, RowRing.LENGTH));
    for (int at = ID; at < length; at += Integer.BYTES) {
      pages.putInt(address, at, ids);
    }
    entries.add(new Entry(address, length, ids++));
    return true;
  }

  private void removeOldest() {
    int oldest = ring.oldest();
    if (pages.getInt(oldest, RowRing.NEXT) != RowRing.DEAD) {
      Entry entry = entries.remove();
      assertEquals(entry.address, oldest);
      assertIsWhole(entry);
    }
    ring.removeOldest();
  }

  private void assertIsWhole(Entry entry) {
    for (int at = ID; at < entry.length; at += Integer.BYTES) {
      assertEquals(entry.id, pages.getInt(entry.address, at));
    }
  }

  private void addPage(int size) {
    RowPage page = pages.add(ByteBuffer.allocate(size));
    ring.add(page);
    added.add(page);
  }

  private void removePage(int index) {
    RowPage page = added.remove(index);
    Set<Integer> removed = new HashSet<>();
    ring.remove(page, entry -> {
      if (pages.getInt(entry, RowRing.NEXT) != RowRing.DEAD) {
        assertTrue(removed.add(entry));
      }
    });
    Set<Integer> expected = new HashSet<>();
    entries.removeIf(entry -> {
      boolean there = pages.memory(entry.address) == page.memory();
      return there && expected.add(entry.address);
    });
    assertEquals(expected, removed);
    // Whoever gets it next writes to it.
    for (int at = 0; at < page.size(); at++) {
      page.memory().put(at, (byte) 0x55);
    }
    pages.remove(page);
  }

  private int run(Random random, int own, int most, int maxLength) {
    int full = 0;
    pages.addAll(ByteBuffer.allocate(own), 0, own, ring);
    for (int i = 0; i < 20_000; i++) {
      int action = random.nextInt(100);
      if (action == 0 && added.size() < most) {
        addPage(maxLength + 8 * random.nextInt(20));
      } else if (action == 1 && !added.isEmpty()) {
        removePage(random.nextInt(added.size()));
      } else if (action < 5 && !entries.isEmpty()) {
        removeOldest();
      } else {
        int length = 16 + 8 * random.nextInt(maxLength / 8 - 1);
        while (!add(length)) {
          full++;
          removeOldest();
        }
      }
      // Each is also checked when it is removed.
      if (i % (100 + own / 100) == 0) {
        entries.forEach(this::assertIsWhole);
      }
    }
    long held = entries.stream().mapToLong(entry -> entry.length).sum();
    assertTrue(held + " of " + ring.capacity(), held <= ring.capacity());
    while (!added.isEmpty()) {
      removePage(random.nextInt(added.size()));
    }
    assertEquals(own, ring.capacity());
    entries.forEach(this::assertIsWhole);
    return full;
  }

  private void runAll(int own, int most, int maxLength) {
    for (int seed = 0; seed < 30; seed++) {
      TestRowRing test = new TestRowRing();
      assertTrue(test.run(new Random(seed), own, most, maxLength) > 0);
    }
  }

  @Test
  public void testOnePageOfItsOwnAndOneAdded() {
    runAll(256, 1, 256);
    runAll(1024, 1, 64);
  }

  @Test
  public void testManyPages() {
    runAll(1024, 3, 256);
    runAll(4096, 17, 128);
  }

  @Test
  public void testEntriesThatJustFitAPage() {
    runAll(64, 5, 64);
    runAll(2 * RowPages.MAX_PAGE, 2, 4096);
    pages.addAll(ByteBuffer.allocate(128), 0, 128, ring);
    addPage(128);
    for (int i = 0; i < 100; i++) {
      if (!add(128)) {
        removeOldest();
        assertTrue(add(128));
      }
      assertEquals(Math.min(2, i + 1), entries.size());
    }
    removePage(0);
    assertEquals(1, entries.size());
  }

  /** A ring that is full all the time uses each page but for what an entry does not fit into. */
  @Test
  public void testAddedPagesAreFilled() {
    pages.addAll(ByteBuffer.allocate(1000), 0, 1000, ring);
    for (int i = 0; i < 9; i++) {
      addPage(1000);
      for (int j = 0; j < 1000; j++) {
        while (!add(40)) {
          removeOldest();
        }
      }
      assertEquals(25 * (i + 2), entries.size());
    }
  }
}
