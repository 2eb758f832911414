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

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.testclassification.RPCTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A server with HBase's default handlers and call queues, unless a parameter says otherwise, and
 * more clients than handlers, over one socket and over many: each operation of each client ends,
 * without a second attempt, and no increment is lost. <code>-Ddefault.handlers.operations</code>
 * says how many operations of each client a load has.
 */
@RunWith(Parameterized.class)
@Category({ RPCTests.class, LargeTests.class })
public class TestDefaultHandlersOnCluster {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestDefaultHandlersOnCluster.class);

  private static final Logger LOG = LoggerFactory.getLogger(TestDefaultHandlersOnCluster.class);

  private static final TableName TABLE = TableName.valueOf("t");
  private static final byte[] F = Bytes.toBytes("f");
  private static final byte[] G = Bytes.toBytes("g");
  private static final byte[] Q = Bytes.toBytes("q");
  private static final byte[] COUNT = Bytes.toBytes("n");
  private static final int COUNTERS = 10;
  /** The number of operations of each client in each load. */
  private static final int OPERATIONS = Integer.getInteger("default.handlers.operations", 50);

  /** The features of a server. */
  public enum Features {
    NONE,
    /** None, and call queues of their own for gets and for scans. */
    SHARES,
    ALL
  }

  /** The operation that all clients do, by its number in {@link Client#operate}. */
  private enum Load {
    PUTS(0),
    INCREMENTS(2),
    GETS(5),
    MIXED(-1);

    private final int operation;

    Load(int operation) {
      this.operation = operation;
    }
  }

  @Parameterized.Parameter
  public Features features;

  private final HBaseTestingUtility util = new HBaseTestingUtility();
  private final AtomicInteger increments = new AtomicInteger();

  @Parameterized.Parameters(name = "{0}")
  public static List<Features> parameters() {
    return Arrays.asList(Features.values());
  }

  @Before
  public void setUp() throws Exception {
    Configuration conf = util.getConfiguration();
    // The default of HBase; that of the tests is smaller.
    conf.setInt(HConstants.REGION_SERVER_HANDLER_COUNT,
      HConstants.DEFAULT_REGION_SERVER_HANDLER_COUNT);
    if (features == Features.SHARES) {
      conf.setFloat(RWQueueRpcExecutor.CALL_QUEUE_READ_SHARE_CONF_KEY, 0.6f);
      conf.setFloat(RWQueueRpcExecutor.CALL_QUEUE_SCAN_SHARE_CONF_KEY, 0.3f);
    } else if (features == Features.ALL) {
      for (String key : new String[] { "hbase.server.netty.flush.consolidation.enabled",
        "hbase.client.netty.flush.consolidation.enabled",
        "hbase.regionserver.increment.coalesce.enabled", "hbase.regionserver.parallel.get.enabled",
        "hbase.regionserver.write.groups.enabled",
        "hbase.server.allocator.size.classes.enabled" }) {
        conf.setBoolean(key, true);
      }
      conf.setInt("hbase.wal.async.sync.interval.ms", 100);
      conf.setInt("hbase.wal.async.max.syncs.in.flight", 1);
    }
    util.startMiniCluster(1);
    util.createTable(TABLE, new byte[][] { F, G }, 1, new byte[][] { { 40 }, { 80 }, { 120 } })
      .close();
  }

  @After
  public void tearDown() throws Exception {
    util.shutdownMiniCluster();
  }

  @Test
  public void testMoreClientsThanHandlers() throws Exception {
    for (int sockets : features == Features.NONE ? new int[] { 1, 16 } : new int[] { 1 }) {
      Configuration conf = new Configuration(util.getConfiguration());
      conf.setInt(HConstants.HBASE_CLIENT_IPC_POOL_SIZE, sockets);
      // A call that hangs fails its client before another attempt hides that.
      conf.setInt(HConstants.HBASE_CLIENT_RETRIES_NUMBER, 0);
      try (Connection connection = ConnectionFactory.createConnection(conf)) {
        for (int clients : sockets == 1 ? new int[] { 31, 64, 128 } : new int[] { 64 }) {
          for (Load load : clients == 64 ? Load.values() : new Load[] { Load.MIXED }) {
            run(connection, clients, sockets, load);
          }
        }
      }
    }
    long counted = 0;
    try (Table table = util.getConnection().getTable(TABLE)) {
      for (int i = 0; i < COUNTERS; i++) {
        counted += Bytes.toLong(table.get(new Get(counter(i))).getValue(F, COUNT));
      }
    }
    assertEquals(increments.get(), counted);
  }

  private void run(Connection connection, int clients, int sockets, Load load) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(clients);
    try {
      List<Future<Void>> done = new ArrayList<>();
      for (int i = 0; i < clients; i++) {
        int client = i;
        done.add(threads.submit(() -> {
          new Client(connection, client, load).run();
          return null;
        }));
      }
      for (Future<Void> each : done) {
        each.get(5, TimeUnit.MINUTES);
      }
    } finally {
      threads.shutdownNow();
    }
    LOG.info("{}, {}: {} clients over {} sockets have done {} operations each", features, load,
      clients, sockets, OPERATIONS);
  }

  private static byte[] counter(int number) {
    return new byte[] { (byte) (number * 100 / COUNTERS), -1 };
  }

  /** Does what a load has, and checks what it reads. */
  private final class Client {
    private final Connection connection;
    private final int number;
    private final Load load;
    private final byte[] row;

    Client(Connection connection, int number, Load load) {
      this.connection = connection;
      this.number = number;
      this.load = load;
      row = Bytes.add(new byte[] { (byte) number }, Bytes.toBytes(number));
    }

    void run() throws Exception {
      try (Table table = connection.getTable(TABLE)) {
        for (int i = 0; i < OPERATIONS; i++) {
          operate(table, i);
        }
      }
    }

    private void operate(Table table, int i) throws Exception {
      // All begin with a put.
      int operation = i == 0 || load.operation < 0 ? i % 10 : load.operation;
      byte[] value = Bytes.toBytes(i / 10);
      switch (operation) {
        case 0:
          table.put(new Put(row).addColumn(F, Q, value).addColumn(G, Q, value));
          break;
        case 1:
          table.put(new Put(row).addColumn(F, Q, value).setDurability(Durability.ASYNC_WAL));
          break;
        case 2:
          table.incrementColumnValue(counter((number + i) % COUNTERS), F, COUNT, 1);
          increments.incrementAndGet();
          break;
        case 3:
          int rows = 0;
          try (ResultScanner scanner = table.getScanner(new Scan().withStartRow(row).setLimit(1))) {
            for (Result result : scanner) {
              assertArrayEquals(value, result.getValue(F, Q));
              rows++;
            }
          }
          assertEquals(1, rows);
          break;
        case 4:
          List<Get> gets = new ArrayList<>();
          for (int get = 0; get < 11; get++) {
            gets.add(new Get(row));
          }
          for (Result result : table.get(gets)) {
            assertArrayEquals(value, result.getValue(F, Q));
          }
          break;
        default:
          assertArrayEquals(load == Load.GETS ? Bytes.toBytes(0) : value,
            table.get(new Get(row)).getValue(G, Q));
      }
    }
  }
}
