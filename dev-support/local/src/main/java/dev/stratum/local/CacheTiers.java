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
  private static final String HITS = "hits";
  private static final String MISSES = "misses";

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
    counts.put(HITS, tier.getStats().getHitCount());
    counts.put(MISSES, tier.getStats().getMissCount());
    return counts;
  }

  /** Returns a row of headings and one for each tier; a dash is for what a tier does not count. */
  List<List<String>> rows() {
    List<List<String>> rows = new ArrayList<>();
    rows.add(List.of("tier", "engine", "size MB", "used MB", "blocks", "of them data", "hits",
      "misses", "hit ratio", "promoted", "rejected", "demoted"));
    for (int i = 0; i < tiers.size(); i++) {
      BlockCache tier = tiers.get(i);
      Map<String, Long> counts = counts(tier);
      before.get(i).forEach((name, count) -> counts.merge(name, -count, Long::sum));
      List<String> row = new ArrayList<>(List.of("L" + (i + 1), engine(tier),
        megabytes(tier.getMaxSize()), megabytes(tier.getCurrentSize()),
        RunLocal.count(tier.getBlockCount()), RunLocal.count(tier.getDataBlockCount()),
        RunLocal.count(counts.get(HITS)), RunLocal.count(counts.get(MISSES)),
        ratio(counts.get(HITS), counts.get(MISSES))));
      for (String moves : List.of("PromotedBlockCount", "RejectedPromotionCount",
        "DemotedBlockCount")) {
        row.add(counts.containsKey(moves) ? RunLocal.count(counts.get(moves)) : "-");
      }
      rows.add(row);
    }
    return rows;
  }

  /** Returns hits over requests, or a dash if there were none. */
  static String ratio(long hits, long misses) {
    // The ratio is rounded down: 100 % is only said where nothing was missed.
    return hits + misses == 0 ? "-" : String.format(Locale.ROOT, "%.2f %%",
      Math.floor(10000.0 * hits / (hits + misses)) / 100);
  }

  private static String engine(BlockCache tier) {
    if (tier instanceof BucketCache) {
      return engineName(((BucketCache) tier).getIoEngine());
    }
    return tier instanceof CacheTier ? engineName(((CacheTier) tier).getIoEngine())
      : "heap (" + tier.getClass().getSimpleName() + ")";
  }

  /** Returns the class out of an engine's description, {@code ioengine=CLASS, ...}. */
  static String engineName(String description) {
    return description.replaceFirst("^ioengine=", "").replaceFirst("[,;: ].*$", "");
  }

  private static String megabytes(long bytes) {
    return String.format(Locale.ROOT, "%,.1f", bytes / (double) (1 << 20));
  }
}
