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

import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

public class TestFlameGraph {
  private static final String BUSY = "busyMethod";

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  private static double busyMethod(double value) {
    double sum = value;
    for (int i = 0; i < 1_000_000; i++) {
      sum += Math.sin(sum);
    }
    return sum;
  }

  @Test
  public void testMethodOnCpuIsAFrameOfTheGraph() throws Exception {
    Path html = folder.getRoot().toPath().resolve("flame/busy.html");
    double sum = 0;
    String drawn = "";
    // A busy machine may take no sample for a long time, and then one of another thread.
    for (int millions = 16; !drawn.contains(BUSY) && millions < 1 << 14; millions *= 2) {
      try (FlameGraph graph = new FlameGraph()) {
        for (int i = 0; i < millions; i++) {
          sum += busyMethod(sum);
        }
        graph.write("a <busy> case", html);
      }
      drawn = Files.readString(html);
    }
    assertTrue(Double.isFinite(sum));
    assertTrue(drawn, drawn.contains(BUSY));
    assertTrue(drawn, drawn.contains("a &lt;busy&gt; case: "));
    assertFalse(drawn, drawn.contains("<link") || drawn.contains("src="));
  }
}
