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
package org.apache.hadoop.hbase.regionserver;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.Waiter;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.regionserver.Region.RowLock;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** Writes that groups were not made for do not wait, and no other write waits for them. */
@Category({ RegionServerTests.class, MediumTests.class })
public class TestWriteGroupsOfMixedLoads extends WriteCallsFixture {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestWriteGroupsOfMixedLoads.class);

  private static final byte[] ROW = Bytes.toBytes("row");

  @Test
  public void testPutsToOneRowAreOneEditAndTheLastOneWins() throws Exception {
    List<Future<Result>> sent = sendFirst();
    int before = edits.get();
    for (int i = 0; i < 100; i++) {
      sent.add(send(new Put(ROW).addColumn(F, Q, 7, Bytes.toBytes("v" + i))));
    }
    watched.openGate();
    await(sent);
    assertTrue("" + (edits.get() - before), edits.get() - before <= 2);
    assertEquals("v99", stored("row"));
    assertEquals(0, handled.get());
  }

  /** All cells of a group have one timestamp, if the client names none. */
  @Test
  public void testDeleteOfARowThatIsPutInTheSameGroup() throws Exception {
    List<Future<Result>> sent = sendFirst();
    sent.add(send(put("row", "v")));
    sent.add(send(new Delete(ROW)));
    watched.openGate();
    await(sent);
    assertNull(stored("row"));
  }

  @Test
  public void testBatchThatReadsTheRowHoldsUpNoOtherWrite() throws Exception {
    List<Future<Result>> sent = sendFirst();
    int before = edits.get();
    Future<Result> reading = sendBatch(region, put("a", "v"), new Delete(ROW).addColumn(F, Q));
    // A handler applies the batch while the maximum number of groups is being synced.
    awaitEdits(before + 1);
    assertEquals(1, handled.get());
    Future<Result> single = send(new Delete(ROW).addColumn(F, Q));
    awaitEdits(before + 2);
    watched.openGate();
    await(sent);
    reading.get(60, TimeUnit.SECONDS);
    single.get(60, TimeUnit.SECONDS);
  }

  @Test
  public void testUrgentCallDoesNotWaitBehindUsualOnes() throws Exception {
    List<Future<Result>> sent = sendFirst();
    for (int i = 0; i < 5; i++) {
      sent.add(send(put("usual" + i, "v")));
    }
    int before = edits.get();
    sent.add(send(others[0], put("urgent", "v"), HConstants.NO_NONCE, HConstants.HIGH_QOS,
      Long.MAX_VALUE));
    awaitEdits(before + 1);
    assertEquals(0, handled.get());
    watched.openGate();
    await(sent);
    assertEquals("v", stored(others[0], "urgent"));
  }

  @Test
  public void testWritesDoNotWaitForHandlers() throws Exception {
    CountDownLatch busy = new CountDownLatch(1);
    for (int i = 0; i < HConstants.DEFAULT_REGION_SERVER_HANDLER_COUNT; i++) {
      handlers.submit(() -> {
        busy.await();
        return null;
      });
    }
    List<Future<Result>> sent = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      sent.add(send(put("row" + i, "v")));
    }
    await(sent);
    busy.countDown();
  }

  @Test
  public void testPutToALockedRowWaitsAndHoldsUpNoOtherWrite() throws Exception {
    List<Future<Result>> sent = sendFirst();
    RowLock lock = region.getRowLock(ROW);
    Future<Result> locked = send(put("row", "v"));
    Future<Result> batch = sendBatch(region, put("a", "v"), put("row", "w"));
    sent.add(send(put("b", "v")));
    watched.openGate();
    await(sent);
    Waiter.waitFor(conf, 60_000, 1, () -> handled.get() == 2);
    assertFalse(locked.isDone());
    assertFalse(batch.isDone());
    lock.release();
    locked.get(60, TimeUnit.SECONDS);
    batch.get(60, TimeUnit.SECONDS);
  }

  @Test
  public void testPutDoesNotOvertakeABatchThatWaitsWithIt() throws Exception {
    List<Future<Result>> sent = sendFirst();
    sent.add(send(new Put(Bytes.toBytes("r1")).addColumn(F, Q, 7, Bytes.toBytes("0"))));
    sent.add(sendBatch(region, new Put(Bytes.toBytes("r1")).addColumn(F, Q, 7, Bytes.toBytes("1")),
      new Put(Bytes.toBytes("r2")).addColumn(F, Q, 7, Bytes.toBytes("1"))));
    sent.add(send(new Put(Bytes.toBytes("r2")).addColumn(F, Q, 7, Bytes.toBytes("2"))));
    watched.openGate();
    await(sent);
    assertEquals("1", stored("r1"));
    assertEquals("2", stored("r2"));
  }

  @Test
  public void testNoWriteWaitsInAGroupWhileMemoryIsShort() throws Exception {
    memory = FlushType.ABOVE_ONHEAP_HIGHER_MARK;
    List<Future<Result>> sent = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      sent.add(send(put("row" + i, "v")));
    }
    await(sent);
    assertEquals(5, handled.get());
    memory = FlushType.NORMAL;
    send(put("row", "v")).get(60, TimeUnit.SECONDS);
    assertEquals(5, handled.get());
  }

  @Test
  public void testRegionThatIsBulkLoadedOrFlushedHoldsUpNoOther() throws Exception {
    List<Future<Result>> sent = sendFirst();
    CountDownLatch locked = new CountDownLatch(1);
    CountDownLatch release = new CountDownLatch(1);
    Thread loader = new Thread(() -> {
      others[0].lock.writeLock().lock();
      others[1].updatesLock.writeLock().lock();
      locked.countDown();
      try {
        release.await();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      } finally {
        others[1].updatesLock.writeLock().unlock();
        others[0].lock.writeLock().unlock();
      }
    });
    loader.start();
    locked.await();
    List<Future<Result>> waiting = new ArrayList<>();
    for (HRegion each : others) {
      waiting.add(send(each, put("row", "v")));
    }
    sent.add(send(put("row", "v")));
    watched.openGate();
    await(sent);
    assertFalse(waiting.get(0).isDone() || waiting.get(1).isDone());
    release.countDown();
    await(waiting);
    loader.join();
  }

  @Test
  public void testRegionWhoseAppendFailsFailsItsOwnWritesOnly() throws Exception {
    List<Future<Result>> sent = sendFirst();
    Future<Result> failing = send(others[0], put("a", "v"));
    sent.add(send(put("b", "v")));
    sent.add(send(others[1], put("c", "v")));
    broken.set(others[0]);
    watched.openGate();
    await(sent);
    assertEquals("no append", failure(failing).getMessage());
    assertEquals("v", stored("b"));
    assertEquals("v", stored(others[1], "c"));
    assertNull(stored(others[0], "a"));
    broken.set(null);
    send(others[0], put("a", "v")).get(60, TimeUnit.SECONDS);
  }

  @Test
  public void testSyncThatFailsFailsItsGroupAndNotTheNext() throws Exception {
    List<Future<Result>> first = sendFirst();
    List<Future<Result>> next = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      next.add(send(put("row" + i, "v")));
    }
    watched.failSyncs(new IOException("no sync"));
    watched.openGate();
    for (Future<Result> one : first) {
      assertEquals("no sync", failure(one).getMessage());
    }
    for (Future<Result> one : next) {
      assertEquals("no sync", failure(one).getMessage());
    }
    watched.failSyncs(null);
    send(put("row0", "again")).get(60, TimeUnit.SECONDS);
    assertEquals("again", stored("row0"));
  }

  @Test
  public void testInvalidMutationFailsAlone() throws Exception {
    List<Future<Result>> sent = sendFirst();
    Future<Result> family = send(new Put(ROW).addColumn(Bytes.toBytes("none"), Q, Q));
    Future<Result> beyond = send(put("zz", "v"));
    sent.add(send(put("b", "v")));
    watched.openGate();
    await(sent);
    assertEquals(NoSuchColumnFamilyException.class, failure(family).getClass());
    assertEquals(org.apache.hadoop.hbase.exceptions.FailedSanityCheckException.class,
      failure(beyond).getClass());
    assertEquals("v", stored("b"));
  }

  @Test
  public void testMoreWritesThanMayWaitAreLeftToHandlers() throws Exception {
    List<Future<Result>> sent = sendFirst();
    int max = Math.max(1024, 10 * HConstants.DEFAULT_REGION_SERVER_HANDLER_COUNT);
    for (int i = 0; i < max; i++) {
      sent.add(send(put("row" + i, "v")));
    }
    assertEquals(0, handled.get());
    sent.add(send(put("more", "v")));
    Waiter.waitFor(conf, 60_000, 1, () -> handled.get() == 1);
    schedulerIsFull = true;
    Future<Result> refused = send(put("refused", "v"));
    assertTrue(isTooBusy(failure(refused)));
    schedulerIsFull = false;
    watched.openGate();
    await(sent);
    assertNull(stored("refused"));
  }

  @Test
  public void testDurabilitiesAreNotMixed() throws Exception {
    List<Future<Result>> sent = sendFirst();
    int before = edits.get();
    sent.add(send(put("a", "v").setDurability(Durability.FSYNC_WAL)));
    awaitEdits(before + 1);
    sent.add(send(put("b", "v").setDurability(Durability.SYNC_WAL)));
    sent.add(send(put("c", "v")));
    sent.add(send(put("d", "v").setDurability(Durability.ASYNC_WAL)));
    watched.openGate();
    await(sent);
    assertEquals(3, edits.get() - before);
  }
}
