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
package dev.stratum.bench.workloads;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import dev.stratum.childprocess.JvmCommand;
import dev.stratum.processes.SiteFile;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import org.apache.hadoop.hbase.regionserver.operations.SettingsCheck;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.junit.Test;
import org.junit.experimental.categories.Category;

import org.apache.hbase.thirdparty.com.google.gson.JsonArray;
import org.apache.hbase.thirdparty.com.google.gson.JsonElement;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;

/** The cases with clients of several kinds, adverse and encoded ones, and the settings of all. */
@Category(LargeTests.class)
public class TestAdverseWorkloads extends WorkloadSuiteFixture {

  @Test
  public void testClientsOfSeveralKindsHaveFiguresOfTheirOwn() throws Exception {
    Properties arguments = arguments(folder.getRoot().toPath());
    arguments.setProperty("include", "log/adverse-(hooks|latest-deletes|same-rows|slow-syncs)$");
    arguments.setProperty("compiling.max", "100");
    JsonArray cases = run(arguments);
    assertEquals(4, cases.size());
    for (JsonElement element : cases) {
      JsonObject result = element.getAsJsonObject();
      JsonObject properties = result.getAsJsonObject("properties");
      assertEquals(2, result.getAsJsonArray("runs").size());
      for (JsonElement one : result.getAsJsonArray("runs")) {
        JsonObject run = one.getAsJsonObject();
        if (properties.has("clients")) {
          assertEquals(Set.of(properties.get("clients").getAsString().split(" ")),
            run.getAsJsonObject("operations").keySet());
        } else {
          assertTrue(run.toString(), run.getAsJsonObject("all").get("p50").getAsDouble() > 20_000);
        }
      }
    }
  }

  @Test
  public void testAdverseCasesAndTwinsOfEachEncodingRun() throws Exception {
    Properties arguments = arguments(folder.getRoot().toPath());
    arguments.setProperty("include", "^adverse/|^encoded/((e|f)-|nr2-fast|multiget-zipfian-row)");
    // These settings make the cases as short as the others, whatever they wait for.
    arguments.setProperty("quick", "true");
    arguments.setProperty("compiling.max", "100");
    arguments.setProperty("own.servers", "false");
    arguments.setProperty("regions.max", "20");
    arguments.setProperty("l2.engine", "segments");
    arguments.setProperty("fork.hbase.segmentcache.segment.mb", "4");
    arguments.setProperty("fork.hbase.regionserver.row.cache.size.mb", "4");
    JsonArray cases = run(arguments);
    assertEquals(13 + 3 * 2 + 2, cases.size());
    for (JsonElement element : cases) {
      JsonObject result = element.getAsJsonObject();
      JsonObject properties = result.getAsJsonObject("properties");
      for (JsonElement one : result.getAsJsonArray("runs")) {
        JsonObject run = one.getAsJsonObject();
        assertTrue(run.toString(), run.getAsJsonObject("all").get("count").getAsLong() > 0);
        if (properties.has("clients")) {
          assertEquals(Set.of(properties.get("clients").getAsString().split(" ")),
            run.getAsJsonObject("operations").keySet());
        }
      }
    }
  }

  @Test
  public void testServersOfEachCaseAcceptTheirSettings() throws Exception {
    Path directory = folder.getRoot().toPath();
    Properties arguments = new Properties();
    arguments.setProperty("directory", directory.toString());
    SuiteOptions options = SuiteOptions.of(arguments);
    List<Map<String, String>> all =
      new SuitePlan(options).cases().stream().map(WorkloadCase::servers).distinct().toList();
    assertTrue(all.toString(), all.size() > 2);
    for (Map<String, String> servers : all) {
      servers.keySet().forEach(key -> assertTrue(key, options.sizes().containsKey(key)
        || key.startsWith("hbase.") || key.startsWith("fork.hbase.")));
      ServerSettings settings = new ServerSettings(options.sizes(servers));
      Map<String, String> keys = new HashMap<>(settings.shared());
      keys.putAll(SuiteOptions.keys(servers));
      keys.putAll(settings.fork(directory.resolve("l2.cache")));
      keys.putAll(options.forkKeys(servers));
      SiteFile.write(directory.resolve("hbase-site.xml"), keys);
      ProcessBuilder check = new JvmCommand(SettingsCheck.class.getName())
        .classPath(directory + File.pathSeparator + System.getProperty("java.class.path"))
        .options(settings.options("regionserver")).builder();
      Path out = directory.resolve("check.txt");
      int code = check.redirectErrorStream(true).redirectOutput(out.toFile()).start().waitFor();
      String said = Files.readString(out);
      assertEquals(servers + said, 0, code);
      assertFalse(servers + said, said.contains("misspelt ") || said.contains("without-effect "));
    }
  }
}
