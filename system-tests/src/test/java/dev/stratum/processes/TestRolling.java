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
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.ExternalResource;
import org.junit.rules.RuleChain;
import org.junit.rules.Timeout;

/**
 * A cluster of processes is moved from stock to the fork and back, one server at a time with its
 * regions moved away, with the master on either side and clients of both, under a load that checks
 * every read. No operation may fail or hang, no read be wrong, no acknowledged write be lost.
 * Servers meet the L2 file of the other build. Handlers and call queues are HBase's
 * default; the load has more threads than a server has handlers.
 * <p>
 * <code>rolling.rounds</code> says how often all of them go there and back; with 0 only one does.
 */
@Category(LargeTests.class)
public class TestRolling {
  private static final int ROUNDS = Integer.getInteger("rolling.rounds", 0);
  /** The number of threads of each of the two clients. Together they exceed a server's handlers. */
  private static final int THREADS = 32;
  private static final int ROWS = 250;
  private static final int OPERATIONS = 3;
  private static final String COALESCE = "hbase.regionserver.increment.coalesce.enabled";
  private static final String CHECKSUM = "hbase.bucketcache.l2.checksum.enabled";

  /** Outside of the time limit, so that the processes end even if the test hangs. */
  @Rule
  public final RuleChain rules = RuleChain.outerRule(new ExternalResource() {
    @Override
    protected void before() throws IOException {
      cluster = new Cluster("rolling", 3);
      clocks = new ClockJumps(cluster);
    }

    @Override
    protected void after() {
      cluster.close();
    }
  }).around(new Timeout(30L + 10L * ROUNDS, TimeUnit.MINUTES));

  private final Random random = new Random(1);
  private Cluster cluster;
  private ClockJumps clocks;

  @Test
  public void testStockToForkAndBackLosesNothing() throws Exception {
    Map<Cluster.Server, Map<String, String>> plain = new HashMap<>();
    cluster.servers().forEach(server -> plain.put(server, Settings.plainCache(server.cache)));
    cluster.start(Jars.STOCK, plain, false);
    cluster.load().start(List.of(Jars.STOCK, Jars.FORK), THREADS, ROWS, 1);
    assertEquals("sockets that others can reach", List.of(), cluster.reachable());
    cluster.watch().run(() -> rollUnderLoad(plain));
  }

  private void rollUnderLoad(Map<Cluster.Server, Map<String, String>> plain) throws Exception {
    cluster.load().run();
    settle();
    if (ROUNDS == 0) {
      oneThereAndBack(plain);
    }
    for (int round = 0; round < ROUNDS; round++) {
      cluster.say("round %d of %d", round + 1, ROUNDS);
      up(plain);
      down(plain);
    }
    cluster.load().pause();
    cluster.load().assertNothingLostOrFailed();
  }

  private void oneThereAndBack(Map<Cluster.Server, Map<String, String>> plain) throws Exception {
    Cluster.Server server = cluster.servers().get(1);
    forkOnWhatStockHasKept(server);
    cluster.swapMaster(Jars.FORK);
    settle();
    alter();
    clocks.jump(server, OPERATIONS);
    stockOnWhatForkHasKept(server, plain);
  }

  private void up(Map<Cluster.Server, Map<String, String>> plain) throws Exception {
    Cluster.Server first = cluster.servers().get(0);
    // Only the jars change, on what L2 of stock has kept.
    cluster.roll(first, Jars.FORK, plain.get(first), true);
    settle();
    forkOnWhatStockHasKept(cluster.servers().get(1));
    cluster.swapMaster(Jars.FORK);
    // All features are enabled; what stock has kept has no checksums.
    Cluster.Server third = cluster.servers().get(2);
    cluster.roll(third, Jars.FORK, features(third), false);
    settle();
    alter();
    clocks.jump(third, OPERATIONS);
  }

  private void down(Map<Cluster.Server, Map<String, String>> plain) throws Exception {
    Cluster.Server third = cluster.servers().get(2);
    stockOnWhatForkHasKept(third, plain);
    clocks.jump(third, OPERATIONS);
    cluster.swapMaster(Jars.STOCK);
    stockOnWhatForkHasKept(cluster.servers().get(0), plain);
    stockOnWhatForkHasKept(cluster.servers().get(1), plain);
  }

  /** Begins to run all features. */
  private void forkOnWhatStockHasKept(Cluster.Server server) throws Exception {
    Map<String, String> keys = features(server);
    keys.put(CHECKSUM, "false");
    cluster.roll(server, Jars.FORK, keys, true);
    settle();
  }

  private void stockOnWhatForkHasKept(Cluster.Server server,
    Map<Cluster.Server, Map<String, String>> plain) throws Exception {
    // docs/operations.md requires this before the first server is moved back.
    for (Cluster.Server one : cluster.servers()) {
      if (Boolean.parseBoolean(one.keys().get(COALESCE))) {
        Map<String, String> keys = new HashMap<>(one.keys());
        keys.put(COALESCE, "false");
        cluster.reload(one, keys);
      }
    }
    cluster.roll(server, Jars.STOCK, plain.get(server), true);
    settle();
  }

  /** Servers of both kinds read files with blocks of several sizes and encodings. */
  private void alter() throws Exception {
    try (HangWatch.Excuse excuse = cluster.watch().excuse("an alter")) {
      Alteration.apply(cluster.admin(), random);
      cluster.awaitServed();
    }
    settle();
  }

  private static Map<String, String> features(Cluster.Server server) {
    Map<String, String> keys = new HashMap<>(Settings.compositeCache(server.cache));
    keys.putAll(Settings.features());
    return keys;
  }

  /** Lets the load go on for a while, with files for the caches to have blocks of. */
  private void settle() throws Exception {
    cluster.flush();
    cluster.load().awaitOperations(OPERATIONS);
    for (ChildProcess client : cluster.load().all()) {
      LoadClients.assertNothingWrong(client);
    }
  }
}
