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

import static org.apache.hadoop.hbase.regionserver.http.StatusServlet.fieldsOf;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.hadoop.hbase.io.hfile.composite.CompositeBucketCacheMetrics;
import org.apache.hadoop.hbase.io.hfile.composite.ReadLatencyHistogram;
import org.apache.hadoop.hbase.io.hfile.composite.TierHistory;
import org.apache.yetus.audience.InterfaceAudience;

/** The tiers of the block cache as JSON. */
@InterfaceAudience.Private
final class BlockCacheTiersJson {

  private BlockCacheTiersJson() {
  }

  static Map<String, Object> of(String server, long time, CompositeBucketCacheMetrics metrics,
    List<TableUse> tables) {
    return fieldsOf("enabled", true, "server", server, "time", time,
      "tiers", metrics.getTiers().stream().map(BlockCacheTiersJson::tier)
        .collect(Collectors.toList()),
      "history", metrics.getHistory().getSamples().stream().map(BlockCacheTiersJson::sample)
        .collect(Collectors.toList()),
      "tables", tables.stream().map(BlockCacheTiersJson::table).collect(Collectors.toList()));
  }

  private static Map<String, Object> tier(CompositeBucketCacheMetrics.Tier tier) {
    Map<String, Object> values = new LinkedHashMap<>();
    tier.getValues().forEach((name, value) -> values
      .put(Character.toLowerCase(name.charAt(0)) + name.substring(1), value));
    ReadLatencyHistogram.Summary reads = tier.getReadLatencies().getSummary();
    return fieldsOf("name", tier.getName(), "ioEngine", tier.getIoEngine(), "metrics", values,
      "readNanos", fieldsOf("timed", reads.getCount(), "median", reads.getMedian(),
        "p95", reads.getP95(), "p99", reads.getP99(), "p999", reads.getP999(),
        "max", reads.getMax()));
  }

  private static Map<String, Object> sample(TierHistory.Sample sample) {
    return fieldsOf("time", sample.getTime(), "millis", sample.getMillis(),
      "l1Hits", sample.get(TierHistory.Count.FIRST_HITS),
      "l2Hits", sample.get(TierHistory.Count.SECOND_HITS),
      "misses", sample.get(TierHistory.Count.MISSES),
      "promotions", sample.get(TierHistory.Count.PROMOTIONS),
      "rejectedPromotions", sample.get(TierHistory.Count.REJECTED_PROMOTIONS),
      "demotions", sample.get(TierHistory.Count.DEMOTIONS));
  }

  private static Map<String, Object> table(TableUse use) {
    return fieldsOf("table", use.getTable(),
      "l1Bytes", use.getBytes(0), "l1Blocks", use.getBlocks(0), "l1Files", use.getFiles(0),
      "l2Bytes", use.getBytes(1), "l2Blocks", use.getBlocks(1), "l2Files", use.getFiles(1));
  }
}
