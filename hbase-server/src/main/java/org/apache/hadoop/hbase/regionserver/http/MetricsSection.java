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
 * A feature beside the tiers on the page of the block cache: a table of all metrics that it
 * publishes.
 */
@InterfaceAudience.Private
final class MetricsSection {

  private MetricsSection() {
  }

  /** Returns all sections, without those of features that are not in use. */
  static String all() {
    return of("Row cache", "RowCache") + of("Cache hand-over", "CacheHandover");
  }

  /** Returns the section of a registry, empty if the feature is not in use. */
  static String of(String title, String registry) {
    Map<String, Long> values = metrics(registry);
    if (values.isEmpty()) {
      return "";
    }
    StatusTable table = new StatusTable("", "");
    if (values.containsKey("HitCount") && values.containsKey("MissCount")) {
      long hits = values.get("HitCount");
      table.row("Hit ratio", StatusTable.share(hits, hits + values.get("MissCount")));
    }
    values.forEach((metric, value) -> table.row(StatusTable.words(metric),
      StatusTable.value(metric, value)));
    return "<section>\n<h2>" + title + "</h2>\n" + table.html()
      + StatusTable.note("Counts are since the start. <a href=\"/jmx?qry="
        + "Hadoop:service=HBase,name=RegionServer,sub=" + registry + "\">In JMX</a>.")
      + "</section>\n";
  }

  private static Map<String, Long> metrics(String registry) {
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
