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
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.ipc.RpcServer;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.security.User;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.After;
import org.junit.AfterClass;
import org.junit.Before;
import org.junit.BeforeClass;
import org.mockito.Mockito;

import org.apache.hadoop.hbase.shaded.protobuf.ProtobufUtil;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.Action;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutationProto.MutationType;

/** A handler with its multi and a pool of threads, without a server around them. */
public abstract class ParallelGetsFixture {
  static final byte[] FAMILY = Bytes.toBytes("f");
  static final User ALICE =
    User.createUserForTesting(new Configuration(false), "alice", new String[0]);

  /** The size limit of a response that is not limited. */
  static final long UNLIMITED = Long.MAX_VALUE;

  final HRegion region = Mockito.mock(HRegion.class);
  MultigetPool pool;
  ServedMulti call;

  @Before
  public void setUp() {
    Mockito.when(region.getRegionInfo())
      .thenReturn(RegionInfoBuilder.newBuilder(TableName.valueOf("t")).build());
    pool = pool(4);
    call = ServedMulti.of(ALICE);
    RpcServer.setCurrentCall(call);
  }

  @BeforeClass
  public static void ignoreCpuLoad() {
    MultigetPool.ignoreCpuLoad(true);
  }

  @AfterClass
  public static void considerCpuLoad() {
    MultigetPool.ignoreCpuLoad(false);
  }

  @After
  public void tearDown() {
    RpcServer.unsetCurrentCall();
    pool.shutdown();
  }

  static MultigetPool pool(int threads) {
    return new MultigetPool(settings(threads));
  }

  static Configuration settings(int threads) {
    Configuration conf = new Configuration(false);
    conf.setBoolean(MultigetSettings.ENABLED_KEY, true);
    conf.setInt(MultigetSettings.THREADS_KEY, threads);
    conf.setInt(MultigetSettings.MIN_BATCH_KEY, 2);
    return conf;
  }

  static Action get(int i) throws IOException {
    return Action.newBuilder().setIndex(i).setGet(ProtobufUtil.toGet(new Get(Bytes.toBytes(i))))
      .build();
  }

  static List<Action> gets(int count) throws IOException {
    List<Action> actions = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      actions.add(get(i));
    }
    return actions;
  }

  static Action increment(int i) throws IOException {
    Increment increment = new Increment(Bytes.toBytes(i)).addColumn(FAMILY, FAMILY, 1);
    return Action.newBuilder().setIndex(i)
      .setMutation(ProtobufUtil.toMutation(MutationType.INCREMENT, increment)).build();
  }

  static Action put(int i) throws IOException {
    Put put = new Put(Bytes.toBytes(i)).addColumn(FAMILY, FAMILY, FAMILY);
    return Action.newBuilder().setIndex(i)
      .setMutation(ProtobufUtil.toMutation(MutationType.PUT, put)).build();
  }

  static int number(Get get) {
    return Bytes.toInt(get.getRow());
  }

  static Result result(Get get) {
    return Result
      .create(Collections.singletonList(new KeyValue(get.getRow(), FAMILY, FAMILY, 1L, FAMILY)));
  }

  ParallelGets start(List<Action> actions, ParallelGets.RowReader reader) {
    return pool.start(actions, call, region, null, UNLIMITED, reader);
  }

  /** Executes the actions as a handler does. Returns a result, exception or null for each. */
  List<Object> serve(List<Action> actions, ParallelGets.RowReader reader) {
    List<Object> answers = new ArrayList<>();
    try (ParallelGets gets = start(actions, reader)) {
      for (Action action : actions) {
        answers.add(gets.has(action) ? take(gets) : null);
      }
    }
    return answers;
  }

  static Object take(ParallelGets gets) {
    try {
      return gets.take();
    } catch (IOException e) {
      return e;
    }
  }

  static void assertRow(int i, Object answer) {
    assertEquals(i, Bytes.toInt(((Result) answer).getRow()));
  }

  static void await(CountDownLatch latch) {
    try {
      assertTrue(latch.await(2, TimeUnit.MINUTES));
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  static void waitUntil(Callable<Boolean> condition) {
    try {
      long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(2);
      while (!condition.call()) {
        assertTrue("does not happen", System.nanoTime() < end);
        Thread.sleep(1);
      }
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  static void sleep(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** Serves gets by a handler that waits for others. Returns by how many, at the same time. */
  int workersAtOnce(int wanted) throws IOException {
    Thread handler = Thread.currentThread();
    Set<Thread> workers = ConcurrentHashMap.newKeySet();
    serve(gets(60), (get, as) -> {
      if (Thread.currentThread() != handler) {
        workers.add(Thread.currentThread());
      }
      waitUntil(() -> workers.size() >= wanted);
      return result(get);
    });
    waitUntil(() -> pool.getPendingHandoffCount() == 0);
    return workers.size();
  }
}
