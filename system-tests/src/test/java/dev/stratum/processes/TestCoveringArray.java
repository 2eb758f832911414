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

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.Test;

/** Each pair of settings of two features is in a configuration, and each feature has a key. */
public class TestCoveringArray {
  private static final Path GUIDE = Path.of("..", "docs", "configuration.md");
  /** Key and default in a row of a table. */
  private static final Pattern ROW = Pattern.compile("\\| `([^`]+)`[^|]*\\| ([^|]+) \\|.*");

  private static void assertCoversAllPairs(int... settings) {
    Set<List<Integer>> covered = new HashSet<>();
    for (int[] row : CoveringArray.of(settings)) {
      assertEquals(settings.length, row.length);
      for (int a = 0; a < row.length; a++) {
        assertTrue(row[a] >= 0 && row[a] < settings[a]);
        for (int b = a + 1; b < row.length; b++) {
          covered.add(List.of(a, row[a], b, row[b]));
        }
      }
    }
    for (int a = 0; a < settings.length; a++) {
      for (int b = a + 1; b < settings.length; b++) {
        for (int one = 0; one < settings[a]; one++) {
          for (int other = 0; other < settings[b]; other++) {
            assertTrue("feature " + a + " at " + one + " with " + b + " at " + other,
              covered.contains(List.of(a, one, b, other)));
          }
        }
      }
    }
  }

  @Test
  public void testAllPairsAreCovered() {
    assertCoversAllPairs(2, 2);
    assertCoversAllPairs(2, 2, 2, 2, 2, 2, 2);
    assertCoversAllPairs(3, 2, 4, 3, 2);
    assertCoversAllPairs(5, 5, 5);
    int[] features = new int[Feature.values().length];
    for (Feature feature : Feature.values()) {
      features[feature.ordinal()] = feature.settings();
    }
    assertCoversAllPairs(features);
  }

  @Test
  public void testConfigurationsAreFewAndTheSameEachTime() {
    List<String> names = describe(Feature.pairs());
    assertTrue(names.size() + " configurations", names.size() <= 16);
    assertEquals(names, describe(Feature.pairs()));
  }

  private static List<String> describe(List<Feature.Configuration> configurations) {
    return configurations.stream().map(one -> one.keys(Path.of("cache")).toString())
      .collect(Collectors.toList());
  }

  @Test
  public void testEachSwitchOfTheGuideIsTheKeyOfAFeature() throws Exception {
    Set<String> switches = new TreeSet<>();
    for (String line : Files.readAllLines(GUIDE)) {
      Matcher row = ROW.matcher(line);
      if (row.matches() && row.group(2).matches("(`false`|`0`|`0`:.*|none.*)")) {
        switches.add(row.group(1));
      }
    }
    assertTrue(switches.toString(), switches.size() > 10);
    switches.removeAll(Feature.allKeys());
    assertEquals("not in Feature", Set.of(), switches);
  }

  @Test
  public void testWorstConfigurationsDiffer() {
    List<Feature.Configuration> worst = Feature.worst();
    assertTrue(worst.get(0).has(Feature.SERVER_FLUSHES));
    assertTrue(worst.get(0).has(Feature.COUNTERS));
    assertEquals(worst.size(), new HashSet<>(describe(worst)).size());
  }
}
