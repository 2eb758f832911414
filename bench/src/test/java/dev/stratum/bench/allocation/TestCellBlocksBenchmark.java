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
package dev.stratum.bench.allocation;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.Collections;
import java.util.List;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellScanner;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.ipc.HBaseRpcController;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category(LargeTests.class)
public class TestCellBlocksBenchmark {
  private static final int SIZE = 65536;
  private static final int CALLS = 20;
  private static final String[] CLIENTS = { "BlockingRpcClient", "NettyRpcClient" };

  private final CellBlocksBenchmark benchmark = new CellBlocksBenchmark();

  @Test
  public void testServerAnswersWithTheCells() throws Exception {
    CellBlocksBenchmark.Answering server = new CellBlocksBenchmark.Answering();
    server.size = SIZE;
    server.start();
    for (int i = 0; i < CALLS; i++) {
      int size = benchmark.serverResponse(server);
      assertTrue("size " + size, size >= SIZE && size < SIZE + 300);
    }
    server.close();
  }

  @Test
  public void testServerTakesTheCellsAndAnswersWithNone() throws Exception {
    CellBlocksBenchmark.Taking server = new CellBlocksBenchmark.Taking();
    server.size = SIZE;
    server.start();
    for (int i = 0; i < CALLS; i++) {
      int size = benchmark.serverRequest(server);
      assertTrue("size " + size, size < 64);
    }
    server.close();
  }

  @Test
  public void testClientsSendTheCells() throws Exception {
    for (String name : CLIENTS) {
      CellBlocksBenchmark.Sending client = new CellBlocksBenchmark.Sending();
      client.size = SIZE;
      client.client = name;
      client.start();
      for (int i = 0; i < CALLS; i++) {
        assertEquals(null, ((HBaseRpcController) benchmark.clientRequest(client)).cellScanner());
      }
      client.close();
    }
  }

  @Test
  public void testClientsGetTheCells() throws Exception {
    List<Cell> expected = Pings.cells(SIZE);
    for (String name : CLIENTS) {
      CellBlocksBenchmark.Receiving client = new CellBlocksBenchmark.Receiving();
      client.size = SIZE;
      client.client = name;
      client.start();
      for (int i = 0; i < CALLS; i++) {
        assertEquals(expected.size(), benchmark.clientResponse(client));
        CellScanner scanner = client.call(null).cellScanner();
        for (Cell cell : expected) {
          assertTrue(scanner.advance());
          assertTrue(CellUtil.equals(cell, scanner.current()));
        }
        assertEquals(Collections.emptyList(),
          scanner.advance() ? List.of(scanner.current()) : Collections.emptyList());
      }
      client.close();
    }
  }
}
