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
import java.util.function.LongSupplier;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.CacheStats;
import org.apache.hadoop.hbase.io.hfile.composite.CacheTier;
import org.apache.hadoop.hbase.io.hfile.bucket.BucketCache;

/**
 * What the tiers of a block cache hold, and how often they were hit and took data from one another
 * since a given moment.
 */
final class CacheTiers {
  private static final long MB = 1 << 20;

  private final List<Tier> tiers = new ArrayList<>();

  /** Starts to count: hits and misses before this moment are left out. */
  CacheTiers(BlockCache cache) {
    BlockCache[] parts = cache.getBlockCaches();
    if (parts == null) {
      parts = new BlockCache[] { cache };
    }
    for (int i = 0; i < parts.length; i++) {
      tiers.add(new Tier("L" + (i + 1), parts[i]));
    }
  }

  TextTable report() {
    TextTable table = new TextTable("tier", "engine", "size MB", "used MB", "blocks",
      "of them data", "hits", "misses", "hit ratio", "promoted", "rejected", "demoted");
    for (Tier tier : tiers) {
      tier.addTo(table);
    }
    return table;
  }

  /** Hits over requests, or a dash if there were none. */
  static String ratio(long hits, long misses) {
    long requests = hits + misses;
    if (requests == 0) {
      return "-";
    }
    // Rounded down: 100 % is only said where nothing was missed.
    return String.format(Locale.ROOT, "%.2f %%", Math.floor(10000.0 * hits / requests) / 100);
  }

  /** The class out of an engine's description, {@code ioengine=CLASS, ...paths and sizes}. */
  static String engineName(String description) {
    return description.replaceFirst("^ioengine=", "").replaceFirst("[,;: ].*$", "");
  }

  private static final class Tier {
    private final String name;
    private final BlockCache cache;
    private final Map<String, LongSupplier> gauges = new HashMap<>();
    private final Map<String, Long> gaugesBefore = new HashMap<>();
    private final long hitsBefore;
    private final long missesBefore;

    Tier(String name, BlockCache cache) {
      this.name = name;
      this.cache = cache;
      CacheStats stats = cache.getStats();
      this.hitsBefore = stats.getHitCount();
      this.missesBefore = stats.getMissCount();
      if (cache instanceof CacheTier) {
        ((CacheTier) cache).forEachMetric((kind, metric, value) -> gauges.put(metric, value));
      }
      gauges.forEach((gauge, value) -> gaugesBefore.put(gauge, value.getAsLong()));
    }

    void addTo(TextTable table) {
      long hits = cache.getStats().getHitCount() - hitsBefore;
      long misses = cache.getStats().getMissCount() - missesBefore;
      table.row(name, engine(), megabytes(cache.getMaxSize()), megabytes(cache.getCurrentSize()),
        LoadProgress.count(cache.getBlockCount()), LoadProgress.count(cache.getDataBlockCount()),
        LoadProgress.count(hits), LoadProgress.count(misses), ratio(hits, misses),
        increase("PromotedBlockCount"), increase("RejectedPromotionCount"),
        increase("DemotedBlockCount"));
    }

    /** How much a gauge has grown, or a dash if the tier has no such gauge. */
    private String increase(String gauge) {
      LongSupplier value = gauges.get(gauge);
      return value == null
        ? "-"
        : LoadProgress.count(value.getAsLong() - gaugesBefore.get(gauge));
    }

    private String engine() {
      if (cache instanceof BucketCache) {
        return engineName(((BucketCache) cache).getIoEngine());
      }
      if (cache instanceof CacheTier) {
        return engineName(((CacheTier) cache).getIoEngine());
      }
      return "heap (" + cache.getClass().getSimpleName() + ")";
    }

    private static String megabytes(long bytes) {
      return String.format(Locale.ROOT, "%,.1f", (double) bytes / MB);
    }
  }
}
