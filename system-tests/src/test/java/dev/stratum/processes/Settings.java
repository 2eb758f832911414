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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Settings of the clusters: small caches, so that their tiers are full and evict, and short waits
 * where nothing but time passes. Sizes are for a few MB of data.
 */
final class Settings {
  private static final String BUCKETS = "5120,9216,17408,34816,68608";

  private Settings() {
  }

  /** Returns what all processes have. */
  static Map<String, String> shared() {
    Map<String, String> keys = LoopbackKeys.create();
    keys.put("hbase.regionserver.msginterval", "200");
    keys.put("hbase.server.thread.wakefrequency", "200");
    keys.put("hbase.lease.recovery.first.pause", "300");
    keys.put("hbase.lease.recovery.pause", "300");
    keys.put("hbase.procedure.remote.dispatcher.delay.msec", "20");
    // A slow machine is not to be taken for a dead one; the tests tell ZooKeeper of a death.
    keys.put("zookeeper.session.timeout", "600000");
    keys.put("hbase.zookeeper.property.maxSessionTimeout", "600000");
    keys.put("dfs.heartbeat.interval", "1");
    keys.put("dfs.namenode.stale.datanode.interval", "3000");
    keys.put("dfs.namenode.avoid.read.stale.datanode", "true");
    keys.put("dfs.namenode.avoid.write.stale.datanode", "true");
    keys.put("hbase.hregion.memstore.flush.size", "4194304");
    keys.put("hbase.hregion.majorcompaction", "0");
    // When a clock jumps an hour ahead, all memstores look old. Their flushes would be queued for
    // minutes, and stay there for an hour if the clock is set back.
    keys.put("hbase.regionserver.optionalcacheflushinterval", "0");
    keys.put("hbase.regionserver.periodicmemstoreflusher.rangeofdelayseconds", "1");
    // The log roller compares HBase's clock with the machine's, and would roll the WAL on and on.
    keys.put("hbase.regionserver.logroll.period", "7200000");
    // Until the discharger runs, a compacted file is open, and its blocks are cached.
    keys.put("hbase.hfile.compaction.discharger.interval", "1000");
    keys.put("hfile.index.block.max.size", "8192");
    keys.put("io.storefile.bloom.block.size", "8192");
    // The client's retries go on for as long as anything here may take.
    keys.put("hbase.client.retries.number", "1000");
    keys.put("hbase.client.pause", "20");
    keys.put("hbase.client.operation.timeout", "600000");
    keys.put("hbase.client.meta.operation.timeout", "600000");
    return keys;
  }

  /** Returns stock's two tiers, the second in a file that outlives a restart. */
  static Map<String, String> plainCache(Path folder) {
    Map<String, String> keys = new LinkedHashMap<>();
    keys.put("hfile.block.cache.size", "0.1");
    keys.put("hbase.bucketcache.ioengine", "file:" + folder.resolve("l2"));
    keys.put("hbase.bucketcache.size", "8");
    keys.put("hbase.bucketcache.bucket.sizes", BUCKETS);
    keys.put("hbase.bucketcache.persistent.path", folder.resolve("l2.map").toString());
    keys.put("hbase.bucketcache.persist.intervalinmillis", "1000");
    return keys;
  }

  /** Returns the fork's two tiers, the second with the file and the size of the plain one. */
  static Map<String, String> compositeCache(Path folder) {
    Map<String, String> keys = tiers();
    keys.put("hbase.bucketcache.l2.ioengine", "file:" + folder.resolve("l2"));
    keys.put("hbase.bucketcache.l2.size", "8");
    keys.put("hbase.bucketcache.l2.persistent.path", folder.resolve("l2.map").toString());
    keys.put("hbase.bucketcache.persist.intervalinmillis", "1000");
    return keys;
  }

  /** Returns a segment cache as L2. */
  static Map<String, String> segmentCache(Path folder) {
    Map<String, String> keys = tiers();
    keys.put("hbase.bucketcache.l2.ioengine",
      "segments:" + folder.resolve("l2.segments") + "," + folder.resolve("l2b.segments"));
    keys.put("hbase.bucketcache.l2.size", "26");
    keys.put("hbase.segmentcache.segment.mb", "1");
    // A prefetch waits for room, so that none of it is left out.
    keys.put("hbase.bucketcache.queue.addition.waittime", "60000");
    return keys;
  }

  private static Map<String, String> tiers() {
    Map<String, String> keys = new LinkedHashMap<>();
    keys.put("hfile.block.cache.size", "0");
    keys.put("hbase.bucketcache.composite.enabled", "true");
    keys.put("hbase.bucketcache.l1.size", "3");
    keys.put("hbase.bucketcache.bucket.sizes", BUCKETS);
    return keys;
  }

  /**
   * Removes the keys that <code>features.without</code> names: to see whether a feature has to do
   * with a failure.
   */
  static void removeUnwanted(Map<String, String> keys) {
    keys.keySet().removeAll(List.of(System.getProperty("features.without", "").split(",")));
  }

  /** Returns all of the fork's features but the cache. */
  static Map<String, String> features() {
    Map<String, String> keys = new LinkedHashMap<>();
    keys.put("hbase.regionserver.parallel.get.enabled", "true");
    keys.put("hbase.regionserver.parallel.get.min.batch", "3");
    keys.put("hbase.regionserver.point.get.enabled", "true");
    keys.put("hbase.regionserver.point.get.on.connection.thread.max", "3");
    keys.put("hbase.regionserver.row.cache.size.mb", "2");
    keys.put("hbase.regionserver.write.groups.enabled", "true");
    keys.put("hbase.regionserver.increment.coalesce.enabled", "true");
    keys.put("hbase.wal.async.sync.interval.ms", "100");
    keys.put("hbase.wal.async.sync.bytes", "65536");
    keys.put("hbase.wal.async.max.unsynced.bytes", "1048576");
    keys.put("hbase.wal.async.max.syncs.in.flight", "1");
    keys.put("hbase.rs.prefetch.order", "newest");
    keys.put("hbase.rs.prefetch.writer.queue.max", "0.5");
    keys.put("hbase.server.allocator.size.classes.enabled", "true");
    keys.put("hbase.server.netty.flush.consolidation.enabled", "true");
    keys.put("hbase.client.netty.flush.consolidation.enabled", "true");
    removeUnwanted(keys);
    return keys;
  }
}
