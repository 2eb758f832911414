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

import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import org.apache.hbase.thirdparty.com.google.gson.JsonElement;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

public class TestResultRecorder {
  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  private ResultRecorder recorder;

  private void measure(WorkloadCase one, int start) {
    JsonObject result = recorder.begin(one, one.handlers());
    for (String side : List.of("stock", "fork")) {
      JsonObject run = new JsonObject();
      run.addProperty("side", side);
      run.addProperty("start", start);
      result.getAsJsonArray("runs").add(run);
    }
    recorder.join(result);
  }

  @Test
  public void testRunsByNewJvmsAreAddedToTheirCase() throws Exception {
    Properties arguments = new Properties();
    arguments.setProperty("directory", folder.getRoot().getPath());
    arguments.setProperty("include", "ycsb/[ac]$");
    SuiteOptions options = SuiteOptions.of(arguments);
    SuitePlan plan = new SuitePlan(options);
    recorder = new ResultRecorder(options, plan);
    for (int start = 0; start < 2; start++) {
      for (WorkloadCase one : plan.cases()) {
        measure(one, start);
      }
    }
    List<String> runs = new ArrayList<>();
    for (JsonElement element : recorder.cases()) {
      JsonObject one = element.getAsJsonObject();
      one.getAsJsonArray("runs").forEach(run -> runs.add(one.get("name").getAsString() + " "
        + run.getAsJsonObject().get("side").getAsString() + " "
        + run.getAsJsonObject().get("start").getAsInt()));
    }
    assertEquals(List.of("ycsb/a stock 0", "ycsb/a fork 0", "ycsb/a stock 1", "ycsb/a fork 1",
      "ycsb/c stock 0", "ycsb/c fork 0", "ycsb/c stock 1", "ycsb/c fork 1"), runs);
  }
}
