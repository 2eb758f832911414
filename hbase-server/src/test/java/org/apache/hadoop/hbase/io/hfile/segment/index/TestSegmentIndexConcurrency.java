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
package org.apache.hadoop.hbase.io.hfile.segment.index;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.io.hfile.segment.device.Location;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * {@link SegmentIndex} by many threads. A location carries the number of its block and how often
 * that block was put, so that a reader knows a location that is another block's, that never was, or
 * that is older than one the block had before the reader asked; and blocks that are never removed
 * have to be found each time, wherever the writers move them. There is little room and few keys, so
 * that slots, buckets and pages change hands all the time.
 */
@Category({ IOTests.class, MediumTests.class })
public class TestSegmentIndexConcurrency {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestSegmentIndexConcurrency.class);

  private static final int WRITERS = 2;
  private static final int READERS = 2;
  private static final int OPERATIONS = Integer.getInteger("segment.index.operations", 1_000_000);
  private static final int SEQUENCES = Location.MAX_SEGMENTS;

  private final AtomicReference<Throwable> failure = new AtomicReference<>();

  private static long location(int block, int sequence) {
    return Location.of(sequence % SEQUENCES, block * Location.UNIT,
      (1 + block % 1000) * Location.UNIT, 0, block & 3);
  }

  /** Returns the sequence number in a location, after a look at the rest of it. */
  private static int sequenceOf(int block, long location) {
    assertTrue("block " + block + " is at " + location, Location.isPresent(location));
    assertEquals(block, Location.offset(location) / Location.UNIT);
    assertEquals(1 + block % 1000, Location.length(location) / Location.UNIT);
    assertEquals(block & 3, Location.category(location));
    return Location.segment(location);
  }

  private static int fileOf(int block) {
    return 1 + block % 7;
  }

  private static long offsetOf(int block) {
    return block * 1_000L;
  }

  private Thread start(List<Thread> threads, Runnable work) {
    Thread thread = new Thread(() -> {
      try {
        work.run();
      } catch (Throwable t) {
        failure.compareAndSet(null, t);
      }
    });
    thread.start();
    threads.add(thread);
    return thread;
  }

  private void join(List<Thread> threads) throws InterruptedException {
    for (Thread thread : threads) {
      thread.join();
    }
    if (failure.get() != null) {
      throw new AssertionError(failure.get());
    }
  }

  /**
   * Each writer has blocks of its own, of which every fourth stays for good; the others come and
   * go.
   * @param blocks how many blocks there are at most
   * @param swing  whether the number of blocks grows and shrinks, so that the table does
   */
  private void readersSeeMomentsOfTheTruth(SegmentIndex index, int blocks, boolean swing)
    throws Exception {
    // A state is even while the block is there, odd while it is not or while that changes.
    AtomicLongArray states = new AtomicLongArray(blocks);
    for (int block = 0; block < blocks; block++) {
      if (block % 4 == 0) {
        index.put(fileOf(block), offsetOf(block), location(block, 2));
        states.set(block, 2);
      } else {
        states.set(block, 1);
      }
    }
    List<Thread> writers = new ArrayList<>();
    for (int w = 0; w < WRITERS; w++) {
      int writer = w;
      start(writers, () -> write(index, states, blocks, writer, swing));
    }
    List<Thread> readers = new ArrayList<>();
    for (int r = 0; r < READERS; r++) {
      int seed = r;
      start(readers, () -> {
        Random random = new Random(seed);
        while (failure.get() == null && isAnyAlive(writers)) {
          for (int i = 0; i < 1000; i++) {
            readOne(index, states, random.nextInt(blocks));
          }
        }
      });
    }
    start(readers, () -> {
      while (failure.get() == null && isAnyAlive(writers)) {
        walk(index, blocks);
      }
    });
    join(writers);
    join(readers);
    int there = 0;
    for (int block = 0; block < blocks; block++) {
      readOne(index, states, block);
      there += (states.get(block) & 1) == 0 ? 1 : 0;
    }
    assertEquals(there, index.size());
  }

  private static boolean isAnyAlive(List<Thread> threads) {
    for (Thread thread : threads) {
      if (thread.isAlive()) {
        return true;
      }
    }
    return false;
  }

  private void write(SegmentIndex index, AtomicLongArray states, int blocks, int writer,
    boolean swing) {
    Random random = new Random(writer + 100);
    for (int i = 0; i < OPERATIONS && failure.get() == null; i++) {
      int block = random.nextInt(blocks / WRITERS) * WRITERS + writer;
      int file = fileOf(block);
      long offset = offsetOf(block);
      long state = states.get(block);
      boolean there = (state & 1) == 0;
      boolean comes = block % 4 == 0 || !swing || (i / 100_000 & 1) == 0
        ? random.nextInt(5) < 4
        : random.nextInt(5) < 1;
      if (comes && there) {
        long from = location(block, (int) state);
        long to = location(block, (int) state + 2);
        if ((state & 2) == 0) {
          assertTrue(index.replace(file, offset, from, to));
        } else {
          assertTrue(Location.isSame(from, index.put(file, offset, to)));
        }
        states.set(block, state + 2);
      } else if (comes) {
        long former = index.put(file, offset, location(block, (int) state + 1));
        if (former != Location.REFUSED) {
          assertEquals(Location.ABSENT, former);
          states.set(block, state + 1);
        }
      } else if (there && block % 4 != 0) {
        states.set(block, state + 1);
        long gone = index.remove(file, offset, location(block, (int) state));
        assertEquals((int) state, sequenceOf(block, gone));
      } else {
        index.touch(file, offset, location(block, (int) state));
      }
    }
  }

  private static void readOne(SegmentIndex index, AtomicLongArray states, int block) {
    long before = states.get(block);
    long location = index.get(fileOf(block), offsetOf(block));
    long after = states.get(block);
    if (location == Location.ABSENT) {
      assertTrue("block " + block + " was not found, though it was there all the time at "
        + before, (before & 1) != 0 || (after & 1) != 0 || before != after && block % 4 != 0);
    } else {
      long sequence = sequenceOf(block, location);
      // During a removal the state is one ahead of the block, during an insertion one behind.
      assertTrue("block " + block + " was at " + sequence + " of " + before + " to " + after,
        sequence >= before - 1 && sequence <= after + 2);
    }
  }

  private static void walk(SegmentIndex index, int blocks) {
    Set<Integer> seen = new HashSet<>();
    index.forEach((file, offset, location) -> {
      int block = (int) (offset / 1_000);
      assertEquals(fileOf(block), file);
      sequenceOf(block, location);
      assertTrue("visited twice", seen.add(block));
    });
    for (int block = 0; block < blocks; block += 4) {
      assertTrue("block " + block + " was not visited", seen.contains(block));
    }
  }

  /** Nearly all slots are taken and there are no more, so that many a new key has others move. */
  @Test
  public void testReadersSeeMomentsOfTheTruthInAFullTable() throws Exception {
    PagePool pool = new PagePool(1);
    SegmentIndex index = new SegmentIndex(1, pool);
    index.put(fileOf(0), offsetOf(0), location(0, 2));
    int pages = 0;
    while (pool.take(1) != null) {
      pages++;
    }
    assertEquals(255, pages);
    // 85 % of them are there at a time: 240 of 256 slots.
    readersSeeMomentsOfTheTruth(index, 282, false);
  }

  @Test
  public void testReadersSeeMomentsOfTheTruthWhileTheTableGrowsAndShrinks() throws Exception {
    readersSeeMomentsOfTheTruth(new SegmentIndex(1), 6_000, true);
  }

  @Test
  public void testEachOfManyWritersOfOneBlockReplacesWhatAnotherHasPut() throws Exception {
    SegmentIndex index = new SegmentIndex(1);
    int writers = 4;
    int puts = 100_000;
    index.put(1, 1, location(0, 0));
    AtomicLongArray replaced = new AtomicLongArray(writers * puts + 1);
    List<Thread> threads = new ArrayList<>();
    for (int w = 0; w < writers; w++) {
      int writer = w;
      start(threads, () -> {
        for (int i = 0; i < puts; i++) {
          int sequence = 1 + writer * puts + i;
          if ((i & 1) == 0) {
            replaced.incrementAndGet(sequenceOf(0, index.put(1, 1, location(0, sequence))));
          } else {
            long there;
            do {
              there = index.get(1, 1);
            } while (!index.replace(1, 1, there, location(0, sequence)));
            replaced.incrementAndGet(sequenceOf(0, there));
          }
        }
      });
    }
    join(threads);
    int last = sequenceOf(0, index.get(1, 1));
    for (int sequence = 0; sequence < replaced.length(); sequence++) {
      assertEquals("put " + sequence, sequence == last ? 0 : 1, replaced.get(sequence));
    }
  }

  @Test
  public void testTheFirstOfManyWhoPutIfAbsentIsTheOneWhoDid() throws Exception {
    SegmentIndex index = new SegmentIndex(1);
    int blocks = 50_000;
    int writers = 3;
    AtomicLongArray winners = new AtomicLongArray(blocks);
    List<Thread> threads = new ArrayList<>();
    for (int w = 0; w < writers; w++) {
      int writer = w;
      start(threads, () -> {
        for (int block = 0; block < blocks; block++) {
          long former = index.putIfAbsent(1, offsetOf(block), location(block, 1 + writer));
          if (former == Location.ABSENT) {
            assertTrue(winners.compareAndSet(block, 0, 1 + writer));
          } else {
            assertTrue(sequenceOf(block, former) != 1 + writer);
          }
        }
      });
    }
    join(threads);
    for (int block = 0; block < blocks; block++) {
      assertEquals(winners.get(block), sequenceOf(block, index.get(1, offsetOf(block))));
    }
    assertEquals(blocks, index.size());
  }
}
