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

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.Waiter;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.regionserver.Region.RowLock;
import org.apache.hadoop.hbase.regionserver.ServerNonceManager;
import org.apache.hadoop.hbase.regionserver.wal.WALCellCodec;
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

/** The nonces of a group: a retry is applied once, on the same server and after a replay. */
@RunWith(Parameterized.class)
@Category({ RegionServerTests.class, MediumTests.class })
public class TestIncrementGroupNonces extends IncrementFixture {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestIncrementGroupNonces.class);

  public TestIncrementGroupNonces(Sending sending) {
    super(sending);
  }

  @Test
  public void testRepeatedIncrementIsNotDoneTwice() throws Exception {
    RowLock lock = region.getRowLock(ROW);
    Future<Result> first = sendFirst(plus(1));
    Future<Result> second = sendNext(plus(10));
    Future<Result> third = sendNext(plus(100));
    // The same nonce again, while the one before waits: it waits for that one's end.
    Future<Result> again = send(plus(10), lastNonce - 1);
    lock.release();
    first.get();
    assertEquals(11, value(second.get()));
    assertEquals(111, value(third.get()));
    again.get();
    assertEquals(111, stored());
    // And after all of it, each of them, in any group or none.
    for (long nonce = 1; nonce <= lastNonce; nonce++) {
      assertFalse(coalescer.increment(region, plus(1), CLIENT, nonce).isEmpty());
    }
    lock = region.getRowLock(ROW);
    Future<Result> fresh = sendFirst(plus(1000));
    Future<Result> old = threads.submit(() -> coalescer.increment(region, plus(10), CLIENT, 2));
    Future<Result> behind = sendNext(plus(2000));
    lock.release();
    assertEquals(1111, value(fresh.get()));
    assertEquals(3111, value(behind.get()));
    old.get();
    assertEquals(3111, stored());
  }

  /**
   * The repetition has the nonce, and waits for the first, which leads and waits for the
   * row, and then for the nonce.
   */
  @Test
  public void testRepetitionThatHasTheNonceFirstIsWaitedForWithoutTheRow() throws Exception {
    Configuration changed = new Configuration(conf);
    // No increment times out.
    changed.setInt("hbase.rowlock.wait.duration", 600_000);
    coalescer.onConfigurationChange(changed);
    RowLock lock = region.getRowLock(ROW);
    Future<Result> first = sendFirst(plus(1));
    Future<Result> again = send(plus(1), lastNonce);
    Waiter.waitFor(conf, 60_000, 1, () -> coalescer.groups().waiting() == 1);
    Future<Result> behind = sendNext(plus(10));
    lock.release();
    again.get(60, TimeUnit.SECONDS);
    first.get(60, TimeUnit.SECONDS);
    behind.get(60, TimeUnit.SECONDS);
    assertEquals(11, stored());
  }

  /** A repetition arrives just before the first is retried by itself. */
  @Test
  public void testRepetitionOfWhoseGroupFailedIsWaitedForWithoutTheRow() throws Exception {
    region.put(new Put(ROW).addColumn(F, Q, Bytes.toBytes("abc")));
    RowLock lock = region.getRowLock(ROW);
    Future<Result> first = sendFirst(plus(1));
    Future<Result> leader = sendNext(plus(1));
    Future<Result> follower = sendNext(plus(1));
    long repeated = lastNonce;
    AtomicInteger ended = new AtomicInteger();
    nonceEnded = nonce -> {
      try {
        if (nonce == repeated && ended.getAndIncrement() == 0) {
          assertTrue(nonces.startOperation(CLIENT, nonce, null));
        }
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    };
    lock.release();
    assertThrows(ExecutionException.class, first::get);
    assertThrows(ExecutionException.class, leader::get);
    Waiter.waitFor(conf, 60_000, 1, () -> ended.get() > 0);
    // The row is not kept.
    region.put(new Put(ROW).addColumn(F, Q, Bytes.toBytes(5L)));
    sender.assertGaveUp(follower);
    assertEquals(5, stored());
  }

  @Test
  public void testReplayedEditReportsTheNoncesOfAll() throws Exception {
    RowLock lock = region.getRowLock(ROW);
    Future<Result> first = sendFirst(plus(1));
    List<Future<Result>> group = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      group.add(sendNext(plus(1)));
    }
    lock.release();
    first.get();
    for (Future<Result> future : group) {
      future.get();
    }
    assertEquals(2, edits());
    // What a reader makes of the key that was written.
    WALKeyImpl read = new WALKeyImpl();
    read.readFieldsFromPb(appended.get(1)
      .getBuilder(WALCellCodec.getNoneCompressor()).setWriteTime(appended.get(1).getWriteTime())
      .setLogSequenceNumber(1).build(),
      WALCellCodec.getNoneUncompressor());
    assertEquals(CLIENT, read.getNonceGroup());
    assertEquals("a stock server knows the leader's", 2, read.getNonce());
    ServerNonceManager other = new ServerNonceManager(conf);
    other.reportOperationFromWal(read.getNonceGroup(), read.getNonce(), read.getWriteTime());
    GroupAppend.report(read, other);
    for (long nonce = 2; nonce <= 6; nonce++) {
      assertFalse("nonce " + nonce, other.startOperation(CLIENT, nonce, null));
    }
    assertTrue(other.startOperation(CLIENT, 7, null));
    // A key without others says nothing.
    assertArrayEquals(null, appended.get(0).getExtendedAttribute(GroupAppend.ATTRIBUTE));
    GroupAppend.report(appended.get(0), other);
  }

  @Test
  public void testWithoutNoncesTooAndWithSomeOnly() throws Exception {
    RowLock lock = region.getRowLock(ROW);
    Future<Result> first = sendFirst(plus(1));
    Future<Result> without = threads.submit(
      () -> coalescer.increment(region, plus(2), HConstants.NO_NONCE, HConstants.NO_NONCE));
    Waiter.waitFor(conf, 60_000, 1, () -> coalescer.groups().waiting() == 1);
    Future<Result> with = sendNext(plus(4));
    lock.release();
    first.get();
    assertEquals(3, value(without.get()));
    assertEquals(7, value(with.get()));
    assertEquals(CLIENT, appended.get(1).getNonceGroup());
    assertEquals(2, appended.get(1).getNonce());
  }
}
