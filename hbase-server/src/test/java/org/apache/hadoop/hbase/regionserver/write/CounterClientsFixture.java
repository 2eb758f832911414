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

import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.After;

/**
 * Clients that increment a few rows as fast as they can while something happens beside them. Every
 * returned value has its place, and no increment is lost or applied twice.
 */
abstract class CounterClientsFixture {
  /** More than a server has handlers. */
  static final int CLIENTS = 64;
  static final int INCREMENTS = 47;
  private static final byte[] OTHER = Bytes.toBytes("other");

  final List<CounterHistory> histories = new ArrayList<>();
  HBaseTestingUtility util;
  TableName table;
  private final ExecutorService clients = Executors.newFixedThreadPool(CLIENTS);

  /** An action that runs beside the increments. */
  interface Disturbance {
    void run() throws Exception;
  }

  void createTable(String name) throws Exception {
    table = TableName.valueOf(name);
    util.createTable(table, CounterHistory.FAMILY).close();
    for (String row : new String[] { "a", "m", "z" }) {
      histories.add(new CounterHistory(Bytes.toBytes(row)));
    }
  }

  @After
  public void stopClients() {
    clients.shutdownNow();
  }

  /** Runs clients, and what is to happen meanwhile, until both are done. */
  final void increment(Durability durability, Disturbance disturbance) throws Exception {
    List<Future<?>> running = new ArrayList<>();
    for (int client = 0; client < CLIENTS; client++) {
      Random random = new Random(client);
      running.add(clients.submit(() -> {
        try (Table t = util.getConnection().getTable(table)) {
          for (int i = 0; i < INCREMENTS; i++) {
            // One row is hotter than the others.
            CounterHistory history =
              histories.get(random.nextInt(4) > 0 ? 0 : random.nextInt(histories.size()));
            long amount = random.nextInt(2000) - 1000;
            long begun = System.nanoTime();
            history.add(amount, begun,
              t.increment(history.increment(amount).setDurability(durability)));
            if (i % 10 == 0) {
              t.put(new Put(history.row()).addColumn(CounterHistory.FAMILY, OTHER, OTHER));
              t.delete(new Delete(history.row()).addColumns(CounterHistory.FAMILY, OTHER));
            }
          }
        }
        return null;
      }));
    }
    disturbance.run();
    for (Future<?> client : running) {
      client.get();
    }
  }

  final void assertSums() throws IOException {
    try (Table t = util.getConnection().getTable(table)) {
      for (CounterHistory history : histories) {
        history.assertSum(t.get(new Get(history.row())));
      }
    }
    assertTrue("no group was formed", GroupMetrics.ofIncrements().groups() > 0);
  }
}
