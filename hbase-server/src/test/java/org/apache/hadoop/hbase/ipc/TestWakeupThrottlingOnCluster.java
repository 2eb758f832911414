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
package org.apache.hadoop.hbase.ipc;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.testclassification.RPCTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.AfterClass;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * Many more clients than handlers read, write and scan, on a server with handlers for each of them,
 * and a master and a meta table without.
 */
@Category({ RPCTests.class, LargeTests.class })
public class TestWakeupThrottlingOnCluster {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestWakeupThrottlingOnCluster.class);

  private static final HBaseTestingUtility UTIL = new HBaseTestingUtility();
  private static final TableName TABLE = TableName.valueOf("t");
  private static final byte[] F = Bytes.toBytes("f");
  private static final byte[] Q = Bytes.toBytes("q");
  private static final int HANDLERS = 8;
  private static final int CLIENTS = 32;
  private static final int WRITES = 100;

  @BeforeClass
  public static void setUp() throws Exception {
    Configuration conf = UTIL.getConfiguration();
    conf.setBoolean(WakeupThrottlingSettings.ENABLED_KEY, true);
    conf.setInt(HConstants.REGION_SERVER_HANDLER_COUNT, HANDLERS);
    conf.setFloat(RWQueueRpcExecutor.CALL_QUEUE_READ_SHARE_CONF_KEY, 0.6f);
    conf.setFloat(RWQueueRpcExecutor.CALL_QUEUE_SCAN_SHARE_CONF_KEY, 0.3f);
    UTIL.startMiniCluster(1);
    UTIL.createTable(TABLE, F).close();
  }

  @AfterClass
  public static void tearDown() throws Exception {
    UTIL.shutdownMiniCluster();
  }

  @Test
  public void everyClientGetsItsAnswer() throws Exception {
    long calls = IdleHandlers.calls();
    ExecutorService clients = Executors.newFixedThreadPool(CLIENTS);
    try {
      List<Future<Void>> done = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        int client = i;
        done.add(clients.submit(() -> {
          work(client);
          return null;
        }));
      }
      for (Future<Void> each : done) {
        each.get(3, TimeUnit.MINUTES);
      }
    } finally {
      clients.shutdownNow();
    }
    assertTrue(IdleHandlers.calls() > calls);
  }

  private static void work(int client) throws Exception {
    byte[] row = Bytes.toBytes(client);
    try (Table table = UTIL.getConnection().getTable(TABLE)) {
      for (int i = 0; i < WRITES; i++) {
        byte[] value = Bytes.toBytes(i);
        table.put(new Put(row).addColumn(F, Q, value));
        assertArrayEquals(value, table.get(new Get(row)).getValue(F, Q));
        if (i % 10 == 0) {
          int rows = 0;
          try (ResultScanner scanner = table.getScanner(new Scan().withStartRow(row).setLimit(1))) {
            for (Result result : scanner) {
              assertArrayEquals(value, result.getValue(F, Q));
              rows++;
            }
          }
          assertEquals(1, rows);
        }
      }
    }
  }
}
