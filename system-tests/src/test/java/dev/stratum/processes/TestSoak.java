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

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.junit.Assume;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.ExternalResource;
import org.junit.rules.RuleChain;
import org.junit.rules.Timeout;

import org.apache.hbase.thirdparty.com.google.gson.JsonArray;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;

/**
 * A server with all features, at HBase's default handlers and call queues, under a steady load for
 * <code>soak.seconds</code>; without that it does nothing. No operation may hang or fail, no read
 * be wrong, and nothing of {@link Soaked} may grow. <code>target/soak.json</code> has the samples,
 * <code>target/soak.html</code> shows them.
 */
@Category(LargeTests.class)
public class TestSoak {
  private static final long SECONDS = Long.getLong("soak.seconds", 0);
  private static final int NONCE_MILLIS = 60_000;
  private static final int THREADS = 64;
  private static final int ROWS = 250;
  /** The number of samples that a plot shows. Each sample collects the server's garbage. */
  private static final int SAMPLES = 240;

  @Rule
  public final RuleChain rules = RuleChain.outerRule(new ExternalResource() {
    @Override
    protected void before() throws IOException {
      cluster = new Cluster("soak", 1);
    }

    @Override
    protected void after() {
      cluster.close();
    }
  }).around(new Timeout(10 + SECONDS / 30, TimeUnit.MINUTES));

  private final List<Double> seconds = new ArrayList<>();
  private final Map<Soaked, List<Double>> samples = new EnumMap<>(Soaked.class);
  private Cluster cluster;

  @Test
  public void testNothingGrows() throws Exception {
    Assume.assumeTrue("-Dsoak.seconds= says for how long", SECONDS > 0);
    Cluster.Server server = cluster.servers().get(0);
    Map<String, String> keys = new LinkedHashMap<>(Feature.worst().get(0).keys(server.cache));
    // A server remembers the nonce of each increment, for half an hour by default.
    keys.put("hbase.server.hashNonce.gracePeriod", Integer.toString(NONCE_MILLIS));
    cluster.start(Jars.FORK, Map.of(server, keys), true);
    cluster.load().start(Map.of("hbase.client.netty.flush.consolidation.enabled", "true"), THREADS,
      ROWS, 1);
    // The flush provides files to read from the beginning.
    cluster.flush();
    cluster.watch().run(() -> soak(server));
    // This is not watched: all that was written in the whole time is read at once.
    cluster.load().assertNothingLostOrFailed();
    List<String> growing = new ArrayList<>();
    samples.forEach((soaked, values) -> {
      double[] array = values.stream().mapToDouble(Double::doubleValue).toArray();
      String sentence = String.format("%s: %.1f %s in the second quarter, %.1f in the last",
        soaked.title, Flatness.secondQuarter(array), soaked.unit, Flatness.lastQuarter(array));
      cluster.say("%s", sentence);
      if (!Flatness.isFlat(array, soaked.slack)) {
        growing.add(sentence);
      }
    });
    assertEquals("grows", List.of(), growing);
  }

  private void soak(Cluster.Server server) throws Exception {
    long begin = System.nanoTime();
    cluster.load().run();
    try {
      while (System.nanoTime() - begin < TimeUnit.SECONDS.toNanos(SECONDS)) {
        TimeUnit.MILLISECONDS.sleep(TimeUnit.SECONDS.toMillis(SECONDS) / SAMPLES);
        seconds.add((System.nanoTime() - begin) / 1e9);
        JsonObject sizes = cluster.ask(server, "sizes").getAsJsonObject();
        for (Soaked soaked : Soaked.values()) {
          samples.computeIfAbsent(soaked, one -> new ArrayList<>())
            .add(sizes.get(soaked.name()).getAsDouble() / soaked.scale);
        }
        LoadClients.assertNothingWrong(cluster.load().all().get(0));
      }
    } finally {
      write();
    }
    cluster.load().pause();
  }

  /** Writes the results, also of a run that fails. */
  private void write() throws IOException {
    JsonObject json = new JsonObject();
    json.add("seconds", array(seconds));
    samples.forEach((soaked, values) -> {
      JsonObject series = new JsonObject();
      series.addProperty("title", soaked.title);
      series.addProperty("unit", soaked.unit);
      series.add("values", array(values));
      json.add(soaked.name(), series);
    });
    Path target = Path.of("target");
    Files.writeString(target.resolve("soak.json"), json + "\n");
    Files.writeString(target.resolve("soak.html"), SeriesPlot.html(seconds, samples));
    cluster.say("written to %s", target.resolve("soak.html").toAbsolutePath());
  }

  private static JsonArray array(List<Double> values) {
    JsonArray array = new JsonArray();
    values.forEach(array::add);
    return array;
  }
}
