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
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.security.PrivilegedExceptionAction;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
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
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.regionserver.Region.RowLock;
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
import org.junit.Before;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.TestName;

/**
 * Increments of those who may and of those who may not, on a cluster with AccessController. Alice
 * and Carol may write the table, Bob may only read it, and Dave only what a cell's own permission
 * lets him.
 */
@Category({ SecurityTests.class, LargeTests.class })
public class TestCoalescedIncrementsAccess {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestCoalescedIncrementsAccess.class);

  private static final HBaseTestingUtility UTIL = new HBaseTestingUtility();
  private static final byte[] F = CounterHistory.FAMILY;
  private static final byte[] Q = Bytes.toBytes("q");
  private static final byte[] ROW = Bytes.toBytes("row");
  /** One server sees those of all tests. */
  private static final AtomicLong NONCE = new AtomicLong();
  private static User alice;
  private static User bob;
  private static User carol;
  private static User dave;

  @Rule
  public final TestName name = new TestName();

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private TableName table;
  private HRegion region;
  private IncrementCoalescer coalescer;

  @BeforeClass
  public static void setUpBeforeClass() throws Exception {
    Configuration conf = UTIL.getConfiguration();
    alice = User.createUserForTesting(conf, "alice", new String[0]);
    bob = User.createUserForTesting(conf, "bob", new String[0]);
    carol = User.createUserForTesting(conf, "carol", new String[0]);
    dave = User.createUserForTesting(conf, "dave", new String[0]);
    SecureTestUtil.enableSecurity(conf);
    conf.set("hbase.superuser", User.getCurrent().getShortName());
    conf.setBoolean(CoalescerSettings.ENABLED_KEY, true);
    // No call times out while a test holds a row.
    conf.setInt("hbase.rowlock.wait.duration", 600_000);
    UTIL.startMiniCluster(1);
    UTIL.waitTableEnabled(PermissionStorage.ACL_TABLE_NAME);
  }

  @AfterClass
  public static void tearDownAfterClass() throws Exception {
    UTIL.shutdownMiniCluster();
  }

  @Before
  public void setUp() throws Exception {
    table = TableName.valueOf(name.getMethodName());
    create(true);
  }

  /** @param early whether who may not write the table is refused before the cells are looked at */
  private void create(boolean early) throws Exception {
    UTIL.getAdmin().createTable(TableDescriptorBuilder.newBuilder(table)
      .setValue(AccessControlConstants.CF_ATTRIBUTE_EARLY_OUT, Boolean.toString(early))
      .setColumnFamily(ColumnFamilyDescriptorBuilder.of(F)).build());
    UTIL.waitTableEnabled(table);
    for (User writer : new User[] { alice, carol }) {
      SecureTestUtil.grantOnTable(UTIL, writer.getShortName(), table, null, null,
        Permission.Action.READ, Permission.Action.WRITE);
    }
    SecureTestUtil.grantOnTable(UTIL, bob.getShortName(), table, null, null,
      Permission.Action.READ);
    HRegionServer server = UTIL.getRSForFirstRegionInTable(table);
    region = server.getRegions(table).get(0);
    coalescer = new IncrementCoalescer(UTIL.getConfiguration(), server);
  }

  @After
  public void tearDown() throws Exception {
    threads.shutdownNow();
    UTIL.deleteTable(table);
    assertEquals("rows that never ended", 0, coalescer.groups().rows());
  }

  private static Increment plus(long amount) {
    return new Increment(ROW).addColumn(F, Q, amount);
  }

  private Future<Result> send(User user, Increment increment) {
    return threads.submit(() -> user.runAs((PrivilegedExceptionAction<Result>) () -> coalescer
      .increment(region, increment, 1, NONCE.incrementAndGet())));
  }

  /** Sends one and waits until it is in the queue behind who has the row. */
  private Future<Result> sendNext(User user, Increment increment) throws Exception {
    int before = coalescer.groups().waiting();
    Future<Result> sent = send(user, increment);
    UTIL.waitFor(60_000, 1, () -> coalescer.groups().waiting() == before + 1);
    return sent;
  }

  private Future<Result> sendFirst(User user, Increment increment) throws Exception {
    Future<Result> sent = send(user, increment);
    UTIL.waitFor(60_000, 1, () -> coalescer.groups().rows() == 1);
    return sent;
  }

  private static long value(Result result) {
    return Bytes.toLong(result.getValue(F, Q));
  }

  private long stored() throws IOException {
    return value(region.get(new Get(ROW)));
  }

  private static void assertDenied(Future<Result> sent) {
    ExecutionException e = assertThrows(ExecutionException.class, sent::get);
    assertTrue(e.toString(), e.getCause() instanceof AccessDeniedException);
  }

  @Test
  public void testWhoMayNotIsRefusedAndTheOthersAreMerged() throws Exception {
    assertSame(IncrementHooks.PERMISSIONS, IncrementHooks.of(region.getCoprocessorHost()));
    long groups = CoalescerMetrics.register().groups();
    RowLock lock = region.getRowLock(ROW);
    Future<Result> first = sendFirst(carol, plus(1));
    Future<Result> second = sendNext(alice, plus(10));
    // Not in the queue: refused while the row is still somebody else's.
    assertDenied(send(bob, plus(1000)));
    assertDenied(send(dave, plus(1000)));
    Future<Result> third = sendNext(carol, plus(100));
    assertEquals(2, coalescer.groups().waiting());
    lock.release();
    assertEquals(1, value(first.get()));
    assertEquals(11, value(second.get()));
    assertEquals(111, value(third.get()));
    assertEquals(111, stored());
    assertEquals("one group of two", 1, CoalescerMetrics.register().groups() - groups);
    // Alone he is refused too.
    assertDenied(send(bob, plus(1000)));
  }

  /** A group is applied as its leader's user; without its permission each is applied alone. */
  @Test
  public void testWhoLosesThePermissionWhileHeWaitsFailsAlone() throws Exception {
    RowLock lock = region.getRowLock(ROW);
    Future<Result> first = sendFirst(carol, plus(1));
    Future<Result> leader = sendNext(alice, plus(10));
    Future<Result> follower = sendNext(carol, plus(100));
    SecureTestUtil.revokeFromTable(UTIL, alice.getShortName(), table, null, null,
      Permission.Action.WRITE);
    lock.release();
    assertEquals(1, value(first.get()));
    assertDenied(leader);
    assertEquals(101, value(follower.get()));
    assertEquals(101, stored());
  }

  /** Where cells may have permissions of their own, who depends on them is not merged. */
  @Test
  public void testPermissionsOfCellsAreLookedAtOneByOne() throws Exception {
    UTIL.deleteTable(table);
    create(false);
    send(alice, (Increment) plus(1).setACL(dave.getShortName(),
      new Permission(Permission.Action.READ, Permission.Action.WRITE))).get();
    assertDenied(send(bob, plus(1000)));
    RowLock lock = region.getRowLock(ROW);
    Future<Result> first = sendFirst(alice, plus(10));
    Future<Result> second = sendNext(carol, plus(100));
    Future<Result> third = sendNext(alice, plus(1000));
    Future<Result> byCell = send(dave, plus(10_000));
    // As if he had been asked about already.
    Future<Result> liar =
      send(bob, (Increment) plus(100_000).setAttribute("check_covering_perm", new byte[] { 1 }));
    lock.release();
    first.get();
    second.get();
    third.get();
    byCell.get();
    assertDenied(liar);
    assertEquals(11_111, stored());
  }

  /** The same through clients, all at once. */
  @Test
  public void testClientsOfAllKinds() throws Exception {
    CounterHistory history = new CounterHistory(ROW);
    List<Future<?>> running = new ArrayList<>();
    int each = 100;
    for (User user : new User[] { alice, carol, alice, carol, bob, dave }) {
      running.add(threads.submit(() -> user.runAs((PrivilegedExceptionAction<Void>) () -> {
        try (Connection connection = ConnectionFactory.createConnection(UTIL.getConfiguration());
          Table t = connection.getTable(table)) {
          for (int i = 0; i < each; i++) {
            long begun = System.nanoTime();
            if (user == alice || user == carol) {
              history.add(i, begun, t.increment(history.increment(i)));
            } else {
              assertThrows(AccessDeniedException.class,
                () -> t.increment(history.increment(1)));
            }
          }
        }
        return null;
      })));
    }
    for (Future<?> client : running) {
      client.get();
    }
    assertEquals(4 * each, history.size());
    history.assertSum(region.get(new Get(ROW)));
    history.assertLinear();
  }
}
