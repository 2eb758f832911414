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
import java.io.StringWriter;
import java.io.UnsupportedEncodingException;
import java.net.URLDecoder;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.regionserver.wal.AsyncWalBound;
import org.apache.hadoop.hbase.regionserver.wal.AsyncWalMetrics;
import org.apache.hadoop.hbase.regionserver.wal.AsyncWalSettings;
import org.apache.yetus.audience.InterfaceAudience;

import org.apache.hbase.thirdparty.com.google.common.html.HtmlEscapers;
import org.apache.hbase.thirdparty.com.google.gson.stream.JsonWriter;

/**
 * The writes that a crash would lose, per WAL of this process: a section of the RegionServer's
 * status page, and JSON.
 */
@InterfaceAudience.Private
public final class AsyncWalSection {
  private static final String STYLE = "<style>\n"
    + ".asyncwal .n { text-align: right; white-space: nowrap;"
    + " font-variant-numeric: tabular-nums; }\n"
    + ".asyncwal th.n { white-space: normal; }\n"
    + ".asyncwal table { max-width: 64em; }\n"
    + ".asyncwal .table td { word-break: normal; }\n"
    + ".asyncwal .w { overflow-wrap: anywhere; min-width: 6em; }\n"
    + ".asyncwal .d { color: #6c757d; }\n"
    + ".asyncwal .bad { color: #a94442; font-weight: bold; }\n"
    + "@media (max-width: 575px) {\n"
    + "  .asyncwal h1 small { display: block; }\n"
    + "  .asyncwal table { font-size: 80%; }\n"
    + "  .asyncwal table td, .asyncwal table th { padding: .3em .25em; }\n"
    + "}\n</style>\n";

  private static final String TABLE =
    "<div class=\"table-responsive\">\n<table class=\"table table-striped\">\n";

  /** Delay of a sync, in intervals, from which on the page highlights it. */
  private static final int LATE = 10;

  private AsyncWalSection() {
  }

  /** Returns the section, or an empty string if no bound is configured. */
  public static String html(Configuration conf) {
    String body = body(conf);
    return body.isEmpty()
      ? ""
      : "<div class=\"asyncwal\">\n" + STYLE + "<h3>Unsynced Writes</h3>\n" + body + "</div>\n";
  }

  private static String body(Configuration conf) {
    AsyncWalSettings settings = AsyncWalSettings.of(conf);
    if (!settings.isEnabled()) {
      return "";
    }
    AsyncWalMetrics metrics = AsyncWalMetrics.get();
    StringBuilder html = new StringBuilder();
    html.append("<p>").append(limits(settings)).append("</p>\n");
    List<AsyncWalBound> bounds = metrics.open();
    if (bounds.isEmpty()) {
      html.append("<p>No WAL has had a write with <code>ASYNC_WAL</code> yet.</p>\n");
    } else {
      html.append(TABLE).append("<tr><th>WAL</th><th class=\"n\">Unsynced bytes</th>"
        + "<th class=\"n\">Age of the oldest</th><th class=\"n\">Maximum since the start</th>"
        + "<th class=\"n\">Waiting writers</th></tr>\n");
      for (AsyncWalBound bound : bounds) {
        appendRow(html, settings, bound);
      }
      html.append("</table>\n</div>\n");
      appendSyncs(html, metrics);
    }
    return html.toString();
  }

  /**
   * Returns a page between header and footer: the section, or how to configure a bound.
   * @param server the name of the server
   */
  static String page(Configuration conf, String server) {
    String section = body(conf);
    return "<div class=\"container-fluid content asyncwal\">\n" + STYLE
      + "<div class=\"row inner_header\">\n<div class=\"page-header\">\n"
      + "<h1>Unsynced Writes <small class=\"w\">" + HtmlEscapers.htmlEscaper().escape(server)
      + "</small></h1>\n</div>\n</div>\n<section>\n"
      + (section.isEmpty()
        ? "<p>The loss of <code>ASYNC_WAL</code> writes in a crash has no bound on this "
          + "RegionServer. To set one, add <code>" + AsyncWalSettings.INTERVAL_KEY
          + "</code> to hbase-site.xml, and restart the RegionServer.</p>\n"
        : section)
      + "<p><a href=\"/rs-status\">Status of this RegionServer</a></p>\n</section>\n</div>\n";
  }

