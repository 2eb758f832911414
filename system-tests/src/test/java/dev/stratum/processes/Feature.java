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

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * A feature of the fork, with the settings that it may have. The first one is stock's, without a
 * key of the feature; the last one is all of it.
 */
enum Feature {
  CACHE(Setting.STOCK_CACHE, Setting.COMPOSITE_CACHE, Setting.SEGMENT_CACHE),
  PROMOTION("hbase.bucketcache.composite.promotion", "none"),
  L1_DATA("hbase.bucketcache.composite.l1.data.max", "0.3"),
  ADMISSION("hbase.bucketcache.composite.l2.admission", "second-miss"),
  WRITE_LIMIT("hbase.bucketcache.l2.write.limit.mb.per.sec", "1"),
  ADDITION_WAIT("hbase.bucketcache.queue.addition.waittime", "1000"),
  HDFS_PACKETS("dfs.client.write.byte-array-manager.enabled", "false"),
  PREFETCH_LIMIT("hbase.rs.prefetch.limit.mb.per.sec", "1"),
  PREFETCH_MAX("hbase.rs.prefetch.full.max.bytes", "1000000"),
  PREFETCH_ORDER("hbase.rs.prefetch.order", "newest"),
  PREFETCH_WRITERS("hbase.rs.prefetch.writer.queue.max", "0.5"),
  HANDOVER(new Setting(), Setting.HANDOVER,
    Setting.HANDOVER.and("hbase.rs.compaction.cache.handover.peak.ratio", "2")),
  SIZE_CLASSES("hbase.server.allocator.size.classes.enabled", "true"),
  SERVER_FLUSHES("hbase.server.netty.flush.consolidation.enabled", "true"),
  CLIENT_FLUSHES("hbase.client.netty.flush.consolidation.enabled", "true"),
  MULTIGET(new Setting(), Setting.MULTIGET,
    Setting.MULTIGET.and("hbase.regionserver.parallel.get.max.tasks.per.request", "2")),
  POINT_GET(new Setting(), Setting.CONNECTION_THREAD,
    Setting.CONNECTION_THREAD.and("hbase.regionserver.row.cache.size.mb", "2")
      .and("hbase.regionserver.row.cache.all.tables", "true")),
  WAL_INTERVAL("hbase.wal.async.sync.interval.ms", "100"),
  WAL_BYTES("hbase.wal.async.sync.bytes", "65536"),
  WAL_MAX("hbase.wal.async.max.unsynced.bytes", "1048576"),
  WAL_SYNCS("hbase.wal.async.max.syncs.in.flight", "1"),
  DURABILITY("hbase.regionserver.default.durability", "ASYNC_WAL"),
  /** Not of the fork, but what is above is about the one or the other. */
  WAL_PROVIDER("hbase.wal.provider", "filesystem"),
  WRITE_GROUPS("hbase.regionserver.write.groups.enabled", "true"),
  COUNTERS("hbase.regionserver.increment.coalesce.enabled", "true");

  private final List<Setting> settings;

  /** Keys of a server; of a cache, with the path of its folder to be filled in. */
  private static final class Setting {
    private static final Setting STOCK_CACHE = new Setting();
    private static final Setting COMPOSITE_CACHE = new Setting();
    private static final Setting SEGMENT_CACHE = new Setting();
    private static final Setting HANDOVER =
      new Setting().and("hbase.rs.compaction.cache.handover.enabled", "true");
    private static final Setting MULTIGET =
      new Setting().and("hbase.regionserver.parallel.get.enabled", "true")
        .and("hbase.regionserver.parallel.get.min.batch", "3");
    private static final Setting CONNECTION_THREAD =
      new Setting().and("hbase.regionserver.point.get.enabled", "true")
        .and("hbase.regionserver.point.get.on.connection.thread.max", "3");

    private final Map<String, String> keys = new LinkedHashMap<>();

    private Setting and(String key, String value) {
      Setting setting = new Setting();
      setting.keys.putAll(keys);
      setting.keys.put(key, value);
      return setting;
    }

    private Map<String, String> keys(Path cache) {
      if (this == STOCK_CACHE) {
        return Settings.plainCache(cache);
      } else if (this == COMPOSITE_CACHE) {
        return Settings.compositeCache(cache);
      } else {
        return this == SEGMENT_CACHE ? Settings.segmentCache(cache) : keys;
      }
    }
  }

  Feature(String key, String value) {
    this(new Setting(), new Setting().and(key, value));
  }

  Feature(Setting... settings) {
    this.settings = List.of(settings);
  }

  int settings() {
    return settings.size();
  }

  /** The setting that each feature has. */
  record Configuration(String name, int[] settings) {
    /** Returns all keys of a server whose cache is in a folder. */
    Map<String, String> keys(Path cache) {
      Map<String, String> keys = new LinkedHashMap<>();
      for (Feature feature : values()) {
        keys.putAll(feature.settings.get(settings[feature.ordinal()]).keys(cache));
      }
      Settings.removeUnwanted(keys);
      return keys;
    }

    boolean has(Feature feature) {
      return settings[feature.ordinal()] > 0;
    }

    private Configuration with(String newName, Feature feature, int setting) {
      int[] changed = settings.clone();
      changed[feature.ordinal()] = setting;
      return new Configuration(newName, changed);
    }
  }

  /** Configurations in which each pair of settings occurs. */
  static List<Configuration> pairs() {
    int[] counts = new int[values().length];
    for (Feature feature : values()) {
      counts[feature.ordinal()] = feature.settings();
    }
    List<Configuration> configurations = new ArrayList<>();
    for (int[] row : CoveringArray.of(counts)) {
      configurations.add(new Configuration("pairs " + configurations.size(), row));
    }
    return configurations;
  }

  /**
   * Returns those that are most likely to fail: all features; all but those that take calls away
   * from the queues and threads that the others work with; and those that decide which thread does
   * what, by themselves.
   */
  static List<Configuration> worst() {
    int[] last = new int[values().length];
    for (Feature feature : values()) {
      last[feature.ordinal()] = feature.settings() - 1;
    }
    Configuration all = new Configuration("all", last).with("all", DURABILITY, 0);
    Configuration others = all;
    for (Feature hiding : new Feature[] { PROMOTION, ADMISSION, WRITE_LIMIT, PREFETCH_LIMIT,
      PREFETCH_MAX }) {
      others = others.with("all that hide no others", hiding, 0);
    }
    others = others.with(others.name, CACHE, 1);
    Configuration threads = new Configuration("threads", new int[last.length]);
    for (Feature one : new Feature[] { SERVER_FLUSHES, CLIENT_FLUSHES, COUNTERS }) {
      threads = threads.with(threads.name, one, 1);
    }
    threads = threads.with(threads.name, POINT_GET, 1);
    return List.of(all, others, threads);
  }

  /** Returns all keys that a setting of a feature has. */
  static Set<String> allKeys() {
    Set<String> keys = new TreeSet<>();
    for (Feature feature : values()) {
      for (Setting setting : feature.settings) {
        keys.addAll(setting.keys(Path.of("cache")).keySet());
      }
    }
    return Collections.unmodifiableSet(new LinkedHashSet<>(keys));
  }
}
