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
package org.apache.hadoop.hbase.io.hfile.bucket;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.io.hfile.CircuitBreaker;
import org.apache.hadoop.hbase.io.hfile.bucket.DeviceHealth.State;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** Tests when a device is bypassed, tried, disabled and used again, on a clock of its own. */
@Category({ IOTests.class, SmallTests.class })
public class TestDeviceHealth {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestDeviceHealth.class);

  private static final long TOLERATED_MS = 60_000;
  private static final long FIRST_PAUSE_MS =
    TimeUnit.NANOSECONDS.toMillis(CircuitBreaker.FIRST_PAUSE);
  private static final long MAX_PAUSE_MS =
    TimeUnit.NANOSECONDS.toMillis(CircuitBreaker.MAX_PAUSE);

  private final AtomicLong now = new AtomicLong(-5);
  private final DeviceHealth health = new DeviceHealth(TOLERATED_MS, now::get);

  private void pass(long ms) {
    now.addAndGet(TimeUnit.MILLISECONDS.toNanos(ms));
  }

  private void failReads() {
    int term = health.term();
    for (int i = 1; i < DeviceHealth.FAILURES_IN_A_ROW; i++) {
      assertFalse(health.readFailed(term));
    }
    assertTrue(health.readFailed(term));
    assertEquals(State.BYPASSED, health.state());
  }

  @Test
  public void testFailuresInARowBypass() {
    failReads();
    assertFalse("only one failure starts the trials", health.readFailed(health.term()));
  }

  @Test
  public void testSuccessBetweenFailures() {
    for (int i = 0; i < 100; i++) {
      for (int j = 1; j < DeviceHealth.FAILURES_IN_A_ROW; j++) {
        assertFalse(health.readFailed(health.term()));
      }
      health.readSucceeded();
      pass(TOLERATED_MS);
    }
    assertTrue(health.isWorking());
  }

  @Test
  public void testWritesThatSucceedDoNotHideReadsThatFail() {
    for (int i = 1; i < DeviceHealth.FAILURES_IN_A_ROW; i++) {
      assertFalse(health.readFailed(health.term()));
      health.writeSucceeded();
    }
    assertTrue(health.readFailed(health.term()));
  }

  @Test
  public void testReadsThatSucceedDoNotHideWritesThatFail() {
    for (int i = 1; i < DeviceHealth.FAILURES_IN_A_ROW; i++) {
      assertFalse(health.writeFailed(health.term()));
      health.readSucceeded();
    }
    assertTrue(health.writeFailed(health.term()));
  }

  @Test
  public void testWritesThatSucceedDoNotHideSyncsThatFail() {
    for (int i = 1; i < DeviceHealth.FAILURES_IN_A_ROW; i++) {
      assertFalse(health.syncFailed(health.term()));
      health.writeSucceeded();
    }
    assertTrue(health.syncFailed(health.term()));
  }

  @Test
  public void testPausesDoubleAndEndWithTheToleratedTime() {
    failReads();
    long waited = 0;
    long expected = FIRST_PAUSE_MS;
    while (!health.disableIfNotTolerated()) {
      if (waited > 0) {
        health.probeFailed();
      }
      long pause = health.nextPauseMs();
      assertTrue(pause + " of " + expected,
        pause == expected || waited + pause >= TOLERATED_MS && pause < expected);
      expected = Math.min(2 * expected, MAX_PAUSE_MS);
      waited += pause;
      pass(pause);
    }
    assertEquals(TOLERATED_MS, waited, 10);
    assertEquals(State.DISABLED, health.state());
  }

  @Test
  public void testTrialThatSucceedsEndsTheBypass() {
    failReads();
    pass(1000);
    assertFalse(health.disableIfNotTolerated());
    health.works();
    assertTrue(health.isWorking());
  }

  @Test
  public void testFailureOfABygoneTermTellsNothing() {
    int before = health.term();
    failReads();
    health.works();
    for (int i = 0; i < 100; i++) {
      assertFalse(health.readFailed(before));
    }
    assertTrue(health.isWorking());
    failReads();
  }

  /** The trial can be read from the page cache, or the bad spots are elsewhere. */
  @Test
  public void testTrialsAloneDoNotEndAnOutage() {
    long pause = 0;
    for (int i = 0; i < 10_000 && health.state() != State.DISABLED; i++) {
      failReads();
      long next = health.nextPauseMs();
      assertTrue(next >= Math.min(pause, MAX_PAUSE_MS)
        || health.outageMs() + next >= TOLERATED_MS);
      pause = next;
      pass(next);
      if (!health.disableIfNotTolerated()) {
        health.works();
      }
    }
    assertEquals(State.DISABLED, health.state());
  }

  @Test
  public void testReadThatSucceedsEndsAnOutage() {
    failReads();
    pass(TOLERATED_MS - 1);
    health.works();
    health.readSucceeded();
    pass(2);
    failReads();
    assertFalse(health.disableIfNotTolerated());
    // The device did not work for long.
    assertEquals(2 * FIRST_PAUSE_MS, health.nextPauseMs());
  }

  @Test
  public void testReturnThatLastsShortensThePauseAgain() {
    failReads();
    health.works();
    health.readSucceeded();
    pass(11 * FIRST_PAUSE_MS);
    failReads();
    assertEquals(FIRST_PAUSE_MS, health.nextPauseMs());
  }

  @Test
  public void testOutageOfLongAgoIsAnother() {
    failReads();
    health.works();
    // No block was read meanwhile.
    pass(TOLERATED_MS + 1);
    failReads();
    assertFalse(health.disableIfNotTolerated());
  }

  @Test
  public void testDisabledDeviceThatIsTakenBackStartsAnew() {
    failReads();
    pass(TOLERATED_MS + 1);
    assertTrue(health.disableIfNotTolerated());
    assertFalse(health.readFailed(health.term()));
    health.works();
    assertTrue(health.isWorking());
    failReads();
    assertFalse(health.disableIfNotTolerated());
  }
}
