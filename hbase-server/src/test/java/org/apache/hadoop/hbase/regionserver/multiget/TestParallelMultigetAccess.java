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
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.security.PrivilegedExceptionAction;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Row;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.coprocessor.ObserverContext;
import org.apache.hadoop.hbase.coprocessor.RegionCoprocessor;
import org.apache.hadoop.hbase.coprocessor.RegionCoprocessorEnvironment;
import org.apache.hadoop.hbase.coprocessor.RegionObserver;
import org.apache.hadoop.hbase.ipc.RpcCall;
import org.apache.hadoop.hbase.ipc.RpcServer;
import org.apache.hadoop.hbase.security.AccessDeniedException;
import org.apache.hadoop.hbase.security.User;
import org.apache.hadoop.hbase.security.access.Permission;
import org.apache.hadoop.hbase.security.access.PermissionStorage;
import org.apache.hadoop.hbase.security.access.SecureTestUtil;
import org.apache.hadoop.hbase.security.visibility.Authorizations;
import org.apache.hadoop.hbase.security.visibility.CellVisibility;
import org.apache.hadoop.hbase.security.visibility.VisibilityClient;
import org.apache.hadoop.hbase.security.visibility.VisibilityConstants;
import org.apache.hadoop.hbase.security.visibility.VisibilityTestUtil;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.testclassification.SecurityTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.AfterClass;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** A get of a multi sees what its user may see, whichever thread serves it. */
@Category({ SecurityTests.class, LargeTests.class })
public class TestParallelMultigetAccess {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestParallelMultigetAccess.class);

  private static final TableName TABLE = TableName.valueOf("guarded");
  private static final byte[] OPEN = Bytes.toBytes("open");
  private static final byte[] CLOSED = Bytes.toBytes("closed");
  private static final byte[] QUALIFIER = Bytes.toBytes("q");
  private static final String SECRET = "secret";
  private static final int ROWS = 300;

  private static final HBaseTestingUtility UTIL = new HBaseTestingUtility();
  private static User alice;
  private static User bob;

  /** Whom gets were served for, and by which threads. */
  public static class Callers implements RegionCoprocessor, RegionObserver {
    static final Set<String> USERS = ConcurrentHashMap.newKeySet();
    static final Set<String> THREADS = ConcurrentHashMap.newKeySet();

    @Override
    public Optional<RegionObserver> getRegionObserver() {
      return Optional.of(this);
    }

    @Override
    public void preGetOp(ObserverContext<RegionCoprocessorEnvironment> c, Get get,
      List<Cell> result) {
      RpcCall call = RpcServer.getCurrentCall().get();
      assertEquals(call.getRequestUser().get(), c.getCaller().get());
      assertEquals("multi", call.getMethod().getName().toLowerCase());
      assertTrue(call.getRemoteAddress() != null && call.getRemotePort() > 0);
      USERS.add(c.getCaller().get().getShortName());
      THREADS.add(Thread.currentThread().getName());
    }

    static boolean helped() {
      return THREADS.stream().anyMatch(name -> name.startsWith("Multiget-"));
    }
  }

  @BeforeClass
  public static void setUpBeforeClass() throws Throwable {
    Configuration conf = UTIL.getConfiguration();
    alice = User.createUserForTesting(conf, "alice", new String[0]);
    bob = User.createUserForTesting(conf, "bob", new String[0]);
    SecureTestUtil.enableSecurity(conf);
    VisibilityTestUtil.enableVisiblityLabels(conf);
    conf.set("hbase.superuser", User.getCurrent().getShortName());
    conf.setBoolean(MultigetSettings.ENABLED_KEY, true);
    conf.setInt(MultigetSettings.THREADS_KEY, 3);
    MultigetPool.ignoreCpuLoad(true);
    conf.setInt(MultigetSettings.MIN_BATCH_KEY, 1);
    UTIL.startMiniCluster(1);
    UTIL.waitTableEnabled(PermissionStorage.ACL_TABLE_NAME);
    UTIL.waitTableAvailable(
      VisibilityConstants.LABELS_TABLE_NAME);
    VisibilityClient.addLabels(UTIL.getConnection(), new String[] { SECRET });
    VisibilityClient.setAuths(UTIL.getConnection(), new String[] { SECRET }, "alice");
    create();
  }

  @AfterClass
  public static void tearDownAfterClass() throws Exception {
    UTIL.shutdownMiniCluster();
    MultigetPool.ignoreCpuLoad(false);
  }

  /** Every third row is secret in one family; every fifth is alice's alone in the other. */
  private static void create() throws Exception {
    Admin hbase = UTIL.getAdmin();
    hbase.createTable(TableDescriptorBuilder.newBuilder(TABLE)
      .setCoprocessor(Callers.class.getName())
      .setColumnFamily(ColumnFamilyDescriptorBuilder.of(OPEN))
      .setColumnFamily(ColumnFamilyDescriptorBuilder.of(CLOSED)).build());
    UTIL.waitTableEnabled(TABLE);
    SecureTestUtil.grantOnTable(UTIL, "alice", TABLE, null, null, Permission.Action.READ);
    SecureTestUtil.grantOnTable(UTIL, "bob", TABLE, OPEN, null, Permission.Action.READ);
    List<Put> puts = new ArrayList<>();
    for (int i = 0; i < ROWS; i++) {
      Put open = new Put(row(i)).addColumn(OPEN, QUALIFIER, row(i));
      if (i % 3 == 0) {
        open.setCellVisibility(new CellVisibility(SECRET));
      }
      puts.add(open);
      puts.add(new Put(row(i)).addColumn(CLOSED, QUALIFIER, row(i)));
    }
    try (Table table = UTIL.getConnection().getTable(TABLE)) {
      table.put(puts);
    }
    UTIL.flush(TABLE);
  }

  private static byte[] row(int i) {
    return Bytes.toBytes(String.format("row-%04d", i));
  }

  private interface Work {
    void with(Table table) throws Exception;
  }

  private static void as(User user, Work work) throws Exception {
    user.runAs((PrivilegedExceptionAction<Void>) () -> {
      try (Connection connection = ConnectionFactory.createConnection(UTIL.getConfiguration());
        Table table = connection.getTable(TABLE)) {
        work.with(table);
      }
      return null;
    });
  }

  private static List<Get> gets(byte[] family) {
    List<Get> gets = new ArrayList<>();
    for (int i = 0; i < ROWS; i++) {
      gets.add(new Get(row(i)).addFamily(family));
    }
    return gets;
  }

  @Test
  public void testAForbiddenGetFailsAloneInItsBatch() throws Exception {
    as(bob, table -> {
      List<Row> batch = new ArrayList<>();
      for (int i = 0; i < ROWS; i++) {
        batch.add(new Get(row(i)).addFamily(i % 2 == 1 ? CLOSED : OPEN));
      }
      UTIL.waitFor(60_000, () -> {
        Callers.THREADS.clear();
        assertEachSecondIsForbidden(table, batch);
        // Else threads came too late, which may be.
        return Callers.helped();
      });
    });
  }

  private static void assertEachSecondIsForbidden(Table table, List<Row> batch)
    throws InterruptedException {
    Object[] results = new Object[ROWS];
    try {
      table.batch(batch, results);
      throw new AssertionError("Nothing was forbidden");
    } catch (IOException e) {
      assertTrue(e.toString(), e.getMessage().contains("AccessDenied"));
    }
    for (int i = 0; i < ROWS; i++) {
      if (i % 2 == 1) {
        assertTrue("row " + i + ": " + results[i], results[i] instanceof AccessDeniedException
          || ((Throwable) results[i]).toString().contains("AccessDenied"));
      } else {
        assertEquals("row " + i, i % 3 == 0, ((Result) results[i]).isEmpty());
      }
    }
  }

  /** The user without the label requests it nevertheless. */
  @Test
  public void testUsersAtTheSameTimeSeeTheSecretCellsThatTheyMay() throws Exception {
    List<Thread> threads = new ArrayList<>();
    List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
    for (User user : new User[] { alice, bob, alice, bob }) {
      Thread thread = new Thread(() -> {
        try {
          as(user, table -> {
            for (int round = 0; round < 30; round++) {
              List<Get> gets = gets(OPEN);
              gets.forEach(get -> get.setAuthorizations(new Authorizations(SECRET)));
              Result[] results = table.get(gets);
              for (int i = 0; i < ROWS; i++) {
                boolean isSecret = user == bob && i % 3 == 0;
                assertEquals(user + ", row " + i, isSecret ? null : Bytes.toString(row(i)),
                  Bytes.toString(results[i].value()));
              }
            }
          });
        } catch (Throwable e) {
          failures.add(e);
        }
      });
      threads.add(thread);
      thread.start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertEquals(new ArrayList<>(), failures);
    assertTrue(Callers.USERS.contains("alice") && Callers.USERS.contains("bob"));
    assertFalse(Callers.USERS.contains(User.getCurrent().getShortName()));
    assertTrue("other threads helped: " + Callers.THREADS, Callers.helped());
  }
}
