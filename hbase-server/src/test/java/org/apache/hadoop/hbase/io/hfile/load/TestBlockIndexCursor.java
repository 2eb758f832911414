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

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellComparator;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.io.hfile.BlockIndexEntries;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** Ranges that begin and end at, before and after the borders of blocks, in any order. */
@Category({ IOTests.class, SmallTests.class })
public class TestBlockIndexCursor {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestBlockIndexCursor.class);

  /** An index of data blocks that begin at some keys, and how often its blocks were looked up. */
  private static final class Index implements BlockIndexCursor.IndexBlocks {
    private final int[] keys;
    private final int levels;
    private final Map<Long, BlockIndexEntries> blocks = new HashMap<>();
    /** The leaf of each data block. */
    private final long[] leaves;
    private final Set<Long> missing = new HashSet<>();
    private final BlockIndexEntries root;
    private int lookups;

    /** @param keys of the entries of the data blocks; the offset of block i is i */
    Index(int levels, int fanOut, int... keys) {
      this.keys = keys;
      this.levels = levels;
      this.leaves = new long[keys.length];
      List<Integer> first = new ArrayList<>();
      List<Long> offsets = new ArrayList<>();
      for (int i = 0; i < keys.length; i++) {
        first.add(keys[i]);
        offsets.add((long) i);
      }
      long next = 1000;
      for (int level = levels - 1; level > 0; level--) {
        List<Integer> above = new ArrayList<>();
        List<Long> aboveOffsets = new ArrayList<>();
        for (int from = 0; from < first.size(); from += fanOut) {
          int to = Math.min(first.size(), from + fanOut);
          blocks.put(next, new Entries(first.subList(from, to), offsets.subList(from, to)));
          if (level == levels - 1) {
            Arrays.fill(leaves, from, to, next);
          }
          above.add(first.get(from));
          aboveOffsets.add(next++);
        }
        first = above;
        offsets = aboveOffsets;
      }
      root = new Entries(first, offsets);
    }

    @Override
    public BlockIndexEntries find(long offset, boolean leaf) {
      lookups++;
      return missing.contains(offset) ? null : blocks.get(offset);
    }

    BlockIndexCursor cursor() {
      return new BlockIndexCursor(root, levels, CellComparator.getInstance(), this);
    }

    /** Returns the blocks of a range, and -1 if some of them are unknown, by looking at all. */
    List<Long> expected(int first, int last) {
      List<Long> found = new ArrayList<>();
      for (int i = 0; i < keys.length; i++) {
        if (keys[i] <= last && (i == keys.length - 1 || keys[i + 1] > first)) {
          long block = missing.contains(leaves[i]) ? -1L : i;
          if (block >= 0 || !found.contains(block)) {
            found.add(block);
          }
        }
      }
      return found;
    }
  }

  private static final class Entries extends BlockIndexEntries {
    private final List<Integer> keys;
    private final List<Long> offsets;

    Entries(List<Integer> keys, List<Long> offsets) {
      this.keys = new ArrayList<>(keys);
      this.offsets = new ArrayList<>(offsets);
    }

    @Override
    public int count() {
      return keys.size();
    }

    @Override
    public Cell key(int i) {
      return entry(keys.get(i));
    }

    @Override
    public long offset(int i) {
      return offsets.get(i);
    }
  }

  /** Returns a key as it is in a block index, without a sequence id. */
  private static Cell entry(int key) {
    byte[] bytes = cell(key).getKey();
    return new KeyValue.KeyOnlyKeyValue(bytes, 0, bytes.length);
  }

  private static KeyValue cell(int key) {
    KeyValue cell = new KeyValue(Bytes.toBytes(String.format("%06d", key)), Bytes.toBytes("f"),
      Bytes.toBytes("q"), 1L, Bytes.toBytes("value"));
    cell.setSequenceId(7);
    return cell;
  }

  private static List<Long> visit(BlockIndexCursor cursor, int first, int last) {
    List<Long> found = new ArrayList<>();
    cursor.visit(cell(first), cell(last), true, new BlockIndexCursor.Visitor() {
      @Override
      public void block(long offset) {
        found.add(offset);
      }

      @Override
      public void unknown() {
        if (!found.contains(-1L)) {
          found.add(-1L);
        }
      }
    });
    return found;
  }

  private static List<Long> list(long... blocks) {
    List<Long> list = new ArrayList<>();
    for (long block : blocks) {
      list.add(block);
    }
    return list;
  }

  @Test
  public void testEmptyFile() {
    assertEquals(Collections.emptyList(), visit(new Index(1, 9).cursor(), 1, 2));
  }

  @Test
  public void testEachBlockIsFoundOnceByAdjacentRanges() {
    Index index = new Index(2, 4, 0, 10, 20, 30, 40, 50, 60, 70, 80, 90);
    BlockIndexCursor cursor = index.cursor();
    for (int i = 0; i < 10; i++) {
      assertEquals(list(i), visit(cursor, 10 * i, 10 * i + 9));
    }
    assertEquals("each leaf is looked up once", 3, index.lookups);
  }

  @Test
  public void testMissingLeaf() {
    Index index = new Index(2, 2, 0, 10, 20, 30, 40, 50);
    index.missing.add(index.leaves[2]);
    BlockIndexCursor cursor = index.cursor();
    assertEquals(list(1), visit(cursor, 10, 19));
    assertEquals(list(-1), visit(cursor, 25, 35));
    assertEquals(list(1, -1, 4), visit(cursor, 15, 45));
    index.missing.clear();
    assertEquals("it is in memory by now", list(2, 3), visit(cursor, 25, 35));
  }

  @Test
  public void testAgainstAllBlocks() {
    Random random = new Random(42);
    int found = 0;
    for (int round = 0; round < 400; round++) {
      int[] keys = random.ints(1 + random.nextInt(60), 0, 400).distinct().sorted().toArray();
      Index index = new Index(1 + random.nextInt(4), 2 + random.nextInt(5), keys);
      if (round % 2 == 0 && index.levels > 1) {
        for (long leaf : index.leaves) {
          if (random.nextInt(4) == 0) {
            index.missing.add(leaf);
          }
        }
      }
      BlockIndexCursor cursor = index.cursor();
      int at = 0;
      for (int range = 0; range < 60; range++) {
        int first = random.nextInt(10) == 0 ? random.nextInt(420) : at + random.nextInt(3);
        int last = first + random.nextInt(random.nextInt(10) == 0 ? 200 : 12);
        List<Long> expected = index.expected(first, last);
        List<Long> blocks = visit(cursor, first, last);
        // What is not known is told once for each missing index block.
        assertEquals(Arrays.toString(keys) + " " + first + " to " + last,
          new HashSet<>(expected), new HashSet<>(blocks));
        found += blocks.size();
        at = last + 1;
      }
    }
    assertTrue(found > 10_000);
  }
}
