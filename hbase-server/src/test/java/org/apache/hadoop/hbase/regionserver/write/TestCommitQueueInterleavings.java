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
package org.apache.hadoop.hbase.regionserver.write;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.hbase.util.Interleavings;
import org.junit.After;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * The invariant of {@link CommitQueue}, under all {@link Interleavings} with one
 * preemption of callers that add a write each and committers that commit what waits: each write is
 * in one group, one group at most is formed at a time, and no more are in the WAL than may be.
 */
@Category({ RegionServerTests.class, SmallTests.class })
public class TestCommitQueueInterleavings {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestCommitQueueInterleavings.class);

  /**
   * The number of preemptions, enough to find each fault; more by
   * <code>-Dcommitqueue.preemptions</code>.
   */
  private static final int PREEMPTIONS = Integer.getInteger("commitqueue.preemptions", 1);
  private static final int CALLERS = 2;
  private static final int COMMITTERS = 2;

  /** A step that is left out. */
  private enum Fault {
    NONE,
    CALLER_STARTS_NO_COMMITTER,
    CALLER_LEAVES_ONE_WRITE,
    APPEND_STARTS_NO_COMMITTER,
    END_IGNORES_THE_TURN,
    END_IS_NOT_SAID,
    TURN_IS_NOT_GIVEN_BACK,
    APPEND_IS_SAID_TWICE
  }

  private Interleavings threads = new Interleavings(PREEMPTIONS);
  private Fault fault = Fault.NONE;
  private int maxSyncing = 1;
  private boolean appends = true;
  /** A bit for each start of a committer, the first one's lowest: whether it fails. */
  private int failingStarts;

  private CommitQueue<Integer> queue;
  /** Each committer has one. */
  private final Interleavings.Permits[] starts = new Interleavings.Permits[COMMITTERS];
  private int started;
  private int tried;
  private boolean ended;
  private int[] committed;
  private int forming;
  private int syncing;

  @After
  public void tearDown() {
    threads.close();
  }

  private void add(int write) {
    threads.point();
    CommitQueue.Added added = queue.add(write);
    if (
      added == CommitQueue.Added.NEEDS_COMMITTER && fault != Fault.CALLER_STARTS_NO_COMMITTER
    ) {
      if (!start()) {
        leave();
      }
    }
  }

  /** A caller that finds no committer leaves all that waits to others. */
  private void leave() {
    do {
      threads.point();
      queue.take(fault == Fault.CALLER_LEAVES_ONE_WRITE ? 1 : CALLERS, any -> 1, CALLERS)
        .forEach(write -> committed[write]++);
      threads.point();
    } while (queue.ended(false) && fault != Fault.CALLER_LEAVES_ONE_WRITE);
  }

  private boolean start() {
    if ((failingStarts & 1 << tried++) != 0) {
      return false;
    }
    assertTrue("committers", started < COMMITTERS);
    starts[started++].release();
    return true;
  }

  private void commitAll(int committer) throws InterruptedException {
    starts[committer].acquire();
    boolean more = !ended;
    while (more) {
      forming++;
      assertEquals("groups that are formed", 1, forming);
      List<Integer> group = queue.take(2, any -> 1, 10);
      threads.point();
      group.forEach(write -> committed[write]++);
      forming--;
      if (appends) {
        syncing++;
        assertTrue("groups in the WAL", syncing <= maxSyncing + 1);
        appended();
        if (fault == Fault.APPEND_IS_SAID_TWICE) {
          appended();
        }
        threads.point();
        syncing--;
      }
      more = fault != Fault.END_IS_NOT_SAID && queue.ended(appends)
        && fault != Fault.END_IGNORES_THE_TURN;
    }
  }

  private void appended() {
    if (queue.appended() && fault != Fault.APPEND_STARTS_NO_COMMITTER) {
      if (!start() && fault != Fault.TURN_IS_NOT_GIVEN_BACK) {
        threads.point();
        queue.giveBack();
      }
    }
  }

  private int tryAll() throws Exception {
    Interleavings.Body[] all = new Interleavings.Body[CALLERS + COMMITTERS];
    for (int i = 0; i < all.length; i++) {
      int number = i;
      all[i] = i < CALLERS ? () -> add(number) : () -> commitAll(number - CALLERS);
    }
    int[] once = new int[CALLERS];
    Arrays.fill(once, 1);
    int orders = 0;
    do {
      queue = new CommitQueue<>(CALLERS, maxSyncing);
      Arrays.setAll(starts, i -> threads.new Permits(0));
      started = 0;
      tried = 0;
      ended = false;
      committed = new int[CALLERS];
      forming = 0;
      syncing = 0;
      threads.run(true, all);
      threads.check();
      assertArrayEquals("each write once", once, committed);
      assertTrue("idle", queue.isIdle());
      ended = true;
      threads.run(false, () -> Arrays.stream(starts).skip(started)
        .forEach(Interleavings.Permits::release));
      orders++;
    } while (threads.next());
    return orders;
  }

  private void assertFound(Fault seeded, String message) {
    fault = seeded;
    // A run that fails leaves decisions behind.
    threads.close();
    threads = new Interleavings(PREEMPTIONS);
    AssertionError found = assertThrows(seeded.name(), AssertionError.class, this::tryAll);
    assertTrue(seeded + ": " + found.getMessage(), found.getMessage().startsWith(message));
  }

  @Test
  public void testEachWriteIsCommittedOnce() throws Exception {
    int orders = tryAll();
    assertTrue(orders + " orders", orders > 100);
  }

  @Test
  public void testGroupsThatAreNotSyncedBesideTheNext() throws Exception {
    maxSyncing = 0;
    tryAll();
  }

  @Test
  public void testGroupsThatKeepTheTurn() throws Exception {
    appends = false;
    tryAll();
  }

  @Test
  public void testCommittersThatCannotBeStartedAreMissedByNobody() throws Exception {
    for (maxSyncing = 0; maxSyncing <= 1; maxSyncing++) {
      for (failingStarts = 1; failingStarts < 16; failingStarts++) {
        tryAll();
      }
    }
  }

  @Test
  public void testEachStepIsNeeded() {
    for (Fault each : Fault.values()) {
      // The start that fails is a caller's, or that of the group after the first.
      failingStarts = each == Fault.CALLER_LEAVES_ONE_WRITE ? 0b1
        : each == Fault.TURN_IS_NOT_GIVEN_BACK ? 0b10 : 0;
      // With so few writes, one waits for the end of a group only if no other group is formed
      // meanwhile.
      maxSyncing = each == Fault.END_IGNORES_THE_TURN ? 0 : 1;
      if (each != Fault.NONE) {
        assertFound(each, each == Fault.END_IS_NOT_SAID || each == Fault.APPEND_IS_SAID_TWICE
          ? "idle"
          : "each write once");
      }
    }
  }
}
