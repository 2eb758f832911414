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
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.TreeSet;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.NotServingRegionException;
import org.apache.hadoop.hbase.client.Mutation;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.ipc.CallRunner;
import org.apache.hadoop.hbase.ipc.RpcCall;
import org.apache.hadoop.hbase.ipc.RpcScheduler;
import org.apache.hadoop.hbase.ipc.RpcServerInterface;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.OperationStatus;
import org.apache.hadoop.hbase.regionserver.RegionLocks;
import org.apache.hadoop.hbase.regionserver.WriteCallsFixture;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.Interleavings;
import org.apache.hadoop.hbase.util.NonceKey;
import org.apache.hadoop.hbase.util.Pair;
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
    NO_COMMITTER_IS_STARTED,
    PARTS_ARE_NOT_SORTED,
    LOCKS_ARE_KEPT
  }

  private Interleavings threads = interleavings();
  private final List<Interleavings.Permits> waiting = new ArrayList<>();
  private final ArrayDeque<Idle> idle = new ArrayDeque<>();
  private final List<Call> calls = new ArrayList<>();
  private final RpcServerInterface server = server();
  private Simulated a;
  private Simulated b;
  private Fault fault = Fault.NONE;
  private int left;
  private boolean excluded;

  private static Interleavings interleavings() {
    return new Interleavings(PREEMPTIONS, Committer.factory("committer"));
  }

  @After
  public void tearDown() {
    threads.close();
  }

  private void await(BooleanSupplier condition) {
    try {
      while (!condition.getAsBoolean()) {
        Interleavings.Permits change = threads.new Permits(0);
        waiting.add(change);
        change.acquire();
      }
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private void changed() {
    List<Interleavings.Permits> all = new ArrayList<>(waiting);
    waiting.clear();
    all.forEach(Interleavings.Permits::release);
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
      threads.point();
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
        threads.point();
        if (fault == Fault.SYNC_FAILS && this == a) {
          throw new IOException("sync");
        }
      } catch (IOException e) {
        incomplete.remove(sequenceId);
        changed();
        throw e;
      }
      incomplete.remove(sequenceId);
      changed();
      await(() -> incomplete.isEmpty() || incomplete.first() > sequenceId);
      OperationStatus[] statuses = new OperationStatus[mutations];
      Arrays.fill(statuses, OperationStatus.SUCCESS);
      return statuses;
    }

    /** A flush begins, or a close. */
    void exclude(boolean closes) {
      threads.point();
      exclusive = true;
      await(() -> readers == 0);
      threads.point();
      closed = closes;
      exclusive = false;
      excluded = true;
      changed();
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
      threads.point();
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
        changed();
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

  /** A put to a region. */
  private final class Call {
    private final Simulated to;
    private int ended;
    private String answer = "";
    private final RpcCall call =
      WriteCallsFixture.call(null, HConstants.NORMAL_QOS, Long.MAX_VALUE, (message,
        failure) -> ended(failure == null ? "written" : failure.getMessage()));

    Call(Simulated to) {
      this.to = to;
    }

    private void ended(String with) {
      answer = with;
      ended++;
    }
  }

  private Object leave(CallRunner runner) {
    left++;
    calls.stream().filter(call -> call.call == runner.getRpcCall())
      .forEach(call -> call.ended("left"));
    return true;
  }

  private RpcServerInterface server() {
    RpcScheduler scheduler = Mockito.mock(RpcScheduler.class,
      Mockito.withSettings().stubOnly().defaultAnswer(call -> leave(call.getArgument(0))));
    return Mockito.mock(RpcServerInterface.class,
      Mockito.withSettings().stubOnly().defaultAnswer(call -> {
        switch (call.getMethod().getName()) {
          case "isStarted":
            return true;
          case "getScheduler":
            return scheduler;
          case "call":
            Committer.group().arrive(new MutationBatch(new Put(Bytes.toBytes("row"))));
            return new Pair<>(null, null);
          default:
            return null;
        }
      }));
  }

  /** Its threads are two of those that run one at a time. */
  private final class Committers extends AbstractExecutorService {
    @Override
    public void execute(Runnable command) {
      if (fault == Fault.NO_COMMITTER_IS_STARTED) {
        throw new RejectedExecutionException("shutdown");
      }
      assertTrue("committers", !idle.isEmpty());
      Idle committer = idle.poll();
      committer.work = command;
      committer.started.release();
    }

    @Override
    public void shutdown() {
      throw new UnsupportedOperationException();
    }

    @Override
    public List<Runnable> shutdownNow() {
      throw new UnsupportedOperationException();
    }

    @Override
    public boolean isShutdown() {
      return false;
    }

    @Override
    public boolean isTerminated() {
      return false;
    }

    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) {
      throw new UnsupportedOperationException();
    }
  }

  /** A committer without work. */
  private final class Idle {
    private final Interleavings.Permits started = threads.new Permits(0);
    /** Null if the run has ended. */
    private Runnable work;
  }

  private void commit() throws InterruptedException {
    boolean more = true;
    while (more) {
      Idle committer = new Idle();
      idle.add(committer);
      committer.started.acquire();
      more = committer.work != null;
      if (more) {
        committer.work.run();
      }
    }
  }

  private void send(Commits<String> commits, String key, Simulated... to) {
    for (Simulated each : to) {
      Call call = new Call(each);
      calls.add(call);
      threads.point();
      assertTrue(commits.add(key, new WriteCall(server, call.call, each.region,
        Collections.emptyList(), HConstants.NO_NONCE, HConstants.NO_NONCE)));
    }
  }

  private void check() throws Exception {
    threads.check();
    for (Call call : calls) {
      assertEquals("ended", 1, call.ended);
      assertTrue(call.answer, call.answer.equals("left")
        || call.answer.equals("closed") && call.to == b || call.answer.equals(answerOf(call.to)));
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
    int all = 0;
    int orders = 0;
    do {
      waiting.clear();
      idle.clear();
      calls.clear();
      left = 0;
      excluded = false;
      a = new Simulated("a");
      b = new Simulated("b");
      Commits<String> commits = new Commits<>(new Committers(), 10, maxSyncing, any -> {
      }, Group::new);
      threads.run(false, this::commit, this::commit);
      threads.run(true, () -> send(commits, "one", a, b),
        () -> send(commits, second, b, a),
        () -> b.exclude(closes));
      check();
      threads.run(false, () -> idle.forEach(committer -> committer.started.release()));
      assertEquals("queues", 0, commits.keys());
      all += left;
      orders++;
    } while (threads.next());
    assertTrue(orders + " orders", orders > 20);
    System.out.println(orders + " orders, " + all + " calls left");
    return all;
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
    fault = Fault.NO_COMMITTER_IS_STARTED;
    assertTrue(explore(false) > 0);
  }

  @Test
  public void testEachStepIsNeeded() {
    for (Fault each : new Fault[] { Fault.PARTS_ARE_NOT_SORTED, Fault.LOCKS_ARE_KEPT }) {
      fault = each;
      // A run that fails leaves decisions behind.
      threads.close();
      threads = interleavings();
      AssertionError found =
        assertThrows(each.name(), AssertionError.class, () -> explore(false));
      String message = each == Fault.LOCKS_ARE_KEPT ? "the flush or close waits" : "ended";
      assertTrue(each + ": " + found.getMessage(), found.getMessage().startsWith(message));
    }
  }
}
