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
package dev.stratum.bench.wal;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import dev.stratum.bench.blockcache.TemporaryFiles;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category(LargeTests.class)
public class TestSyncLimitBenchmark {
  @Rule
  public final TemporaryFiles files = new TemporaryFiles();

  @Test
  public void testPhasesAreMeasuredAndDrawn() throws Exception {
    Path folder = Files.createTempDirectory("sync-limit");
    for (String setting : new String[] { "0", "1", "auto" }) {
      SyncLimitBenchmark benchmark = new SyncLimitBenchmark();
      benchmark.syncsInFlight = setting;
      benchmark.seconds = 1;
      benchmark.folder = folder.toString();
      SyncLimitBenchmark.Phases phases = new SyncLimitBenchmark.Phases();
      benchmark.open();
      benchmark.phases(phases);
      benchmark.close();
      // In the first phase the JVM is cold, so it tells less of the delay than the last one does.
      assertTrue(phases.near + ", " + phases.far, phases.near > 0 && phases.far > 0);
      assertTrue(phases.nearAgain + ", " + phases.far, phases.nearAgain > phases.far);
      List<String> samples = Files.readAllLines(folder.resolve("sync-limit-" + setting + ".csv"));
      assertEquals(6, samples.size());
      assertTrue(samples.get(5), samples.get(5).startsWith("3.0,"));
    }
    assertTrue(SyncLimitPlot.svg(folder).startsWith("<svg xmlns="));
  }
}
