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
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.RegionLocks;
import org.apache.hadoop.hbase.regionserver.RegionServerServices;
import org.apache.hadoop.hbase.regionserver.WriteCallsFixture;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.Interleavings;
import org.junit.After;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.mockito.Mockito;

import org.apache.hadoop.hbase.shaded.protobuf.RequestConverter;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutateRequest;

/**
 * The invariant of {@link IncrementGroup}, in all {@link Interleavings} with a bounded number of
 * preemptions of callers whose increments begin in the queue of a row or of a part, an operation
 * that locks one of the rows, and a close: each increment is written once or left to the scheduler,
 * under the lock of its row, and changes its queue twice at most.
 */
@Category({ RegionServerTests.class, MediumTests.class })
public class TestIncrementGroupInterleavings {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestIncrementGroupInterleavings.class);

  private static final int PREEMPTIONS = Integer.getInteger("incrementgroup.preemptions", 1);
  /** One for each queue, and one for a queue that fills as its committer ends. */
  private static final int COMMITTERS = 4;
  private static final byte[] ROW = Bytes.toBytes("row");
  private static final byte[] OTHER = Bytes.toBytes("other");

  /** A step that is left out, and what that violates. */
  private enum Fault {
    NONE(""),
    PASSED_IS_NOT_ADDED("ended"),
    PASSED_IS_LEFT_AS_WELL("ended"),
    LOCKED_ROW_IS_WRITTEN("the row is not locked"),
    ROW_IS_NOT_UNLOCKED("ended"),
    CONTENDED_IS_FORGOTTEN("passed on thrice");

    private final String message;

    Fault(String message) {
      this.message = message;
    }
  }

  private InterleavedWrites writes = writes(PREEMPTIONS);
  private final RegionServerServices server = WriteCallsFixture.serverWithMemory();
  private Simulated region;
  private Commits<IncrementQueueKey> rows;
  private Commits<IncrementQueueKey> parts;
  private final Map<IncrementCall, Integer> passes = new HashMap<>();
  private Fault fault = Fault.NONE;
  private boolean waitEnds;
  private boolean otherQueueIsFull;
  /** What was passed on from the queue of a row and from that of a part, in all runs. */
  private int passedFromRow;
  private int passedFromPart;
  private int written;
  /** What was violated first; a committer catches all errors. */
  private String violation;

  private static InterleavedWrites writes(int preemptions) {
    return new InterleavedWrites(preemptions, increment(ROW));
  }

  private static Increment increment(byte[] row) {
    return new Increment(row).addColumn(ROW, ROW, 1);
  }

  @After
  public void tearDown() {
    writes.close();
  }

  /** A region, whose threads run one at a time. */
  private final class Simulated {
    private final HRegion mock = Mockito.mock(HRegion.class, Mockito.withSettings().stubOnly());
    /** Who has locked a row. */
    private final Map<String, Object> locked = new HashMap<>();
    private final Map<String, Integer> values = new HashMap<>();
    private boolean closing;
    private boolean ended;

    Simulated() {
      RegionInfo info = Mockito.mock(RegionInfo.class, Mockito.withSettings().stubOnly());
      Mockito.when(info.getRegionName()).thenReturn(Bytes.toBytes("region"));
      Mockito.when(mock.getRegionInfo()).thenReturn(info);
      Mockito.when(mock.isClosing()).thenAnswer(call -> closing);
    }

    /** Simulates an operation that locks a row, such as an append, some times. */
    void lock(byte[] row, int times) {
      String key = Bytes.toString(row);
      for (int i = 0; i < times; i++) {
        writes.point();
        writes.await(() -> !locked.containsKey(key));
        locked.put(key, this);
        writes.point();
        locked.remove(key);
        writes.changed();
      }
      ended = true;
    }

    /** Simulates a close. */
    void close() {
      writes.point();
      closing = true;
      writes.changed();
      writes.await(locked::isEmpty);
      ended = true;
    }
  }

  private final class Locks extends RegionLocks {
    private final boolean ofRowQueue;
    private final List<String> held = new ArrayList<>();

    Locks(boolean ofRowQueue) {
      super(region.mock);
      this.ofRowQueue = ofRowQueue;
    }

    @Override
    public boolean tryOwn(byte[] row, long millis) {
      String key = Bytes.toString(row);
      writes.point();
      if (region.locked.containsKey(key) && millis > 0 && !waitEnds) {
        require(ofRowQueue, "the queue of a part waits");
        writes.await(() -> region.closing || !region.locked.containsKey(key));
      }
      if (region.closing || region.locked.containsKey(key)) {
        return fault == Fault.LOCKED_ROW_IS_WRITTEN;
      }
      region.locked.put(key, this);
      held.add(key);
      return true;
    }

    @Override
    public void close() {
      if (fault != Fault.ROW_IS_NOT_UNLOCKED) {
        held.forEach(region.locked::remove);
        held.clear();
        writes.changed();
      }
    }

    void write(WriteCall call) {
      String key = Bytes.toString(call.rows().get(0));
      require(region.locked.get(key) == this, "the row is not locked");
      int before = region.values.getOrDefault(key, 0);
      writes.point();
      region.values.put(key, before + 1);
      written++;
      call.done(null, 0);
    }
  }

  private final class RowGroup extends RowIncrementGroup {
    private Locks locks;

    RowGroup() {
      super(server, new WriteNonces(null), GroupMetrics.ofIncrements(), 1000, call -> {
        passedFromRow++;
        return moveTo(parts, call.partQueue(), call);
      }, call -> parts.has(call.partQueue()));
    }

    @Override
    RegionLocks locks(HRegion any) {
      locks = new Locks(true);
      return locks;
    }

    @Override
    protected void write(List<WriteCall> arrived) {
      arrived.forEach(locks::write);
    }
  }

  private final class PartGroup extends PartIncrementGroup {
    private Locks locks;

    PartGroup() {
      super(server, new WriteNonces(null), GroupMetrics.ofIncrements(), call -> {
        passedFromPart++;
        return moveTo(rows, call.rowQueue(), call);
      }, () -> 0, 1, call -> {
      });
    }

    @Override
    RegionLocks locks(HRegion any) {
      locks = new Locks(false);
      return locks;
    }

    @Override
    protected void write(List<WriteCall> arrived) {
      arrived.forEach(locks::write);
    }
  }

  private void require(boolean holds, String otherwise) {
    violation = holds || violation != null ? violation : otherwise;
  }

  private boolean moveTo(Commits<IncrementQueueKey> to, IncrementQueueKey key, IncrementCall call) {
    int times = passes.merge(call, 1, Integer::sum);
    require(times <= 2, "passed on thrice");
    Object holder = region.locked.get(Bytes.toString(call.row()));
    require(to == rows || !(holder instanceof Locks) || !((Locks) holder).ofRowQueue,
      "passed on before its row was unlocked");
    if (fault == Fault.PASSED_IS_NOT_ADDED) {
      return true;
    }
    return !otherQueueIsFull && to.add(key, call) && fault != Fault.PASSED_IS_LEFT_AS_WELL;
  }

  /** Sends increments of rows, to the queue of each row or to that of the part. */
  private void send(boolean toRow, byte[]... to) throws IOException {
    for (byte[] row : to) {
      MutateRequest request = RequestConverter.buildMutateRequest(Bytes.toBytes("region"),
        increment(row), HConstants.NO_NONCE, HConstants.NO_NONCE);
      IncrementQueueKey rowQueue = IncrementQueueKey.ofRow(region.mock, row);
      IncrementQueueKey part =
        IncrementQueueKey.ofPart(region.mock, 0, Durability.SYNC_WAL, false);
      IncrementCall call = new IncrementCall(writes.rpcServer(), writes.call(request).call(),
        region.mock, rowQueue, part) {
        @Override
        boolean isContended() {
          return fault != Fault.CONTENDED_IS_FORGOTTEN && super.isContended();
        }
      };
      writes.point();
      assertTrue(toRow ? rows.add(rowQueue, call) : parts.add(part, call));
    }
  }

  private int explore(Interleavings.Body... bodies) throws Exception {
    int orders = 0;
    boolean more = true;
    while (more) {
      writes.clear();
      passes.clear();
      written = 0;
      violation = null;
      region = new Simulated();
      rows = new Commits<>(writes, 10, 0, any -> {
      }, appended -> new RowGroup());
      parts = new Commits<>(writes, 10, 0, any -> {
      }, appended -> new PartGroup());
      List<InterleavedWrites.Call> calls = writes.run(COMMITTERS, bodies);
      assertNull(violation);
      int answered = (int) calls.stream().filter(call -> call.answer().equals("written")).count();
      assertEquals("answered", written, answered);
      assertEquals("stored", written,
        region.values.values().stream().mapToInt(Integer::intValue).sum());
      assertTrue("the other operation waits", region.ended);
      more = writes.next();
      assertEquals("queues", 0, rows.keys() + parts.keys());
      orders++;
    }
    assertTrue(orders + " orders", orders > 20);
    System.out.println(orders + " orders, " + passedFromRow + " passed on from queues of rows, "
      + passedFromPart + " from those of parts, " + writes.left() + " left");
    return orders;
  }

  private void exploreBesideALock() throws Exception {
    explore(() -> send(false, OTHER, ROW), () -> send(true, ROW), () -> region.lock(ROW, 2));
  }

  @Test
  public void testPassingBesideALockedRow() throws Exception {
    exploreBesideALock();
    assertTrue("from a queue of a row", passedFromRow > 0);
    assertTrue("from that of a part", passedFromPart > 0);
    assertEquals("none waits too long", 0, writes.left());
  }

  @Test
  public void testAllBeginInThePart() throws Exception {
    explore(() -> send(false, ROW, OTHER), () -> send(false, ROW), () -> region.lock(ROW, 1));
    assertTrue(passedFromPart > 0);
    assertEquals(0, writes.left());
  }

  @Test
  public void testAllBeginInQueuesOfRows() throws Exception {
    explore(() -> send(true, ROW, OTHER), () -> send(true, ROW), () -> region.lock(ROW, 1));
    assertEquals("no part is busy", 0, passedFromRow);
    assertEquals(0, writes.left());
  }

  @Test
  public void testClose() throws Exception {
    explore(() -> send(false, OTHER, ROW), () -> send(true, ROW), () -> region.close());
    assertTrue("none meets the close", writes.left() > 0);
  }

  @Test
  public void testLockThatIsHeldTooLong() throws Exception {
    waitEnds = true;
    exploreBesideALock();
    assertTrue(writes.left() > 0);
  }

  @Test
  public void testOtherQueueIsFull() throws Exception {
    otherQueueIsFull = true;
    exploreBesideALock();
    assertTrue(writes.left() > 0);
  }

  @Test
  public void testShutdown() throws Exception {
    writes.refuse();
    exploreBesideALock();
    assertTrue(writes.left() > 0);
  }

  @Test
  public void testEachStepIsNeeded() {
    for (Fault each : Fault.values()) {
      if (each != Fault.NONE) {
        fault = each;
        // A run that fails leaves decisions behind.
        writes.close();
        // One preemption is too few for a row that is locked twice while its part is busy.
        writes = writes(2);
        AssertionError found =
          assertThrows(each.name(), AssertionError.class, this::exploreBesideALock);
        assertTrue(each + ": " + found.getMessage(), found.getMessage().contains(each.message));
      }
    }
  }
}
