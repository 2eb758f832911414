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
package org.apache.hadoop.hbase.regionserver.multiget;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.ipc.RpcServer;
import org.apache.hadoop.hbase.monitoring.ThreadLocalServerSideScanMetrics;
import org.apache.hadoop.hbase.regionserver.multiget.MultigetMetrics.Count;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.junit.After;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

import org.apache.hadoop.hbase.shaded.protobuf.RequestConverter;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.Action;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MultiRequest;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.RegionAction;
import org.apache.hadoop.hbase.shaded.protobuf.generated.HBaseProtos.RegionSpecifier.RegionSpecifierType;

/** When a handler has its gets executed by threads of the pool, and when it executes all itself. */
@Category({ RegionServerTests.class, MediumTests.class })
public class TestParallelGetsThreads extends ParallelGetsFixture {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestParallelGetsThreads.class);

  private final ExecutorService others = Executors.newCachedThreadPool();
  /** Until then gets of other handlers wait. */
  private final CountDownLatch end = new CountDownLatch(1);

  @After
  public void stopOthers() {
    end.countDown();
    others.shutdownNow();
  }

  /** Has another handler serve gets; each is preceded by {@code before}, in whatever thread. */
  private Future<?> serveElsewhere(int count, Consumer<Boolean> before) {
    return others.submit(() -> {
      Thread own = Thread.currentThread();
      ServedMulti other = ServedMulti.of(ALICE);
      RpcServer.setCurrentCall(other);
      List<Action> actions = gets(count);
      try (ParallelGets gets = pool.start(actions, other, region, null, UNLIMITED, (get, as) -> {
        before.accept(Thread.currentThread() != own);
        return result(get);
      })) {
        for (Action action : actions) {
          assertTrue(gets.has(action));
          assertRow(action.getIndex(), gets.take());
        }
      }
      return null;
    });
  }

  private static void countIf(boolean isWorker, CountDownLatch latch) {
    if (isWorker) {
      latch.countDown();
    }
  }

  @Test
  public void testWhenAllThreadsAreBusyTheHandlerDoesAll() throws Exception {
    pool.shutdown();
    pool = pool(1);
    CountDownLatch busy = new CountDownLatch(1);
    Thread handler = Thread.currentThread();
    Future<?> other = serveElsewhere(20, isWorker -> {
      countIf(isWorker, busy);
      await(end);
    });
    await(busy);
    List<Object> answers = serve(gets(100), (get, as) -> {
      assertSame(handler, Thread.currentThread());
      return result(get);
    });
    assertRow(99, answers.get(99));
    end.countDown();
    other.get(2, TimeUnit.MINUTES);
    waitUntil(() -> pool.getPendingHandoffCount() == 0);
    // And when so many have called that help would come too late, it is not called for.
    assertTrue(pool.get(Count.SpuriousHandoffCount) > 0);
  }

  @Test
  public void testNotMoreThanTwoCallsForEachThreadWait() throws Exception {
    pool.shutdown();
    pool = pool(2);
    List<Future<?>> ends = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      int called = 2 * (i + 1);
      ends.add(serveElsewhere(20, isWorker -> await(end)));
      waitUntil(() -> pool.getPendingHandoffCount() == called);
    }
    Thread handler = Thread.currentThread();
    ParallelGets.RowReader alone = (get, as) -> {
      assertSame(handler, Thread.currentThread());
      return result(get);
    };
    int small = 0;
    for (int i = 0; i < DeviceWaitProbe.PROBE; i++) {
      // One of them is looked at, as it might wait for a device.
      try (ParallelGets gets = start(gets(50), alone)) {
        small += gets == null ? 1 : 0;
      }
    }
    assertEquals(DeviceWaitProbe.PROBE - 1, small);
    assertEquals(DeviceWaitProbe.PROBE, pool.get(Count.BusyBatchCount));
    assertRow(299, serve(gets(300), alone).get(299));
    assertEquals(4, pool.getPendingHandoffCount());
    assertEquals(2, pool.getThreadCount());
    end.countDown();
    for (Future<?> each : ends) {
      each.get(2, TimeUnit.MINUTES);
    }
    waitUntil(() -> pool.getPendingHandoffCount() == 0);
  }

  @Test
  public void testALargeMultiLetsASmallOneHaveAThread() throws Exception {
    pool.shutdown();
    pool = pool(1);
    CountDownLatch helped = new CountDownLatch(1);
    Future<?> large = serveElsewhere(5000, isWorker -> {
      countIf(isWorker, helped);
      if (end.getCount() > 0) {
        sleep(2);
      }
    });
    await(helped);
    Thread handler = Thread.currentThread();
    CountDownLatch helpedToo = new CountDownLatch(1);
    serve(gets(10), (get, as) -> {
      if (Thread.currentThread() == handler) {
        await(helpedToo);
      } else {
        helpedToo.countDown();
      }
      return result(get);
    });
    end.countDown();
    large.get(60, TimeUnit.SECONDS);
  }

  @Test
  public void testAfterTheServerHasStoppedTheHandlerDoesAll() throws Exception {
    pool.shutdown();
    List<Object> answers = serve(gets(50), (get, as) -> result(get));
    assertRow(49, answers.get(49));
    assertEquals(0, pool.getPendingHandoffCount());
    assertEquals(50, pool.get(Count.HandlerGetCount));
  }

  /** Others use all processors of this one. */
  private static final class NoRoom implements CpuHeadroom.Clocks {
    private long now;

    @Override
    public long now() {
      return now += TimeUnit.MILLISECONDS.toNanos(CpuHeadroom.PERIOD_MILLIS);
    }

    @Override
    public double systemLoad() {
      return 1;
    }

    @Override
    public long processCpu() {
      return 8 * now;
    }

    @Override
    public long threadsCpu() {
      return 0;
    }

    @Override
    public long threadsBusy() {
      return 0;
    }
  }

  private void replacePoolByOneWithoutRoom() {
    pool.shutdown();
    Configuration conf = settings(4);
    pool = new MultigetPool(conf, Thread::new,
      threads -> new CpuHeadroom(8, new NoRoom(), Runnable::run));
    // It forgets by and by that there was room.
    waitUntil(() -> pool.getCpuHeadroomCount() == 0);
  }

  @Test
  public void testWithoutRoomTheHandlerDoesAllThatComesFromMemory() throws Exception {
    replacePoolByOneWithoutRoom();
    Thread handler = Thread.currentThread();
    int looks = 0;
    for (int i = 0; i < 4 * DeviceWaitProbe.PROBE; i++) {
      List<Action> actions = gets(50);
      try (ParallelGets gets = start(actions, (get, as) -> {
        assertSame(handler, Thread.currentThread());
        return result(get);
      })) {
        for (int j = 0; gets != null && j < 50; j++) {
          assertTrue(gets.has(actions.get(j)));
          assertRow(j, take(gets));
        }
        looks += gets == null ? 0 : 1;
      }
    }
    assertEquals(4, looks);
    assertEquals(4 * DeviceWaitProbe.PROBE, pool.get(Count.CpuBoundBatchCount));
    assertEquals(0, pool.get(Count.ParallelBatchCount));
    assertEquals(0, pool.get(Count.DeviceBatchCount));
    assertEquals(0, pool.getThreadCount());
  }

  @Test
  public void testWithoutRoomGetsThatWaitForADeviceAreHelpedWith() throws Exception {
    replacePoolByOneWithoutRoom();
    Thread handler = Thread.currentThread();
    for (int i = 0; i < DeviceWaitProbe.LIKELY; i++) {
      CountDownLatch helped = new CountDownLatch(1);
      List<Object> answers = serve(gets(50), (get, as) -> {
        if (Thread.currentThread() != handler) {
          helped.countDown();
        } else if (number(get) > 1) {
          // The first two show that a thread is to be called.
          await(helped);
        }
        ThreadLocalServerSideScanMetrics.addFsReadTime(1);
        return result(get);
      });
      assertRow(49, answers.get(49));
      assertEquals(i + 1, pool.get(Count.DeviceBatchCount));
      // Calls that come too late are limited in number.
      waitUntil(() -> pool.getPendingHandoffCount() == 0);
    }
    assertEquals(DeviceWaitProbe.LIKELY, pool.get(Count.ParallelBatchCount));
    assertEquals(0, pool.get(Count.CpuBoundBatchCount));
    assertTrue(pool.get(Count.HelperGetCount) > 0);
  }

  @Test
  public void testAThreadIsWokenUpForAMultiOfGetsIfThereIsRoom() throws Exception {
    MultiRequest multi = request(gets(10));
    pool.expect(multi);
    assertEquals("none sleeps", 0, pool.get(Count.ExpectedCount));
    serve(gets(60), (get, as) -> result(get));
    waitUntil(() -> {
      pool.expect(multi);
      return pool.get(Count.ExpectedCount) > 0;
    });
    waitUntil(() -> pool.getPendingHandoffCount() == 0);
    long before = pool.get(Count.ExpectedCount);
    pool.expect(request(gets(1)));
    pool.expect(request(Arrays.asList(put(0), put(1), put(2))));
    pool.expect(MultiRequest.getDefaultInstance());
    pool.expect(multi.getRegionAction(0));
    pool.expect(null);
    assertEquals(before, pool.get(Count.ExpectedCount));
    replacePoolByOneWithoutRoom();
    serve(gets(300), (get, as) -> {
      ThreadLocalServerSideScanMetrics.addFsReadTime(1);
      return result(get);
    });
    waitUntil(() -> pool.get(Count.HandoffCount) > 0 && pool.getPendingHandoffCount() == 0);
    pool.expect(multi);
    assertEquals(0, pool.get(Count.ExpectedCount));
  }

  private static MultiRequest request(List<Action> actions) {
    return MultiRequest.newBuilder()
      .addRegionAction(RegionAction.newBuilder()
        .setRegion(
          RequestConverter.buildRegionSpecifier(RegionSpecifierType.REGION_NAME, FAMILY))
        .addAllAction(actions))
      .build();
  }

  @Test
  public void testManyHandlersAtOnce() throws Exception {
    // The numbers are that of the threads, twice that, and HBase's default plus one.
    for (int handlers : new int[] { 4, 8, 31 }) {
      testManyHandlersAtOnce(handlers);
    }
  }

  private void testManyHandlersAtOnce(int handlers) throws Exception {
    List<Future<?>> ends = new ArrayList<>();
    for (int h = 0; h < handlers; h++) {
      Random random = new Random(h);
      ends.add(others.submit(() -> {
        for (int round = 0; round < 1600 / handlers; round++) {
          multi(random, 2 + random.nextInt(150));
        }
        return null;
      }));
    }
    for (Future<?> each : ends) {
      each.get(120, TimeUnit.SECONDS);
    }
    waitUntil(() -> pool.getPendingHandoffCount() == 0);
    assertTrue(pool.get(Count.HelperGetCount) > 0);
  }

  private void multi(Random random, int count) throws IOException {
    ServedMulti own = ServedMulti.of(ALICE);
    RpcServer.setCurrentCall(own);
    AtomicInteger inFlight = new AtomicInteger();
    AtomicBoolean ended = new AtomicBoolean();
    int takeOnly = random.nextInt(4) == 0 ? random.nextInt(count) : count;
    int bad = random.nextInt(count);
    List<Action> actions = gets(count);
    int taken = 0;
    ParallelGets gets = pool.start(actions, own, region, null, UNLIMITED, (get, as) -> {
      assertFalse(ended.get());
      inFlight.incrementAndGet();
      as.incrementBlockBytesScanned(1);
      if ((number(get) & 15) == 0) {
        Thread.yield();
      }
      inFlight.decrementAndGet();
      if (number(get) == bad) {
        throw new IOException("bad");
      }
      return result(get);
    });
    if (gets == null) {
      return;
    }
    try {
      for (; taken < takeOnly; taken++) {
        assertTrue(gets.has(actions.get(taken)));
        Object answer = take(gets);
        if (taken == bad) {
          assertTrue(answer instanceof IOException);
        } else {
          assertRow(taken, answer);
        }
      }
    } finally {
      gets.close();
      ended.set(true);
    }
    assertEquals(0, inFlight.get());
    assertEquals(taken, own.getBlockBytesScanned());
  }
}
