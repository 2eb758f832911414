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
package org.apache.hadoop.hbase.regionserver.operations;

import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.TreeMap;
import javax.servlet.ServletException;
import javax.servlet.http.HttpServlet;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.composite.CacheTier;
import org.apache.hadoop.hbase.io.hfile.composite.CompositeBucketCache;
import org.apache.hadoop.hbase.metrics.Counter;
import org.apache.hadoop.hbase.metrics.Gauge;
import org.apache.hadoop.hbase.metrics.MetricRegistries;
import org.apache.hadoop.hbase.metrics.MetricRegistry;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.yetus.audience.InterfaceAudience;

import org.apache.hbase.thirdparty.com.google.common.html.HtmlEscapers;

/**
 * {@code /features} of a RegionServer: the counters and gauges of each registry, with those of the
 * features in use; docs/metrics.md says what each means. A request reads them and nothing else.
 * Accessible to the users of the RegionServer's status page; needs neither scripts nor the
 * internet.
 */
@InterfaceAudience.Private
public class FeaturesServlet extends HttpServlet {
  private static final long serialVersionUID = 1L;

  static final String PATH = "/features";

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
    response.setCharacterEncoding(StandardCharsets.UTF_8.name());
    response.setContentType("text/html");
    // The header and the footer of all other pages, so that this one changes with them.
    request.getRequestDispatcher("/header.jsp?pageTitle="
      + URLEncoder.encode("HBase Region Server: " + server.getServerName().getHostname(), "UTF-8"))
      .include(request, response);
    response.getWriter().write("<div class=\"container-fluid content\">\n<h1>Features <small>"
      + escape(server.getServerName().toString()) + "</small></h1>\n" + tables() + "</div>\n");
    request.getRequestDispatcher("/footer.jsp").include(request, response);
  }

  /** Returns a table for each registry, in the order of their names. */
  static String tables() {
    StringBuilder html = new StringBuilder();
    MetricRegistries.global().getMetricRegistries().stream()
      .sorted(Comparator.comparing(registry -> registry.getMetricRegistryInfo().getMetricsName()))
      .forEach(registry -> append(html, registry));
    return html.toString();
  }

  private static void append(StringBuilder html, MetricRegistry registry) {
    html.append("<h2>").append(escape(registry.getMetricRegistryInfo().getMetricsDescription()))
      .append("</h2>\n<table class=\"table table-striped\">\n");
    new TreeMap<>(registry.getMetrics()).forEach((name, metric) -> {
      if (metric instanceof Counter || metric instanceof Gauge) {
        Object value = metric instanceof Counter
          ? ((Counter) metric).getCount()
          : ((Gauge<?>) metric).getValue();
        html.append("<tr><td>").append(escape(name)).append("</td><td>")
          .append(escape(String.valueOf(value))).append("</td></tr>\n");
      }
    });
    html.append("</table>\n");
  }

  private static String escape(String text) {
    return HtmlEscapers.htmlEscaper().escape(text);
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
