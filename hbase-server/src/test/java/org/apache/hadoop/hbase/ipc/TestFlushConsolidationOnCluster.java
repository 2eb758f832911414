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
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.SharedCluster;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RPCTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * Many clients share a connection whose requests and responses are sent together, small ones and
 * such that are larger than what it may have waiting.
 */
@Category({ RPCTests.class, MediumTests.class })
public class TestFlushConsolidationOnCluster {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestFlushConsolidationOnCluster.class);

  private static final TableName TABLE = TableName.valueOf("responses");
  private static final byte[] F = Bytes.toBytes("f");
  private static final byte[] Q = Bytes.toBytes("q");
  private static final int CLIENTS = 32;
  private static final int ROWS = 64;
  private static final int LARGE = 512 * 1024;

  private HBaseTestingUtility util;

  @Before
  public void setUp() throws Exception {
    util = SharedCluster.util();
    util.createTable(TABLE, F).close();
  }

  @After
  public void tearDown() throws Exception {
    util.deleteTable(TABLE);
  }

  private static byte[] row(int i) {
    return Bytes.toBytes(i);
  }

  @Test
  public void testEveryClientGetsItsAnswer() throws Exception {
    byte[][] values = new byte[ROWS][];
    try (Table table = util.getConnection().getTable(TABLE)) {
      for (int i = 0; i < ROWS; i++) {
        values[i] = new byte[i % 8 == 0 ? LARGE : 100];
        Bytes.random(values[i]);
        table.put(new Put(row(i)).addColumn(F, Q, values[i]));
      }
      long responses = FlushConsolidation.responses();
      long flushes = FlushConsolidation.flushes();
      ExecutorService clients = Executors.newFixedThreadPool(CLIENTS);
      try {
        List<Future<Void>> done = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
          done.add(clients.submit(() -> {
            for (int j = 0; j < 200; j++) {
              int row = ThreadLocalRandom.current().nextInt(ROWS);
              assertArrayEquals(values[row], table.get(new Get(row(row))).getValue(F, Q));
            }
            return null;
          }));
        }
        for (Future<Void> each : done) {
          each.get(3, TimeUnit.MINUTES);
        }
      } finally {
        clients.shutdownNow();
      }
      responses = FlushConsolidation.responses() - responses;
      flushes = FlushConsolidation.flushes() - flushes;
      assertTrue(responses + " responses", responses >= CLIENTS * 200);
      assertTrue(flushes + " writes for " + responses + " responses", flushes < responses);
    }
  }
}
