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
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hbase.thirdparty.com.google.gson.JsonArray;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.ExternalResource;
import org.junit.rules.RuleChain;
import org.junit.rules.Timeout;

/** A server that keeps blocks in segments, and is killed. */
public class TestSegmentKill {
  private static final int ROWS = 6_000;

  /** Outside of the time limit, so that the processes end even if the test hangs. */
  @Rule
  public final RuleChain rules = RuleChain.outerRule(new ExternalResource() {
    @Override
    protected void before() throws IOException {
      cluster = new Cluster("segment-kill", 2);
    }

    @Override
    protected void after() {
      cluster.close();
    }
  }).around(new Timeout(15, TimeUnit.MINUTES));

  private Cluster cluster;

  /**
   * It comes back with all blocks of the files that it had prefetched, and knows it before anybody
   * reads; and what it serves of them is right.
   */
  @Test
  public void afterKillAServerKnowsItsFilesAndServesThem() throws Exception {
    Cluster.Server other = cluster.servers().get(0);
    Cluster.Server server = cluster.servers().get(1);
    cluster.start(Jars.FORK, Map.of(other, Settings.plainCache(other.cache), server,
      Settings.segmentCache(server.cache)), true);
    // A compaction would replace files.
    cluster.admin().compactionSwitch(false, List.of());
    cluster.startClients(List.of(Jars.FORK), 1, ROWS, 1);
    cluster.admin().flush(CheckedLoad.TABLE);
    moveAll(server);
    Set<String> files = new TreeSet<>();
    Cluster.await("all files are cached", () -> {
      files.clear();
      files.addAll(names(tier(server), "files"));
      return names(tier(server), "complete").containsAll(files);
    });
    // Those of one more client fill the segment that was open then, which a kill costs, and more.
    cluster.startClients(List.of(Jars.FORK), 1, ROWS, 2);
    cluster.admin().flush(CheckedLoad.TABLE);
    Cluster.await("what was written is cached", () -> {
      JsonObject tier = tier(server);
      return names(tier, "complete").containsAll(names(tier, "files"))
        && gauge(tier, "WaitingSegmentCount") == 0;
    });
    long before = gauge(tier(server), "DataBlockCount");
    cluster.kill(server);
    Cluster.await("all regions are on " + other, () -> cluster.regions(other).size()
      == cluster.admin().getRegions(CheckedLoad.TABLE).size());
    cluster.restart(server, Jars.FORK);
    Cluster.await("all that was sealed is found", () -> {
      JsonObject tier = tier(server);
      return gauge(tier, "FoundSegmentCount") > 0 && gauge(tier, "FoundSegmentCount")
        == gauge(tier, "RecoveredSegmentCount") + gauge(tier, "BadSegmentCount");
    });
    JsonObject found = tier(server);
    cluster.say("%d blocks of %d are back, and all of %d files of %d", gauge(found,
      "DataBlockCount"), before, names(found, "complete").size(), files.size());
    assertEquals("bad segments", 0, gauge(found, "BadSegmentCount"));
    Set<String> missing = new TreeSet<>(files);
    missing.removeAll(names(found, "complete"));
    assertEquals("files that are not whole", Set.of(), missing);
    moveAll(server);
    long hits = gauge(tier(server), "HitCount");
    for (ChildProcess client : cluster.clients()) {
      JsonObject request = Cluster.request("verify");
      request.add("losses", new JsonArray());
      assertEquals(ROWS, Cluster.ask(client, request).getAsJsonObject().get("rows").getAsInt());
      assertEquals(new JsonArray(), Cluster.progress(client).get("wrong"));
    }
    long served = gauge(tier(server), "HitCount") - hits;
    assertTrue("blocks read from segments: " + served, served > 0);
  }

  private void moveAll(Cluster.Server server) throws Exception {
    Cluster.await("all regions are on " + server, () -> {
      for (RegionInfo region : cluster.admin().getRegions(CheckedLoad.TABLE)) {
        cluster.admin().move(region.getEncodedNameAsBytes(), server.name());
      }
      return cluster.regions(server).size()
        == cluster.admin().getRegions(CheckedLoad.TABLE).size();
    });
  }

  private JsonObject tier(Cluster.Server server) throws ProcessException {
    return cluster.ask(server, "tier").getAsJsonObject();
  }

  private static Set<String> names(JsonObject tier, String which) {
    Set<String> names = new TreeSet<>();
    tier.getAsJsonArray(which).forEach(name -> names.add(name.getAsString()));
    return names;
  }

  private static long gauge(JsonObject tier, String name) {
    return tier.getAsJsonObject("gauges").get(name).getAsLong();
  }
}
