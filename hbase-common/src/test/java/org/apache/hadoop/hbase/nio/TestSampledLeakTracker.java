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
package org.apache.hadoop.hbase.nio;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertTrue;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.MiscTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

import org.apache.hbase.thirdparty.io.netty.util.ResourceLeakDetector;
import org.apache.hbase.thirdparty.io.netty.util.ResourceLeakTracker;

/** Tests that what is used over and over is not recorded each time, and that leaks are found. */
@Category({ MiscTests.class, SmallTests.class })
public class TestSampledLeakTracker {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestSampledLeakTracker.class);

  private final ResourceLeakDetector.Level levelBefore = ResourceLeakDetector.getLevel();

  /** Counts. */
  private static final class Counter implements ResourceLeakTracker<Object> {
    private final AtomicInteger records = new AtomicInteger();
    private final AtomicInteger hints = new AtomicInteger();
    private final AtomicInteger closed = new AtomicInteger();

    @Override
    public void record() {
      records.incrementAndGet();
    }

    @Override
    public void record(Object hint) {
      hints.incrementAndGet();
    }

    @Override
    public boolean close(Object trackedObject) {
      return closed.incrementAndGet() == 1;
    }
  }

  private final Counter counter = new Counter();

  @Before
  public void setUp() {
    ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.SIMPLE);
  }

  @After
  public void tearDown() {
    ResourceLeakDetector.setLevel(levelBefore);
  }

  @Test
  public void testFirstAccessesAreAllRecordedAndThenOneOfMany() {
    ResourceLeakTracker<Object> tracker = SampledLeakTracker.of(counter);
    for (int i = 0; i < SampledLeakTracker.FIRST; i++) {
      tracker.record();
    }
    assertEquals(SampledLeakTracker.FIRST, counter.records.get());
    int expected = 1000;
    for (int i = 0; i < expected * SampledLeakTracker.ONE_OF; i++) {
      tracker.record();
    }
    // The tolerance is six times the standard deviation.
    assertEquals(expected, counter.records.get() - SampledLeakTracker.FIRST, 190);
  }

  @Test
  public void testHintsArePassedOn() {
    ResourceLeakTracker<Object> tracker = SampledLeakTracker.of(counter);
    tracker.record("hint");
    assertEquals(1, counter.hints.get());
  }

  @Test
  public void testEndIsPassedOn() {
    ResourceLeakTracker<Object> tracker = SampledLeakTracker.of(counter);
    for (int i = 0; i < 1000; i++) {
      tracker.record();
    }
    assertTrue(tracker.close(this));
    assertEquals(1, counter.closed.get());
  }

  @Test
  public void testWhoRaisesTheLevelGetsEveryRecord() {
    for (ResourceLeakDetector.Level level : new ResourceLeakDetector.Level[] {
      ResourceLeakDetector.Level.ADVANCED, ResourceLeakDetector.Level.PARANOID }) {
      ResourceLeakDetector.setLevel(level);
      assertSame(counter, SampledLeakTracker.of(counter));
    }
  }

  @Test
  public void testWhatIsNotWatchedStaysSo() {
    assertNull(SampledLeakTracker.of(null));
  }

  @Test
  public void testThreadsTogetherRecordFew() throws Exception {
    ResourceLeakTracker<Object> tracker = SampledLeakTracker.of(counter);
    int threads = 8;
    int each = 100 * SampledLeakTracker.ONE_OF;
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      List<Future<?>> ends = new ArrayList<>();
      for (int t = 0; t < threads; t++) {
        ends.add(pool.submit(() -> {
          for (int i = 0; i < each; i++) {
            tracker.record();
          }
        }));
      }
      for (Future<?> end : ends) {
        end.get();
      }
    } finally {
      pool.shutdownNow();
    }
    int records = counter.records.get();
    assertTrue(records + " records", records >= SampledLeakTracker.FIRST);
    // Each thread may see the count of the others late.
    assertTrue(records + " records", records <= threads * (SampledLeakTracker.FIRST + 200));
  }

  /** Tells instead of logging, which would fail the build. */
  private static final class Detector extends ResourceLeakDetector<Object> {
    private final Queue<String> leaks = new ConcurrentLinkedQueue<>();

    Detector() {
      super(Object.class, 1);
    }

    @Override
    protected boolean needReport() {
      return true;
    }

    @Override
    protected void reportTracedLeak(String resourceType, String records) {
      leaks.add(records);
    }
  }

  private static void useAndLeak(Detector detector) {
    ResourceLeakTracker<Object> tracker = SampledLeakTracker.of(detector.track(new Object()));
    for (int i = 0; i < 10 * SampledLeakTracker.ONE_OF; i++) {
      tracker.record();
    }
  }

  @Test
  public void testLeaksAreReportedWithWhereTheyWereUsed() throws InterruptedException {
    Detector detector = new Detector();
    useAndLeak(detector);
    for (int i = 0; i < 6000 && detector.leaks.isEmpty(); i++) {
      System.gc();
      Thread.sleep(20);
      // It reports what it has found when it is asked to watch something new.
      Object next = new Object();
      detector.track(next).close(next);
    }
    assertEquals(1, detector.leaks.size());
    String records = detector.leaks.peek();
    assertTrue(records, records.contains("TestSampledLeakTracker.useAndLeak"));
  }

  @Test
  public void testReferenceCountsAreRecordedSo() throws ReflectiveOperationException {
    Field leak = RefCnt.class.getDeclaredField("leak");
    leak.setAccessible(true);
    int watched = 0;
    // The detector chooses some of them, by default one of 128.
    for (int i = 0; i < 10_000; i++) {
      RefCnt refCnt = RefCnt.create(() -> {
      });
      Object tracker = leak.get(refCnt);
      if (tracker != null) {
        assertSame(SampledLeakTracker.class, tracker.getClass());
        watched++;
      }
      refCnt.release();
    }
    assertTrue("none of them was watched", watched > 0);
  }
}
