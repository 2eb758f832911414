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

import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.servlet.ServletException;
import javax.servlet.http.HttpServlet;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.composite.CacheTier;
import org.apache.hadoop.hbase.io.hfile.composite.CompositeBucketCache;
import org.apache.hadoop.hbase.io.hfile.composite.CompositeBucketCacheMetrics;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * {@code /tiers} of a RegionServer: the tiers of its block cache, as a page or, with
 * {@code ?format=json}, as JSON. Accessible to the users of the RegionServer's status page. A
 * request reads counters, and at most every ten seconds the names of open files; it never scans the
 * cache.
 */
@InterfaceAudience.Private
public class BlockCacheTiersServlet extends HttpServlet {
  private static final long serialVersionUID = 1L;

  static final String PATH = "/tiers";

  /** Maximum age of the cached use per table. */
  private static final long TABLES_STAND_NANOS = TimeUnit.SECONDS.toNanos(10);

  private transient CompositeBucketCacheMetrics tablesOf;
  private transient List<TableUse> tables;
  private transient long tablesAt;

  @Override
  protected void doGet(HttpServletRequest request, HttpServletResponse response)
    throws ServletException, IOException {
    HRegionServer server =
      (HRegionServer) getServletContext().getAttribute(HRegionServer.REGIONSERVER);
    if (!server.isOnline()) {
      response.sendError(HttpServletResponse.SC_SERVICE_UNAVAILABLE,
        "The RegionServer is initializing");
      return;
    }
    CompositeBucketCacheMetrics metrics = metricsOf(server.getBlockCache().orElse(null));
    String name = server.getServerName().toString();
    if ("json".equals(request.getParameter("format"))) {
      response.setContentType("application/json");
      response.setCharacterEncoding(StandardCharsets.UTF_8.name());
      response.getWriter().write(metrics == null
        ? BlockCacheTiersJson.withoutTiers()
        : BlockCacheTiersJson.of(name, System.currentTimeMillis(), metrics,
          tablesOf(server, metrics)));
      return;
    }
    response.setContentType("text/html");
    response.setCharacterEncoding(StandardCharsets.UTF_8.name());
    // The header of all other pages, so that this one changes with them.
    request.getRequestDispatcher("/header.jsp?pageTitle="
      + URLEncoder.encode("HBase Region Server: " + server.getServerName().getHostname(), "UTF-8"))
      .include(request, response);
    response.getWriter().write(metrics == null
      ? BlockCacheTiersPage.withoutTiers(name)
      : BlockCacheTiersPage.of(name, System.currentTimeMillis(), metrics,
        tablesOf(server, metrics)));
    request.getRequestDispatcher("/footer.jsp").include(request, response);
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
