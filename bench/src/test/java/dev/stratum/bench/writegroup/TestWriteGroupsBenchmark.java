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
package dev.stratum.bench.writegroup;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import dev.stratum.bench.blockcache.TemporaryFiles;
import dev.stratum.bench.harness.TableOnHdfs;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.junit.After;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category(LargeTests.class)
public class TestWriteGroupsBenchmark {
  @Rule
  public final TemporaryFiles files = new TemporaryFiles();

  private final WriteGroupsBenchmark benchmark = new WriteGroupsBenchmark();
  private final WriteGroupsBenchmark.Client client = new WriteGroupsBenchmark.Client();

  @After
  public void close() throws IOException {
    benchmark.close();
  }

  @Test
  public void testPutsArrive() throws Exception {
    benchmark.durability = Durability.SYNC_WAL;
    benchmark.batch = 1;
    benchmark.open();
    client.open(benchmark);
    putsArrive();
    benchmark.batch = 3;
    putsArrive();
    client.close();
  }

  @Test
  public void testPutsOfOneThreadArrive() throws Exception {
    benchmark.durability = Durability.SYNC_WAL;
    benchmark.batch = 1;
    benchmark.open();
    client.open(benchmark);
    WriteGroupsBenchmark.AsyncClient async = new WriteGroupsBenchmark.AsyncClient();
    async.open(benchmark);
    List<Put> puts = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      puts.add(benchmark.asyncTable(async));
    }
    async.await();
    for (Put put : puts) {
      assertTrue(client.table.exists(new Get(put.getRow())));
    }
    client.close();
  }

  private void putsArrive() throws IOException {
    for (int i = 0; i < 20; i++) {
      List<Put> puts = benchmark.put(client.table);
      assertEquals(benchmark.batch, puts.size());
      for (Put put : puts) {
        Cell cell = put.getFamilyCellMap().get(TableOnHdfs.FAMILY).get(0);
        assertArrayEquals(CellUtil.cloneValue(cell),
          client.table.get(new Get(put.getRow())).value());
      }
    }
  }
}
