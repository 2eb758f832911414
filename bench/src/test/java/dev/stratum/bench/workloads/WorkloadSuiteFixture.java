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

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import org.junit.Rule;
import org.junit.rules.TemporaryFolder;

import org.apache.hbase.thirdparty.com.google.gson.JsonArray;
import org.apache.hbase.thirdparty.com.google.gson.JsonParser;

/** Runs small cases on real processes, both sides with this class path: features off, and on. */
public abstract class WorkloadSuiteFixture {
  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  protected static Properties arguments(Path directory) {
    Properties arguments = new Properties();
    arguments.setProperty("directory", directory.toString());
    for (String side : List.of("stock", "fork")) {
      arguments.setProperty(side + ".class.path", System.getProperty("java.class.path"));
    }
    String[] small = { "rows.max=2000", "first.warmup.seconds=0.2",
      "warmup.seconds=0.2", "seconds=0.5", "rounds=1", "regionserver.heap.mb=256",
      "regionserver.direct.mb=768", "base.heap.mb=192", "base.direct.mb=96", "client.heap.mb=128",
      "client.direct.mb=96", "l1.mb=16", "l2.mb=96", "memstore.flush.mb=16", "handlers=40",
      // These options are those of the tests' own JVM.
      "jvm.options=-XX:TieredStopAtLevel=1 -XX:+UnlockDiagnosticVMOptions "
        + "-XX:-BytecodeVerificationRemote" };
    for (String one : small) {
      arguments.setProperty(one.substring(0, one.indexOf('=')),
        one.substring(one.indexOf('=') + 1));
    }
    return arguments;
  }

  protected static String results(Path directory) throws IOException {
    Path file = directory.resolve("results.json");
    return Files.exists(file) ? Files.readString(file) : "no results";
  }

  /** Runs the suite without a failure, and returns its cases. */
  protected static JsonArray run(Properties arguments) throws Exception {
    Path directory = Path.of(arguments.getProperty("directory"));
    try (WorkloadSuite suite =
      new WorkloadSuite(arguments, new PrintStream(PrintStream.nullOutputStream()))) {
      int failures = suite.run();
      assertEquals(results(directory), 0, failures);
    }
    return JsonParser.parseString(results(directory)).getAsJsonObject().getAsJsonArray("cases");
  }
}
