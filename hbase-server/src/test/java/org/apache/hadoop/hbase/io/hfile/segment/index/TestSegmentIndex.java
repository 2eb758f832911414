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
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.io.hfile.segment.device.Location;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** {@link SegmentIndex} by one thread: against a model, at its limits, and in what it takes. */
@Category({ IOTests.class, SmallTests.class })
public class TestSegmentIndex {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestSegmentIndex.class);

  /** How many blocks the index is filled with; 60 million are a tier of 2 TB. */
  private static final int BLOCKS = Integer.getInteger("segment.index.blocks", 2_000_000);
  private static final int BLOCK_BYTES = 33_024;

  private static long location(Random random) {
    return Location.of(random.nextInt(Location.MAX_SEGMENTS),
      random.nextInt(Location.MAX_SEGMENT_BYTES / Location.UNIT) * Location.UNIT,
      (1 + random.nextInt(Location.MAX_ENTRY_BYTES / Location.UNIT)) * Location.UNIT,
      random.nextInt(4), random.nextInt(4));
  }

  private static final class Block implements Comparable<Block> {
    private final int file;
    private final long offset;

    Block(int file, long offset) {
      this.file = file;
      this.offset = offset;
    }

    @Override
    public int compareTo(Block other) {
      return file != other.file
        ? Integer.compare(file, other.file)
        : Long.compare(offset, other.offset);
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Block && compareTo((Block) other) == 0;
    }

    @Override
    public int hashCode() {
      return file * 31 + Long.hashCode(offset);
    }
  }

  private static Map<Block, Long> contentOf(SegmentIndex index) {
    Map<Block, Long> content = new TreeMap<>();
    index.forEach((file, offset, location) -> assertEquals("visited twice", null,
      content.put(new Block(file, offset), location)));
    return content;
  }

  @Test
  public void testDoesWhatAMapDoes() {
    for (int seed = 1; seed <= 12; seed++) {
      Random random = new Random(seed);
      SegmentIndex index = new SegmentIndex(seed % 3 == 0 ? 100_000 : 1);
      Map<Block, Long> model = new HashMap<>();
      int files = 1 + random.nextInt(40);
      // Fills, and then empties, so that tables grow and shrink.
      int operations = 60_000;
      for (int i = 0; i < operations; i++) {
        boolean filling = i % (operations / 2) < operations / 4;
        Block block = new Block(1 + random.nextInt(files), random.nextInt(500) * 65_000L);
        long former = model.getOrDefault(block, Location.ABSENT);
        long next = location(random);
        assertEquals(former, index.get(block.file, block.offset));
        switch (filling ? random.nextInt(5) : 2 + random.nextInt(6)) {
          case 0:
          case 1:
            assertEquals(former, index.put(block.file, block.offset, next));
            model.put(block, next);
            break;
          case 2:
            assertEquals(former, index.putIfAbsent(block.file, block.offset, next));
            model.putIfAbsent(block, next);
            break;
          case 3:
            long expected =
              random.nextBoolean() ? Location.withAccess(former, 1) : location(random);
            boolean same = Location.isPresent(former) && Location.isSame(former, expected);
            assertEquals(same, index.replace(block.file, block.offset, expected, next));
            if (same) {
              model.put(block, next);
            }
            break;
          case 4:
            index.touch(block.file, block.offset, former);
            if (Location.isPresent(former)) {
              model.put(block,
                Location.withAccess(former, Math.min(3, Location.access(former) + 1)));
            }
            break;
          case 5:
            long there = random.nextBoolean() ? Location.withAccess(former, 2) : next;
            boolean goes = Location.isPresent(former) && Location.isSame(former, there);
            assertEquals(goes ? former : Location.ABSENT,
              index.remove(block.file, block.offset, there));
            if (goes) {
              model.remove(block);
            }
            break;
          default:
            assertEquals(former, index.remove(block.file, block.offset));
            model.remove(block);
        }
        assertEquals(model.getOrDefault(block, Location.ABSENT).longValue(),
          index.get(block.file, block.offset));
        assertEquals(model.size(), index.size());
      }
      assertEquals(new TreeMap<>(model), contentOf(index));
    }
  }

  @Test
  public void testFindsABlockAtEachBoundaryOfFileNumberAndOffset() {
    SegmentIndex index = new SegmentIndex(1 << 20);
    int[] files = { 1, 2, 255, 256, SegmentIndex.MAX_FILE_ID - 1, SegmentIndex.MAX_FILE_ID };
    long[] offsets = { 0, 1, (1 << 25) - 1, 1 << 25, Integer.MAX_VALUE, 1L << 31,
      SegmentIndex.MAX_OFFSET - 1, SegmentIndex.MAX_OFFSET };
    int segment = 0;
    for (int file : files) {
      for (long offset : offsets) {
        assertEquals(Location.ABSENT,
          index.put(file, offset, Location.of(segment++, 0, Location.UNIT, 0, 0)));
      }
    }
    segment = 0;
    for (int file : files) {
      for (long offset : offsets) {
        assertEquals(segment++, Location.segment(index.get(file, offset)));
      }
    }
    assertEquals(files.length * offsets.length, contentOf(index).size());
  }

  @Test
  public void testTakesNoKeyThatCannotBeAndFindsNone() {
    SegmentIndex index = new SegmentIndex(1);
    long location = Location.of(1, 0, Location.UNIT, 0, 0);
    int[][] keys = { { 0, 0 }, { -1, 0 }, { SegmentIndex.MAX_FILE_ID + 1, 0 }, { 1, -1 } };
    for (int[] key : keys) {
      assertEquals(Location.ABSENT, index.get(key[0], key[1]));
      assertEquals(Location.ABSENT, index.remove(key[0], key[1]));
      assertThrows(IllegalArgumentException.class, () -> index.put(key[0], key[1], location));
    }
    assertEquals(Location.ABSENT, index.get(1, SegmentIndex.MAX_OFFSET + 1));
    assertThrows(IllegalArgumentException.class,
      () -> index.put(1, SegmentIndex.MAX_OFFSET + 1, location));
    assertThrows(IllegalArgumentException.class, () -> index.put(1, 0, Location.ABSENT));
    assertThrows(IllegalArgumentException.class, () -> index.put(1, 0, Location.REFUSED));
    assertEquals(0, index.size());
  }

  @Test
  public void testVisitsTheBlocksOfAnIntervalOfAFileAndNoOthers() {
    SegmentIndex index = new SegmentIndex(1 << 16);
    for (int file = 1; file <= 3; file++) {
      for (long offset = 0; offset < 40 << 20; offset += 1 << 18) {
        index.put(file, offset, Location.of(file, 0, Location.UNIT, 0, 0));
      }
    }
    long[][] intervals = { { 0, Long.MAX_VALUE }, { 0, 0 }, { 1, (1 << 18) - 1 },
      { 1 << 18, 1 << 19 }, { (1 << 25) - 1, (1 << 25) + 1 }, { 5 << 20, 39 << 20 },
      { -5, 1 << 20 }, { 7, 3 } };
    for (long[] interval : intervals) {
      TreeMap<Long, Integer> visited = new TreeMap<>();
      index.forEachOf(2, interval[0], interval[1], (file, offset, location) -> {
        assertEquals(2, file);
        assertEquals(2, Location.segment(location));
        assertEquals(null, visited.put(offset, file));
      });
      TreeMap<Long, Integer> expected = new TreeMap<>();
      for (long offset = 0; offset < 40 << 20; offset += 1 << 18) {
        if (offset >= interval[0] && offset <= interval[1]) {
          expected.put(offset, 2);
        }
      }
      assertEquals(expected, visited);
    }
  }

  @Test
  public void testForgetsWhatAFilterChooses() {
    SegmentIndex index = new SegmentIndex(50_000);
    for (int i = 0; i < 50_000; i++) {
      index.put(1 + i % 10, i * 4096L, Location.of(i, 0, Location.UNIT, 0, 0));
    }
    int[] told = new int[1];
    int removed = 0;
    for (int partition = 0; partition < index.getPartitionCount(); partition++) {
      removed += index.removeIn(partition, (file, offset, location) -> file <= 9,
        (file, offset, location) -> {
          assertEquals(offset / 4096, Location.segment(location));
          assertEquals(Location.ABSENT, index.get(file, offset));
          told[0]++;
        });
    }
    assertEquals(45_000, removed);
    assertEquals(45_000, told[0]);
    assertEquals(5_000, index.size());
    contentOf(index).forEach((block, location) -> assertEquals(10, block.file));
  }

  @Test
  public void testGivesMemoryBackToItsPoolAndUsesItAgain() {
    SegmentIndex index = new SegmentIndex(1);
    long most = 0;
    for (int round = 0; round < 5; round++) {
      for (int i = 0; i < 100_000; i++) {
        index.put(1 + round, i, Location.of(i, 0, Location.UNIT, 0, 0));
      }
      for (int i = 0; i < 100_000; i++) {
        assertEquals(i, Location.segment(index.remove(1 + round, i)));
      }
      most = round == 0 ? index.getOffHeapBytes() : most;
    }
    assertEquals(0, index.size());
    assertEquals(most, index.getOffHeapBytes());
  }

  /**
   * The keys are those of a tier: files of a few GB, adjacent blocks of a little more than 32 KB.
   */
  @Test
  public void testTakesLessThanTwentyBytesABlockAndTwoOfHeap() {
    SegmentIndex index = new SegmentIndex(BLOCKS);
    int perFile = 100_000;
    for (int i = 0; i < BLOCKS; i++) {
      assertEquals(Location.ABSENT, index.put(1 + i / perFile, (long) (i % perFile) * BLOCK_BYTES,
        Location.of(i & Location.MAX_SEGMENTS - 1, 0, Location.UNIT, 0, 0)));
    }
    for (int i = 0; i < BLOCKS; i++) {
      assertEquals(i & Location.MAX_SEGMENTS - 1, Location.segment(
        index.get(1 + i / perFile, (long) (i % perFile) * BLOCK_BYTES)));
      assertEquals(Location.ABSENT,
        index.get(1 + i / perFile, (long) (i % perFile) * BLOCK_BYTES + 1));
    }
    assertEquals(BLOCKS, index.size());
    double offHeap = (double) index.getOffHeapBytes() / BLOCKS;
    assertTrue(offHeap + " bytes a block outside the heap", offHeap <= 20);
  }

  private static byte[] snapshotOf(SegmentIndex index) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    index.writeTo(new DataOutputStream(bytes));
    return bytes.toByteArray();
  }

  private static void read(SegmentIndex index, byte[] snapshot) throws IOException {
    index.readFrom(new DataInputStream(new ByteArrayInputStream(snapshot)));
  }

  private static SegmentIndex filled(int blocks) {
    SegmentIndex index = new SegmentIndex(8 * 4096);
    Random random = new Random(blocks);
    for (int i = 0; i < blocks; i++) {
      index.put(1 + i % 50, (long) i << 12, location(random));
    }
    return index;
  }

  @Test
  public void testComesBackFromASnapshot() throws IOException {
    for (int blocks : new int[] { 0, 1, 20_000 }) {
      SegmentIndex index = filled(blocks);
      SegmentIndex restored = new SegmentIndex(8 * 4096);
      read(restored, snapshotOf(index));
      assertEquals(contentOf(index), contentOf(restored));
      assertEquals(index.size(), restored.size());
      index.forEach((file, offset, location) -> assertEquals(location,
        restored.remove(file, offset)));
      assertEquals(0, restored.size());
      assertEquals(Location.ABSENT, restored.put(1, 1, location(new Random(1))));
    }
  }

  @Test
  public void testAnotherKindOfSnapshotIsNotTaken() throws IOException {
    byte[] snapshot = snapshotOf(filled(20_000));
    assertThrows(IOException.class, () -> read(new SegmentIndex(1), snapshot));
    SegmentIndex index = new SegmentIndex(8 * 4096);
    Random random = new Random(3);
    for (int i = 0; i < 300; i++) {
      byte[] flipped = snapshot.clone();
      int at = i < 30 ? i : random.nextInt(snapshot.length);
      flipped[at] ^= 1 << random.nextInt(8);
      assertThrows("byte " + at, IOException.class, () -> read(index, flipped));
      assertEquals(0, index.size());
      assertTrue(contentOf(index).isEmpty());
      byte[] cut = Arrays.copyOf(snapshot, random.nextInt(snapshot.length));
      assertThrows(IOException.class, () -> read(index, cut));
      assertEquals(0, index.size());
    }
    read(index, snapshot);
    assertEquals(20_000, index.size());
  }

  @Test
  public void testAKeyFollowsFromWhatItIsMixedTo() {
    Random random = new Random(7);
    for (int i = 0; i < 100_000; i++) {
      long key = random.nextLong() >>> random.nextInt(64);
      assertEquals(key, IndexKey.unmix(IndexKey.mix(key)));
    }
    assertEquals(0, IndexKey.mix(0));
  }

  @Test
  public void testALocationHoldsAllItIsGiven() {
    Random random = new Random(5);
    for (int i = 0; i < 100_000; i++) {
      int segment = random.nextInt(Location.MAX_SEGMENTS);
      int offset = random.nextInt(Location.MAX_SEGMENT_BYTES / Location.UNIT) * Location.UNIT;
      int length =
        (1 + random.nextInt(Location.MAX_ENTRY_BYTES / Location.UNIT)) * Location.UNIT;
      int access = random.nextInt(4);
      int category = random.nextInt(4);
      long location = Location.of(segment, offset, length, access, category);
      assertTrue(Location.isPresent(location));
      assertEquals(segment, Location.segment(location));
      assertEquals(offset, Location.offset(location));
      assertEquals(length, Location.length(location));
      assertEquals(access, Location.access(location));
      assertEquals(category, Location.category(location));
      long other = Location.withAccess(location, 3 - access);
      assertEquals(3 - access, Location.access(other));
      assertTrue(Location.isSame(location, other));
      assertNotEquals(location, other);
      assertEquals(location, Location.withAccess(other, access));
      assertFalse(Location.isSame(location, location ^ 1L << random.nextInt(56)));
    }
    assertFalse(Location.isPresent(Location.ABSENT));
    assertFalse(Location.isPresent(Location.REFUSED));
  }

  @Test
  public void testThereIsNoLocationBeyondTheLimits() {
    int[][] bad = { { -1, 0, 128, 0, 0 }, { Location.MAX_SEGMENTS, 0, 128, 0, 0 },
      { 0, -128, 128, 0, 0 }, { 0, 64, 128, 0, 0 }, { 0, Location.MAX_SEGMENT_BYTES, 128, 0, 0 },
      { 0, 0, 0, 0, 0 }, { 0, 0, 100, 0, 0 }, { 0, 0, Location.MAX_ENTRY_BYTES + 128, 0, 0 },
      { 0, 0, 128, 4, 0 }, { 0, 0, 128, -1, 0 }, { 0, 0, 128, 0, 8 }, { 0, 0, 128, 0, -1 } };
    for (int[] location : bad) {
      assertThrows(IllegalArgumentException.class,
        () -> Location.of(location[0], location[1], location[2], location[3], location[4]));
    }
  }
}
