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
package dev.stratum.processes;

import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import dev.stratum.childprocess.ProcessException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.AsyncConnection;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.ExternalResource;
import org.junit.rules.RuleChain;
import org.junit.rules.Timeout;

/** Handlers that are held end a run, with the held calls and those behind them as evidence. */
@Category(LargeTests.class)
public class TestWatchedCluster {
  private static final TableName TABLE = TableName.valueOf("held");
  /** HBase's default. */
  private static final int HANDLERS = 30;
  private static final int WAITING = 2;

  @Rule
  public final RuleChain rules = RuleChain.outerRule(new ExternalResource() {
    @Override
    protected void before() throws IOException {
      cluster = new Cluster("hang", 1);
    }

    @Override
    protected void after() {
      cluster.close();
    }
  }).around(new Timeout(30, TimeUnit.MINUTES));

  private Cluster cluster;

  private String calls() throws ProcessException {
    return cluster.ask(cluster.servers().get(0), "calls").getAsString();
  }

  @Test
  public void testHeldHandlersEndTheRunWithTheirCallsAsEvidence() throws Exception {
    Cluster.Server server = cluster.servers().get(0);
    cluster.start(Jars.FORK, Map.of(server, Settings.plainCache(server.cache)), false);
    cluster.admin().createTable(TableDescriptorBuilder.newBuilder(TABLE)
      .setColumnFamily(ColumnFamilyDescriptorBuilder.of("f"))
      .setCoprocessor(HeldGets.class.getName()).build());
    try (AsyncConnection connection =
      ConnectionFactory.createAsyncConnection(cluster.conf()).get()) {
      for (int i = 0; i < HANDLERS + WAITING; i++) {
        connection.getTable(TABLE).get(new Get(Bytes.toBytes("row-" + i)));
      }
      watchHeldHandlers();
    }
  }

  private void watchHeldHandlers() throws Exception {
    Cluster.await("all handlers are held", () -> calls()
      .contains(HANDLERS + " calls are run by handlers")
      && calls().contains(WAITING + " calls wait for a handler"));
    Operations operations = new Operations(Duration.ZERO);
    operations.client("client").begin("get of a row");
    HangWatch watch =
      new HangWatch(Duration.ZERO, Duration.ZERO, operations, cluster::collect);
    AssertionError hung =
      assertThrows(AssertionError.class, () -> watch.run(() -> new CountDownLatch(1).await()));
    String evidence = read(hung, "calls-of-server0.txt");
    assertTrue(evidence, evidence.contains("general " + WAITING));
    assertTrue(evidence, evidence.contains(HANDLERS + " calls are run by handlers"));
    assertTrue(evidence, evidence.contains("methodName: Get"));
    assertTrue(evidence, evidence.matches("(?s).*queues\\[\\d+\\]\\[0\\]: \\d+ ms, .*"));
    String threads = read(hung, "threads-of-server0-2.txt");
    assertTrue(threads, threads.contains(HeldGets.class.getName() + ".preGetOp"));
    assertTrue(read(hung, "operations.txt").contains("client: get of a row"));
  }

  /** Reads a file that an error names. */
  private static String read(AssertionError hung, String name) throws IOException {
    for (String word : hung.getMessage().split("[\\s,]+")) {
      if (word.endsWith("/" + name)) {
        return Files.readString(Path.of(word), StandardCharsets.UTF_8);
      }
    }
    throw new AssertionError("No " + name + " in " + hung.getMessage());
  }
}
