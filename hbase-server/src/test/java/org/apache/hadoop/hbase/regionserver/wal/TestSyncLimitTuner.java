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
package org.apache.hadoop.hbase.regionserver.wal;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * Limits that are chosen for models of HDFS, in simulated time. In one model it processes a sync
 * after the other, as where the CPUs or a disk are busy; in the other one syncs overlap, as on a
 * network with a long latency. Durations are random.
 */
@Category({ RegionServerTests.class, SmallTests.class })
public class TestSyncLimitTuner {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestSyncLimitTuner.class);

  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
  private static final long MS = TimeUnit.MILLISECONDS.toNanos(1);

  /** Writers that each wait for a sync and then write again, and a WAL. */
  private static final class Model {
    private static final class Event implements Comparable<Event> {
      private final long time;
      /** The writers whose sync ends; null if a writer begins to wait. */
      private final List<Long> synced;

      private Event(long time, List<Long> synced) {
        this.time = time;
        this.synced = synced;
      }

      @Override
      public int compareTo(Event other) {
        return Long.compare(time, other.time);
      }
    }

    private final Random random = new Random(1);
    private final PriorityQueue<Event> events = new PriorityQueue<>();
    private final SyncLimitTuner tuner;
    private List<Long> waiting = new ArrayList<>();
    private int inFlight;
    private long now;
    private long idleFrom;
    private boolean overlap;
    private long syncNs;
    private long waits;
    private long waitedNs;
    private int minLimit;
    private int maxLimit;

    Model(int max, int writers) {
      tuner = new SyncLimitTuner(max, 0);
      add(writers);
    }

    void add(int writers) {
      for (int i = 0; i < writers; i++) {
        events.add(new Event(now + random.nextInt(1_000_000), null));
      }
    }

    Model syncs(boolean syncsOverlap, long ns) {
      overlap = syncsOverlap;
      syncNs = ns;
      return this;
    }

    /** Returns the mean wait of the last half of the time, in milliseconds. */
    double run(long ns) {
      long end = now + ns;
      long half = now + ns / 2;
      waits = 0;
      waitedNs = 0;
      minLimit = SyncLimit.NONE;
      maxLimit = 0;
      while (now < end) {
        Event event = events.remove();
        now = event.time;
        if (event.synced == null) {
          waiting.add(now);
        } else {
          inFlight--;
          for (long start : event.synced) {
            if (now >= half) {
              waits++;
              waitedNs += now - start;
            }
            tuner.waited(start, now);
            // A client's own time.
            events.add(new Event(now + 20_000 + random.nextInt(100_000), null));
          }
        }
        if (!waiting.isEmpty() && inFlight < tuner.limit()) {
          start();
        }
        if (now >= half) {
          minLimit = Math.min(minLimit, tuner.chosenLimit());
          maxLimit = Math.max(maxLimit, tuner.chosenLimit());
        }
      }
      return waitedNs / (double) waits / MS;
    }

    private void start() {
      long duration = (long) (syncNs * (0.7 + 0.6 * random.nextDouble()));
      long done = overlap ? now + duration : Math.max(now, idleFrom) + duration;
      idleFrom = Math.max(idleFrom, done);
      events.add(new Event(done, waiting));
      waiting = new ArrayList<>();
      inFlight++;
    }
  }

  private static void assertLimits(Model model, int min, int max) {
    String seen = String.format(Locale.ROOT, "chosen %d to %d", model.minLimit, model.maxLimit);
    assertTrue(seen, model.minLimit >= min && model.maxLimit <= max);
  }

  @Test
  public void testOneAtATimeWhereEachWaitsForTheOneBefore() {
    for (int max : new int[] { 2, 3, 5, SyncLimit.NONE }) {
      for (int writers : new int[] { 16, 65 }) {
        Model model = new Model(max, writers).syncs(false, MS);
        model.run(10 * SECOND);
        assertLimits(model, 1, 1);
      }
    }
  }

  @Test
  public void testManyWhereTheyOverlap() {
    for (int max : new int[] { 5, SyncLimit.NONE }) {
      for (int writers : new int[] { 16, 65 }) {
        Model model = new Model(max, writers).syncs(true, MS);
        assertEquals("about a sync, not two", 1.1, model.run(10 * SECOND), 0.15);
        assertLimits(model, 4, max);
      }
    }
  }

  @Test
  public void testSlowDataNodeDoesNotPinIt() {
    Model model = new Model(SyncLimit.NONE, 64).syncs(true, MS);
    model.run(10 * SECOND);
    assertEquals("slow for good", 22, model.syncs(true, 20 * MS).run(60 * SECOND), 3);
    assertLimits(model, 4, SyncLimit.NONE);
    assertEquals("and fast again", 1.1, model.syncs(true, MS).run(10 * SECOND), 0.15);
    assertLimits(model, 4, SyncLimit.NONE);
  }

  @Test
  public void testFollowsWhatHdfsIsLike() {
    Model model = new Model(SyncLimit.NONE, 64).syncs(false, MS);
    model.run(10 * SECOND);
    assertLimits(model, 1, 1);
    model.syncs(true, 20 * MS).run(30 * SECOND);
    assertLimits(model, 4, SyncLimit.NONE);
    model.syncs(false, MS).run(30 * SECOND);
    assertLimits(model, 1, 1);
  }

  @Test
  public void testStaysWhileNothingChanges() {
    for (boolean overlap : new boolean[] { false, true }) {
      Model model = new Model(SyncLimit.NONE, 64).syncs(overlap, MS);
      model.run(10 * SECOND);
      long changes = model.tuner.changes();
      model.run(100 * SECOND);
      assertTrue("changes " + changes + " and " + model.tuner.changes(),
        model.tuner.changes() - changes <= 4);
    }
  }

  @Test
  public void testComparisonsTakeLittleTime() {
    Model model = new Model(SyncLimit.NONE, 64).syncs(false, MS);
    double tuned = model.run(60 * SECOND);
    Model fixed = new Model(1, 64).syncs(false, MS);
    assertEquals(1, tuned / fixed.run(60 * SECOND), 0.02);
  }

  @Test
  public void testMoreWritersAreNoticed() {
    Model model = new Model(SyncLimit.NONE, 1).syncs(true, MS);
    model.run(100 * SECOND);
    model.add(63);
    assertEquals(1.1, model.run(10 * SECOND), 0.15);
    assertLimits(model, 4, SyncLimit.NONE);
  }

  @Test
  public void testOneThreadThatSyncsLeavesNoChoice() {
    Model model = new Model(1, 64).syncs(true, MS);
    model.run(10 * SECOND);
    assertLimits(model, 1, 1);
    assertEquals(0, model.tuner.changes());
  }

  @Test
  public void testManyThreadsTellOfTheirWaits() throws Exception {
    SyncLimitTuner tuner = new SyncLimitTuner(5, System.nanoTime());
    ExecutorService threads = Executors.newFixedThreadPool(7);
    List<Future<?>> running = new ArrayList<>();
    for (int i = 0; i < 7; i++) {
      running.add(threads.submit(() -> {
        for (int wait = 0; wait < 1000; wait++) {
          long start = System.nanoTime();
          int limit = tuner.limit();
          assertTrue("limit " + limit, limit == 1 || limit == 2 || limit == 4 || limit == 5);
          Thread.sleep(1);
          tuner.waited(start, System.nanoTime());
        }
        return null;
      }));
    }
    for (Future<?> one : running) {
      one.get();
    }
    threads.shutdown();
    assertTrue("waits of " + tuner.waitMicros(), tuner.waitMicros() >= 1_000);
  }

  @Test
  public void testFixedLimitsAreThoseOfTheKind() {
    Configuration conf = new Configuration(false);
    assertEquals(SyncLimit.NONE, SyncLimit.of(conf, SyncLimit.NONE).get());
    assertEquals(5, SyncLimit.of(conf, 5).get());
    conf.set(SyncsInFlightSettings.MAX_KEY, "2");
    assertEquals(2, SyncLimit.of(conf, SyncLimit.NONE).get());
    assertEquals("FSHLog has a key of its own", 5, SyncLimit.of(conf, 5).get());
  }

  @Test
  public void testMetricsAreOfOpenWals() {
    Configuration conf = new Configuration(false);
    conf.set(SyncsInFlightSettings.MAX_KEY, "auto");
    SyncLimit unlimited = SyncLimit.of(conf, SyncLimit.NONE);
    assertEquals("no limit yet", 0, SyncLimitMetrics.get().minLimit());
    SyncLimit ofThree = SyncLimit.of(conf, 3);
    assertEquals(3, ofThree.get());
    assertEquals(3, SyncLimitMetrics.get().minLimit());
    ofThree.close();
    ofThree.close();
    unlimited.close();
    assertEquals(0, SyncLimitMetrics.get().minLimit());
    assertEquals(0, SyncLimitMetrics.get().maxWaitMicros());
  }

  @Test
  public void testWalThatFailedLeavesNoMetrics() throws Exception {
    Configuration conf = new Configuration(false);
    conf.set(SyncsInFlightSettings.MAX_KEY, "auto");
    SyncLimit.of(conf, 3);
    long end = System.nanoTime() + 120 * SECOND;
    while (SyncLimitMetrics.get().minLimit() != 0 && System.nanoTime() < end) {
      System.gc();
      Thread.sleep(10);
    }
    assertEquals(0, SyncLimitMetrics.get().minLimit());
  }
}
