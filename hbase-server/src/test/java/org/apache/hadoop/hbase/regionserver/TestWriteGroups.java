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
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.ByteBufferKeyValue;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.NotServingRegionException;
import org.apache.hadoop.hbase.Waiter;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Mutation;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.regionserver.write.GroupAppend;
import org.apache.hadoop.hbase.regionserver.write.GroupMetrics;
import org.apache.hadoop.hbase.regionserver.write.WriteGroupSettings;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.mockito.Mockito;

/** What is in a group, what one is in the WAL, and what the calls of one are answered. */
@Category({ RegionServerTests.class, MediumTests.class })
public class TestWriteGroups extends WriteCallsFixture {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestWriteGroups.class);

  private static final byte[] ROW = Bytes.toBytes("row");

  @Test
  public void testWritesThatWaitAreOneEditAndHoldNoHandler() throws Exception {
    for (int waiting : new int[] { 1, 2, 127, 128, 129, 256 }) {
      long before = GroupMetrics.ofMutations().get(GroupMetrics.Count.Grouped);
      long writes = region.getWriteRequestsCount();
      List<Future<Result>> sent = sendFirst();
      int appended = edits.get();
      for (int i = 0; i < waiting; i++) {
        sent.add(send(put(waiting + "row" + i, "v" + i)));
      }
      watched.openGate();
      await(sent);
      assertEquals((waiting + 127) / 128, edits.get() - appended);
      assertEquals(0, handled.get());
      for (int i = 0; i < waiting; i++) {
        assertEquals("v" + i, stored(waiting + "row" + i));
      }
      assertEquals("each is counted", waiting + 2, region.getWriteRequestsCount() - writes);
      if (waiting > 1) {
        // A group is counted after its answers.
        Waiter.waitFor(conf, 60_000, 1,
          () -> GroupMetrics.ofMutations().get(GroupMetrics.Count.Grouped) - before >= waiting - 1);
      }
    }
  }

  @Test
  public void testRegionsOfAWalHaveAnEditEach() throws Exception {
    for (int rows : new int[] { 1, 2, 11 }) {
      List<Future<Result>> sent = sendFirst();
      int before = edits.get();
      for (int i = 0; i < rows; i++) {
        sent.add(send(others[1], put("row" + i, "z")));
        sent.add(send(put("row" + i, "t")));
        sent.add(send(others[0], put("row" + i, "a")));
      }
      watched.openGate();
      await(sent);
      assertEquals(3, edits.get() - before);
      for (int i = 0; i < rows; i++) {
        assertEquals("a", stored(others[0], "row" + i));
        assertEquals("t", stored("row" + i));
        assertEquals("z", stored(others[1], "row" + i));
      }
    }
    assertEquals(0, handled.get());
  }

  @Test
  public void testRegionThatIsClosedRefusesItsOwnWritesOnly() throws Exception {
    List<Future<Result>> sent = sendFirst();
    List<Future<Result>> late = new ArrayList<>();
    for (String row : new String[] { "a", "b" }) {
      late.add(send(others[1], put(row, "v")));
      sent.add(send(put(row, "v")));
    }
    others[1].closing.set(true);
    watched.openGate();
    await(sent);
    for (Future<Result> one : late) {
      assertEquals(NotServingRegionException.class, failure(one).getClass());
    }
    others[1].closing.set(false);
  }

  @Test
  public void testCallThatFailsOnItsWayFailsAlone() throws Exception {
    List<Future<Result>> sent = sendFirst();
    int before = edits.get();
    sent.add(send(put("a", "v")));
    Future<Result> failing = send(put(FAILS, "v"));
    sent.add(send(put("b", "v")));
    watched.openGate();
    await(sent);
    assertEquals(FAILS, failure(failing).getMessage());
    assertEquals(1, edits.get() - before);
  }

  /** It is found when the edit is built: the group has no edit, and each of its calls has one. */
  @Test
  public void testMutationThatCannotBeWrittenFailsAlone() throws Exception {
    List<Future<Result>> sent = sendFirst();
    sent.add(send(put("a", "v")));
    Future<Result> failing = send(put("invalid", "v"));
    sent.add(send(others[1], put("a", "v")));
    sent.add(send(put("b", "v")));
    region.setCoprocessorHost(failingFor("invalid"));
    watched.openGate();
    await(sent);
    region.setCoprocessorHost(null);
    assertEquals("invalid", failure(failing).getMessage());
    assertEquals("v", stored("a"));
    assertEquals("v", stored(others[1], "a"));
    assertEquals("v", stored("b"));
    assertNull(stored("invalid"));
  }

  /** Returns a host whose last hook before the edit fails for batches with a row. */
  private RegionCoprocessorHost failingFor(String row) throws IOException {
    RegionCoprocessorHost host = Mockito.mock(RegionCoprocessorHost.class);
    Mockito.doAnswer(call -> {
      MiniBatchOperationInProgress<Mutation> batch = call.getArgument(0);
      for (int i = 0; i < batch.size(); i++) {
        if (Bytes.toString(batch.getOperation(i).getRow()).equals(row)) {
          throw new IllegalStateException(row);
        }
      }
      return null;
    }).when(host).preBatchMutate(Mockito.any());
    return host;
  }

  private boolean isGrouped(HRegion to, Mutation... mutations) throws Exception {
    int before = handled.get();
    Future<Result> sent =
      mutations.length == 1 ? send(to, mutations[0]) : sendBatch(to, mutations);
    sent.get(60, TimeUnit.SECONDS);
    return handled.get() == before;
  }

  private boolean isGrouped(Mutation... mutations) throws Exception {
    return isGrouped(region, mutations);
  }

  @Test
  public void testWhichWritesAreGrouped() throws Exception {
    assertTrue(isGrouped(put("row", "v")));
    assertTrue(isGrouped(put("row", "v").setTTL(1000)));
    assertTrue(isGrouped(put("row", "v").setDurability(Durability.FSYNC_WAL)));
    assertTrue(isGrouped(new Delete(ROW)));
    assertTrue(isGrouped(new Delete(ROW).addFamily(F)));
    assertTrue(isGrouped(new Delete(ROW).addFamilyVersion(F, 5)));
    assertTrue(isGrouped(new Delete(ROW).addColumns(F, Q)));
    assertTrue(isGrouped(new Delete(ROW).addColumn(F, Q, 5)));
    assertTrue(isGrouped(put("a", "v"), new Delete(ROW), put("b", "v")));
    Put[] most = new Put[101];
    Arrays.setAll(most, i -> put("row" + i, "v"));
    assertTrue(isGrouped(Arrays.copyOf(most, 100)));
    assertTrue("too many", !isGrouped(most));
    assertTrue("too large", !isGrouped(new Put(ROW).addColumn(F, Q, new byte[256 << 10])));
    assertTrue("reads the row", !isGrouped(new Delete(ROW).addColumn(F, Q)));
    assertTrue("reads the row",
      !isGrouped(put("a", "v"), new Delete(ROW).addColumn(F, Q)));
    for (Durability other : new Durability[] { Durability.ASYNC_WAL, Durability.SKIP_WAL }) {
      assertTrue(other.name(), !isGrouped(put("row", "v").setDurability(other)));
    }
    assertTrue("two durabilities", !isGrouped(put("a", "v"),
      put("b", "v").setDurability(Durability.FSYNC_WAL)));
    assertTrue("attribute", !isGrouped(put("row", "v").setAttribute("mine", Q)));
    Put replicated = put("row", "v");
    replicated.setClusterIds(Arrays.asList(UUID.randomUUID()));
    assertTrue("of another cluster", !isGrouped(put("a", "v"), replicated));
  }

  @Test
  public void testInvalidTimeToLiveIsRefusedAsWithoutGroups() throws Exception {
    failure(send(put("row", "v").setAttribute("_ttl", new byte[3])));
    assertEquals(1, handled.get());
    assertNull(stored("row"));
  }

  /** Its cells of one timestamp are told apart by their sequence ids, of which a group has one. */
  @Test
  public void testFamilyWithNewVersionBehaviorIsNotGrouped() throws Exception {
    HRegion bySequence = create("bySequence",
      ColumnFamilyDescriptorBuilder.newBuilder(F).setNewVersionBehavior(true).build());
    assertTrue(!isGrouped(bySequence, put("row", "v")));
  }

  @Test
  public void testPutsThatAStoreLimitsAreNotGrouped() throws Exception {
    Put dense = new Put(ROW);
    for (int i = 0; i < 10; i++) {
      dense.addColumn(F, Bytes.toBytes(i), Q);
    }
    assertTrue(isGrouped(dense));
    conf.setInt("hbase.region.store.parallel.put.limit.min.column.count", 10);
    conf.setInt("hbase.region.store.parallel.put.limit", 2);
    groups.onConfigurationChange(conf);
    assertTrue(!isGrouped(dense));
    assertTrue(isGrouped(put("row", "v")));
  }

  @Test
  public void testDefaultDurabilityOfTheServerDecides() throws Exception {
    conf.setBoolean(HRegion.WAL_HSYNC_CONF_KEY, true);
    HRegion hsynced = create("hsynced", ColumnFamilyDescriptorBuilder.of(F));
    List<Future<Result>> sent = sendFirst();
    int before = edits.get();
    // The flush of a write with SYNC_WAL must not pass for the sync of the others.
    sent.add(send(hsynced, put("a", "v")));
    awaitEdits(before + 1);
    sent.add(send(hsynced, put("b", "v").setDurability(Durability.FSYNC_WAL)));
    awaitEdits(before + 2);
    sent.add(send(hsynced, put("c", "v")));
    sent.add(send(hsynced, put("d", "v").setDurability(Durability.FSYNC_WAL)));
    sent.add(send(hsynced, put("e", "v").setDurability(Durability.SYNC_WAL)));
    watched.openGate();
    await(sent);
    assertEquals(4, edits.get() - before);
  }

  @Test
  public void testLargeWritesAreNotOneEdit() throws Exception {
    List<Future<Result>> sent = sendFirst();
    int before = edits.get();
    for (int i = 0; i < 8; i++) {
      sent.add(send(new Put(Bytes.toBytes("row" + i)).addColumn(F, Q, new byte[250 << 10])));
    }
    watched.openGate();
    await(sent);
    assertEquals("four each", 2, edits.get() - before);
  }

  @Test
  public void testTimeToLiveIsKept() throws Exception {
    List<Future<Result>> sent = sendFirst();
    sent.add(send(put("a", "v").setTTL(1)));
    sent.add(send(put("b", "v").setTTL(1_000_000)));
    watched.openGate();
    await(sent);
    Waiter.waitFor(conf, 60_000, 1, () -> stored("a") == null);
    assertEquals("v", stored("b"));
  }

  /** The buffer of a request is used for another one once its call has ended. */
  @Test
  public void testCellsOfPooledBuffersAreCopied() throws Exception {
    KeyValue value = new KeyValue(ROW, F, Q, 5, Bytes.toBytes("v"));
    ByteBuffer buffer = ByteBuffer.allocateDirect(value.getLength());
    buffer.put(value.getBuffer(), value.getOffset(), value.getLength());
    Put put = new Put(ROW);
    put.add(new ByteBufferKeyValue(buffer, 0, value.getLength(), 0));
    GroupAppend.copyToHeap(put);
    for (int i = 0; i < buffer.capacity(); i++) {
      buffer.put(i, (byte) 0);
    }
    Cell copy = put.getFamilyCellMap().get(F).get(0);
    assertEquals(KeyValue.class, copy.getClass());
    assertEquals(value, copy);
  }

  /** A coprocessor host is given them with their families named. */
  @Test
  public void testDeletesOfWholeRowsAreGrouped() throws Exception {
    region.setCoprocessorHost(
      new RegionCoprocessorHost(region, Mockito.mock(RegionServerServices.class), conf));
    region.put(put("row1", "v"));
    List<Future<Result>> sent = sendFirst();
    int before = edits.get();
    sent.add(send(put("put", "v")));
    for (int i = 0; i < 16; i++) {
      sent.add(send(new Delete(Bytes.toBytes("row" + i))));
    }
    watched.openGate();
    await(sent);
    assertEquals("one edit", 1, edits.get() - before);
    assertTrue(region.get(new Get(Bytes.toBytes("row1"))).isEmpty());
    assertEquals("v", stored("put"));
  }

  @Test
  public void testWhatWaitsWhenItIsDisabledIsWritten() throws Exception {
    List<Future<Result>> sent = sendFirst();
    sent.add(send(put("a", "v")));
    Configuration off = new Configuration(conf);
    off.setBoolean(WriteGroupSettings.ENABLED_KEY, false);
    groups.onConfigurationChange(off);
    Future<Result> ungrouped = send(put("b", "v"));
    Waiter.waitFor(conf, 60_000, 1, () -> handled.get() == 1);
    watched.openGate();
    await(sent);
    ungrouped.get(60, TimeUnit.SECONDS);
    assertEquals("v", stored("a"));
  }
}