  private static String limits(AsyncWalSettings settings) {
    List<String> limits = new ArrayList<>();
    if (settings.intervalNanos() < Long.MAX_VALUE) {
      limits.add("when the oldest write that was acknowledged without a sync is "
        + TimeUnit.NANOSECONDS.toMillis(settings.intervalNanos()) + " ms old");
    }
    if (settings.bytes() < Long.MAX_VALUE) {
      limits.add(String.format(Locale.ROOT, "when there are %,d bytes of them",
        settings.bytes()));
    }
    if (settings.maxUnsynced() < Long.MAX_VALUE) {
      limits.add(String.format(Locale.ROOT, "before there are more than %,d bytes of them",
        settings.maxUnsynced()));
    }
    return "A WAL is synced " + String.join(", or ", limits)
      + ". A crash would lose the unsynced writes (<a href=\"" + AsyncWalServlet.PATH
      + "?format=json\">as JSON</a>).";
  }

  private static void appendRow(StringBuilder html, AsyncWalSettings settings,
    AsyncWalBound bound) {
    long oldest = bound.oldestNanos();
    html.append("<tr><td class=\"w\">")
      .append(HtmlEscapers.htmlEscaper().escape(decoded(bound.name()))).append("</td>");
    appendCell(html, false, String.format(Locale.ROOT, "%,d", bound.unsyncedBytes()));
    appendCell(html, oldest / LATE > settings.intervalNanos(),
      AsyncWalMetrics.millis(oldest) + " ms");
    appendCell(html, false, AsyncWalMetrics.millis(bound.maxWindowNanos()) + " ms");
    long blocked = bound.blockedWriters();
    appendCell(html, blocked > 0, String.valueOf(blocked));
    html.append("</tr>\n");
  }

  /** Returns the name of a WAL with its server's name as other pages have it. */
  private static String decoded(String name) {
    try {
      return URLDecoder.decode(name, "UTF-8");
    } catch (UnsupportedEncodingException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void appendCell(StringBuilder html, boolean bad, String text) {
    html.append(bad ? "<td class=\"n bad\">" : "<td class=\"n\">").append(text).append("</td>");
  }

  private static void appendSyncs(StringBuilder html, AsyncWalMetrics metrics) {
    html.append(TABLE)
      .append("<tr><th>Syncs by reason</th><th class=\"n\">Since the start</th></tr>\n");
    appendCount(html, false, "Age of the oldest write",
      metrics.startedCount(AsyncWalBound.Cause.TIME));
    appendCount(html, false, "Number of unsynced bytes",
      metrics.startedCount(AsyncWalBound.Cause.BYTES));
    appendCount(html, false, "Half of the maximum of unsynced bytes",
      metrics.startedCount(AsyncWalBound.Cause.PRESSURE));
    appendCount(html, false, "SYNC_WAL writes, flushes, rolls, full batches",
      metrics.otherSyncCount());
    appendCount(html, metrics.failedCount() > 0, "Failed, and retried", metrics.failedCount());
    html.append("</table>\n</div>\n<p class=\"d\">")
      .append(String.format(Locale.ROOT, "%,d", metrics.blockedCount()))
      .append(" writes have waited at the maximum of unsynced bytes.</p>\n");
  }

  private static void appendCount(StringBuilder html, boolean bad, String name, long count) {
    html.append("<tr><td>").append(name).append("</td>");
    appendCell(html, bad, String.format(Locale.ROOT, "%,d", count));
    html.append("</tr>\n");
  }

  /**
   * Returns the content as JSON, whose format is described in docs/metrics.md.
   * @param server the name of the server
   * @param time   in milliseconds since 1970
   */
  static String json(Configuration conf, String server, long time) {
    AsyncWalSettings settings = AsyncWalSettings.of(conf);
    StringWriter text = new StringWriter();
    try (JsonWriter json = new JsonWriter(text)) {
      json.setHtmlSafe(true);
      json.beginObject();
      json.name("enabled").value(settings.isEnabled());
      json.name("server").value(server);
      json.name("time").value(time);
      if (settings.isEnabled()) {
        json.name("wals").beginArray();
        for (AsyncWalBound bound : AsyncWalMetrics.get().open()) {
          json.beginObject();
          json.name("name").value(bound.name());
          json.name("unsyncedBytes").value(bound.unsyncedBytes());
          json.name("oldestUnsyncedMillis").value(AsyncWalMetrics.millis(bound.oldestNanos()));
          json.name("maxWindowMillis")
            .value(AsyncWalMetrics.millis(bound.maxWindowNanos()));
          json.name("blockedWriters").value(bound.blockedWriters());
          json.endObject();
        }
        json.endArray();
      }
      json.endObject();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
    return text.toString();
  }
}
