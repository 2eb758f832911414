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
import java.util.Deque;
import java.util.Random;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** Rings of entries, compared with a queue. */
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

  private final Deque<Entry> entries = new ArrayDeque<>();
  private ByteBuffer memory;
  private RowRing ring;
  private int from;
  private int to;
  private int ids;

  /** Opens a ring in a part of a memory, of which nothing else is to be changed. */
  private void open(int size) {
    from = RowRing.UNIT * 3;
    to = from + size;
    memory = ByteBuffer.allocate(to + RowRing.UNIT);
    for (int at = 0; at < memory.capacity(); at++) {
      memory.put(at, (byte) 0x55);
    }
    ring = new RowRing(memory, from, to);
    assertEquals(size, ring.size());
  }

  private boolean add(int length) {
    int address = ring.add(length);
    if (address == RowRing.NONE) {
      return false;
    }
    assertTrue(address >= from && address + length <= to);
    memory.putInt(address + RowRing.NEXT, RowRing.NONE);
    assertEquals(length, memory.getInt(address + RowRing.LENGTH));
    for (int at = ID; at < length; at += Integer.BYTES) {
      memory.putInt(address + at, ids);
    }
    entries.add(new Entry(address, length, ids++));
    return true;
  }

  private void removeOldest() {
    int oldest = ring.oldest();
    if (memory.getInt(oldest + RowRing.NEXT) != RowRing.DEAD) {
      Entry entry = entries.remove();
      assertEquals(entry.address, oldest);
      assertIsWhole(entry);
    }
    ring.removeOldest();
  }

  private void assertIsWhole(Entry entry) {
    for (int at = ID; at < entry.length; at += Integer.BYTES) {
      assertEquals(entry.id, memory.getInt(entry.address + at));
    }
  }

  private void run(Random random, int size, int maxLength) {
    int full = 0;
    open(size);
    for (int i = 0; i < 20_000; i++) {
      if (random.nextInt(100) < 5 && !entries.isEmpty()) {
        removeOldest();
      } else {
        int length = 16 + 8 * random.nextInt(maxLength / 8 - 1);
        while (!add(length)) {
          full++;
          removeOldest();
        }
      }
      // Each is also checked when it is removed.
      if (i % (100 + size / 100) == 0) {
        entries.forEach(this::assertIsWhole);
      }
      if (i % 7919 == 7918) {
        ring.clear();
        entries.clear();
      }
    }
    assertTrue(full > 0);
    for (int at = 0; at < from; at++) {
      assertEquals(0x55, memory.get(at));
      assertEquals(0x55, memory.get(to + at % RowRing.UNIT));
    }
  }

  private void runAll(int size, int maxLength) {
    for (int seed = 0; seed < 30; seed++) {
      new TestRowRing().run(new Random(seed), size, maxLength);
    }
  }

  @Test
  public void testFewEntries() {
    runAll(256, 256);
    runAll(264, 256);
    runAll(64, 64);
  }

  @Test
  public void testManyEntries() {
    runAll(1024, 64);
    runAll(4096, 128);
    runAll(100_000, 4096);
  }

  /** A ring that is full all the time is used but for what an entry does not fit into. */
  @Test
  public void testAllOfTheMemoryIsUsed() {
    open(1000);
    for (int i = 0; i < 1000; i++) {
      while (!add(48)) {
        removeOldest();
      }
      assertEquals(Math.min(20, i + 1), entries.size());
    }
  }

  @Test
  public void testAnEntryThatJustFits() {
    open(128);
    for (int i = 0; i < 100; i++) {
      if (!add(128)) {
        removeOldest();
        assertTrue(add(128));
      }
      assertEquals(1, entries.size());
    }
  }
}
