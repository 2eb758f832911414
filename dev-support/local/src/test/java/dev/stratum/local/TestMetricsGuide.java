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
package dev.stratum.local;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.apache.hadoop.hbase.metrics.MetricRegistries;
import org.apache.hadoop.hbase.metrics.MetricRegistryInfo;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/** docs/metrics.md against what is registered. */
public class TestMetricsGuide {
  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  @Test
  public void testNamesTheMetricsOfTheTiersAndNoOthers() throws Exception {
    Configuration conf = HBaseConfiguration.create();
    conf.setBoolean("hbase.bucketcache.composite.enabled", true);
    conf.set("hbase.bucketcache.l1.size", "32");
    conf.set("hbase.bucketcache.l2.size", "32");
    conf.set("hbase.bucketcache.l2.ioengine", "file:" + folder.getRoot().toPath().resolve("l2"));
    BlockCache cache = BlockCacheFactory.createBlockCache(conf);
    try {
      assertEquals(registered("BlockCacheTiers"), documented("Composite bucket cache"));
    } finally {
      cache.shutdown();
    }
  }

  @Test
  public void testNamesTheMetricsOfATierOfSegments() throws Exception {
    Configuration conf = HBaseConfiguration.create();
    conf.setBoolean("hbase.bucketcache.composite.enabled", true);
    conf.set("hbase.bucketcache.l1.size", "32");
    conf.set("hbase.bucketcache.l2.size", "32");
    conf.set("hbase.bucketcache.l2.ioengine",
      "segments:" + folder.getRoot().toPath().resolve("l2"));
    conf.set("hbase.segmentcache.segment.mb", "1");
    BlockCache cache = BlockCacheFactory.createBlockCache(conf);
    try {
      Set<String> documented = documented("Composite bucket cache");
      // The text of the guide says that the segment tier lacks these metrics.
      documented.remove("L2WaitingBlockCount");
      documented.remove("L2BypassedInsertCount");
      documented.addAll(documented("Segment cache"));
      assertEquals(registered("BlockCacheTiers"), documented);
    } finally {
      cache.shutdown();
    }
  }

  private static Set<String> registered(String registry) {
    for (MetricRegistryInfo info : MetricRegistries.global().getMetricRegistryInfos()) {
      if (info.getMetricsName().equals(registry)) {
        return new TreeSet<>(MetricRegistries.global().get(info).get().getMetrics().keySet());
      }
    }
    throw new AssertionError(registry + " is not registered");
  }

  /** Returns the names in the first cells of the section's table that has metrics in them. */
  private static Set<String> documented(String section) throws Exception {
    String guide =
      Files.readString(Path.of(System.getProperty("stratum.root"), "docs", "metrics.md"));
    int start = guide.indexOf("\n## " + section + "\n");
    assertTrue(section, start >= 0);
    int table = guide.indexOf("\n| metric |", start);
    Set<String> names = new TreeSet<>();
    for (String row : guide.substring(table, guide.indexOf("\n\n", table)).split("\n")) {
      String firstCell = row.replaceFirst("^\\|([^|]*)\\|.*", "$1");
      Matcher name = Pattern.compile("`([^`]*)`").matcher(firstCell);
      while (name.find()) {
        assertTrue("once: " + name.group(1), names.add(name.group(1)));
      }
    }
    return names;
  }
}
