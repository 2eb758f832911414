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
import java.security.PrivilegedExceptionAction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.security.AccessDeniedException;
import org.apache.hadoop.hbase.security.User;
import org.apache.hadoop.hbase.security.access.AccessControlConstants;
import org.apache.hadoop.hbase.security.access.Permission;
import org.apache.hadoop.hbase.security.access.PermissionStorage;
import org.apache.hadoop.hbase.security.access.SecureTestUtil;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.testclassification.SecurityTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.After;
import org.junit.AfterClass;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * Puts, deletes and increments of users with different permissions, grouped on a cluster with
 * AccessController. Alice may write the table, Bob its family f only, Carol only read it, and Dave
 * only overwrite what a cell's own permission lets him.
 */
@Category({ SecurityTests.class, LargeTests.class })
public class TestGroupedWritesAccess {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestGroupedWritesAccess.class);

  private static final HBaseTestingUtility UTIL = new HBaseTestingUtility();
  private static final byte[] F = CounterHistory.FAMILY;
  private static final byte[] G = Bytes.toBytes("g");
  private static final byte[] Q = Bytes.toBytes("q");
  private static final byte[] COUNTER = Bytes.toBytes("counter");
  private static final int THREADS = 6;
  private static final int EACH = 100;
  private static User alice;
  private static User bob;
  private static User carol;
  private static User dave;

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final List<Future<?>> running = new ArrayList<>();
  private final TableName table = TableName.valueOf("t");

  /** What a client does again and again. */
  private interface Work {
    void run(Table table, byte[] row) throws Exception;
  }

  @BeforeClass
  public static void setUpBeforeClass() throws Exception {
    Configuration conf = UTIL.getConfiguration();
    alice = User.createUserForTesting(conf, "alice", new String[0]);
    bob = User.createUserForTesting(conf, "bob", new String[0]);
    carol = User.createUserForTesting(conf, "carol", new String[0]);
    dave = User.createUserForTesting(conf, "dave", new String[0]);
    SecureTestUtil.enableSecurity(conf);
    conf.set("hbase.superuser", User.getCurrent().getShortName());
    conf.setBoolean(WriteGroupSettings.ENABLED_KEY, true);
    conf.setBoolean(CoalescerSettings.ENABLED_KEY, true);
    UTIL.startMiniCluster(1);
    UTIL.waitTableEnabled(PermissionStorage.ACL_TABLE_NAME);
  }

  @AfterClass
  public static void tearDownAfterClass() throws Exception {
    UTIL.shutdownMiniCluster();
  }

  /** @param early whether who may not write the table is refused before the cells are looked at */
  private void create(boolean early) throws Exception {
    UTIL.getAdmin().createTable(TableDescriptorBuilder.newBuilder(table)
      .setValue(AccessControlConstants.CF_ATTRIBUTE_EARLY_OUT, Boolean.toString(early))
      .setColumnFamily(ColumnFamilyDescriptorBuilder.of(F))
      .setColumnFamily(ColumnFamilyDescriptorBuilder.of(G)).build());
    UTIL.waitTableEnabled(table);
    SecureTestUtil.grantOnTable(UTIL, alice.getShortName(), table, null, null,
      Permission.Action.READ, Permission.Action.WRITE);
    SecureTestUtil.grantOnTable(UTIL, bob.getShortName(), table, F, null,
      Permission.Action.READ, Permission.Action.WRITE);
    SecureTestUtil.grantOnTable(UTIL, carol.getShortName(), table, null, null,
      Permission.Action.READ);
  }

  @After
  public void tearDown() throws Exception {
    threads.shutdownNow();
    UTIL.deleteTable(table);
  }

  private static Put put(byte[] row, byte[] family) {
    return new Put(row).addColumn(family, Q, row);
  }

  private void start(User user, Work work) {
    for (int i = 0; i < THREADS; i++) {
      String client = user.getShortName() + i;
      running.add(threads.submit(() -> user.runAs((PrivilegedExceptionAction<Void>) () -> {
        try (Connection connection = ConnectionFactory.createConnection(UTIL.getConfiguration());
          Table t = connection.getTable(table)) {
          for (int j = 0; j < EACH; j++) {
            work.run(t, Bytes.toBytes(client + "-" + j));
          }
        }
        return null;
      })));
    }
  }

  private void finish() throws Exception {
    for (Future<?> client : running) {
      client.get();
    }
  }

  @Test
  public void testEachIsWrittenOrRefusedByItsOwnPermissions() throws Exception {
    create(true);
    long groups = GroupMetrics.ofMutations().groups();
    start(alice, (t, row) -> {
      t.put(Arrays.asList(put(row, F), put(row, G)));
      t.delete(new Delete(row).addFamily(G));
    });
    start(bob, (t, row) -> {
      t.put(put(row, F));
      assertThrows(AccessDeniedException.class, () -> t.put(put(row, G)));
      assertThrows(IOException.class, () -> t.put(Arrays.asList(put(row, F), put(row, G))));
      assertThrows(AccessDeniedException.class, () -> t.delete(new Delete(row).addFamily(G)));
    });
    start(carol, (t, row) -> {
      assertThrows(AccessDeniedException.class, () -> t.put(put(row, F)));
      assertThrows(AccessDeniedException.class, () -> t.delete(new Delete(row).addFamily(F)));
    });
    finish();
    assertTrue("no group was formed", GroupMetrics.ofMutations().groups() > groups);
    HRegion region = UTIL.getRSForFirstRegionInTable(table).getRegions(table).get(0);
    for (int i = 0; i < THREADS; i++) {
      for (int j = 0; j < EACH; j++) {
        for (User user : new User[] { alice, bob, carol }) {
          byte[] row = Bytes.toBytes(user.getShortName() + i + "-" + j);
          String written = user == carol ? null : Bytes.toString(row);
          assertEquals(written, Bytes.toString(region.get(new Get(row)).getValue(F, Q)));
          assertEquals(null, Bytes.toString(region.get(new Get(row)).getValue(G, Q)));
        }
      }
    }
  }

  /** Where cells may have permissions of their own, rows are read for each: no write is grouped. */
  @Test
  public void testPermissionsOfCellsDecideForEach() throws Exception {
    create(false);
    long groups = GroupMetrics.ofMutations().groups();
    try (Table t = UTIL.getConnection().getTable(table)) {
      for (int i = 0; i < THREADS; i++) {
        for (int j = 0; j < EACH; j++) {
          Put put = put(Bytes.toBytes("dave" + i + "-" + j), F);
          put.setACL(dave.getShortName(),
            new Permission(Permission.Action.READ, Permission.Action.WRITE));
          t.put(put);
          t.put(put(Bytes.toBytes("carol" + i + "-" + j), F));
        }
      }
    }
    start(alice, (t, row) -> t.put(put(row, F)));
    start(dave, (t, row) -> t.delete(new Delete(row).addColumns(F, Q)));
    start(carol, (t, row) -> {
      assertThrows(AccessDeniedException.class,
        () -> t.delete(new Delete(row).addColumns(F, Q)));
      // The client sets the attribute that marks permissions as checked.
      assertThrows(AccessDeniedException.class, () -> t.delete((Delete) new Delete(row)
        .addColumns(F, Q).setAttribute("check_covering_perm", new byte[] { 1 })));
    });
    finish();
    assertEquals(groups, GroupMetrics.ofMutations().groups());
    HRegion region = UTIL.getRSForFirstRegionInTable(table).getRegions(table).get(0);
    for (int i = 0; i < THREADS; i++) {
      for (int j = 0; j < EACH; j++) {
        assertTrue(region.get(new Get(Bytes.toBytes("dave" + i + "-" + j))).isEmpty());
        assertEquals(1, region.get(new Get(Bytes.toBytes("carol" + i + "-" + j))).size());
        assertEquals(1, region.get(new Get(Bytes.toBytes("alice" + i + "-" + j))).size());
      }
    }
  }

  @Test
  public void testEachIncrementIsAppliedOrRefusedByItsOwnPermissions() throws Exception {
    create(true);
    long grouped = GroupMetrics.ofIncrements().get(GroupMetrics.Count.Grouped);
    CounterHistory history = new CounterHistory(COUNTER);
    for (User user : new User[] { alice, bob }) {
      start(user, (t, row) -> {
        long begun = System.nanoTime();
        history.add(row.length, begun, t.increment(history.increment(row.length)));
      });
    }
    for (User user : new User[] { carol, dave }) {
      start(user, (t, row) -> assertThrows(AccessDeniedException.class,
        () -> t.increment(history.increment(1))));
    }
    finish();
    assertTrue("none was merged",
      GroupMetrics.ofIncrements().get(GroupMetrics.Count.Grouped) > grouped);
    assertEquals(2 * THREADS * EACH, history.size());
    try (Table t = UTIL.getConnection().getTable(table)) {
      history.assertSum(t.get(new Get(COUNTER)));
    }
    history.assertLinear();
  }

  /** Where cells may have permissions of their own, no increment is merged. */
  @Test
  public void testPermissionsOfCellsDecideForEachIncrement() throws Exception {
    create(false);
    Increment first = new Increment(COUNTER).addColumn(F, Q, 1);
    first.setACL(dave.getShortName(),
      new Permission(Permission.Action.READ, Permission.Action.WRITE));
    try (Table t = UTIL.getConnection().getTable(table)) {
      t.increment(first);
    }
    AtomicLong sum = new AtomicLong(1);
    for (User user : new User[] { alice, dave }) {
      start(user, (t, row) -> {
        t.increment(new Increment(COUNTER).addColumn(F, Q, row.length));
        sum.addAndGet(row.length);
      });
    }
    // The client sets the attribute that marks permissions as checked.
    Increment asked = (Increment) new Increment(COUNTER).addColumn(F, Q, 1)
      .setAttribute("check_covering_perm", new byte[] { 1 });
    start(carol, (t, row) -> assertThrows(AccessDeniedException.class, () -> t.increment(asked)));
    finish();
    try (Table t = UTIL.getConnection().getTable(table)) {
      assertEquals(sum.get(), Bytes.toLong(t.get(new Get(COUNTER)).getValue(F, Q)));
    }
  }
}
