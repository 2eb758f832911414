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
 * The invariant of {@link SyncPace}, under all {@link Interleavings} with at most two preemptions
 * of writers that write a block each and sync when they are told to. A thread can be preempted
 * before each access to the clock, to the count and to the device, and during a sync.
 */
@Category({ IOTests.class, SmallTests.class })
public class TestSyncPaceInterleavings {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestSyncPaceInterleavings.class);

  private static final int WRITERS = 3;
  private static final int BYTES = (int) SyncPace.MAX_BYTES / 2;
  private static final String LOST = "bytes are neither synced nor counted";

  private final Interleavings threads = new Interleavings(2);
  private boolean losersClear;
  private boolean clearsAfterSync;
  private boolean forgetsFailure;
  private int failures;
  private Steps pace;
  /** Bytes written to the device, and those that a sync has covered. */
  private long written;
  private long synced;
  private int syncs;
  private int failuresLeft;

  /** A pace whose steps are seen, in a time that does not pass. */
  private final class Steps extends SyncPace {
    Steps() {
      super(() -> {
        threads.point();
        return 0;
      });
    }

    @Override
    boolean claim(long before, long now) {
      threads.point();
      boolean claimed = super.claim(before, now);
      if (!claimed && losersClear) {
        threads.point();
        super.clear();
      }
      return claimed;
    }

    @Override
    long counted() {
      threads.point();
      return super.counted();
    }

    @Override
    void clear() {
      threads.point();
      if (!clearsAfterSync) {
        super.clear();
      }
    }

    void clearLate() {
      threads.point();
      super.clear();
    }
  }

  @After
  public void tearDown() {
    threads.close();
  }

  private void write() {
    threads.point();
    written += BYTES;
    threads.point();
    pace.written(BYTES);
    threads.point();
    if (pace.isDue()) {
      sync();
    }
  }

  private void sync() {
    threads.point();
    syncs++;
    long covered = written;
    boolean fails = failuresLeft > 0;
    failuresLeft -= fails ? 1 : 0;
    threads.point();
    if (!fails) {
      synced = Math.max(synced, covered);
      if (clearsAfterSync) {
        pace.clearLate();
      }
    } else if (!forgetsFailure) {
      pace.syncFailed();
    }
  }

  /** The first writer to ask is told, since there was no sync yet. */
  private int tryAll() throws Exception {
    Interleavings.Body[] writers = new Interleavings.Body[WRITERS];
    for (int i = 0; i < WRITERS; i++) {
      writers[i] = this::write;
    }
    int orders = 0;
    do {
      pace = new Steps();
      written = 0;
      synced = 0;
      syncs = 0;
      failuresLeft = failures;
      threads.run(true, writers);
      threads.check();
      assertTrue(syncs + " syncs", syncs >= 1 && syncs <= WRITERS);
      // Due as soon as what is not synced is as much as may be.
      pace.written((int) Math.max(0, SyncPace.MAX_BYTES - (written - synced)));
      assertTrue(LOST, pace.isDue());
      orders++;
    } while (threads.next());
    return orders;
  }

  private void assertFound() {
    AssertionError found = assertThrows(AssertionError.class, this::tryAll);
    assertEquals(LOST, found.getMessage());
  }

  @Test
  public void testWhatIsWrittenIsCountedOrSynced() throws Exception {
    int orders = tryAll();
    assertTrue(orders + " orders", orders > 500);
  }

  @Test
  public void testWhatASyncHasFailedToKeepIsCounted() throws Exception {
    for (failures = 1; failures <= WRITERS; failures++) {
      int orders = tryAll();
      assertTrue(orders + " orders", orders > 500);
    }
  }

  @Test
  public void testCountThatIsClearedAfterTheSyncIsFound() {
    clearsAfterSync = true;
    assertFound();
  }

  @Test
  public void testCountThatIsClearedByAWriterThatDoesNotSyncIsFound() {
    losersClear = true;
    assertFound();
  }

  @Test
  public void testFailureThatIsNotReportedIsFound() {
    failures = 1;
    forgetsFailure = true;
    assertFound();
  }
}
