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

import static org.junit.Assert.assertEquals;

import dev.stratum.childprocess.ChildProcess;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.ExternalResource;
import org.junit.rules.RuleChain;
import org.junit.rules.Timeout;

import org.apache.hbase.thirdparty.com.google.gson.JsonObject;

/**
 * A server with features on and off in many combinations, at HBase's default handlers and call
 * queues, under the load of more clients than handlers. No operation may hang or fail, no read be
 * wrong, no acknowledged write be lost, no event loop wait.
 * <p>
 * With <code>combinations.seconds</code> the configurations are those of a covering array, in which
 * each pair of settings occurs, for so long each; without it the three that are most likely to
 * fail, for one cycle of the load. The server is restarted between them.
 */
@Category(LargeTests.class)
public class TestFeatureCombinations {
  private static final long SECONDS = Long.getLong("combinations.seconds", 0);
  /** More than a server has handlers. */
  private static final int THREADS = 64;
  private static final int ROWS = 150;
  /** The number of operations of each thread between two flushes. */
  private static final int OPERATIONS = 3;

  @Rule
  public final RuleChain rules = RuleChain.outerRule(new ExternalResource() {
    @Override
    protected void before() throws IOException {
      cluster = new Cluster("combinations", 1);
    }

    @Override
    protected void after() {
      cluster.close();
    }
  }).around(new Timeout(30 + 16 * (SECONDS / 60 + 2), TimeUnit.MINUTES));

  private Cluster cluster;

  @Test
  public void testNoOperationHangsOrIsWrong() throws Exception {
    List<Feature.Configuration> all = SECONDS == 0 ? Feature.worst() : Feature.pairs();
    Cluster.Server server = cluster.servers().get(0);
    cluster.start(Jars.FORK, Map.of(server, all.get(0).keys(server.cache)), true);
    // Clients are not restarted, but of each kind that is needed there is one.
    Map<Boolean, ChildProcess> clients = new HashMap<>();
    for (Feature.Configuration one : all) {
      boolean isConsolidated = one.has(Feature.CLIENT_FLUSHES);
      if (!clients.containsKey(isConsolidated)) {
        clients.put(isConsolidated, cluster.load().start(
          Map.of("hbase.client.netty.flush.consolidation.enabled", "" + isConsolidated), THREADS,
          ROWS, (long) clients.size() * THREADS));
      }
    }
    cluster.watch().run(() -> {
      for (Feature.Configuration one : all) {
        Map<String, String> keys = one.keys(server.cache);
        cluster.say("%s: %s", one.name(), keys);
        if (one != all.get(0)) {
          cluster.restart(server, keys);
        }
        cluster.ask(server, "watch");
        tryOut(clients.get(one.has(Feature.CLIENT_FLUSHES)));
        assertEquals("what event loops waited for", new JsonObject(), cluster.ask(server, "waits"));
        if (SECONDS > 0) {
          cluster.load().assertNothingLostOrFailed();
        }
      }
      cluster.load().assertNothingLostOrFailed();
    });
  }

  private void tryOut(ChildProcess client) throws Exception {
    long nanos = Math.max(LoadPhases.CYCLE_NANOS, TimeUnit.SECONDS.toNanos(SECONDS));
    long end = System.nanoTime() + nanos;
    LoadClients.run(client);
    do {
      LoadClients.awaitOperations(client, OPERATIONS);
      // The flush makes the clients read from memory, from files, and from files just written.
      cluster.flush();
      LoadClients.assertNothingWrong(client);
    } while (System.nanoTime() - end < 0);
    cluster.load().pause();
  }
}
