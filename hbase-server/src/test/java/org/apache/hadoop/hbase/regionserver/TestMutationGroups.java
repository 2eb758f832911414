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
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.ByteBufferKeyValue;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.Waiter;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Mutation;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.regionserver.Region.RowLock;
import org.apache.hadoop.hbase.regionserver.writegroup.PendingWrite;
import org.apache.hadoop.hbase.regionserver.writegroup.WriteGroupMetrics;
import org.apache.hadoop.hbase.regionserver.writegroup.WriteGroupSettings;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.HashedBytes;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.mockito.Mockito;

import org.apache.hadoop.hbase.shaded.protobuf.ProtobufUtil;
import org.apache.hadoop.hbase.shaded.protobuf.RequestConverter;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.Action;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutationProto.MutationType;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.RegionAction;
import org.apache.hadoop.hbase.shaded.protobuf.generated.HBaseProtos.RegionSpecifier.RegionSpecifierType;

@Category({ RegionServerTests.class, MediumTests.class })
public class TestMutationGroups extends MutationGroupsFixture {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestMutationGroups.class);

  private Object peek(Mutation mutation) {
    return groups.peek(region, MutationBatch.single(mutation));
  }

  @Test
  public void testWritesThatWaitAreOneEditAndHoldNoHandler() throws Exception {
    for (int waiting : new int[] { 1, 2, 31, 33, 64 }) {
      long before = WriteGroupMetrics.register().grouped();
      long writes = region.getWriteRequestsCount();
      List<Future<Result>> sent = sendFirst();
      int appended = edits.get();
      int handled = calls.handled.get();
      for (int i = 0; i < waiting; i++) {
        sent.add(sendNext(put(waiting + "row" + i, "v" + i)));
      }
      assertEquals("all wait without a handler", handled, calls.handled.get());
      watched.openGate();
      await(sent);
      int most = (waiting + 32) / 33;
      assertTrue(waiting + " were " + (edits.get() - appended) + " edits",
        edits.get() - appended <= most);
      assertTrue(calls.handled.get() - handled <= most);
      for (int i = 0; i < waiting; i++) {
        assertEquals("v" + i, stored(waiting + "row" + i));
      }
      assertEquals("each is counted", waiting + 2, region.getWriteRequestsCount() - writes);
      if (waiting > 1) {
        Waiter.waitFor(conf, 60_000, 1,
          () -> WriteGroupMetrics.register().grouped() - before >= waiting - 1);
      }
      Waiter.waitFor(conf, 60_000, 1, () -> groups.groups().inFlight() == 0);
    }
  }

  /** All cells of a group have one sequence id. */
  @Test
  public void testLaterWriteOfARowWinsAtEqualTimestamps() throws Exception {
    List<Future<Result>> sent = sendFirst();
    byte[] row = Bytes.toBytes("row");
    for (int i = 0; i < 5; i++) {
      sent.add(sendNext(new Put(row).addColumn(F, Q, 1, Bytes.toBytes("v" + i))));
      sent.add(sendNext(put("other" + i, "v")));
    }
    watched.openGate();
    await(sent);
    assertEquals("v4", stored("row"));
    sent = sendFirst();
    sent.add(sendNext(new Put(row).addColumn(BY_SEQUENCE, Q, 7, Bytes.toBytes("a"))));
    sent.add(sendNext(new Delete(row).addColumns(BY_SEQUENCE, Q, 7)));
    sent.add(sendNext(new Put(row).addColumn(BY_SEQUENCE, Q, 7, Bytes.toBytes("b"))));
    sent.add(sendNext(put("other", "v")));
    watched.openGate();
    await(sent);
    assertEquals("b", Bytes.toString(region.get(new Get(row)).getValue(BY_SEQUENCE, Q)));
  }

  @Test
  public void testWriteThatFailsFailsAlone() throws Exception {
    List<Future<Result>> sent = sendFirst();
    Future<Result> family = sendNext(new Put(Bytes.toBytes("a")).addColumn(Bytes.toBytes("none"),
      Q, Q));
    Future<Result> beyond = sendNext(put("zz", "v"));
    sent.add(sendNext(put("b", "v")));
    Future<Result> onItsWay = calls.send(put("c", "v"), 0, true);
    sent.add(sendNext(put("d", "v")));
    watched.openGate();
    await(sent);
    assertTrue(failure(family) instanceof NoSuchColumnFamilyException);
    assertTrue(failure(beyond) instanceof IOException);
    failure(onItsWay);
    assertEquals("v", stored("b"));
    assertEquals("v", stored("d"));
    assertNull(stored("c"));
  }

  @Test
  public void testRowThatIsLockedDoesNotHoldTheOthers() throws Exception {
    List<Future<Result>> sent = sendFirst();
    RowLock lock = region.getRowLock(Bytes.toBytes("locked"));
    sent.add(sendNext(put("a", "v")));
    Future<Result> locked = sendNext(put("locked", "v"));
    sent.add(sendNext(put("b", "v")));
    watched.openGate();
    await(sent);
    assertFalse(locked.isDone());
    lock.release();
    locked.get(60, TimeUnit.SECONDS);
    assertEquals("v", stored("locked"));
  }

  @Test
  public void testLeaderWhoseRowIsLockedLetsTheOthersPass() throws Exception {
    List<Future<Result>> sent = sendFirst();
    RowLock lock = region.getRowLock(Bytes.toBytes("locked"));
    Future<Result> locked = sendNext(put("locked", "v"));
    sent.add(sendNext(put("a", "v")));
    sent.add(sendNext(put("b", "v")));
    watched.openGate();
    await(sent);
    assertFalse(locked.isDone());
    lock.release();
    locked.get(60, TimeUnit.SECONDS);
  }

  /** A reader of the row, as a put itself, does not lock it against puts. */
  @Test
  public void testSharedLockDoesNotHoldAPut() throws Exception {
    List<Future<Result>> sent = sendFirst();
    RowLock lock = region.getRowLock(Bytes.toBytes("a"), true);
    sent.add(sendNext(put("b", "v")));
    sent.add(sendNext(put("a", "v")));
    watched.openGate();
    await(sent);
    assertEquals("v", stored("a"));
    lock.release();
  }

  @Test
  public void testSyncThatFailsFailsAllOfItsGroupAndNoneOfTheNext() throws Exception {
    List<Future<Result>> first = sendFirst();
    List<Future<Result>> sent = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      sent.add(sendNext(put("row" + i, "v")));
    }
    watched.failSyncs(new IOException("no sync"));
    int appended = edits.get();
    watched.openGate();
    for (Future<Result> one : first) {
      failure(one);
    }
    for (Future<Result> one : sent) {
      assertEquals("no sync", failure(one).getMessage());
    }
    assertEquals("it is not tried again", 1, edits.get() - appended);
    watched.failSyncs(null);
    calls.send(put("row0", "again")).get(60, TimeUnit.SECONDS);
    assertEquals("again", stored("row0"));
  }

  @Test
  public void testRegionThatIsClosedMeanwhileRefusesEach() throws Exception {
    List<Future<Result>> sent = sendFirst();
    List<Future<Result>> late = Arrays.asList(sendNext(put("a", "v")), sendNext(put("b", "v")));
    // Without waiting for those in flight.
    region.closing.set(true);
    watched.openGate();
    await(sent);
    for (Future<Result> one : late) {
      assertTrue(failure(one).toString(),
        failure(one) instanceof org.apache.hadoop.hbase.NotServingRegionException);
    }
    region.closing.set(false);
  }

  @Test
  public void testDurabilitiesAreNotMixed() throws Exception {
    List<Future<Result>> sent = sendFirst();
    int appended = edits.get();
    sent.add(sendNext(put("a", "v")));
    sent.add(sendNext(put("b", "v").setDurability(Durability.SYNC_WAL)));
    sent.add(sendNext(put("c", "v").setDurability(Durability.USE_DEFAULT)));
    // It leads a queue of its own.
    sent.add(calls.send(put("d", "v").setDurability(Durability.FSYNC_WAL)));
    Waiter.waitFor(conf, 60_000, 1, () -> edits.get() == appended + 1);
    watched.openGate();
    await(sent);
    assertEquals(2, edits.get() - appended);
    for (String row : new String[] { "a", "b", "c", "d" }) {
      assertEquals("v", stored(row));
    }
  }

  /** Threads that read requests serve many connections. */
  @Test
  public void testWritesThatAreNotGroupedAreReadByTheirHandlers() throws Exception {
    List<Future<Result>> sent = sendFirst();
    int read = calls.read.get();
    for (Durability durability : new Durability[] { Durability.ASYNC_WAL, Durability.SKIP_WAL }) {
      sent.add(calls.send(put("a", "v").setDurability(durability)));
    }
    assertEquals(read, calls.read.get());
    watched.openGate();
    await(sent);
  }

  @Test
  public void testKeysOfWritesThatAreNotGrouped() throws Exception {
    assertNotEquals(null, peek(put("a", "v")));
    assertNotEquals(null, peek(put("a", "v").setTTL(1000)));
    assertNotEquals(null, peek(new Delete(Bytes.toBytes("a"))));
    byte[] row = Bytes.toBytes("a");
    assertNotEquals(null, peek(new Delete(row).addColumns(F, Q)));
    assertNull("reads the row", peek(new Delete(row).addColumn(F, Q)));
    assertNotEquals(null, peek(new Delete(row).addColumn(F, Q, 5)));
    assertNull(peek(put("a", "v").setAttribute("mine", Q)));
    assertNull(peek(put("a", "v").setDurability(Durability.ASYNC_WAL)));
    assertNull(peek(put("a", "v").setDurability(Durability.SKIP_WAL)));
  }

  @Test
  public void testLargeWritesAreNotOneEdit() throws Exception {
    List<Future<Result>> sent = sendFirst();
    int appended = edits.get();
    byte[] large = new byte[400 << 10];
    for (int i = 0; i < 6; i++) {
      sent.add(sendNext(new Put(Bytes.toBytes("row" + i)).addColumn(F, Q, large)));
    }
    // One that is larger than a group may be.
    sent.add(sendNext(new Put(Bytes.toBytes("row6")).addColumn(F, Q, new byte[2 << 20])));
    watched.openGate();
    await(sent);
    assertEquals("two each, and the largest", 4, edits.get() - appended);
    assertEquals(2 << 20, region.get(new Get(Bytes.toBytes("row6"))).getValue(F, Q).length);
  }

  @Test
  public void testTimeToLiveIsKept() throws Exception {
    List<Future<Result>> sent = sendFirst();
    sent.add(sendNext(put("a", "v").setTTL(1)));
    sent.add(sendNext(put("b", "v").setTTL(1_000_000)));
    watched.openGate();
    await(sent);
    Waiter.waitFor(conf, 60_000, 1, () -> stored("a") == null);
    assertEquals("v", stored("b"));
  }

  /** The buffer of a request is used for another one once its call has ended. */
  @Test
  public void testCellsOfPooledBuffersAreCopied() throws Exception {
    KeyValue value = new KeyValue(Bytes.toBytes("a"), F, Q, 5, Bytes.toBytes("v"));
    ByteBuffer buffer = ByteBuffer.allocateDirect(value.getLength());
    buffer.put(value.getBuffer(), value.getOffset(), value.getLength());
    Put put = new Put(Bytes.toBytes("a"));
    put.add(new ByteBufferKeyValue(buffer, 0, value.getLength(), 0));
    PendingWrite member =
      new PendingWrite(region, MutationBatch.single(put), HConstants.NO_NONCE,
        HConstants.NO_NONCE, Thread.currentThread());
    new MutationGroup(Arrays.asList(member)).apply(region);
    for (int i = 0; i < buffer.capacity(); i++) {
      buffer.put(i, (byte) 0);
    }
    assertEquals("v", stored("a"));
    Cell written = put.getFamilyCellMap().get(F).get(0);
    assertTrue(written.toString(), written instanceof KeyValue);
    assertEquals("v", Bytes.toString(written.getValueArray(), written.getValueOffset(),
      written.getValueLength()));
  }

  /** The lock belongs to the thread of the test, and the group is another one's. */
  @Test
  public void testRowOfABatchThatIsLockedIsWrittenAfterTheOthers() throws Exception {
    MutationBatch batch =
      MutationBatch.of(new Mutation[] { put("a", "1"), put("locked", "2"), put("z0", "3") });
    PendingWrite member = new PendingWrite(region, batch, HConstants.NO_NONCE, HConstants.NO_NONCE,
      Thread.currentThread());
    RowLock lock = region.getRowLock(Bytes.toBytes("locked"));
    threads.submit(() -> {
      new MutationGroup(Arrays.asList(member)).apply(region);
      return null;
    }).get(60, TimeUnit.SECONDS);
    assertEquals("1", stored("a"));
    assertNull(stored("locked"));
    assertFalse(batch.isDone());
    assertEquals("the row of another region has its status", 1, batch.remaining().length);
    lock.release();
    groups.alone(region, batch, HConstants.NO_NONCE, HConstants.NO_NONCE);
    assertTrue(batch.isDone());
    assertEquals("2", stored("locked"));
    assertEquals(HConstants.OperationStatusCode.SANITY_CHECK_FAILURE,
      batch.statuses()[2].getOperationStatusCode());
  }

  /** The first to try has to wait. */
  private final class BusyOnce extends HRegion.RowLockContext {
    private boolean busy = true;

    private BusyOnce(HRegion region, HashedBytes row) {
      region.super(row);
    }

    @Override
    HRegion.RowLockImpl newReadLock() {
      HRegion.RowLockImpl lock = super.newReadLock();
      if (!busy) {
        return lock;
      }
      busy = false;
      // What keeps the context, and with it the lock, in the region.
      count.incrementAndGet();
      return new HRegion.RowLockImpl(this, new ReentrantLock() {
        @Override
        public boolean tryLock(long timeout, TimeUnit unit) {
          return false;
        }
      });
    }
  }

  @Test
  public void testMutationsOfARowInABatchKeepTheirOrder() throws Exception {
    MutationBatch batch = MutationBatch.of(
      new Mutation[] { put("a", "1"), put("row", "first"), put("b", "2"), put("row", "second") });
    PendingWrite member = new PendingWrite(region, batch, HConstants.NO_NONCE, HConstants.NO_NONCE,
      Thread.currentThread());
    HashedBytes row = new HashedBytes(Bytes.toBytes("row"));
    BusyOnce context = new BusyOnce(region, row);
    region.getLockedRows().put(row, context);
    new MutationGroup(Arrays.asList(member)).apply(region);
    assertEquals("2", stored("b"));
    assertNull("not before the first", stored("row"));
    assertEquals(2, batch.remaining().length);
    context.cleanUp();
    groups.alone(region, batch, HConstants.NO_NONCE, HConstants.NO_NONCE);
    assertEquals("second", stored("row"));
  }

  /** A coprocessor host is given them with their families named. */
  @Test
  public void testDeletesOfWholeRowsAreGrouped() throws Exception {
    region.setCoprocessorHost(
      new RegionCoprocessorHost(region, Mockito.mock(RegionServerServices.class), conf));
    region.put(put("row1", "v"));
    List<Future<Result>> sent = sendFirst();
    int appended = edits.get();
    sent.add(sendNext(put("put", "v")));
    for (int i = 0; i < 16; i++) {
      sent.add(sendNext(new Delete(Bytes.toBytes("row" + i))));
    }
    watched.openGate();
    await(sent);
    assertEquals("one edit", 1, edits.get() - appended);
    assertNull(stored("row1"));
    assertEquals("v", stored("put"));
  }

  private static RegionAction batch(Put... puts) throws IOException {
    RegionAction.Builder action = RegionAction.newBuilder().setRegion(RequestConverter
      .buildRegionSpecifier(RegionSpecifierType.REGION_NAME, Bytes.toBytes("region")));
    for (Put put : puts) {
      action.addAction(
        Action.newBuilder().setMutation(ProtobufUtil.toMutation(MutationType.PUT, put)));
    }
    return action.build();
  }

  /** Within a group it would be synced alone while all others wait. */
  @Test
  public void testBatchWithAttributesDoesNotWaitInAGroup() throws Exception {
    Put replicated = put("a", "v");
    replicated.setClusterIds(Arrays.asList(UUID.randomUUID()));
    assertNotNull(groups.peek(region, groups.batch(batch(put("a", "v"), put("b", "v")))));
    assertNotNull(groups.peek(region, groups.batch(batch(put("a", "v").setTTL(1000)))));
    assertNull(groups.peek(region, groups.batch(batch(put("b", "v"), replicated))));
  }

  @Test
  public void testAfterAWriteThatCannotBeDispatchedOthersAre() throws Exception {
    for (int waiting = 0; waiting < 3; waiting++) {
      List<Future<Result>> sent = new ArrayList<>();
      if (waiting > 0) {
        watched.closeGate();
      }
      for (int i = 0; i < waiting; i++) {
        int before = edits.get();
        sent.add(calls.send(put("first" + i, "v")));
        Waiter.waitFor(conf, 60_000, 1, () -> edits.get() == before + 1);
      }
      calls.dispatchError = new OutOfMemoryError("test");
      try {
        sent.add(calls.send(put("lost", "v")));
      } catch (OutOfMemoryError e) {
        assertEquals("test", e.getMessage());
      }
      calls.dispatchError = null;
      sent.add(calls.send(put("row" + waiting, "v")));
      watched.openGate();
      await(sent);
      assertEquals("v", stored("row" + waiting));
    }
  }

  @Test
  public void testWhatWaitsWhenItIsDisabledIsWritten() throws Exception {
    List<Future<Result>> sent = sendFirst();
    sent.add(sendNext(put("a", "v")));
    sent.add(sendNext(put("b", "v")));
    Configuration off = new Configuration(conf);
    off.setBoolean(WriteGroupSettings.ENABLED_KEY, false);
    groups.onConfigurationChange(off);
    watched.openGate();
    await(sent);
    assertEquals("v", stored("a"));
    assertEquals("v", stored("b"));
  }
}
