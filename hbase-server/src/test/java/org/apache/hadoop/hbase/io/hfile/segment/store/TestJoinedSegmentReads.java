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
package org.apache.hadoop.hbase.io.hfile.segment.store;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertTrue;
import static org.junit.Assert.fail;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.segment.device.Location;
import org.apache.hadoop.hbase.io.hfile.segment.device.Superblock;
import org.apache.hadoop.hbase.io.hfile.segment.index.CachedFile;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * Blocks that lie one behind the other in a segment are read at once. Each stands for itself: what
 * is wrong with one costs that one and those behind it, which are read by themselves then.
 */
@Category({ IOTests.class, SmallTests.class })
public class TestJoinedSegmentReads {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestJoinedSegmentReads.class);

  private static final int THREADS = 4;
  private static final int READS_OF_A_THREAD = 1500;

  private StoredBlocksFixture blocks;
  private final List<Long> offsets = new ArrayList<>();
  private long end;

  @Before
  public void setUp() throws IOException {
    blocks = new StoredBlocksFixture(new SimulatedDevices()).start();
    insertSegments(3);
  }

  @After
  public void tearDown() {
    blocks.close();
    assertEquals("Buffers that were not given back", blocks.allocator.getUsedBufferCount(),
      blocks.allocator.getFreeBufferCount());
  }

  /** Inserts blocks as they follow each other in a file. */
  private void insertSegments(int more) {
    long goal = blocks.store.metrics().segmentsWritten.sum() + more;
    while (blocks.store.metrics().segmentsWritten.sum() < goal) {
      blocks.insert("f", end);
      offsets.add(end);
      end += sizeOnDisk(end);
      CachedBlockFixture.await(() -> blocks.store.pending() == 0);
    }
    blocks.awaitQuiet();
  }

  private static int sizeOnDisk(long offset) {
    HFileBlock block = StoredBlocksFixture.block("f", offset);
    try {
      return block.getOnDiskSizeWithHeader();
    } finally {
      block.release();
    }
  }

  private long location(int number) {
    return blocks.directory.get("f", offsets.get(number));
  }

  /** Reads a block with its neighbours, and holds each against what was inserted. */
  private List<Long> read(int number) {
    CachedFile file = blocks.files.acquire("f");
    Map<Long, Cacheable> others = new TreeMap<>();
    try {
      long first = offsets.get(number);
      Cacheable block = blocks.store.readWithNext(file, first, location(number),
        blocks.allocator, new SegmentReader.Neighbours() {
          @Override
          public long locate(long offset) {
            return blocks.directory.get("f", offset);
          }

          @Override
          public void accept(long offset, long location, Cacheable other) {
            assertNull(others.put(offset, other));
          }
        });
      if (block == null) {
        assertEquals(0, others.size());
        return null;
      }
      others.put(first, block);
      others.forEach((offset, read) -> assertArrayEquals("at " + offset,
        CachedBlockFixture.content(StoredBlocksFixture.block("f", offset)),
        CachedBlockFixture.content(read)));
      return new ArrayList<>(others.keySet());
    } finally {
      others.values().forEach(Cacheable::release);
      file.release();
    }
  }

  /** Returns what is to be read with the first ones: as long as it is one piece of a segment. */
  private List<Long> joined(int number) {
    int length = Location.length(location(number));
    List<Long> joined = new ArrayList<>();
    int at = Location.offset(location(number));
    for (int i = number; i < offsets.size(); i++) {
      long location = location(i);
      if (
        !Location.isPresent(location)
          || Location.segment(location) != Location.segment(location(number))
          || Location.offset(location) != at
          || at + Location.length(location)
              > Location.offset(location(number)) + SegmentReader.MAX_JOINED_BLOCKS * length
      ) {
        break;
      }
      at += Location.length(location);
      joined.add(offsets.get(i));
    }
    return joined;
  }

  /** Returns a block with a neighbour, both on the device. */
  private int oneWithNeighbours() {
    int number = 0;
    while (joined(number).size() < 3) {
      number++;
    }
    return number;
  }

  private int positionOnDevice(int number) {
    return (int) Superblock.positionOf(Location.segment(location(number)),
      blocks.store.segmentSize()) + Location.offset(location(number));
  }

  @Test
  public void testBlocksInAPieceOfASegmentComeInOneRead() {
    int neighbours = 0;
    for (int i = 0; i < offsets.size() - 1; i++) {
      int before = blocks.medium().reads();
      long fromMemory = blocks.store.metrics().memoryReads.sum();
      List<Long> read = read(i);
      if (blocks.store.metrics().memoryReads.sum() == fromMemory) {
        assertEquals(joined(i), read);
        assertEquals(1, blocks.medium().reads() - before);
        neighbours += read.size() - 1;
      } else {
        assertEquals("alone", 1, read.size());
      }
    }
    assertTrue(neighbours + " neighbours", neighbours > offsets.size() / 2);
    assertEquals(neighbours, blocks.store.metrics().joinedReads.sum());
  }

  @Test
  public void testNeighbourThatIsNotKnownAnyMoreIsNotRead() {
    int number = oneWithNeighbours();
    blocks.directory.remove("f", offsets.get(number + 1));
    assertEquals(offsets.subList(number, number + 1), read(number));
  }

  @Test
  public void testFlippedBitCostsItsBlockOnly() {
    int number = oneWithNeighbours();
    blocks.medium().flipBit((positionOnDevice(number + 1) + 50L) * Byte.SIZE + 3);
    assertEquals(offsets.subList(number, number + 1), read(number));
    assertEquals("not looked for", 0, blocks.store.metrics().badEntries.sum());
    assertNull(read(number + 1));
    assertEquals(1, blocks.store.metrics().badEntries.sum());
    assertTrue("gone", !Location.isPresent(location(number + 1)));
    assertNotNull(read(number + 2));
    // The read returns the first block only, though the blocks after the gap are still there.
    assertEquals(offsets.subList(number, number + 1), read(number));
  }

  @Test
  public void testOverwrittenNeighbourIsAMissForItselfOnly() {
    int number = oneWithNeighbours();
    // Simulate a rewrite of the neighbour's part of the segment, with an entry of the same size.
    byte[] bytes = blocks.medium().bytes();
    int position = positionOnDevice(number + 1);
    System.arraycopy(bytes, positionOnDevice(number), bytes, position,
      Math.min(Location.length(location(number)), Location.length(location(number + 1))));
    assertEquals(offsets.subList(number, number + 1), read(number));
    assertNull(read(number + 1));
    assertNotNull(read(number + 2));
  }

  @Test
  public void testFailingReadIsAMissAndGivesAllBack() {
    int number = oneWithNeighbours();
    blocks.medium().failReads(true);
    assertNull(read(number));
    blocks.medium().failReads(false);
    // It is forgotten, and the one behind it is not.
    assertEquals(Location.ABSENT, location(number));
    assertEquals(joined(number + 1), read(number + 1));
  }

  /** Reads a block with neighbours of which <code>locate</code> or <code>accept</code> throws. */
  private void readWithFailingNeighbours(int number, boolean failsToLocate) {
    CachedFile file = blocks.files.acquire("f");
    RuntimeException failure = new IllegalStateException("on purpose");
    try {
      Cacheable block = blocks.store.readWithNext(file, offsets.get(number), location(number),
        blocks.allocator, new SegmentReader.Neighbours() {
          @Override
          public long locate(long offset) {
            if (failsToLocate) {
              throw failure;
            }
            return blocks.directory.get("f", offset);
          }

          @Override
          public void accept(long offset, long location, Cacheable other) {
            other.release();
            throw failure;
          }
        });
      block.release();
      fail("Nothing was thrown");
    } catch (IllegalStateException e) {
      assertSame(failure, e);
    } finally {
      file.release();
    }
  }

  /** {@link #tearDown} fails if a buffer is not released. */
  @Test
  public void testFailingNeighboursGiveTheBlockBack() {
    int number = oneWithNeighbours();
    readWithFailingNeighbours(number, true);
    readWithFailingNeighbours(number, false);
    assertEquals(joined(number), read(number));
  }

  @Test
  public void testReadsBesideInsertionsThatOverwriteSegments() throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(THREADS);
    try {
      int known = offsets.size();
      List<Future<Integer>> readers = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        readers.add(pool.submit(() -> {
          int read = 0;
          for (int k = 0; k < READS_OF_A_THREAD; k++) {
            int number = ThreadLocalRandom.current().nextInt(known);
            if (Location.isPresent(location(number))) {
              read += read(number) == null ? 0 : 1;
            }
          }
          return read;
        }));
      }
      List<Long> before = new ArrayList<>(offsets);
      for (int round = 0; round < 2 * StoredBlocksFixture.SEGMENTS; round++) {
        long goal = blocks.store.metrics().segmentsWritten.sum() + 1;
        while (blocks.store.metrics().segmentsWritten.sum() < goal) {
          blocks.insert("g", end);
          end += 10_000;
        }
      }
      for (Future<Integer> reader : readers) {
        assertTrue(reader.get() >= 0);
      }
      assertEquals(before, offsets);
      assertTrue(blocks.store.metrics().segmentsReclaimed.sum() > 0);
    } finally {
      pool.shutdownNow();
    }
  }
}
