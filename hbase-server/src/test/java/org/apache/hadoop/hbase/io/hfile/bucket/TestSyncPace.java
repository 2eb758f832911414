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

import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category({ IOTests.class, SmallTests.class })
public class TestSyncPace {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestSyncPace.class);

  private static final int MEGABYTE = 1 << 20;

  /** Starts where the clock of a JVM may be about to wrap. */
  private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - SyncPace.INTERVAL_NANOS / 2);
  private final SyncPace pace = new SyncPace(nanos::get);

  @Test
  public void testOnceASecond() {
    assertTrue("the first batch", pace.isDue());
    for (int i = 0; i < 5; i++) {
      pace.written(1);
      assertFalse(pace.isDue());
      nanos.addAndGet(SyncPace.INTERVAL_NANOS - 1);
      assertFalse(pace.isDue());
      nanos.addAndGet(1);
      assertTrue("batch " + i, pace.isDue());
    }
  }

  @Test
  public void testMuchIsSyncedAtOnce() {
    assertTrue(pace.isDue());
    for (int i = 0; i < 5; i++) {
      for (int j = 1; j < SyncPace.MAX_MEGABYTES; j++) {
        pace.written(MEGABYTE);
        assertFalse(pace.isDue());
      }
      nanos.incrementAndGet();
      pace.written(MEGABYTE - 1);
      assertFalse(pace.isDue());
      pace.written(1);
      assertTrue(pace.isDue());
    }
  }

  @Test
  public void testAFailedSyncIsRepeated() {
    assertTrue(pace.isDue());
    for (int i = 0; i < 5; i++) {
      nanos.incrementAndGet();
      pace.syncFailed();
      assertTrue(pace.isDue());
    }
    assertFalse(pace.isDue());
  }

  @Test
  public void testOneOfSeveralWritersSyncs() throws Exception {
    int writers = 5;
    int rounds = 2000;
    AtomicInteger due = new AtomicInteger();
    CyclicBarrier round = new CyclicBarrier(writers, () -> {
      nanos.addAndGet(SyncPace.INTERVAL_NANOS);
    });
    Thread[] threads = new Thread[writers];
    for (int i = 0; i < writers; i++) {
      threads[i] = new Thread(() -> {
        try {
          for (int j = 0; j < rounds; j++) {
            round.await();
            if (pace.isDue()) {
              due.incrementAndGet();
            }
          }
        } catch (Exception e) {
          due.addAndGet(rounds);
        }
      });
      threads[i].start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertEquals(rounds, due.get());
  }
}
