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
package org.apache.hadoop.hbase.io.hfile.segment;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category({ IOTests.class, SmallTests.class })
public class TestWriteBudget {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestWriteBudget.class);

  private static final long MB = 1 << 20;

  /** A clock that goes on when somebody sleeps. */
  private static final class TestClock implements WriteBudget.Clock {
    private long now = 1_000_000_007;
    private long oversleep;

    @Override
    public synchronized long nanos() {
      return now;
    }

    @Override
    public synchronized void sleep(long nanos) {
      now += nanos + oversleep;
    }

    synchronized void pass(long nanos) {
      now += nanos;
    }
  }

  private final TestClock clock = new TestClock();

  private double seconds(long start) {
    return (clock.nanos() - start) / (double) TimeUnit.SECONDS.toNanos(1);
  }

  @Test
  public void writesKeepToTheLimit() throws InterruptedException {
    for (long limit : new long[] { MB / 2, 10 * MB, 2000 * MB }) {
      WriteBudget budget = new WriteBudget(limit, clock);
      long start = clock.nanos();
      long bytes = 0;
      while (bytes < 50 * MB || seconds(start) < 20) {
        budget.acquire((int) MB);
        bytes += MB;
      }
      assertEquals(limit, bytes / seconds(start), 0.05 * limit);
    }
  }

  @Test
  public void slowDevicesAndLateThreadsDoNotLowerTheRate() throws InterruptedException {
    WriteBudget budget = new WriteBudget(10 * MB, clock);
    Random random = new Random(1);
    clock.oversleep = TimeUnit.MILLISECONDS.toNanos(2);
    long start = clock.nanos();
    long bytes = 0;
    while (seconds(start) < 60) {
      budget.acquire((int) MB);
      bytes += MB;
      clock.pass(TimeUnit.MILLISECONDS.toNanos(random.nextInt(140)));
    }
    assertEquals(10 * MB, bytes / seconds(start), 0.5 * MB);
  }

  @Test
  public void idleTimeIsNotSaved() throws InterruptedException {
    WriteBudget budget = new WriteBudget(10 * MB, clock);
    clock.pass(TimeUnit.HOURS.toNanos(1));
    long start = clock.nanos();
    for (int i = 0; i < 100; i++) {
      budget.acquire((int) MB);
    }
    assertTrue(seconds(start) > 9.5);
  }

  @Test
  public void newLimitHoldsAtOnce() throws InterruptedException {
    WriteBudget budget = new WriteBudget(MB, clock);
    for (int i = 0; i < 10; i++) {
      budget.acquire((int) MB);
    }
    long start = clock.nanos();
    budget.setLimit(0);
    for (int i = 0; i < 1000; i++) {
      budget.acquire((int) MB);
    }
    assertEquals(0, seconds(start), 0);
    budget.setLimit(100 * MB);
    start = clock.nanos();
    for (int i = 0; i < 1000; i++) {
      budget.acquire((int) MB);
    }
    assertEquals(10, seconds(start), 0.5);
  }

  @Test
  public void storeWritesNoMoreThanItsLimit() throws IOException {
    long limit = MB;
    StoredBlocksFixture blocks = new StoredBlocksFixture(new SimulatedDevices(),
      StoredBlocksFixture.settings(StoredBlocksFixture.paths("a", "b"), 0.25, limit), clock)
        .start();
    long start = clock.nanos();
    long offset = 0;
    while (seconds(start) < 10) {
      blocks.insert("f", offset++);
    }
    SegmentStoreMetrics metrics = blocks.store.metrics();
    assertTrue(metrics.writtenBytes.sum() + " bytes in " + seconds(start) + " s",
      metrics.writtenBytes.sum() <= 1.05 * limit * seconds(start));
    assertTrue(metrics.writtenBytes.sum() >= 0.9 * limit * seconds(start));
    assertTrue(metrics.writeAmplification() > 0.9);
    blocks.close();
  }
}
