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
package org.apache.hadoop.hbase.regionserver.rowcache;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.util.Arrays;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Interleavings;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * Every schedule, with three preemptions, of writers of a row, a change of files, a growth of the
 * slots, and readers that cache the row or look it up: what is current is not older than what was
 * acknowledged before the lookup.
 */
@Category({ RegionServerTests.class, LargeTests.class })
public class TestRowVersionsInterleavings {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestRowVersionsInterleavings.class);

  private static final int ROW = 1;
  /** Of another row, which shares the slot until the slots grow. */
  private static final int OTHER = 3;
  private static final int PREEMPTIONS = 3;

  private final Interleavings interleavings = new Interleavings(PREEMPTIONS);

  /** A region of two rows: its writes by number, and one cached row. */
  private final class Model {
    private final RowVersions versions = new RowVersions(2) {
      @Override
      void step() {
        interleavings.point();
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

    void write(int row) {
      long number = begin();
      versions.raise(row, number);
      if (row == ROW) {
        interleavings.point();
        visible.put(number, number);
      }
      complete(number);
      interleavings.point();
      if (row == ROW && readPoint >= number) {
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
      cached = value;
      cachedAt = at;
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
        closed.run(true, scenario.bodies(model));
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
    explore(model -> new Interleavings.Body[] { () -> model.write(ROW),
      () -> model.versions.grow(2), () -> {
        model.cache();
        model.lookUp();
        model.lookUp();
      } });
  }

  @Test
  public void testTwoWriters() throws Exception {
    explore(model -> new Interleavings.Body[] { () -> model.write(ROW), () -> model.write(ROW),
      () -> {
        model.cache();
        model.lookUp();
      } });
  }

  @Test
  public void testWriterOfAnotherRow() throws Exception {
    explore(model -> new Interleavings.Body[] { () -> model.write(OTHER), () -> model.write(ROW),
      () -> {
        model.cache();
        model.lookUp();
      } });
  }

  @Test
  public void testChangeOfFiles() throws Exception {
    explore(model -> new Interleavings.Body[] { model::loadFile, () -> model.write(ROW), () -> {
      model.cache();
      model.lookUp();
    } });
  }

  /** Else a region whose rows are inserted by many handlers has far more slots than rows. */
  @Test(timeout = 300_000)
  public void testGrowthByTwoThreadsDoublesOnce() throws Exception {
    CachedRegion[] region = new CachedRegion[1];
    Thread other = new Thread(() -> region[0].growVersions());
    AtomicBoolean started = new AtomicBoolean();
    RowVersions versions = new RowVersions(2) {
      @Override
      void step() {
        // Within the growth of this thread.
        if (started.compareAndSet(false, true)) {
          other.start();
          while (
            other.getState() != Thread.State.BLOCKED && other.getState() != Thread.State.TERMINATED
          ) {
            Thread.yield();
          }
        }
      }
    };
    region[0] = new CachedRegion(1, versions);
    region[0].addRows(3);
    region[0].growVersions();
    other.join();
    assertTrue(started.get());
    assertEquals(4, versions.slotCount());
    region[0].addRows(2);
    region[0].growVersions();
    assertEquals(8, versions.slotCount());
  }

  @Test
  public void testRowsShareSlotsUntilTheyGrow() {
    RowVersions versions = new RowVersions(2);
    versions.raise(OTHER, 5);
    assertFalse(versions.isCurrent(ROW, 4));
    assertTrue(versions.isCurrent(ROW, 5));
    versions.grow(2);
    assertFalse("the number of before is kept for both", versions.isCurrent(ROW, 4));
    versions.raise(OTHER, 7);
    assertTrue(versions.isCurrent(ROW, 6));
    assertFalse(versions.isCurrent(OTHER, 6));
    for (long number : Arrays.asList(9L, 8L)) {
      versions.raise(ROW, number);
      versions.raiseFloor(number - 1);
    }
    assertFalse(versions.isCurrent(ROW, 8));
    assertTrue(versions.isCurrent(ROW, 9));
    assertFalse("the floor is 8", versions.isCurrent(0, 7));
  }
}
