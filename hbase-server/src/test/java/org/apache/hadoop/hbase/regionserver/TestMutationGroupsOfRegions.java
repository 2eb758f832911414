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
import static org.junit.Assert.assertNotEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.Waiter;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.regionserver.writegroup.WriteGroupMetrics;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** Groups with writes of several regions. */
@Category({ RegionServerTests.class, MediumTests.class })
public class TestMutationGroupsOfRegions extends MutationGroupsFixture {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestMutationGroupsOfRegions.class);

  /** The same rows in each region. */
  private List<Future<Result>> sendToAllRegions(int rows) throws Exception {
    List<Future<Result>> sent = new ArrayList<>();
    for (int i = 0; i < rows; i++) {
      sent.add(sendNext(others[1], put("row" + i, "z")));
      sent.add(sendNext(region, put("row" + i, "t")));
      sent.add(sendNext(others[0], put("row" + i, "a")));
    }
    return sent;
  }

  private void assertStored(HRegion of, int rows, String value) throws IOException {
    for (int i = 0; i < rows; i++) {
      assertEquals(value, stored(of, "row" + i));
    }
  }

  @Test
  public void testRegionsOfAWalHaveAnEditEachAndOneHandler() throws Exception {
    for (int rows : new int[] { 1, 2, 11 }) {
      long groupsBefore = WriteGroupMetrics.register().groups();
      long editsBefore = WriteGroupMetrics.register().edits();
      long writes = others[1].getWriteRequestsCount();
      List<Future<Result>> sent = sendFirst();
      int appended = edits.get();
      int handled = calls.handled.get();
      sent.addAll(sendToAllRegions(rows));
      watched.openGate();
      await(sent);
      assertEquals("an edit of each region", 3, edits.get() - appended);
      assertEquals("one handler for all", 1, calls.handled.get() - handled);
      assertEquals(rows, others[1].getWriteRequestsCount() - writes);
      assertStored(others[0], rows, "a");
      assertStored(region, rows, "t");
      assertStored(others[1], rows, "z");
      Waiter.waitFor(conf, 60_000, 1, () -> groups.groups().inFlight() == 0);
      assertEquals(1, WriteGroupMetrics.register().groups() - groupsBefore);
      assertEquals(3, WriteGroupMetrics.register().edits() - editsBefore);
    }
  }

  /** As during a bulk load of several families. */
  @Test
  public void testRegionThatIsLockedHoldsUpNoOther() throws Exception {
    for (HRegion locked : new HRegion[] { others[0], others[1] }) {
      List<Future<Result>> sent = sendFirst();
      List<Future<Result>> late = new ArrayList<>();
      late.add(sendNext(locked, put("row1", "v")));
      sent.add(sendNext(put("row", "v")));
      late.add(sendNext(locked, put("row2", "v")));
      locked.lock.writeLock().lock();
      try {
        watched.openGate();
        await(sent);
        // Neither does one that waits for nothing.
        Waiter.waitFor(conf, 60_000, 1, () -> groups.groups().waiting() == 0);
        late.add(calls.send(locked, put("row3", "v")));
        calls.send(put("next", "v")).get(60, TimeUnit.SECONDS);
        calls.send(put("last", "v")).get(60, TimeUnit.SECONDS);
        assertFalse(late.get(0).isDone());
        assertFalse(late.get(2).isDone());
      } finally {
        locked.lock.writeLock().unlock();
      }
      await(late);
      assertEquals("v", stored(locked, "row1"));
      assertEquals("v", stored(locked, "row2"));
      assertEquals("v", stored(locked, "row3"));
      Waiter.waitFor(conf, 60_000, 1, () -> groups.groups().inFlight() == 0);
    }
  }

  @Test
  public void testRegionThatBeginsAFlushIsWrittenLast() throws Exception {
    List<Future<Result>> sent = sendFirst();
    long writes = others[1].getWriteRequestsCount();
    sent.addAll(sendToAllRegions(2));
    others[1].blockUpdates();
    try {
      watched.openGate();
      Waiter.waitFor(conf, 60_000, 1,
        () -> "t".equals(stored("row1")) && "a".equals(stored(others[0], "row1")));
      assertNull(stored(others[1], "row1"));
    } finally {
      others[1].unblockUpdates();
    }
    await(sent);
    assertStored(others[1], 2, "z");
    assertEquals("each is counted once", 2, others[1].getWriteRequestsCount() - writes);
  }

  @Test
  public void testRegionThatFailsFailsAlone() throws Exception {
    for (HRegion failing : new HRegion[] { others[0], others[1] }) {
      List<Future<Result>> sent = sendFirst();
      List<Future<Result>> failed = new ArrayList<>();
      String value = failing == others[0] ? "before" : "after";
      for (int i = 0; i < 3; i++) {
        sent.add(sendNext(failing == others[0] ? others[1] : others[0], put("row" + i, value)));
        failed.add(sendNext(failing, put("row" + i, value)));
        sent.add(sendNext(put("row" + i, value)));
      }
      broken.set(failing);
      watched.openGate();
      await(sent);
      for (Future<Result> one : failed) {
        assertEquals("no append", failure(one).getMessage());
      }
      broken.set(null);
      assertStored(region, 3, value);
      assertNotEquals(value, stored(failing, "row1"));
      calls.send(failing, put("row1", "again")).get(60, TimeUnit.SECONDS);
      assertEquals("again", stored(failing, "row1"));
      Waiter.waitFor(conf, 60_000, 1, () -> groups.groups().inFlight() == 0);
    }
  }

  @Test
  public void testRegionThatIsClosedRefusesItsOwnWritesOnly() throws Exception {
    List<Future<Result>> sent = sendFirst();
    Future<Result> leads = sendNext(others[1], put("a", "v"));
    sent.add(sendNext(put("a", "v")));
    Future<Result> late = sendNext(others[1], put("b", "v"));
    sent.add(sendNext(others[0], put("a", "v")));
    others[1].closing.set(true);
    watched.openGate();
    await(sent);
    assertTrue(failure(leads) instanceof org.apache.hadoop.hbase.NotServingRegionException);
    assertTrue(failure(late) instanceof org.apache.hadoop.hbase.NotServingRegionException);
    others[1].closing.set(false);
    assertEquals("v", stored("a"));
    assertEquals("v", stored(others[0], "a"));
  }

  @Test
  public void testSyncThatFailsFailsTheWritesOfAllRegions() throws Exception {
    List<Future<Result>> sent = sendFirst();
    sent.addAll(sendToAllRegions(2));
    watched.failSyncs(new IOException("no sync"));
    watched.openGate();
    for (Future<Result> one : sent) {
      assertEquals("no sync", failure(one).getMessage());
    }
    watched.failSyncs(null);
    sent = sendToAllRegionsAlone();
    await(sent);
    assertStored(others[0], 2, "again");
    assertStored(region, 2, "again");
  }

  private List<Future<Result>> sendToAllRegionsAlone() throws Exception {
    List<Future<Result>> sent = new ArrayList<>();
    for (HRegion to : Arrays.asList(others[0], region, others[1])) {
      for (int i = 0; i < 2; i++) {
        sent.add(calls.send(to, put("row" + i, "again")));
      }
    }
    return sent;
  }

  /** On servers with many CPUs, several threads form groups. */
  @Test
  public void testRegionsOfDifferentSharesAreNotInOneGroup() {
    MutationGroups shared = new MutationGroups(conf, null, 1_000_000);
    MutationBatch write = MutationBatch.single(put("row", "v"));
    assertEquals(groups.peek(region, write), groups.peek(others[0], write));
    assertEquals(groups.place(region), groups.place(others[0]));
    assertEquals(shared.peek(region, write), shared.peek(region, write));
    assertEquals(shared.place(region), shared.place(region));
    assertNotEquals(shared.peek(region, write), shared.peek(others[0], write));
    assertNotEquals(shared.place(region), shared.place(others[0]));
  }
}
