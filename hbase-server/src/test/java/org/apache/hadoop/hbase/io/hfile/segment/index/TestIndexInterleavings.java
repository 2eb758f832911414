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

import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.io.hfile.segment.device.Location;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.hbase.unsafe.HBasePlatformDependent;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * A reader of a partition beside a writer, under every interleaving of their steps in which the
 * writer is at work at two moments of the look-up at most, for as long as it likes each time. That
 * is enough for a slot or a page to change hands and for a look-up to begin and to end within a
 * change.
 * <p>
 * A reader writes nothing. So what a writer does is the same whoever looks on: it is recorded step
 * by step, as {@link IndexPartition} does it, and done again between the steps of a look-up. That
 * needs no threads and no luck, and it lets the steps be put into a wrong order: each of the orders
 * that the comment of {@link IndexPartition} rules out is found to be wrong. A look-up is wrong if
 * it returns what was not so at any moment from its beginning to its end. What only processors
 * reorder is left to {@link TestSegmentIndexConcurrency}.
 */
@Category({ IOTests.class, SmallTests.class })
public class TestIndexInterleavings {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestIndexInterleavings.class);

  private static final int PAGES = 256;
  private static final int WORDS_PER_PAGE = PagePool.PAGE_BYTES / Long.BYTES;
  private static final int FILE = 1;
  /** The place of no block. */
  private static final long FOREIGN = Location.of(77, 0, Location.UNIT, 0, 0);

  /** What a step of a writer does. */
  private enum Kind {
    /** The location of a slot gets another value. */
    LOCATION,
    /** An empty slot gets a key. */
    KEY,
    /** A slot becomes empty. */
    EMPTY,
    /** The version becomes another. */
    VERSION,
    /** Another table is seen from now on. */
    TABLE,
    /** Pages are written that no look-up should use. */
    PAGES,
    /** Nothing, in place of a step that is left out. */
    NOTHING
  }

  /** One step of a writer, as readers see it. */
  private static final class Step {
    private final Kind kind;
    private final IndexPartition.Table table;
    /** Addresses and what is written there. */
    private final List<long[]> words = new ArrayList<>();

    Step(Kind kind, IndexPartition.Table table) {
      this.kind = kind;
      this.table = table;
    }

    Step(Kind kind) {
      this(kind, null);
    }

    Step with(long address, long value) {
      words.add(new long[] { address, value });
      return this;
    }

    @Override
    public String toString() {
      return kind.toString();
    }
  }

  /** What readers see: the memory of the pool, the table, the version. */
  private static final class Sight {
    private final long base;
    private final long[] words;
    private IndexPartition.Table table;
    private int version;

    Sight(long base) {
      this.base = base;
      this.words = new long[PAGES * WORDS_PER_PAGE];
    }

    private Sight(Sight other) {
      base = other.base;
      words = other.words.clone();
      table = other.table;
      version = other.version;
    }

    private int at(long address) {
      return (int) ((address - base) / Long.BYTES);
    }

    long get(long address) {
      return words[at(address)];
    }

    void run(Step step) {
      step.words.forEach(word -> words[at(word[0])] = word[1]);
      version += step.kind == Kind.VERSION ? 1 : 0;
      table = step.kind == Kind.TABLE ? step.table : table;
    }

    /** Returns what there is to see after each number of these steps, from 0 on. */
    Sight[] after(List<Step> steps) {
      Sight[] sights = new Sight[steps.size() + 1];
      sights[0] = this;
      for (int i = 0; i < steps.size(); i++) {
        sights[i + 1] = new Sight(sights[i]);
        sights[i + 1].run(steps.get(i));
      }
      return sights;
    }

    /** Updates the words; returns the changes that were not reported. */
    List<Step> look() {
      Step cleared = new Step(Kind.PAGES);
      Step written = new Step(Kind.PAGES);
      for (int page = 0; page < words.length; page += WORDS_PER_PAGE) {
        boolean changed = false;
        for (int i = page; i < page + WORDS_PER_PAGE && !changed; i++) {
          changed = HBasePlatformDependent.getLong(base + (long) i * Long.BYTES) != words[i];
        }
        for (int i = page; i < page + WORDS_PER_PAGE && changed; i++) {
          long address = base + (long) i * Long.BYTES;
          long now = HBasePlatformDependent.getLong(address);
          // A thread that takes a page clears it first.
          cleared.with(address, 0);
          written.with(address, now);
          words[i] = now;
        }
      }
      return written.words.isEmpty() ? Arrays.asList() : Arrays.asList(cleared, written);
    }
  }

  /** Does what a partition does, and keeps how. */
  private static final class Recorder extends IndexPartition {
    private static final long serialVersionUID = 1L;

    private final transient Sight sight;
    private final transient List<Step> steps = new ArrayList<>();
    private transient boolean recording;

    Recorder(PagePool pool, Sight sight) {
      super(pool);
      this.sight = sight;
    }

    private void add(Step step) {
      if (recording) {
        steps.addAll(sight.look());
        steps.add(step);
        sight.run(step);
      }
    }

    @Override
    void write(long address, long value) {
      boolean key = (address - sight.base) / Long.BYTES % 16 < 8;
      add(new Step(!key ? Kind.LOCATION : value == 0 ? Kind.EMPTY : Kind.KEY).with(address,
        value));
      super.write(address, value);
    }

    @Override
    void changed() {
      add(new Step(Kind.VERSION));
      super.changed();
    }

    @Override
    void setTable(Table next) {
      add(new Step(Kind.TABLE, next));
      super.setTable(next);
    }
  }

  /** Looks up, while a writer gets on between the steps of that. */
  private static class Reader extends IndexPartition {
    private static final long serialVersionUID = 1L;

    private transient Sight[] sights;
    private transient int first;
    private transient int second;
    private transient int some;
    private transient int more;
    /** How many steps the writer and the look-up have done. */
    private transient int done;
    private transient int looks;

    Reader() {
      super(new PagePool());
    }

    /**
     * Looks up a key. The writer does so many steps before the first of these steps of the look-up,
     * and more, so many in all, before the second.
     */
    long get(long key, Sight[] after, int firstMoment, int steps, int secondMoment,
      int stepsInAll) {
      sights = after;
      first = firstMoment;
      second = secondMoment;
      some = steps;
      more = stepsInAll;
      done = 0;
      looks = 0;
      return get(key);
    }

    private Sight look() {
      done = looks >= second ? more : looks >= first ? some : 0;
      looks++;
      return sights[done];
    }

    @Override
    long read(long address) {
      return look().get(address);
    }

    @Override
    int version() {
      return look().version;
    }

    @Override
    Table table() {
      return look().table;
    }
  }

  /** Trusts that the version has not changed. */
  private static final class CarelessReader extends Reader {
    private static final long serialVersionUID = 1L;

    @Override
    int version() {
      super.version();
      return 0;
    }
  }

  /** Trusts that the key is still there when the location is read. */
  private static final class HastyReader extends Reader {
    private static final long serialVersionUID = 1L;

    private transient long key;
    private transient boolean hasLocation;

    @Override
    long read(long address) {
      boolean again = hasLocation;
      hasLocation = address / Long.BYTES % 16 >= 8;
      if (again) {
        return key;
      }
      long read = super.read(address);
      key = hasLocation ? key : read;
      return read;
    }
  }

  /** What a writer does to a partition, and what is true after each change. */
  private static final class Scenario {
    private final PagePool pool = new PagePool(1);
    private final Sight sight;
    private final Recorder partition;
    private final Map<Long, Long> truth = new HashMap<>();
    private Sight before;
    private long[] lookedUp;
    /** After how many steps each change is done, and what is true then; the first is the start. */
    private final List<Integer> ends = new ArrayList<>();
    private final List<Map<Long, Long>> truths = new ArrayList<>();
    private int sequence = 100;

    Scenario() {
      long[] all = pool.take(PAGES);
      sight = new Sight(Arrays.stream(all).min().getAsLong());
      pool.give(all);
      partition = new Recorder(pool, sight);
    }

    /** Ends what is there when it begins, and says what is looked up. */
    Scenario begin(long... offsets) {
      sight.look();
      sight.table = partition.table();
      before = new Sight(sight);
      lookedUp = offsets;
      partition.recording = true;
      done();
      return this;
    }

    private void done() {
      if (partition.recording) {
        ends.add(partition.steps.size());
        truths.add(new HashMap<>(truth));
      }
    }

    Scenario put(long... offsets) {
      for (long offset : offsets) {
        long location = Location.of(++sequence, 0, Location.UNIT, 0, 0);
        partition.lock();
        try {
          long slot = partition.find(key(offset));
          if (slot == IndexPartition.NOWHERE) {
            assertTrue(partition.add(key(offset), location));
          } else {
            partition.setLocation(slot, location);
          }
        } finally {
          partition.unlock();
        }
        truth.put(offset, location);
        done();
      }
      return this;
    }

    Scenario remove(long... offsets) {
      for (long offset : offsets) {
        partition.lock();
        try {
          partition.clear(partition.find(key(offset)));
          partition.shrink();
        } finally {
          partition.unlock();
        }
        truth.remove(offset);
        done();
      }
      return this;
    }

    /** Others take the pages that were given back, and have there what is looked up. */
    Scenario usePagesElsewhere() {
      long[] taken = pool.take(4);
      for (long page : taken) {
        for (int i = 0; i < WORDS_PER_PAGE; i++) {
          HBasePlatformDependent.putLong(page + (long) i * Long.BYTES,
            i % 16 < 8 ? key(lookedUp[0]) : FOREIGN);
        }
      }
      pool.give(taken);
      partition.steps.addAll(sight.look());
      done();
      return this;
    }

    List<Step> steps() {
      return new ArrayList<>(partition.steps);
    }

    /** Returns whether this was so at a moment between two numbers of the writer's steps. */
    private boolean wasSo(long offset, long location, int from, int to) {
      for (int i = 0; i < ends.size(); i++) {
        boolean over = i + 1 < ends.size() && ends.get(i + 1) <= from;
        boolean begun = i == 0 || ends.get(i - 1) < to;
        if (!over && begun && truths.get(i).getOrDefault(offset, Location.ABSENT) == location) {
          return true;
        }
      }
      return false;
    }

    /** Returns how a lookup fails if the writer does these steps, null if none fails. */
    String error(List<Step> steps, Reader reader) {
      Sight[] sights = before.after(steps);
      for (long offset : lookedUp) {
        // A look-up that is begun again ends soon after the writer, whose steps have an end.
        for (int first = 0; first < 24; first++) {
          int looks = 48;
          for (int second = first + 1; second < looks; second++) {
            looks = 0;
            for (int some = 0; some <= steps.size(); some++) {
              for (int more = some; more <= steps.size(); more++) {
                long found = reader.get(key(offset), sights, first, some, second, more);
                looks = Math.max(looks, reader.looks);
                if (!wasSo(offset, found, first == 0 ? some : 0, reader.done)) {
                  return offset + " was not at " + found + ": " + some + " of " + steps
                    + " before step " + first + " of the look-up, " + more + " before " + second;
                }
              }
            }
          }
        }
      }
      return null;
    }

    void assertRight() {
      assertNull(error(steps(), new Reader()));
    }

    void assertWrong(String order, List<Step> steps) {
      assertNotNull(order + " is not found to be wrong", error(steps, new Reader()));
    }
  }

  private static long key(long offset) {
    return IndexKey.mix(IndexKey.block(FILE, offset));
  }

  /** Returns blocks with these two buckets in a table of one page. */
  private static long[] offsetsIn(int first, int second, int count) {
    long[] offsets = new long[count];
    int found = 0;
    for (long offset = 0; found < count; offset++) {
      long key = key(offset);
      if (key >>> 59 == first && (key >>> 27 & 31) == second) {
        offsets[found++] = offset;
      }
    }
    return offsets;
  }

  /** Returns one slot, which two blocks have alternately. */
  private static Scenario slotThatChangesHands() {
    long[] nine = offsetsIn(3, 3, 9);
    long one = nine[7];
    long other = nine[8];
    return new Scenario().put(Arrays.copyOf(nine, 8)).begin(one, other).remove(one).put(other)
      .put(other).remove(other).put(one);
  }

  /** Returns a block that has to go to its other bucket, and back. */
  private static Scenario moves() {
    long moving = offsetsIn(3, 4, 1)[0];
    long intoFirst = offsetsIn(3, 5, 1)[0];
    long intoSecond = offsetsIn(4, 6, 1)[0];
    return new Scenario().put(offsetsIn(3, 3, 7)).put(offsetsIn(4, 4, 7)).put(offsetsIn(5, 5, 8))
      .put(offsetsIn(6, 6, 8)).put(moving).begin(moving).put(intoFirst).put(intoFirst)
      .remove(intoFirst).put(intoSecond);
  }

  private static long[] range(long from, long to) {
    long[] range = new long[(int) (to - from)];
    for (int i = 0; i < range.length; i++) {
      range[i] = from + i;
    }
    return range;
  }

  /** 92 % of a page are 235 slots. */
  private static Scenario growth() {
    return new Scenario().put(range(0, 235)).begin(7, 235).put(235).usePagesElsewhere();
  }

  private static Scenario shrinkage() {
    return new Scenario().put(range(0, 236)).remove(range(205, 236)).begin(7, 204).remove(204)
      .usePagesElsewhere();
  }

  private static Scenario end() {
    return new Scenario().put(7).begin(7).remove(7).usePagesElsewhere().put(7);
  }

  /** Returns the steps with each of these rows of them in the order of these places in it. */
  private static List<Step> reordered(Scenario scenario, Kind[] row, int... order) {
    List<Step> steps = scenario.steps();
    boolean found = false;
    int at = 0;
    while (at + row.length <= steps.size()) {
      boolean here = true;
      for (int i = 0; i < row.length && here; i++) {
        here = steps.get(at + i).kind == row[i];
      }
      if (here) {
        List<Step> former = new ArrayList<>(steps.subList(at, at + row.length));
        for (int i = 0; i < row.length; i++) {
          steps.set(at + i, order[i] < 0 ? new Step(Kind.NOTHING) : former.get(order[i]));
        }
        found = true;
      }
      at += here ? row.length : 1;
    }
    assertTrue(Arrays.toString(row) + " is not in " + steps, found);
    return steps;
  }

  private static Kind[] row(Kind... kinds) {
    return kinds;
  }

  @Test
  public void testALookUpFindsASlotThatChangesHandsAsItWasAtSomeMoment() {
    Scenario scenario = slotThatChangesHands();
    scenario.assertRight();
    scenario.assertWrong("A key before its location",
      reordered(scenario, row(Kind.LOCATION, Kind.KEY), 1, 0));
    scenario.assertWrong("A removal in the same version",
      reordered(scenario, row(Kind.VERSION, Kind.EMPTY), -1, 1));
    assertNotNull("One look at the key", scenario.error(scenario.steps(), new HastyReader()));
    assertNotNull("No look at the version",
      scenario.error(scenario.steps(), new CarelessReader()));
  }

  @Test
  public void testALookUpFindsABlockThatMoves() {
    Scenario scenario = moves();
    scenario.assertRight();
    Kind[] move = row(Kind.LOCATION, Kind.KEY, Kind.VERSION, Kind.EMPTY);
    scenario.assertWrong("A move in the same version", reordered(scenario, move, 0, 1, -1, 3));
    scenario.assertWrong("The version before the copy", reordered(scenario, move, 2, 0, 1, 3));
    scenario.assertWrong("The version after the removal", reordered(scenario, move, 0, 1, 3, 2));
    scenario.assertWrong("The removal before the copy", reordered(scenario, move, 2, 3, 0, 1));
    assertNotNull("No look at the version",
      scenario.error(scenario.steps(), new CarelessReader()));
  }

  @Test
  public void testALookUpFindsABlockWhileItsTableIsReplaced() {
    for (Scenario scenario : new Scenario[] { growth(), shrinkage() }) {
      scenario.assertRight();
      Kind[] install = row(Kind.TABLE, Kind.VERSION);
      scenario.assertWrong("A table in the same version", reordered(scenario, install, 0, -1));
      scenario.assertWrong("The version before the table", reordered(scenario, install, 1, 0));
      List<Step> steps = scenario.steps();
      List<Step> elsewhere =
        new ArrayList<>(steps.subList(scenario.ends.get(scenario.ends.size() - 2), steps.size()));
      steps.removeAll(elsewhere);
      int install0 = 0;
      while (steps.get(install0).kind != Kind.TABLE) {
        install0++;
      }
      steps.addAll(install0, elsewhere);
      scenario.assertWrong("Pages given back before the table is replaced", steps);
      assertNotNull("No look at the version",
        scenario.error(scenario.steps(), new CarelessReader()));
    }
  }

  @Test
  public void testALookUpFindsTheLastBlockAndTheFirst() {
    Scenario scenario = end();
    scenario.assertRight();
    scenario.assertWrong("A table in the same version",
      reordered(scenario, row(Kind.TABLE, Kind.VERSION), 0, -1));
  }
}
