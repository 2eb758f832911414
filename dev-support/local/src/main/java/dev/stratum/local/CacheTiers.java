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

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.bucket.BucketCache;
import org.apache.hadoop.hbase.io.hfile.composite.CacheTier;

/**
 * What the tiers of a block cache hold, and how often they were hit and took data from one another
 * since a given moment.
 */
final class CacheTiers {
  private static final List<String> COUNTS = List.of("hits", "misses", "PromotedBlockCount",
    "RejectedPromotionCount", "DemotedBlockCount");

  private final List<BlockCache> tiers;
  private final List<Map<String, Long>> before;

  /** Starts to count: hits and misses before this moment are left out. */
  CacheTiers(BlockCache cache) {
    BlockCache[] parts = cache.getBlockCaches();
    tiers = parts == null ? List.of(cache) : List.of(parts);
    before = tiers.stream().map(CacheTiers::counts).toList();
  }

  private static Map<String, Long> counts(BlockCache tier) {
    Map<String, Long> counts = new HashMap<>();
    if (tier instanceof CacheTier) {
      ((CacheTier) tier)
        .forEachMetric((kind, metric, value) -> counts.put(metric, value.getAsLong()));
    }
    counts.put("hits", tier.getStats().getHitCount());
    counts.put("misses", tier.getStats().getMissCount());
    return counts;
  }

  /** Returns a row of headings and one for each tier; a dash is for what a tier does not count. */
  List<List<String>> rows() {
    List<List<String>> rows = new ArrayList<>();
    rows.add(List.of("tier", "engine", "size MB", "used MB", "blocks", "of them data", "hits",
      "misses", "hit ratio", "promoted", "rejected", "demoted"));
    for (int i = 0; i < tiers.size(); i++) {
      BlockCache tier = tiers.get(i);
      List<String> row = new ArrayList<>(List.of("L" + (i + 1), engine(tier),
        megabytes(tier.getMaxSize()), megabytes(tier.getCurrentSize()),
        RunLocal.count(tier.getBlockCount()), RunLocal.count(tier.getDataBlockCount())));
      Map<String, Long> counts = counts(tier);
      for (String count : COUNTS) {
        row.add(counts.containsKey(count)
          ? RunLocal.count(counts.merge(count, -before.get(i).get(count), Long::sum)) : "-");
      }
      long hits = counts.get("hits");
      // Rounded down: 100 % is only said where nothing was missed.
      row.add(row.size() - 3, String.format(Locale.ROOT, "%.2f %%",
        Math.floor(10_000.0 * hits / Math.max(1, hits + counts.get("misses"))) / 100));
      rows.add(row);
    }
    return rows;
  }

  /** Returns the class or name of an engine, without its paths and sizes. */
  private static String engine(BlockCache tier) {
    String engine = tier instanceof BucketCache ? ((BucketCache) tier).getIoEngine()
      : tier instanceof CacheTier ? ((CacheTier) tier).getIoEngine()
      : tier.getClass().getSimpleName();
    return engine.replaceFirst("^ioengine=", "").replaceFirst("[,;: ].*$", "");
  }

  private static String megabytes(long bytes) {
    return String.format(Locale.ROOT, "%,.1f", bytes / (double) (1 << 20));
  }
}
