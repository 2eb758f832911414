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
import static org.junit.Assert.assertTrue;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category({ IOTests.class, SmallTests.class })
public class TestStallWatch {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestStallWatch.class);

  private static final long NEVER = TimeUnit.DAYS.toNanos(1);

  @Test
  public void testAccessThatDoesNotEndIsAStallUntilItEnds() {
    StallWatch watch = new StallWatch(1_000_000);
    assertFalse(watch.isStalled());
    int access = watch.begin();
    CachedBlockFixture.await(watch::isStalled);
    watch.end(access);
    CachedBlockFixture.await(() -> !watch.isStalled());
    assertEquals(0, watch.maxNanos());
  }

  @Test
  public void testShortAccessesAreNoStall() {
    StallWatch watch = new StallWatch(NEVER);
    for (int i = 0; i < 1_000; i++) {
      watch.end(watch.begin());
      assertFalse(watch.isStalled());
    }
  }

  /** There are far more than are watched at a time. */
  @Test
  public void testOneThatHangsIsFoundBesideManyThatEnd() throws Exception {
    StallWatch watch = new StallWatch(TimeUnit.MILLISECONDS.toNanos(50));
    int hanging = watch.begin();
    Thread[] threads = new Thread[200];
    CountDownLatch begun = new CountDownLatch(threads.length);
    CountDownLatch end = new CountDownLatch(1);
    for (int i = 0; i < threads.length; i++) {
      threads[i] = new Thread(() -> {
        int access = watch.begin();
        begun.countDown();
        try {
          end.await();
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        }
        watch.end(access);
        for (int again = 0; again < 100; again++) {
          watch.end(watch.begin());
        }
      });
      threads[i].start();
    }
    begun.await();
    end.countDown();
    for (Thread thread : threads) {
      thread.join();
    }
    CachedBlockFixture.await(watch::isStalled);
    assertTrue(watch.maxNanos() > TimeUnit.MILLISECONDS.toNanos(50));
    watch.end(hanging);
    CachedBlockFixture.await(() -> watch.maxNanos() == 0);
  }
}
