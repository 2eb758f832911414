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
package org.apache.hadoop.hbase.regionserver.writegroup;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.CellScanner;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Row;
import org.apache.hadoop.hbase.ipc.CallRunner;
import org.apache.hadoop.hbase.ipc.RpcScheduler;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.Interleavings;
import org.apache.hadoop.hbase.util.NonceKey;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.mockito.Mockito;

import org.apache.hbase.thirdparty.com.google.protobuf.ByteString;
import org.apache.hbase.thirdparty.com.google.protobuf.Message;

import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutationProto;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.RegionAction;

/**
 * Every schedule, with two preemptions, of threads that each send a write and then run the calls
 * that are dispatched: each write is applied once, all calls end, and so many groups at most are in
 * the WAL at a time.
 */
@Category({ RegionServerTests.class, MediumTests.class })
public class TestWriteGroupsInterleavings {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestWriteGroupsInterleavings.class);

  private static final int PREEMPTIONS = 2;
  private static final int WRITES = 4;
  private static final HRegion REGION = Mockito.mock(HRegion.class);

  private final Interleavings interleavings = new Interleavings(PREEMPTIONS);
  /** Whether writes fail before they are appended. */
  private boolean failing;

  /** The kind, and what is around it. The threads run one at a time. */
  private final class Model implements WriteKind {
    private final WriteGroups groups = new WriteGroups(this, null);
    private final Deque<Runnable> dispatched = new ArrayDeque<>();
    private final RpcScheduler scheduler = Mockito.mock(RpcScheduler.class,
      Mockito.withSettings().stubOnly().defaultAnswer(dispatch -> {
        CallRunner call = dispatch.getArgument(0);
        return dispatched.add(call::run);
      }));
    private final GroupMetrics metrics = WriteGroupMetrics.register();
    private final int[] applied = new int[WRITES];
    private int ended;
    private int failed;
    /** Writes that lead and are not appended yet. */
    private int forming;
    private int maxForming;
    private int inWal;
    private int maxInWal;
    private int maxGroup;
    private boolean syncFails;

    Model() {
      groups.prepare();
    }

    void send(int number) {
      Put put = new Put(Bytes.toBytes(number)).addColumn(new byte[1], new byte[1], new byte[1]);
      MutationProto proto = MutationProto.newBuilder()
        .setRow(ByteString.copyFrom(put.getRow())).build();
      WriteCall call = groups.call(new Request(put, proto));
      CallRunner runner = Mockito.mock(CallRunner.class,
        Mockito.withSettings().stubOnly().defaultAnswer(method -> {
          if (method.getMethod().getName().equals("run")) {
            run(call, put);
          }
          return null;
        }));
      interleavings.point();
      assertTrue(groups.dispatch(call, runner, scheduler));
    }

    private void run(WriteCall call, Put put) {
      call.begin();
      try {
        interleavings.point();
        groups.apply(null, put, HConstants.NO_NONCE, HConstants.NO_NONCE);
      } catch (IOException e) {
        failed++;
      } finally {
        call.end();
        ended++;
      }
    }

    void runDispatched() {
      interleavings.point();
      for (Runnable next = dispatched.poll(); next != null; next = dispatched.poll()) {
        next.run();
        interleavings.point();
      }
    }

    void append(List<byte[]> rows) throws IOException {
      forming++;
      maxForming = Math.max(maxForming, forming);
      interleavings.point();
      forming--;
      if (failing && rows.size() > 1) {
        throw new IOException("not appended");
      }
      rows.forEach(row -> applied[Bytes.toInt(row)]++);
      GroupAppend.of(new NonceKey(0, 0));
      inWal++;
      maxInWal = Math.max(maxInWal, inWal);
      maxGroup = Math.max(maxGroup, rows.size());
      GroupAppend.appended();
      interleavings.point();
      inWal--;
      if (syncFails) {
        throw new IOException("not synced");
      }
    }

    @Override
    public Result alone(HRegion region, Row write, long nonceGroup, long nonce)
      throws IOException {
      append(Collections.singletonList(write.getRow()));
      return null;
    }

    @Override
    public GroupKey peek(HRegion region, Row write) {
      interleavings.point();
      return new Key(this);
    }

    @Override
    public GroupKey key(HRegion region, Row write) {
      return new Key(this);
    }

    @Override
    public boolean isEnabled() {
      return true;
    }

    @Override
    public boolean groupsRows() {
      return true;
    }

    @Override
    public int place(HRegion region) {
      return 0;
    }

    @Override
    public boolean joinsFromThreads() {
      return false;
    }

    @Override
    public boolean groupsRegions() {
      return true;
    }

    @Override
    public long rowWaitMs() {
      // Of the machine's time: a second can pass within a schedule if the machine is busy.
      return TimeUnit.MINUTES.toMillis(10);
    }

    @Override
    public boolean accepts(Message request) {
      return true;
    }

    @Override
    public boolean accepts(HRegion region, Message request) {
      return true;
    }

    @Override
    public Row parse(MutationProto proto, CellScanner cells) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Row batch(RegionAction action) {
      throw new UnsupportedOperationException();
    }

    @Override
    public boolean isPermitted(HRegion region, Row write) {
      return true;
    }

    @Override
    public Members members(PendingWrite first) {
      return any -> true;
    }

    @Override
    public boolean isLocked(HRegion region, Row write) {
      return false;
    }

    @Override
    public void count(HRegion region, WriteGroup group) {
    }

    @Override
    public GroupMetrics metrics() {
      return metrics;
    }

    @Override
    public String spanName() {
      return "test";
    }
  }

  private static final class Key extends GroupKey {
    private final Model model;

    Key(Model model) {
      super(null, null);
      this.model = model;
    }

    @Override
    protected GroupKey of(byte[] one) {
      throw new UnsupportedOperationException();
    }

    @Override
    protected WriteGroup group(List<PendingWrite> members) {
      return new Group(model, members);
    }

    @Override
    public int hashCode() {
      return model.hashCode();
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Key && ((Key) other).model == model;
    }

    @Override
    public String toString() {
      return "key";
    }
  }

  private static final class Group extends WriteGroup {
    private final Model model;

    Group(Model model, List<PendingWrite> members) {
      super(members);
      this.model = model;
    }

    @Override
    public int rows() {
      return size();
    }

    @Override
    protected void apply(HRegion region) throws IOException {
      List<byte[]> rows = new ArrayList<>();
      members().forEach(member -> rows.add(member.row()));
      model.append(rows);
    }

    @Override
    protected void done() {
      members().forEach(member -> member.done(null, 0));
    }
  }

  private static final class Request implements WriteRequest {
    private final Put put;
    private final MutationProto proto;

    Request(Put put, MutationProto proto) {
      this.put = put;
      this.proto = proto;
    }

    @Override
    public ByteString regionName() {
      return ByteString.EMPTY;
    }

    @Override
    public MutationProto proto() {
      return proto;
    }

    @Override
    public Message param() {
      return proto;
    }

    @Override
    public long nonceGroup() {
      return HConstants.NO_NONCE;
    }

    @Override
    public long nonce() {
      return HConstants.NO_NONCE;
    }

    @Override
    public int priority() {
      return 0;
    }

    @Override
    public long size() {
      return 0;
    }

    @Override
    public HRegion region() {
      return REGION;
    }

    @Override
    public Row write() {
      return put;
    }
  }

  private void explore(boolean syncFails) throws Exception {
    long schedules = 0;
    int maxGroup = 0;
    int maxInWal = 0;
    int maxForming = 0;
    try (Interleavings closed = interleavings) {
      do {
        Model model = new Model();
        model.syncFails = syncFails;
        closed.run(true, () -> {
          model.send(0);
          model.send(1);
          model.runDispatched();
        }, () -> {
          model.send(2);
          model.runDispatched();
        }, () -> {
          model.send(3);
          model.runDispatched();
        });
        closed.check();
        assertTrue(closed.isDone());
        for (Runnable next = model.dispatched.poll(); next != null;
          next = model.dispatched.poll()) {
          next.run();
        }
        assertEquals("all calls have ended", WRITES, model.ended);
        assertEquals(syncFails ? WRITES : 0, model.failed);
        for (int times : model.applied) {
          assertEquals("a write is applied once", 1, times);
        }
        assertEquals(0, model.groups.rows());
        assertEquals(0, model.groups.waiting());
        assertEquals(0, model.groups.inFlight());
        maxGroup = Math.max(maxGroup, model.maxGroup);
        maxInWal = Math.max(maxInWal, model.maxInWal);
        maxForming = Math.max(maxForming, model.maxForming);
        schedules++;
      } while (closed.next());
    }
    System.out.println(schedules + " schedules, groups of " + maxGroup);
    assertTrue("no schedule has a group", failing || maxGroup > 1);
    if (!failing) {
      assertEquals("one write leads at a time", 1, maxForming);
      // Members of a group that failed are applied alone, without waiting for others.
      assertEquals("groups in the WAL", WritesInFlight.MAX_SYNCING + 1, maxInWal);
    }
  }

  @Test
  public void testWrites() throws Exception {
    explore(false);
  }

  @Test
  public void testGroupsThatFailBeforeTheAppend() throws Exception {
    failing = true;
    explore(false);
  }

  @Test
  public void testSyncsThatFail() throws Exception {
    explore(true);
  }
}
