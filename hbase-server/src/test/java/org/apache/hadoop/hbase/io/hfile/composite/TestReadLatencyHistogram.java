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
package org.apache.hadoop.hbase.io.hfile.composite;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category({ IOTests.class, SmallTests.class })
public class TestReadLatencyHistogram {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestReadLatencyHistogram.class);

  private static void assertAtMostASixteenthAbove(long expected, long actual) {
    assertTrue(actual + " for " + expected,
      actual >= expected && actual <= expected + expected / 16 + 1);
  }

  @Test
  public void testBucketsFollowEachOtherWithoutGapAndEachIsASixteenthWideAtMost() {
    int bucket = ReadLatencyHistogram.bucketOf(0);
    assertEquals(0, bucket);
    for (long nanos = 1; nanos < 1L << 40; nanos = ReadLatencyHistogram.upperEnd(bucket) + 1) {
      assertEquals("at " + nanos, bucket + 1, ReadLatencyHistogram.bucketOf(nanos));
      bucket++;
      assertEquals(bucket, ReadLatencyHistogram.bucketOf(ReadLatencyHistogram.upperEnd(bucket)));
      assertAtMostASixteenthAbove(nanos, ReadLatencyHistogram.upperEnd(bucket));
    }
    assertEquals("more than 18 minutes", bucket, ReadLatencyHistogram.bucketOf(Long.MAX_VALUE));
    assertEquals("a clock that went back", 0, ReadLatencyHistogram.bucketOf(-5));
  }

  @Test
  public void testPercentilesAreThoseOfWhatWasTimed() {
    ReadLatencyHistogram times = new ReadLatencyHistogram(1, 6);
    assertEquals(0, times.getSummary().max);
    for (int i = 1; i <= 10_000; i++) {
      times.record(i * 1000L);
    }
    times.roll();
    ReadLatencyHistogram.Summary summary = times.getSummary();
    assertEquals(10_000, summary.count);
    assertAtMostASixteenthAbove(5_000_000, summary.median);
    assertAtMostASixteenthAbove(9_500_000, summary.p95);
    assertAtMostASixteenthAbove(9_900_000, summary.p99);
    assertAtMostASixteenthAbove(9_990_000, summary.p999);
    assertAtMostASixteenthAbove(10_000_000, summary.max);
  }

  @Test
  public void testOneSlowReadAmongManyIsSeenAsTheLongest() {
    ReadLatencyHistogram times = new ReadLatencyHistogram(1, 6);
    for (int i = 0; i < 100_000; i++) {
      times.record(300);
    }
    times.record(TimeUnit.SECONDS.toNanos(2));
    times.roll();
    assertAtMostASixteenthAbove(300, times.getSummary().p999);
    assertAtMostASixteenthAbove(TimeUnit.SECONDS.toNanos(2), times.getSummary().max);
  }

  @Test
  public void testWhatIsOlderThanTheWindowIsForgotten() {
    ReadLatencyHistogram times = new ReadLatencyHistogram(1, 3);
    times.record(1_000_000);
    for (int i = 0; i < 3; i++) {
      times.roll();
      assertEquals("roll " + i, 1, times.getSummary().count);
    }
    times.record(1000);
    times.roll();
    assertEquals(1, times.getSummary().count);
    assertAtMostASixteenthAbove(1000, times.getSummary().max);
    for (int i = 0; i < 3; i++) {
      times.roll();
    }
    assertEquals(0, times.getSummary().count);
    assertEquals(0, times.getSummary().median);
  }

  @Test
  public void testAsManyReadsAreTimedAsAskedFor() {
    ReadLatencyHistogram all = new ReadLatencyHistogram(1, 6);
    ReadLatencyHistogram some = new ReadLatencyHistogram(32, 6);
    int timed = 0;
    for (int i = 0; i < 320_000; i++) {
      assertTrue(all.start() != ReadLatencyHistogram.NOT_TIMED);
      timed += some.start() == ReadLatencyHistogram.NOT_TIMED ? 0 : 1;
    }
    // The expected number is 10,000; a hundred is one standard deviation.
    assertTrue("timed " + timed, timed > 9_200 && timed < 10_800);
    some.end(ReadLatencyHistogram.NOT_TIMED);
    some.roll();
    assertEquals(0, some.getSummary().count);
    assertThrows(IllegalArgumentException.class, () -> new ReadLatencyHistogram(10, 6));
  }

  @Test
  public void testNoneIsLostWhenManyThreadsRecordAtOnce() throws Exception {
    ReadLatencyHistogram times = new ReadLatencyHistogram(1, 6);
    List<Thread> threads = new ArrayList<>();
    for (int t = 0; t < 16; t++) {
      int thread = t;
      threads.add(new Thread(() -> {
        for (int i = 0; i < 50_000; i++) {
          times.record(1000 + (i + thread) % 8);
        }
      }));
    }
    threads.forEach(Thread::start);
    for (Thread thread : threads) {
      thread.join();
    }
    times.roll();
    assertEquals(800_000, times.getSummary().count);
  }
}
