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
package org.apache.hadoop.hbase.io.hfile.segment.store;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.hbase.util.Interleavings;
import org.junit.After;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * The invariant of {@link StallWatch}, under all {@link Interleavings} with at most two
 * preemptions of an access that hangs, of two accesses that end, and of a reader of the slots. All
 * accesses try one slot first. A thread can be preempted before each access to a slot and to the
 * clock.
 */
@Category({ IOTests.class, SmallTests.class })
public class TestStallWatchInterleavings {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestStallWatchInterleavings.class);

  private static final long LIMIT = 100;

  private final Interleavings threads = new Interleavings(2);
  private boolean sharesSlots;
  private Steps watch;
  private long now;

  /** A watch whose accesses to slots are steps. */
  private final class Steps extends StallWatch {
    Steps() {
      super(LIMIT, () -> {
        threads.point();
        return now;
      });
    }

    @Override
    int firstSlot() {
      return 63;
    }

    @Override
    boolean claim(int at, long start) {
      threads.point();
      // The defect: a slot is written although another access has claimed it.
      return super.claim(at, start) || sharesSlots;
    }

    @Override
    long read(int at) {
      threads.point();
      return super.read(at);
    }
  }

  @After
  public void tearDown() {
    threads.close();
  }

  private void comeAndGo() {
    int slot = watch.begin();
    threads.point();
    watch.end(slot);
  }

  private int tryAll() throws Exception {
    int orders = 0;
    do {
      now = 1000;
      watch = new Steps();
      threads.run(true, () -> watch.begin(), this::comeAndGo, this::comeAndGo,
        () -> assertFalse("stalls at once", watch.isStalled()));
      threads.check();
      now += LIMIT + LIMIT / 4;
      assertTrue("an access hangs and is not seen", watch.isStalled());
      orders++;
    } while (threads.next());
    return orders;
  }

  @Test
  public void testAccessThatHangsIsSeenWhateverComesAndGoes() throws Exception {
    assertTrue(tryAll() > 1000);
  }

  @Test
  public void testSlotThatIsWrittenByTwoIsFound() {
    sharesSlots = true;
    AssertionError found = assertThrows(AssertionError.class, this::tryAll);
    assertEquals("an access hangs and is not seen", found.getMessage());
  }
}
