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
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.Waiter;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.After;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category({ RegionServerTests.class, SmallTests.class })
public class TestGuardedAsyncWalBound {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestGuardedAsyncWalBound.class);

  private final Configuration conf = new Configuration(false);
  private final ExecutorService writer = Executors.newSingleThreadExecutor();
  private final AtomicLong synced = new AtomicLong();
  private final DroppedAppends dropped = new DroppedAppends();
  private GuardedAsyncWalBound bound;

  @After
  public void closeBound() {
    if (bound != null) {
      bound.close();
    }
    writer.shutdownNow();
  }

  /** Opens a WAL whose syncs fail. */
  private void open() {
    bound = new GuardedAsyncWalBound(AsyncWalSettings.of(conf), "test", TimeUnit.HOURS.toNanos(1),
      synced::get, txid -> {
        throw new IOException("HDFS is away");
      }, () -> 1, new ReentrantLock(), dropped);
  }

  @Test
  public void testNothingIsAcknowledgedAfterAcknowledgedWriteWasDropped() throws Exception {
    conf.set(AsyncWalSettings.MAX_UNSYNCED_KEY, "1000");
    open();
    Future<?> waiting = writer.submit(() -> {
      bound.acknowledge(1, 1_001);
      return null;
    });
    Waiter.waitFor(conf, 120_000, 5, () -> bound.blockedWriters() == 1);
    drop(1);
    assertEquals("An append to test has failed",
      assertThrows(ExecutionException.class, () -> waiting.get(2, TimeUnit.MINUTES)).getCause()
        .getMessage());
    assertEquals("Disk on fire",
      assertThrows(IOException.class, () -> bound.acknowledge(2, 1)).getCause().getMessage());
    assertTrue(
      assertThrows(IOException.class, () -> GuardedAsyncWalBound.failIfLost(bound)).getMessage()
        .contains("the server must abort"));
    GuardedAsyncWalBound.failIfLost(null);
    assertTrue(GuardedAsyncWalBound.mayAppendAgain(null));
  }

  @Test
  public void testDroppedWriteIsNotAcknowledgedLater() throws Exception {
    conf.set(AsyncWalSettings.INTERVAL_KEY, "3600000");
    open();
    bound.acknowledge(4, 1);
    drop(5, 6);
    assertTrue("No caller knows of it", GuardedAsyncWalBound.mayAppendAgain(bound));
    GuardedAsyncWalBound.failIfLost(bound);
    // The WAL has rolled meanwhile, and was synced.
    synced.set(9);
    for (long txid = 5; txid <= 6; txid++) {
      long gone = txid;
      assertThrows(IOException.class, () -> bound.acknowledge(gone, 1));
    }
    bound.acknowledge(4, 1);
    bound.acknowledge(10, 1);
  }

  private void drop(long... txids) {
    for (long txid : txids) {
      dropped.add(txid);
      GuardedAsyncWalBound.dropped(bound, txid, new IOException("Disk on fire"));
    }
  }

  /** Returns whether the WAL may append to the next writer. */
  private boolean roll() {
    dropped.endRange();
    return GuardedAsyncWalBound.mayAppendAgain(bound);
  }

  private void assertDropped(long... txids) {
    for (long txid : txids) {
      assertThrows("" + txid, IOException.class, () -> bound.acknowledge(txid, 1));
    }
  }

  @Test
  public void testWritesBetweenTwoDropsAreAcknowledgedAndThoseDroppedAreNotHoweverLate()
    throws Exception {
    conf.set(AsyncWalSettings.INTERVAL_KEY, "3600000");
    open();
    bound.acknowledge(4, 1);
    drop(5, 7);
    assertTrue(roll());
    // Writes 11 and 12 are in the next file. Write 11 is acknowledged before the drop, write 12
    // after it.
    bound.acknowledge(11, 1);
    drop(20);
    assertTrue("No caller knows of it", GuardedAsyncWalBound.mayAppendAgain(bound));
    bound.acknowledge(12, 1);
    assertTrue(roll());
    synced.set(30);
    // The checks of the first roll follow the second; 6 is between two that were dropped by one.
    assertDropped(5, 6, 7, 20);
    bound.acknowledge(4, 1);
    bound.acknowledge(8, 1);
    bound.acknowledge(19, 1);
    bound.acknowledge(21, 1);
  }

  @Test
  public void testTheWalAppendsNoMoreAfterAcknowledgedWriteWasDropped() throws Exception {
    conf.set(AsyncWalSettings.INTERVAL_KEY, "3600000");
    open();
    drop(5);
    assertTrue(roll());
    bound.acknowledge(9, 1);
    drop(8);
    assertFalse(roll());
    assertDropped(5, 8, 10);
  }
}
