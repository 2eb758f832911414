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
package dev.stratum.bench.harness;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import dev.stratum.childprocess.ChildProcess;
import dev.stratum.childprocess.JvmCommand;
import dev.stratum.childprocess.ProcessException;
import dev.stratum.childprocess.RequestFailedException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.junit.After;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.TemporaryFolder;

import org.apache.hbase.thirdparty.com.google.gson.JsonArray;
import org.apache.hbase.thirdparty.com.google.gson.JsonElement;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;
import org.apache.hbase.thirdparty.com.google.gson.JsonParser;

/** The host as the plugin starts it: a child process. */
@Category(LargeTests.class)
public class TestBenchmarkHost {
  private static final String HIT = "dev.stratum.bench.blockcache.BucketCacheBenchmark.hit";

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  private ChildProcess host;
  private Path results;

  @Before
  public void start() throws IOException {
    results = folder.getRoot().toPath().resolve("results.json");
    host = new ChildProcess("host", new JvmCommand(BenchmarkHost.class)
      .arguments(results.toString(), folder.getRoot().toString()),
      folder.getRoot().toPath().resolve("log"));
  }

  @After
  public void stop() {
    host.close();
  }

  private JsonElement ask(String json) throws ProcessException {
    return host.ask(JsonParser.parseString(json.replace('\'', '"')).getAsJsonObject());
  }

  private static String run(String params, int iterations) {
    return "{'do':'run','benchmark':'" + HIT + "','mode':'AverageTime','params':" + params
      + ",'warmup':{'iterations':0,'millis':1},'measurement':{'iterations':" + iterations
      + ",'millis':50}}";
  }

  @Test
  public void testItListsBenchmarksWithWhatTheyAsk() throws Exception {
    for (JsonElement element : ask("{'do':'list'}").getAsJsonArray()) {
      JsonObject entry = element.getAsJsonObject();
      if (entry.get("benchmark").getAsString().equals(HIT)) {
        assertEquals("AverageTime", entry.get("mode").getAsString());
        assertEquals(5, entry.get("forks").getAsInt());
        assertFalse("not in the headline set", entry.has("headline"));
        assertEquals("[\"offheap\",\"file\",\"mmap\"]",
          entry.getAsJsonObject("params").getAsJsonArray("engine").toString());
        return;
      }
    }
    throw new AssertionError(HIT + " is not in the list");
  }

  /** The benchmarks are in rows of the feature table. */
  @Test
  public void testHeadlineSetShowsEachFeatureOfTheTable() throws Exception {
    Set<String> features = new TreeSet<>();
    Pattern row = Pattern.compile("[|] \\[([a-z-]+)]\\(docs/.*`\\w+Benchmark` [|]");
    for (String line : Files.readAllLines(
      Path.of(System.getProperty("stratum.root"), "CONTRIBUTING.md"))) {
      Matcher matcher = row.matcher(line);
      if (matcher.find()) {
        features.add(matcher.group(1));
      }
    }
    assertTrue(features.toString(), features.size() >= 8);
    Set<String> shown = new TreeSet<>();
    for (JsonElement element : ask("{'do':'list'}").getAsJsonArray()) {
      JsonObject entry = element.getAsJsonObject();
      if (entry.has("headline")) {
        for (JsonElement choice : entry.getAsJsonArray("headline")) {
          boolean ofThisClass = Pattern.compile("(\\w+)=").matcher(choice.getAsString()).results()
            .allMatch(name -> entry.getAsJsonObject("params").has(name.group(1)));
          if (ofThisClass) {
            shown.add(entry.get("feature").getAsString());
          }
        }
      }
    }
    assertEquals(features, shown);
  }

  @Test
  public void testEveryRunIsOneMoreJvmOfTheSameResult() throws Exception {
    String run = run("{'engine':'offheap','size':'32768'}", 2);
    assertEquals("us/op", ask(run).getAsJsonObject().get("unit").getAsString());
    assertTrue(ask(run).getAsJsonObject().get("score").getAsDouble() > 0);
    assertEquals(1, ask("{'do':'write'}").getAsInt());
    JsonArray written = JsonParser.parseString(Files.readString(results)).getAsJsonArray();
    assertEquals(1, written.size());
    JsonObject result = written.get(0).getAsJsonObject();
    assertEquals(2, result.get("forks").getAsInt());
    assertEquals("offheap", result.getAsJsonObject("params").get("engine").getAsString());
    JsonArray jvms = result.getAsJsonObject("primaryMetric").getAsJsonArray("rawData");
    assertEquals(2, jvms.size());
    assertEquals(2, jvms.get(0).getAsJsonArray().size());
    assertTrue(result.getAsJsonObject("secondaryMetrics").keySet().toString(),
      result.getAsJsonObject("secondaryMetrics").keySet().stream()
        .anyMatch(name -> name.endsWith("gc.alloc.rate.norm")));
    JsonObject cpu = result.getAsJsonObject("secondaryMetrics").getAsJsonObject("cpu");
    assertEquals("us/op", cpu.get("scoreUnit").getAsString());
    assertTrue(cpu.toString(), cpu.get("score").getAsDouble() > 0);
  }

  @Test
  public void testAlternatesWithAJvmOfTheOtherSideUntilThatHasEnded() throws Exception {
    Path alternation = folder.newFolder("alternation").toPath();
    String run = run("{'engine':'offheap','size':'32768'}", 2).replaceAll("}$",
      ",'alternation':{'directory':'" + alternation
        + "','side':'fork','other':'stock','first':'fork'}}");
    AlternatingIterations.markEnded(alternation, "stock");
    assertTrue(ask(run).getAsJsonObject().get("score").getAsDouble() > 0);
    assertEquals("stock", Files.readString(alternation.resolve("turn")));
    assertTrue(Files.exists(alternation.resolve("fork.ended")));
  }

  @Test
  public void testWhatABenchmarkThrewIsTheAnswerAndTheHostGoesOn()
    throws Exception {
    String error = assertThrows(RequestFailedException.class,
      () -> ask(run("{'engine':'unknown','size':'32768'}", 1))).reason();
    assertTrue(error, error.contains("Don't understand io engine name"));
    assertFalse(error, error.contains("\n"));
    assertTrue(ask("{'do':'list'}").isJsonArray());
  }

  @Test
  public void testTheEndOfItsInputEndsTheHostAndTheJvmItMeasuresIn() throws Exception {
    FutureTask<ProcessException> ended =
      new FutureTask<>(() -> assertThrows(ProcessException.class,
        () -> ask(run("{'engine':'offheap','size':'32768'}", 1000))));
    new Thread(ended).start();
    long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(2);
    while (host.handle().descendants().findAny().isEmpty()) {
      assertTrue("no JVM was started within two minutes", System.nanoTime() < deadline);
      Thread.sleep(10);
    }
    List<ProcessHandle> measured = host.handle().descendants().toList();
    host.closeInput();
    host.handle().onExit().get(2, TimeUnit.MINUTES);
    for (ProcessHandle handle : measured) {
      handle.onExit().get(2, TimeUnit.MINUTES);
    }
    assertTrue(ended.get(2, TimeUnit.MINUTES).getMessage().contains("has ended"));
  }
}
