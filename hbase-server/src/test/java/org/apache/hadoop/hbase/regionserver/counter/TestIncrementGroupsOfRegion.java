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
package org.apache.hadoop.hbase.regionserver.counter;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.hadoop.hbase.DoNotRetryIOException;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.Waiter;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.regionserver.Region.RowLock;
import org.apache.hadoop.hbase.regionserver.ServerNonceManager;
import org.apache.hadoop.hbase.regionserver.writegroup.GroupAppend;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.wal.WALKeyImpl;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;

/** Groups of the scope region: increments of several rows with one edit and one sync. */
@RunWith(Parameterized.class)
@Category({ RegionServerTests.class, MediumTests.class })
public class TestIncrementGroupsOfRegion extends IncrementFixture {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestIncrementGroupsOfRegion.class);

  public TestIncrementGroupsOfRegion(Sending sending) {
    super(sending);
  }

  @Test
  public void testRowsOfARegionAreDoneAsOne() throws Exception {
    groupRows();
    region.put(new Put(Bytes.toBytes("z")).addColumn(F, Q, Bytes.toBytes(1000L)));
    long writes = region.getWriteRequestsCount();
    Future<Result> first = sendFirstOfRegion(plus(1));
    Future<Result> z = sendNext(plus("z", 1));
    Future<Result> a = sendNext(plus("a", 5));
    Future<Result> same = sendNext(plus(10));
    Future<Result> zAgain = sendNext(plus("z", 2));
    Future<Result> silent = sendNext(plus("a", 3).setReturnResults(false));
    watched.openGate();
    assertEquals(1, value(first.get()));
    assertEquals(1001, value(z.get()));
    assertEquals(5, value(a.get()));
    assertEquals(11, value(same.get()));
    assertEquals(1003, value(zAgain.get()));
    assertTrue(silent.get().isEmpty());
    assertEquals(1003, stored("z"));
    assertEquals(8, stored("a"));
    assertEquals(11, stored());
    assertEquals("the put, the first, the others", 3, edits());
    assertEquals("each is counted", 6, region.getWriteRequestsCount() - writes);
    ServerNonceManager other = new ServerNonceManager(conf);
    WALKeyImpl key = appended.get(2);
    other.reportOperationFromWal(key.getNonceGroup(), key.getNonce(), key.getWriteTime());
    GroupAppend.report(key, other);
    for (long nonce = 2; nonce <= 6; nonce++) {
      assertFalse("nonce " + nonce, other.startOperation(CLIENT, nonce, null));
    }
  }

  @Test
  public void testRowThatFailsDoesNotFailTheOthersOfItsGroup() throws Exception {
    groupRows();
    region.put(new Put(Bytes.toBytes("bad")).addColumn(F, Q, Bytes.toBytes("abc")));
    Future<Result> first = sendFirstOfRegion(plus(1));
    Future<Result> good = sendNext(plus("good", 2));
    Future<Result> bad = sendNext(plus("bad", 3));
    Future<Result> same = sendNext(plus(4));
    watched.openGate();
    first.get();
    assertEquals(2, value(good.get()));
    assertEquals(5, value(same.get()));
    ExecutionException e = assertThrows(ExecutionException.class, bad::get);
    assertTrue(e.toString(), e.getCause() instanceof DoNotRetryIOException);
    assertEquals("the put, and one for each that is good", 4, edits());
    assertTrue("may be tried again", nonces.startOperation(CLIENT, 3, null));
    assertFalse("is done", nonces.startOperation(CLIENT, 2, null));
  }

  @Test
  public void testRowsThatFailInTheWalAreNotDoneAgain() throws Exception {
    groupRows();
    Future<Result> first = sendFirstOfRegion(plus(1));
    List<Future<Result>> group = new ArrayList<>();
    for (String row : new String[] { "c", "b", "c", "a" }) {
      group.add(sendNext(plus(row, 1)));
    }
    watched.failSyncs(new IOException("no sync"));
    watched.openGate();
    assertThrows(ExecutionException.class, first::get);
    for (Future<Result> future : group) {
      ExecutionException e = assertThrows(ExecutionException.class, future::get);
      assertEquals("no sync", e.getCause().getMessage());
    }
    assertEquals("each edit once", 2, edits());
    assertNoncesAreFree(5);
  }

  @Test
  public void testHeldRowDoesNotKeepTheOthersOfItsRegionWaiting() throws Exception {
    groupRows();
    RowLock lock = region.getRowLock(Bytes.toBytes("held"));
    // Arrives first, and passes the lead of all rows to an increment that can use it.
    Future<Result> alone = send(plus("held", 1));
    Waiter.waitFor(conf, 60_000, 1, () -> coalescer.groups().rows() == 1);
    assertEquals(1, value(coalescer.increment(region, plus("free", 1), CLIENT, ++lastNonce)));
    // Is in a group.
    Future<Result> first = sendFirstOfRegion(plus(1));
    Future<Result> leader = sendNext(plus("held", 10));
    Future<Result> free = sendNext(plus("free", 20));
    Future<Result> follower = sendNext(plus("held", 30));
    watched.openGate();
    assertEquals(1, value(first.get()));
    assertEquals(21, value(free.get()));
    assertFalse(alone.isDone() || leader.isDone() || follower.isDone());
    lock.release();
    assertEquals("whoever is last", 41, Math.max(value(alone.get()),
      Math.max(value(leader.get()), value(follower.get()))));
    assertEquals(41, stored("held"));
  }
}
