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
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.regionserver.operations.SizingTool;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.util.VersionInfo;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** The program with settings of the fork, in JVMs of its own. */
@Category(LargeTests.class)
public class TestRunLocalSettings extends RunLocalFixture {
  private static final Pattern MEMORY = Pattern.compile("-Xmx\\d+m|-XX:MaxDirectMemorySize=\\d+m");

  /** L2 is a segment tier, which has all metrics of a bucket cache and more. */
  @Test
  public void testPrometheusHasTheNamesThatDashboardAndRulesUse() throws Exception {
    start(false, 3000, "hbase.bucketcache.l2.ioengine=segments:" + folder.resolve("l2"),
      "hbase.segmentcache.segment.mb=1", "hbase.rs.prefetchblocksonopen=true",
      "hbase.wal.async.sync.interval.ms=100", "hbase.regionserver.parallel.get.enabled=true",
      "hbase.regionserver.increment.coalesce.enabled=true",
      "hbase.regionserver.write.groups.enabled=true",
      "hbase.regionserver.point.get.enabled=true", "hbase.regionserver.row.cache.size.mb=1",
      "hbase.regionserver.row.cache.all.tables=true",
      // Else there is nothing to compact.
      "hbase.rs.compaction.cache.handover.enabled=true",
      "hbase.hregion.memstore.flush.size=1048576",
      "hbase.server.netty.flush.consolidation.enabled=true");
    awaitOutput("serving; Ctrl-C stops");
    Matcher address = Pattern.compile("http://localhost:\\d+/rs-status").matcher(output());
    assertTrue(output(), address.find());
    String prometheus = address.group().replace("rs-status", "prometheus");
    Set<String> used = PrometheusNames.used();
    assertTrue("names used: " + used.size(), used.size() > 100);
    // HBase publishes new registries every 10 s, and stops the metrics system for half a second
    // when it removes stale beans from JMX.
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PUBLICATION_SECONDS);
    String scrape = get(prometheus);
    while (
      !PrometheusNames.missing(used, scrape).isEmpty() && System.nanoTime() < deadline
    ) {
      Thread.sleep(500);
      scrape = get(prometheus);
    }
    assertEquals(Set.of(), PrometheusNames.missing(used, scrape));
    assertTrue(scrape, Pattern.compile("(?m)^build_info\\{[^}]*version=\""
      + Pattern.quote(VersionInfo.getVersion()) + "\"[^}]*\\} 1$").matcher(scrape).find());
    used.add("block_cache_tiers_l1hit_cuont");
    assertEquals(Set.of("block_cache_tiers_l1hit_cuont"),
      PrometheusNames.missing(used, scrape));
  }

  /** The settings are those of each preset, for 2 GB; -Dpresets.all=true for all loads. */
  @Test
  public void testServesWithTheSettingsOfAPreset() throws Exception {
    List<String> loads = Boolean.getBoolean("presets.all")
      ? List.of("serving", "ingest", "mixed")
      : List.of("mixed");
    for (String load : loads) {
      Path preset = temporary.newFolder().toPath();
      Files.createDirectories(folder);
      assertEquals(0, SizingTool.run("--memory", "2g", "--device", "1g", "--load", load, "--paths",
        folder.resolve("l2a") + "," + folder.resolve("l2b"), "--write", preset.toString()));
      Configuration site = new Configuration(false);
      site.addResource(
        new org.apache.hadoop.fs.Path(preset.resolve("hbase-site.xml").toUri()));
      List<String> settings =
        new ArrayList<>(List.of("hbase.bucketcache.composite.promotoin=none"));
      site.forEach(entry -> settings.add(entry.getKey() + "=" + entry.getValue()));
      start(MEMORY.matcher(Files.readString(preset.resolve("hbase-env.sh"))).results()
        .map(MatchResult::group).toList(), true, 5000, settings.toArray(new String[0]));
      assertEquals(output(), 0, awaitEnd());
      assertTrue(output(), output().contains("SegmentCache") || output().contains("segments"));
      assertTrue(output(), Pattern.compile("(?m)^  L2 ").matcher(output()).find());
      String log = Files.readString(folder.resolve("logs/run.log"));
      assertTrue("a start logs a misspelt key",
        log.contains("hbase.bucketcache.composite.promotoin is none; no key has this name, so the "
          + "value is ignored. Did you mean hbase.bucketcache.composite.promotion?"));
    }
  }
}
