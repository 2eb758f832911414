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

import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.composite.CacheTier;
import org.apache.hadoop.hbase.io.hfile.composite.CompositeBucketCache;
import org.apache.hadoop.hbase.io.hfile.composite.CompositeBucketCacheMetrics;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * {@code /tiers} of a RegionServer: the tiers of its block cache. A request reads counters, and at
 * most every ten seconds the names of open files; it never scans the cache.
 */
@InterfaceAudience.Private
public class BlockCacheTiersServlet extends StatusServlet {
  private static final long serialVersionUID = 1L;

  static final String PATH = "/tiers";

  /** Maximum age of the cached use per table. */
  private static final long TABLES_STAND_NANOS = TimeUnit.SECONDS.toNanos(10);

  private transient CompositeBucketCacheMetrics tablesOf;
  private transient List<TableUse> tables;
  private transient long tablesAt;

  @Override
  String page(HRegionServer server) {
    CompositeBucketCacheMetrics metrics = metricsOf(server.getBlockCache().orElse(null));
    String name = server.getServerName().toString();
    return metrics == null
      ? BlockCacheTiersPage.withoutTiers(name)
      : BlockCacheTiersPage.of(name, System.currentTimeMillis(), metrics,
        tablesOf(server, metrics));
  }

  @Override
  Map<String, Object> fields(HRegionServer server) {
    CompositeBucketCacheMetrics metrics = metricsOf(server.getBlockCache().orElse(null));
    return metrics == null
      ? fieldsOf("enabled", false)
      : BlockCacheTiersJson.of(server.getServerName().toString(), System.currentTimeMillis(),
        metrics, tablesOf(server, metrics));
  }

  /** Returns null if the cache has no tiers of the kind shown here. */
  private static CompositeBucketCacheMetrics metricsOf(BlockCache cache) {
    return cache instanceof CompositeBucketCache
      ? ((CompositeBucketCache) cache).getMetrics()
      : null;
  }

  private synchronized List<TableUse> tablesOf(HRegionServer server,
    CompositeBucketCacheMetrics metrics) {
    long now = System.nanoTime();
    if (tablesOf != metrics || now - tablesAt >= TABLES_STAND_NANOS) {
      tables = TableUse.of(metrics, TableUse.tablesOfFiles(server.getOnlineRegionsLocalContext()));
      tablesOf = metrics;
      tablesAt = now;
    }
    return tables;
  }

  /**
   * Returns the content for the Block Cache section of the status page: a link to this page, or an
   * empty string if the cache has no tiers.
   */
  public static String link(BlockCache cache) {
    return metricsOf(cache) == null
      ? ""
      : "<p><a href=\"" + PATH + "\">Tiers of the block cache</a>: hit ratio, promotions and read "
        + "times of both, and the tables that use them</p>\n";
  }

  /**
   * Returns the page that describes a cache: this one for caches of this build, of whose classes
   * HBase publishes no API documents.
   * @param apiDocument of the cache's class
   */
  public static String document(BlockCache cache, String apiDocument) {
    return cache instanceof CompositeBucketCache || cache instanceof CacheTier
      ? PATH
      : apiDocument;
  }
}
