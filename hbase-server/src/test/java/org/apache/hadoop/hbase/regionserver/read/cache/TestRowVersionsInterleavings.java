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
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.util.Arrays;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Interleavings;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * Every schedule, with two preemptions, of writers of a row, a change of files, other rows that
 * take its place, a growth of the slots, and readers that cache the row or look it up: what is
 * current is not older than what was acknowledged before the lookup.
 */
@Category({ RegionServerTests.class, LargeTests.class })
public class TestRowVersionsInterleavings {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestRowVersionsInterleavings.class);

  private static final int ROW = 1;
  private static final int BUCKETS = RowVersions.MIN_SLOTS / RowVersions.WAYS;
  private static final int PREEMPTIONS = 2;

  private final Interleavings interleavings = new Interleavings(PREEMPTIONS);

  /** Returns another row of the same bucket. */
  private static int other(int i) {
    return ROW + i * BUCKETS;
  }

  /** A region of several rows: the writes of one by number, and what is cached of it. */
  private final class Model {
    private boolean traced;
    private final RowVersions versions = new RowVersions(0) {
      @Override
      void step() {
        if (traced) {
          interleavings.point();
        }
      }
    };
    private final SortedMap<Long, Long> visible = new TreeMap<>();
    private final boolean[] complete = new boolean[8];
    private long begun;
    private long readPoint;
    private long acknowledged;
    private long cachedAt = -1;
    private long cached;
    private boolean hit;

    private long begin() {
      interleavings.point();
      return ++begun;
    }

    private void complete(long number) {
      interleavings.point();
      complete[(int) number] = true;
      while (readPoint < begun && complete[(int) readPoint + 1]) {
        readPoint++;
      }
    }

    void write() {
      long number = begin();
      versions.raise(ROW, number);
      interleavings.point();
      visible.put(number, number);
      complete(number);
      interleavings.point();
      if (readPoint >= number) {
        acknowledged = Math.max(acknowledged, number);
      }
    }

    /** Makes a file visible whose cell is newer than all others, at any read point. */
    void loadFile() {
      long number = begin();
      versions.raiseFloor(number);
      interleavings.point();
      visible.put(0L, 100L);
      complete(number);
      interleavings.point();
      acknowledged = 100;
    }

    private long newest(long at) {
      long newest = 0;
      for (long value : visible.headMap(at + 1).values()) {
        newest = Math.max(newest, value);
      }
      return newest;
    }

    void cache() {
      interleavings.point();
      long at = readPoint;
      interleavings.point();
      long value = newest(at);
      interleavings.point();
      if (versions.register(ROW, () -> begun) <= at) {
        cached = value;
        cachedAt = at;
      }
    }

    /** Registers so many rows beside that one, as before all that is tried. */
    void registerOthers(int count) {
      for (int i = 1; i <= count; i++) {
        versions.register(other(i), () -> 0);
      }
    }

    /** Has another row replace one. */
    void registerAnother() {
      versions.register(other(RowVersions.WAYS), () -> begun);
    }

    void lookUp() {
      interleavings.point();
      long least = acknowledged;
      long at = cachedAt;
      long value = cached;
      if (at >= 0 && versions.isCurrent(ROW, at)) {
        hit = true;
        assertTrue(value + " after " + least, value >= least);
      }
    }
  }

  private interface Scenario {
    Interleavings.Body[] bodies(Model model);
  }

  private void explore(Scenario scenario) throws Exception {
    long schedules = 0;
    boolean anyHit = false;
    try (Interleavings closed = interleavings) {
      do {
        Model model = new Model();
        Interleavings.Body[] bodies = scenario.bodies(model);
        model.traced = true;
        closed.run(true, bodies);
        closed.check();
        assertTrue(closed.isDone());
        anyHit |= model.hit;
        schedules++;
      } while (closed.next());
    }
    System.out.println(schedules + " schedules");
    assertTrue("some lookups hit", anyHit);
  }

  @Test
  public void testWriterAndGrowth() throws Exception {
    explore(model -> {
      model.versions.register(ROW, () -> 0);
      return new Interleavings.Body[] { model::write,
        () -> model.versions.growFor(RowVersions.MIN_SLOTS), () -> {
          model.cache();
          model.lookUp();
          model.lookUp();
        } };
    });
  }

  @Test
  public void testTwoWriters() throws Exception {
    explore(model -> new Interleavings.Body[] { model::write, model::write, () -> {
      model.cache();
      model.cache();
      model.lookUp();
    } });
  }

  /** The row is not registered any more while a write begins, and is again when it ends. */
  @Test
  public void testWriterOfARowWhosePlaceIsTaken() throws Exception {
    explore(model -> {
      model.registerOthers(RowVersions.WAYS - 1);
      model.versions.register(ROW, () -> 0);
      return new Interleavings.Body[] { model::write, () -> {
        model.registerAnother();
        model.cache();
      }, () -> {
        model.cache();
        model.lookUp();
        model.lookUp();
      } };
    });
  }

  /** The row is evicted, registered and cached anew beside a write. */
  @Test
  public void testWriterOfARowThatIsEvicted() throws Exception {
    explore(model -> {
      model.versions.register(ROW, () -> 0);
      return new Interleavings.Body[] { model::write, () -> {
        model.versions.unregister(ROW);
        model.cache();
      }, () -> {
        model.cache();
        model.lookUp();
        model.lookUp();
      } };
    });
  }

  @Test
  public void testEvictionAndGrowth() throws Exception {
    explore(model -> {
      model.cache();
      return new Interleavings.Body[] { model::write, () -> {
        model.versions.growFor(RowVersions.MIN_SLOTS);
        model.lookUp();
      }, () -> model.versions.unregister(ROW) };
    });
  }

  @Test
  public void testChangeOfFiles() throws Exception {
    explore(model -> new Interleavings.Body[] { model::loadFile, model::write, () -> {
      model.cache();
      model.lookUp();
    } });
  }

  /** Else a row is not cached in a region that is written all the time. */
  @Test
  public void testARowIsCachedWhenTheWritesOfBeforeAreVisible() {
    RowVersions versions = new RowVersions(1_000);
    assertEquals("two are in flight", 1_010, versions.register(ROW, () -> 1_010));
    assertFalse(versions.isCurrent(ROW, 1_008));
    assertEquals(1_010, versions.register(ROW, () -> 2_000));
    assertTrue(versions.isCurrent(ROW, 1_010));
    versions.raise(ROW, 2_001);
    assertEquals(2_001, versions.register(ROW, () -> 2_005));
    assertFalse(versions.isCurrent(ROW, 2_000));
    versions.raiseFloor(2_010);
    assertFalse(versions.isCurrent(ROW, 2_009));
    assertTrue(versions.isCurrent(ROW, 2_010));
  }

  @Test
  public void testWritesOfOtherRowsChangeNothing() {
    RowVersions versions = new RowVersions(0);
    SplittableRandom random = new SplittableRandom(1);
    int[] rows = random.ints(500).toArray();
    for (int row : rows) {
      versions.register(row, () -> 0);
    }
    long before = Arrays.stream(rows).filter(row -> versions.isCurrent(row, 0)).count();
    for (int i = 1; i <= 1_000_000; i++) {
      versions.raise(random.nextInt(), i);
    }
    long after = Arrays.stream(rows).filter(row -> versions.isCurrent(row, 0)).count();
    assertTrue(before + " of " + rows.length, before > 0.98 * rows.length);
    assertTrue(after + " of " + before, after >= before - 2);
  }

  @Test
  public void testGrowthKeepsWhatIsRegistered() {
    RowVersions versions = new RowVersions(0);
    int[] rows = new SplittableRandom(2).ints(400).toArray();
    for (int i = 0; i < rows.length; i++) {
      long number = i;
      versions.register(rows[i], () -> number);
    }
    boolean[] current = new boolean[rows.length];
    for (int i = 0; i < rows.length; i++) {
      current[i] = versions.isCurrent(rows[i], i);
    }
    for (int slots = 2 * RowVersions.MIN_SLOTS; slots <= 1 << 20; slots *= 2) {
      versions.growFor(slots / 4 + 1);
      assertEquals(slots, versions.slotCount());
    }
    for (int i = 0; i < rows.length; i++) {
      assertEquals(current[i], versions.isCurrent(rows[i], i));
      assertFalse(versions.isCurrent(rows[i], i - 1));
      versions.raise(rows[i], rows.length);
      assertFalse(versions.isCurrent(rows[i], i));
    }
  }

  /** What does not fit into a slot is never taken for a small number. */
  @Test
  public void testNumbersWithoutEnd() {
    RowVersions versions = new RowVersions(5);
    assertEquals(7, versions.register(ROW, () -> 7));
    versions.raise(ROW, RowVersions.MAX_NUMBER + 100);
    assertFalse(versions.isCurrent(ROW, RowVersions.MAX_NUMBER + 1_000));
    long large = RowVersions.MAX_NUMBER + 2_000;
    assertEquals(large, versions.register(other(1), () -> large));
    assertTrue(versions.isCurrent(other(1), large));
    versions.raise(other(1), large + 1);
    assertFalse(versions.isCurrent(other(1), large));
    assertTrue(versions.isCurrent(other(1), large + 1));
  }

  @Test
  public void testRowsThatAreFoundStayRegistered() {
    RowVersions versions = new RowVersions(0);
    versions.register(ROW, () -> 0);
    for (int i = 1; i < 1_000; i++) {
      versions.register(other(i), () -> 0);
      assertTrue("" + i, versions.isCurrent(ROW, 0));
    }
    long others = IntStream.range(1, 1_000).filter(i -> versions.isCurrent(other(i), 0)).count();
    assertEquals(RowVersions.WAYS - 1, others);
  }

  @Test
  public void testARowThatCannotBeNumberedIsRegisteredLater() {
    RowVersions versions = new RowVersions(0);
    assertThrows(IllegalStateException.class, () -> versions.register(ROW, () -> {
      throw new IllegalStateException();
    }));
    assertFalse(versions.isCurrent(ROW, 10));
    assertEquals(3, versions.register(ROW, () -> 3));
    assertTrue(versions.isCurrent(ROW, 3));
  }
}
