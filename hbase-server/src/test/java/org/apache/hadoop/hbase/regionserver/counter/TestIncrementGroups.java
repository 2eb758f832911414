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
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.DoNotRetryIOException;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.Waiter;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.coprocessor.ObserverContext;
import org.apache.hadoop.hbase.coprocessor.RegionCoprocessor;
import org.apache.hadoop.hbase.coprocessor.RegionCoprocessorEnvironment;
import org.apache.hadoop.hbase.coprocessor.RegionObserver;
import org.apache.hadoop.hbase.regionserver.Region.RowLock;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;

/** Increments that are applied as one group, and those that are not merged. */
@RunWith(Parameterized.class)
@Category({ RegionServerTests.class, MediumTests.class })
public class TestIncrementGroups extends IncrementFixture {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestIncrementGroups.class);

  public TestIncrementGroups(Sending sending) {
    super(sending);
  }

  @Test
  public void testEachGetsTheValueOfItsPlaceInTheQueue() throws Exception {
    region.put(new Put(ROW).addColumn(F, Q, Bytes.toBytes(100L)));
    int before = edits();
    long writes = region.getWriteRequestsCount();
    long[] amounts = { 5, -3, 0, 11, Long.MAX_VALUE, 2, -1 };
    List<Future<Result>> sent = new ArrayList<>();
    RowLock lock = region.getRowLock(ROW);
    Future<Result> first = sendFirst(plus(1));
    for (long amount : amounts) {
      sent.add(sendNext(plus(amount)));
    }
    lock.release();
    assertEquals(101, value(first.get()));
    long expected = 101;
    for (int i = 0; i < amounts.length; i++) {
      expected += amounts[i];
      assertEquals("place " + i, expected, value(sent.get(i).get()));
    }
    assertEquals(expected, stored());
    assertEquals("the first and the group", 2, edits() - before);
    assertEquals(amounts.length + 1, region.getWriteRequestsCount() - writes);
  }

  @Test
  public void testColumnsOfSeveralFamiliesInAnyOrder() throws Exception {
    RowLock lock = region.getRowLock(ROW);
    Future<Result> first = sendFirst(
      new Increment(ROW).addColumn(F, Q, 1).addColumn(F, R, 10).addColumn(G, Q, 100));
    Future<Result> second = sendNext(
      new Increment(ROW).addColumn(G, Q, 200).addColumn(F, R, 20).addColumn(F, Q, 2));
    Future<Result> third = sendNext(
      new Increment(ROW).addColumn(F, R, 30).addColumn(G, Q, 300).addColumn(F, Q, 3));
    lock.release();
    assertValues(first.get(), 1, 10, 100);
    assertValues(second.get(), 3, 30, 300);
    assertValues(third.get(), 6, 60, 600);
    assertValues(region.get(new Get(ROW)), 6, 60, 600);
    assertEquals(2, edits());
  }

  private static void assertValues(Result result, long fq, long fr, long gq) {
    assertEquals(3, result.size());
    assertEquals(fq, Bytes.toLong(result.getValue(F, Q)));
    assertEquals(fr, Bytes.toLong(result.getValue(F, R)));
    assertEquals(gq, Bytes.toLong(result.getValue(G, Q)));
  }

  @Test
  public void testWhoWantsNoResultGetsNone() throws Exception {
    RowLock lock = region.getRowLock(ROW);
    Future<Result> first = sendFirst(plus(1));
    Future<Result> silent = sendNext(plus(2).setReturnResults(false));
    Future<Result> last = sendNext(plus(4));
    lock.release();
    first.get();
    assertTrue(silent.get().isEmpty());
    assertEquals(7, value(last.get()));
    assertEquals(2, edits());
  }

  @Test
  public void testWhatDiffersIsNotMerged() throws Exception {
    RowLock lock = region.getRowLock(ROW);
    List<Future<Result>> sent = new ArrayList<>();
    Increment[] different = { plus(1), plus(1).setDurability(Durability.ASYNC_WAL),
      plus(1).setTTL(60_000), plus(1).setTimeRange(0, Long.MAX_VALUE - 1),
      new Increment(ROW).addColumn(F, R, 1),
      new Increment(ROW).addColumn(F, Q, 1).addColumn(F, R, 1),
      new Increment(Bytes.toBytes("other row")).addColumn(F, Q, 1) };
    for (int i = 0; i < different.length; i++) {
      sent.add(send(different[i]));
      int rows = i + 1;
      // The other row is free.
      Waiter.waitFor(conf, 60_000, 1,
        () -> coalescer.groups().rows() + sender.behindAnotherKind() == rows
          || rows == different.length);
    }
    assertEquals(sender.behindAnotherKind(), coalescer.groups().waiting());
    lock.release();
    for (Future<Result> future : sent) {
      future.get();
    }
    assertEquals(different.length, edits());
    assertEquals(5, stored());
  }

  @Test
  public void testWhatCannotBeMergedIsLeftToTheRegion() throws Exception {
    assertNull(plus(1).addColumn(F, Q, 1), "a column twice");
    assertNull(new Increment(ROW).addColumn(VERSIONS, Q, 1), "a family with versions");
    assertNull(new Increment(ROW).addColumn(Bytes.toBytes("none"), Q, 1), "no such family");
    assertNull(new Increment(ROW).add(new KeyValue(ROW, F, Q, Bytes.toBytes(1))), "four bytes");
    assertNull(new Increment(ROW).add(new KeyValue(ROW, F, Q, 5L, Bytes.toBytes(1L))),
      "a time of its own");
    assertFalse(CounterKey.of(region, plus(1), false) == null);
    // And that is where they go.
    assertThrows(DoNotRetryIOException.class, () -> coalescer.increment(region,
      new Increment(ROW).add(new KeyValue(ROW, F, Q, Bytes.toBytes(1))), CLIENT, ++lastNonce));
    coalescer.increment(region, new Increment(ROW).addColumn(VERSIONS, Q, 3), CLIENT, ++lastNonce);
    coalescer.increment(region, plus(3).setDurability(Durability.SKIP_WAL), CLIENT, ++lastNonce);
    assertEquals(3, stored());
    assertEquals(1, edits());
  }

  private void assertNull(Increment increment, String why) {
    assertSame(why, null, CounterKey.of(region, increment, false));
  }

  /** Up to 32 calls are run inside of one another, and any number of threads. */
  @Test
  public void testGroupsOfAwkwardSizes() throws Exception {
    long expected = 0;
    for (int waiting : new int[] { 1, 2, 31, 32, 33, 63, 64, 65, 129 }) {
      RowLock lock = region.getRowLock(ROW);
      List<Future<Result>> sent = new ArrayList<>();
      sent.add(sendFirst(plus(1)));
      for (int i = 0; i < waiting; i++) {
        sent.add(sendNext(plus(1)));
      }
      lock.release();
      for (Future<Result> one : sent) {
        assertEquals(waiting + " wait", ++expected, value(one.get(60, TimeUnit.SECONDS)));
      }
      Waiter.waitFor(conf, 60_000, 1, () -> coalescer.groups().inFlight() == 0);
    }
    assertEquals(expected, stored());
  }

  /** An observer of increments, and one that has no such hooks. */
  public static class Observer implements RegionCoprocessor, RegionObserver {
    static final List<Long> SEEN = new ArrayList<>();

    @Override
    public Optional<RegionObserver> getRegionObserver() {
      return Optional.of(this);
    }

    @Override
    public Result preIncrementAfterRowLock(ObserverContext<RegionCoprocessorEnvironment> c,
      Increment increment) {
      SEEN.add(increment.getFamilyMapOfLongs().get(F).get(Q));
      return null;
    }
  }

  public static class Endpoint implements RegionCoprocessor, RegionObserver {
    @Override
    public Optional<RegionObserver> getRegionObserver() {
      return Optional.of(this);
    }
  }

  @Test
  public void testCoprocessorSeesEachIncrement() throws Exception {
    Observer.SEEN.clear();
    region.getCoprocessorHost().load(Endpoint.class, 1, conf);
    assertSame(IncrementHooks.NONE, IncrementHooks.of(region.getCoprocessorHost()));
    region.getCoprocessorHost().load(Observer.class, 2, conf);
    assertSame(IncrementHooks.EACH, IncrementHooks.of(region.getCoprocessorHost()));
    RowLock lock = region.getRowLock(ROW);
    Future<Result> one = send(plus(1));
    Future<Result> two = send(plus(2));
    lock.release();
    one.get();
    two.get();
    assertEquals(0, coalescer.groups().rows());
    assertEquals(2, Observer.SEEN.size());
    assertEquals(3, Observer.SEEN.stream().mapToLong(Long::longValue).sum());
  }

  @Test
  public void testCanBeSwitchedOffAndOn() throws Exception {
    Configuration off = new Configuration(conf);
    off.set(CoalescerSettings.ENABLED_KEY, "false");
    coalescer.onConfigurationChange(off);
    RowLock lock = region.getRowLock(ROW);
    Future<Result> one = send(plus(1));
    Future<Result> two = send(plus(1));
    lock.release();
    one.get();
    two.get();
    assertEquals(2, edits());
    // A bad value leaves it as it is.
    off.set(CoalescerSettings.ENABLED_KEY, "yes");
    coalescer.onConfigurationChange(off);
    coalescer.onConfigurationChange(conf);
    lock = region.getRowLock(ROW);
    Future<Result> first = sendFirst(plus(1));
    Future<Result> second = sendNext(plus(1));
    Future<Result> third = sendNext(plus(1));
    lock.release();
    first.get();
    second.get();
    assertEquals(5, value(third.get()));
    assertEquals(4, edits());
  }

  @Test
  public void testBadSettingIsRefusedWithKeyValueAndRemedy() {
    Configuration bad = new Configuration(conf);
    bad.set(CoalescerSettings.ENABLED_KEY, "ture");
    IllegalArgumentException e = assertThrows(IllegalArgumentException.class,
      () -> new IncrementCoalescer(bad, null));
    assertEquals(CoalescerSettings.ENABLED_KEY + " is ture; must be true or false. Set one of "
      + "these, or remove the key for the default of false.",
      e.getMessage());
    bad.set(CoalescerSettings.ENABLED_KEY, "true");
    bad.set(CoalescerSettings.SCOPE_KEY, "table");
    e = assertThrows(IllegalArgumentException.class, () -> new IncrementCoalescer(bad, null));
    assertEquals(CoalescerSettings.SCOPE_KEY + " is table; must be row or region. Set one of "
      + "these, or remove the key for the default of row.",
      e.getMessage());
  }
}
