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
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ClusterConnection;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.ConnectionUtils;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.NonceGenerator;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.regionserver.Region.RowLock;
import org.apache.hadoop.hbase.security.AccessDeniedException;
import org.apache.hadoop.hbase.security.User;
import org.apache.hadoop.hbase.security.access.Permission;
import org.apache.hadoop.hbase.security.access.PermissionStorage;
import org.apache.hadoop.hbase.security.access.SecureTestUtil;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
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
 * Increments that wait for others at a server with HBase's default handlers and
 * AccessController. The test holds the row until all that are to form a group wait for it.
 */
@Category({ RegionServerTests.class, LargeTests.class })
public class TestIncrementCallsOnCluster {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestIncrementCallsOnCluster.class);

  private static final HBaseTestingUtility UTIL = new HBaseTestingUtility();
  /** More than there are handlers, and than one of them runs inside of one another. */
  private static final int WAITING = 64;
  private static final byte[] F = CounterHistory.FAMILY;
  private static final byte[] Q = Bytes.toBytes("q");
  private static final byte[] ROW = Bytes.toBytes("row");
  private static User alice;
  private static User bob;

  @Rule
  public final TestName name = new TestName();

  private final ExecutorService clients = Executors.newCachedThreadPool();
  private final List<Connection> connections = new ArrayList<>();
  private TableName table;
  private HRegion region;
  private IncrementCoalescer coalescer;

  @BeforeClass
  public static void setUpBeforeClass() throws Exception {
    Configuration conf = UTIL.getConfiguration();
    alice = User.createUserForTesting(conf, "alice", new String[0]);
    bob = User.createUserForTesting(conf, "bob", new String[0]);
    SecureTestUtil.enableSecurity(conf);
    conf.set("hbase.superuser", User.getCurrent().getShortName());
    conf.setBoolean(CoalescerSettings.ENABLED_KEY, true);
    conf.setInt(HConstants.REGION_SERVER_HANDLER_COUNT,
      HConstants.DEFAULT_REGION_SERVER_HANDLER_COUNT);
    // No call times out while a test holds a row.
    conf.setInt("hbase.rowlock.wait.duration", 600_000);
    conf.setInt(HConstants.HBASE_RPC_TIMEOUT_KEY, 600_000);
    conf.setInt(HConstants.HBASE_CLIENT_OPERATION_TIMEOUT, 600_000);
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
    UTIL.createTable(table, F).close();
    SecureTestUtil.grantOnTable(UTIL, "alice", table, null, null, Permission.Action.READ,
      Permission.Action.WRITE);
    SecureTestUtil.grantOnTable(UTIL, "bob", table, null, null, Permission.Action.READ);
    HRegionServer server = UTIL.getRSForFirstRegionInTable(table);
    region = server.getRegions(table).get(0);
    coalescer = server.getRSRpcServices().getIncrementCoalescer();
  }

  @After
  public void tearDown() throws Exception {
    clients.shutdownNow();
    for (Connection connection : connections) {
      connection.close();
    }
    UTIL.deleteTable(table);
  }

  private Connection connect(User user) throws Exception {
    Connection connection =
      user.runAs((PrivilegedExceptionAction<Connection>) () -> ConnectionFactory
        .createConnection(UTIL.getConfiguration(), user));
    connections.add(connection);
    return connection;
  }

  private Future<Result> send(Connection connection, long amount) {
    return clients.submit(() -> {
      try (Table t = connection.getTable(table)) {
        return t.increment(new Increment(ROW).addColumn(F, Q, amount));
      }
    });
  }

  /** Sends one and waits until it is in the queue behind who has the row. */
  private Future<Result> sendNext(Connection connection, long amount) throws Exception {
    int before = coalescer.groups().waiting();
    Future<Result> sent = send(connection, amount);
    UTIL.waitFor(60_000, 1, () -> coalescer.groups().waiting() == before + 1);
    return sent;
  }

  /** Sends one and waits until it waits for the row. */
  private Future<Result> sendFirst(Connection connection, long amount) throws Exception {
    long singles = CoalescerMetrics.register().singles();
    Future<Result> sent = send(connection, amount);
    UTIL.waitFor(60_000, 1, () -> CoalescerMetrics.register().singles() > singles);
    return sent;
  }

  private static long value(Result result) {
    return Bytes.toLong(result.getValue(F, Q));
  }

  private long stored() throws IOException {
    return value(region.get(new Get(ROW)));
  }

  /** Without the feature they keep all handlers, and the get waits for the row too. */
  @Test
  public void testWhoWaitsForARowKeepsNoHandler() throws Exception {
    Connection connection = connect(alice);
    long groups = CoalescerMetrics.register().groups();
    RowLock lock = region.getRowLock(ROW);
    List<Future<Result>> sent = new ArrayList<>();
    sent.add(sendFirst(connection, 1));
    for (int i = 0; i < WAITING; i++) {
      sent.add(sendNext(connection, 1));
    }
    try (Table t = connection.getTable(table)) {
      assertTrue(t.get(new Get(ROW)).isEmpty());
    }
    lock.release();
    for (int i = 0; i < sent.size(); i++) {
      assertEquals(i + 1, value(sent.get(i).get()));
    }
    assertEquals(sent.size(), stored());
    assertEquals(2, CoalescerMetrics.register().groups() - groups);
  }

  /** Each call is its own user's, though one handler runs all. */
  @Test
  public void testWhoMayNotIsRefusedAmongThoseWhoMay() throws Exception {
    Connection may = connect(alice);
    Connection mayNot = connect(bob);
    RowLock lock = region.getRowLock(ROW);
    Future<Result> first = sendFirst(may, 1);
    Future<Result> leader = sendNext(may, 10);
    Future<Result> refused = sendNext(mayNot, 1000);
    Future<Result> follower = sendNext(may, 100);
    lock.release();
    assertEquals(1, value(first.get()));
    assertEquals(11, value(leader.get()));
    assertEquals(111, value(follower.get()));
    assertDenied(refused);
    assertEquals(111, stored());
  }

  @Test
  public void testWhoMayNotLeadsNobody() throws Exception {
    Connection may = connect(alice);
    Connection mayNot = connect(bob);
    RowLock lock = region.getRowLock(ROW);
    Future<Result> first = sendFirst(may, 1);
    Future<Result> refused = sendNext(mayNot, 1000);
    Future<Result> next = sendNext(may, 10);
    lock.release();
    assertEquals(1, value(first.get()));
    assertDenied(refused);
    assertEquals(11, value(next.get()));
    assertEquals(11, stored());
  }

  private static void assertDenied(Future<Result> sent) {
    ExecutionException e = assertThrows(ExecutionException.class, sent::get);
    assertTrue(e.toString(), e.getCause() instanceof AccessDeniedException);
  }

  @Test
  public void testRepetitionAmongThoseWhoWaitIsNotDoneTwice() throws Exception {
    ClusterConnection connection = (ClusterConnection) connect(alice);
    AtomicLong next = new AtomicLong();
    // All connections share it.
    NonceGenerator usual =
      ConnectionUtils.injectNonceGeneratorForTesting(connection, new NonceGenerator() {
        @Override
        public long getNonceGroup() {
          return 1;
        }

        @Override
        public long newNonce() {
          return next.get();
        }
      });
    try {
      repeat(connection, next);
    } finally {
      ConnectionUtils.injectNonceGeneratorForTesting(connection, usual);
    }
  }

  private void repeat(Connection connection, AtomicLong nonce) throws Exception {
    RowLock lock = region.getRowLock(ROW);
    nonce.set(1);
    Future<Result> first = sendFirst(connection, 1);
    nonce.set(2);
    Future<Result> second = sendNext(connection, 10);
    Future<Result> again = sendNext(connection, 10);
    nonce.set(3);
    Future<Result> third = sendNext(connection, 100);
    Future<Result> thirdAgain = sendNext(connection, 100);
    lock.release();
    assertEquals(1, value(first.get()));
    assertEquals(11, value(second.get()));
    assertEquals(111, value(third.get()));
    again.get();
    thirdAgain.get();
    assertEquals(111, stored());
  }
}
