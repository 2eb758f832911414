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
package org.apache.hadoop.hbase.regionserver.write;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.NotServingRegionException;
import org.apache.hadoop.hbase.client.Mutation;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.OperationStatus;
import org.apache.hadoop.hbase.regionserver.RegionLocks;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.Interleavings;
import org.apache.hadoop.hbase.util.NonceKey;
import org.junit.After;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.mockito.Mockito;

/**
 * The invariants of {@link Commits} and {@link MutationGroup}, in all {@link Interleavings} with a
 * bounded number of preemptions of two callers, two committers, and a flush or close of a region:
 * each call is answered once or left to the scheduler, and groups, flushes and closes never wait
 * for each other in a circle. Regions have the locks, sequence ids and failures of real ones.
 */
@Category({ RegionServerTests.class, MediumTests.class })
public class TestMutationGroupInterleavings {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestMutationGroupInterleavings.class);

  private static final int PREEMPTIONS = Integer.getInteger("mutationgroup.preemptions", 1);

  /** A failure, or a step that is left out. */
  private enum Fault {
    NONE,
    APPEND_FAILS,
    SYNC_FAILS,
    PARTS_ARE_NOT_SORTED,
    LOCKS_ARE_KEPT
  }

  private InterleavedWrites writes = writes();
  /** The region of each call. */
  private final Map<InterleavedWrites.Call, Simulated> regions = new HashMap<>();
  private Simulated a;
  private Simulated b;
  private Fault fault = Fault.NONE;
  private boolean excluded;

  private static InterleavedWrites writes() {
    return new InterleavedWrites(PREEMPTIONS, new MutationBatch(new Put(Bytes.toBytes("row"))));
  }

  @After
  public void tearDown() {
    writes.close();
  }

  /** A region, whose threads run one at a time. */
  private final class Simulated {
    private final HRegion region = Mockito.mock(HRegion.class, Mockito.withSettings().stubOnly());
    private final TreeSet<Long> incomplete = new TreeSet<>();
    private long last;
    private int readers;
    /** Whether a flush or close waits for its readers, or has them wait. */
    private boolean exclusive;
    private boolean closed;

    Simulated(String name) {
      RegionInfo info = Mockito.mock(RegionInfo.class, Mockito.withSettings().stubOnly());
      Mockito.when(info.getRegionNameAsString()).thenReturn(name);
      Mockito.when(info.compareTo(Mockito.any())).thenAnswer(
        call -> fault == Fault.PARTS_ARE_NOT_SORTED
          ? 0
          : name.compareTo(call.<RegionInfo> getArgument(0).getRegionNameAsString()));
      Mockito.when(region.getRegionInfo()).thenReturn(info);
    }

    /** Simulates {@link HRegion#batchMutate}. */
    OperationStatus[] batchMutate(int mutations) throws IOException {
      writes.point();
      if (closed) {
        throw new NotServingRegionException("closed");
      }
      long sequenceId = ++last;
      incomplete.add(sequenceId);
      try {
        GroupAppend.of(new NonceKey(0, 0));
        if (fault == Fault.APPEND_FAILS && this == a) {
          throw new IOException("append");
        }
        GroupAppend.appended();
        writes.point();
        if (fault == Fault.SYNC_FAILS && this == a) {
          throw new IOException("sync");
        }
      } catch (IOException e) {
        incomplete.remove(sequenceId);
        writes.changed();
        throw e;
      }
      incomplete.remove(sequenceId);
      writes.changed();
      writes.await(() -> incomplete.isEmpty() || incomplete.first() > sequenceId);
      OperationStatus[] statuses = new OperationStatus[mutations];
      Arrays.fill(statuses, OperationStatus.SUCCESS);
      return statuses;
    }

    /** A flush begins, or a close. */
    void exclude(boolean closes) {
      writes.point();
      exclusive = true;
      writes.await(() -> readers == 0);
      writes.point();
      closed = closes;
      exclusive = false;
      excluded = true;
      writes.changed();
    }
  }

  private Simulated of(HRegion region) {
    return region == a.region ? a : b;
  }

  private final class Locks extends RegionLocks {
    private final Simulated of;
    private boolean entered;

    Locks(HRegion region) {
      super(region);
      of = of(region);
    }

    @Override
    public boolean enter() {
      writes.point();
      if (!entered && !of.exclusive && !of.closed) {
        entered = true;
        of.readers++;
      }
      return entered;
    }

    @Override
    public boolean tryShare(List<byte[]> all) {
      return true;
    }

    @Override
    public void close() {
      if (entered && fault != Fault.LOCKS_ARE_KEPT) {
        entered = false;
        of.readers--;
        writes.changed();
      }
    }
  }

  private final class Group extends MutationGroup {
    Group(Runnable afterAppend) {
      super(() -> false, GroupMetrics.ofMutations(), afterAppend);
    }

    @Override
    RegionLocks locks(HRegion region) {
      return new Locks(region);
    }

    @Override
    OperationStatus[] batchMutate(HRegion region, Mutation[] mutations) throws IOException {
      return of(region).batchMutate(mutations.length);
    }
  }

  private void send(Commits<String> commits, String key, Simulated... to) {
    for (Simulated each : to) {
      InterleavedWrites.Call call = writes.call(null);
      regions.put(call, each);
      writes.point();
      assertTrue(commits.add(key, new WriteCall(writes.rpcServer(), call.call(), each.region,
        Collections.emptyList(), HConstants.NO_NONCE, HConstants.NO_NONCE)));
    }
  }

  private void check(List<InterleavedWrites.Call> calls) {
    for (InterleavedWrites.Call call : calls) {
      Simulated to = regions.get(call);
      assertTrue(call.answer(), call.answer().equals("left")
        || call.answer().equals("closed") && to == b || call.answer().equals(answerOf(to)));
    }
    assertTrue("the flush or close waits", excluded);
  }

  private String answerOf(Simulated region) {
    if (region == a && fault == Fault.APPEND_FAILS) {
      return "append";
    }
    return region == a && fault == Fault.SYNC_FAILS ? "sync" : "written";
  }

  /** Returns how many calls were left to the scheduler. */
  private int explore(boolean closes) throws Exception {
    return explore(closes, "one") + explore(closes, "two");
  }

  /** @param second the key of the second caller's calls; that of the first one's is "one" */
  private int explore(boolean closes, String second) throws Exception {
    // Either a group is appended while the one before is synced, or groups of two keys are.
    int maxSyncing = second.equals("one") ? 1 : 0;
    int before = writes.left();
    int orders = 0;
    boolean more = true;
    while (more) {
      writes.clear();
      regions.clear();
      excluded = false;
      a = new Simulated("a");
      b = new Simulated("b");
      Commits<String> commits = new Commits<>(writes, 10, maxSyncing, any -> {
      }, Group::new);
      check(writes.run(2, () -> send(commits, "one", a, b),
        () -> send(commits, second, b, a),
        () -> b.exclude(closes)));
      more = writes.next();
      assertEquals("queues", 0, commits.keys());
      orders++;
    }
    assertTrue(orders + " orders", orders > 20);
    int left = writes.left() - before;
    System.out.println(orders + " orders, " + left + " calls left");
    return left;
  }

  @Test
  public void testGroupsBesideAFlush() throws Exception {
    assertTrue("none meets the flush", explore(false) > 0);
  }

  @Test
  public void testGroupsBesideAClose() throws Exception {
    assertTrue("none meets the close", explore(true) > 0);
  }

  @Test
  public void testFailingAppend() throws Exception {
    fault = Fault.APPEND_FAILS;
    explore(false);
  }

  @Test
  public void testFailingSync() throws Exception {
    fault = Fault.SYNC_FAILS;
    explore(false);
  }

  @Test
  public void testShutdown() throws Exception {
    writes.refuse();
    assertTrue(explore(false) > 0);
  }

  @Test
  public void testEachStepIsNeeded() {
    for (Fault each : new Fault[] { Fault.PARTS_ARE_NOT_SORTED, Fault.LOCKS_ARE_KEPT }) {
      fault = each;
      // A run that fails leaves decisions behind.
      writes.close();
      writes = writes();
      AssertionError found =
        assertThrows(each.name(), AssertionError.class, () -> explore(false));
      String message = each == Fault.LOCKS_ARE_KEPT ? "the flush or close waits" : "ended";
      assertTrue(each + ": " + found.getMessage(), found.getMessage().startsWith(message));
    }
  }
}
