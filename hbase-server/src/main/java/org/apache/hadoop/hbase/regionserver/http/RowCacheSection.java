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

/** The row cache of the server on the page of its block cache, by the published metrics. */
@InterfaceAudience.Private
final class RowCacheSection {
  private static final String REGISTRY = "RowCache";
  /** Names on the page, each followed by that of the metric. */
  private static final String[] COUNTS = { "Rows", "RowCount", "Hits", "HitCount", "Misses",
    "MissCount", "Stale: written since", "StaleCount", "Bypassed", "BypassedCount", "Inserted",
    "InsertedCount", "Evicted", "EvictedCount", "Changes of files", "FileChangeCount" };

  private RowCacheSection() {
  }

  /** Returns the section, empty if the server caches no rows. */
  static String html() {
    Map<String, Long> values = values();
    if (values.isEmpty()) {
      return "";
    }
    StringBuilder html = new StringBuilder("<section>\n<h2>Row cache</h2>\n"
      + "<table class=\"table table-striped t\">\n");
    row(html, "Size", BlockCacheTiersPage.bytes(values.getOrDefault("SizeBytes", 0L)));
    for (int i = 0; i < COUNTS.length; i += 2) {
      row(html, COUNTS[i], BlockCacheTiersPage.exact(values.getOrDefault(COUNTS[i + 1], 0L)));
    }
    long hits = values.getOrDefault("HitCount", 0L);
    row(html, "Hit ratio",
      BlockCacheTiersPage.share(hits, hits + values.getOrDefault("MissCount", 0L)));
    return html.append("</table>\n<p class=\"d\">Counts are since the start. <a href=\"/jmx?qry="
      + "Hadoop:service=HBase,name=RegionServer,sub=RowCache\">In JMX</a>.</p>\n</section>\n")
      .toString();
  }

  private static void row(StringBuilder html, String name, String value) {
    html.append("<tr><td class=\"l\">").append(name).append("</td><td class=\"n\">").append(value)
      .append("</td></tr>\n");
  }

  private static Map<String, Long> values() {
    Map<String, Long> values = new TreeMap<>();
    for (MetricRegistry registry : MetricRegistries.global().getMetricRegistries()) {
      if (REGISTRY.equals(registry.getMetricRegistryInfo().getMetricsName())) {
        registry.getMetrics().forEach((name, metric) -> {
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
