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
package org.apache.hadoop.hbase.regionserver.http;

import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.hbase.metrics.Counter;
import org.apache.hadoop.hbase.metrics.Gauge;
import org.apache.hadoop.hbase.metrics.MetricRegistries;
import org.apache.hadoop.hbase.metrics.MetricRegistry;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * A feature beside the tiers on the page of the block cache, by its published metrics: a table of
 * counts since the start.
 */
@InterfaceAudience.Private
enum MetricsSection {
  ROW_CACHE("Row cache", "RowCache", "Rows", "RowCount", "Hits", "HitCount", "Misses",
    "MissCount", "Stale: written since cached", "StaleCount", "Bypassed", "BypassedCount",
    "Inserted", "InsertedCount", "Evicted", "EvictedCount", "Changes of files", "FileChangeCount") {
    @Override
    void appendFirst(Map<String, Long> values, StringBuilder html) {
      long hits = value(values, "HitCount");
      row(html, "Size", BlockCacheTiersPage.bytes(value(values, "SizeBytes")));
      row(html, "Hit ratio",
        BlockCacheTiersPage.share(hits, hits + value(values, "MissCount")));
    }
  },
  CACHE_HANDOVER("Cache hand-over", "CacheHandover", "Compactions", "CompactionCount",
    "Aborted compactions", "AbortedCompactionCount", "Flushes", "FlushCount", "Aborted flushes",
    "AbortedFlushCount", "Blocks cached in L1", "L1BlockCount", "Blocks cached in L2",
    "L2BlockCount", "Blocks cached in L2 after the commit", "DeferredBlockCount", "Cold blocks",
    "ColdBlockCount", "Blocks without an index block in memory", "UnknownIndexBlockCount",
    "Hot blocks beyond the limit", "LimitBlockCount", "Hot blocks dropped: writer queue full",
    "QueueFullBlockCount",
    "Hints left for the next server", "HintCount", "Hints not written in time", "LateHintCount",
    "Hints followed", "FollowedHintCount", "Hot blocks of followed hints", "FollowedBlockCount",
    "Bulk-loaded files with hot ranges", "LoadedFileCount", "Hot blocks of bulk-loaded files",
    "LoadedBlockCount") {
    @Override
    void appendFirst(Map<String, Long> values, StringBuilder html) {
      row(html, "Size of blocks cached in L2",
        BlockCacheTiersPage.bytes(value(values, "L2Bytes")));
    }
  };

  private final String title;
  private final String registry;
  /** Names on the page, each followed by that of the metric. */
  private final String[] counts;

  MetricsSection(String title, String registry, String... counts) {
    this.title = title;
    this.registry = registry;
    this.counts = counts;
  }

  /** Returns all sections, without those of features that are not in use. */
  static String all() {
    StringBuilder html = new StringBuilder();
    for (MetricsSection section : values()) {
      html.append(section.html());
    }
    return html.toString();
  }

  /** Returns the section, empty if the feature is not in use. */
  String html() {
    Map<String, Long> values = metrics();
    if (values.isEmpty()) {
      return "";
    }
    StringBuilder html = new StringBuilder("<section>\n<h2>").append(title)
      .append("</h2>\n").append(BlockCacheTiersPage.FIXED_TABLE);
    appendFirst(values, html);
    for (int i = 0; i < counts.length; i += 2) {
      row(html, counts[i], BlockCacheTiersPage.exact(value(values, counts[i + 1])));
    }
    return html.append(BlockCacheTiersPage.END_OF_TABLE)
      .append("<p class=\"d\">Counts are since the start. <a href=\"/jmx?qry=")
      .append("Hadoop:service=HBase,name=RegionServer,sub=").append(registry)
      .append("\">In JMX</a>.</p>\n</section>\n").toString();
  }

  /** Appends rows that are no counts. */
  abstract void appendFirst(Map<String, Long> values, StringBuilder html);

  private static long value(Map<String, Long> values, String metric) {
    return values.getOrDefault(metric, 0L);
  }

  private static void row(StringBuilder html, String name, String value) {
    html.append("<tr><td class=\"l\">").append(name).append("</td><td class=\"n\">").append(value)
      .append("</td></tr>\n");
  }

  private Map<String, Long> metrics() {
    Map<String, Long> values = new TreeMap<>();
    for (MetricRegistry each : MetricRegistries.global().getMetricRegistries()) {
      if (registry.equals(each.getMetricRegistryInfo().getMetricsName())) {
        each.getMetrics().forEach((name, metric) -> {
          if (metric instanceof Counter) {
            values.put(name, ((Counter) metric).getCount());
          } else if (metric instanceof Gauge && ((Gauge<?>) metric).getValue() instanceof Number) {
            values.put(name, ((Number) ((Gauge<?>) metric).getValue()).longValue());
          }
        });
      }
    }
    return values;
  }
}
