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

import static org.apache.hadoop.hbase.regionserver.http.StatusTable.count;
import static org.apache.hadoop.hbase.regionserver.http.StatusTable.highlighted;

import java.io.UnsupportedEncodingException;
import java.net.URLDecoder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.regionserver.wal.AsyncWalBound;
import org.apache.hadoop.hbase.regionserver.wal.AsyncWalBound.Cause;
import org.apache.hadoop.hbase.regionserver.wal.AsyncWalMetrics;
import org.apache.hadoop.hbase.regionserver.wal.AsyncWalSettings;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The writes that a crash would lose, per WAL of this process: a section of the RegionServer's
 * status page, a page, and JSON.
 */
@InterfaceAudience.Private
public final class AsyncWalSection {
  /** Delay of a sync, in intervals, from which on the page highlights it. */
  private static final int LATE = 10;

  private AsyncWalSection() {
  }

  /** Returns the section, or an empty string if no bound is configured. */
  public static String html(Configuration conf) {
    String body = body(AsyncWalSettings.of(conf));
    return body.isEmpty()
      ? ""
      : "<div class=\"figures\">\n" + StatusTable.STYLE + "<h3>Unsynced Writes</h3>\n" + body
        + "</div>\n";
  }

  /**
   * Returns a page between header and footer: the section, or how to configure a bound.
   * @param server the name of the server
   */
  static String page(Configuration conf, String server) {
    String body = body(AsyncWalSettings.of(conf));
    return StatusTable.page("Unsynced Writes", server, "<section>\n" + (body.isEmpty()
      ? "<p>The loss of <code>ASYNC_WAL</code> writes in a crash has no bound on this "
        + "RegionServer. To set one, add <code>" + AsyncWalSettings.INTERVAL_KEY
        + "</code> to hbase-site.xml, and restart the RegionServer.</p>\n"
      : body) + "<p><a href=\"/rs-status\">Status of this RegionServer</a></p>\n</section>\n");
  }

  private static String body(AsyncWalSettings settings) {
    if (!settings.isEnabled()) {
      return "";
    }
    AsyncWalMetrics metrics = AsyncWalMetrics.get();
    List<AsyncWalBound> bounds = metrics.open();
    String limits = "<p>" + limits(settings) + "</p>\n";
    if (bounds.isEmpty()) {
      return limits + "<p>No WAL has had a write with <code>ASYNC_WAL</code> yet.</p>\n";
    }
    StatusTable wals = new StatusTable("WAL", "Unsynced bytes", "Age of the oldest",
      "Maximum since the start", "Waiting writers");
    for (AsyncWalBound bound : bounds) {
      long oldest = bound.oldestNanos();
      wals.row(StatusTable.escape(decoded(bound.name())), count(bound.unsyncedBytes()),
        highlighted(millis(oldest), oldest / LATE > settings.intervalNanos()),
        millis(bound.maxWindowNanos()),
        highlighted(count(bound.blockedWriters()), bound.blockedWriters() > 0));
    }
    StatusTable syncs = new StatusTable("Syncs by reason", "Since the start")
      .row("Age of the oldest write", count(metrics.startedCount(Cause.TIME)))
      .row("Number of unsynced bytes", count(metrics.startedCount(Cause.BYTES)))
      .row("Half of the maximum of unsynced bytes", count(metrics.startedCount(Cause.PRESSURE)))
      .row("SYNC_WAL writes, flushes, rolls, full batches", count(metrics.otherSyncCount()))
      .row("Failed, and retried",
        highlighted(count(metrics.failedCount()), metrics.failedCount() > 0));
    return limits + wals.html() + syncs.html() + StatusTable.note(count(metrics.blockedCount())
      + " writes have waited at the maximum of unsynced bytes.");
  }

  private static String limits(AsyncWalSettings settings) {
    List<String> limits = new ArrayList<>();
    if (settings.intervalNanos() < Long.MAX_VALUE) {
      limits.add("when the oldest write that was acknowledged without a sync is "
        + TimeUnit.NANOSECONDS.toMillis(settings.intervalNanos()) + " ms old");
    }
    if (settings.bytes() < Long.MAX_VALUE) {
      limits.add("when there are " + count(settings.bytes()) + " bytes of them");
    }
    if (settings.maxUnsynced() < Long.MAX_VALUE) {
      limits.add("before there are more than " + count(settings.maxUnsynced()) + " bytes of them");
    }
    return "A WAL is synced " + String.join(", or ", limits)
      + ". A crash would lose the unsynced writes (<a href=\"" + AsyncWalServlet.PATH
      + "?format=json\">as JSON</a>).";
  }

  private static String millis(long nanos) {
    return AsyncWalMetrics.millis(nanos) + " ms";
  }

  /** Returns the name of a WAL with its server's name as other pages have it. */
  private static String decoded(String name) {
    try {
      return URLDecoder.decode(name, "UTF-8");
    } catch (UnsupportedEncodingException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * Returns the fields of the JSON.
   * @param server the name of the server
   * @param time   in milliseconds since 1970
   */
  static Map<String, Object> fields(Configuration conf, String server, long time) {
    boolean enabled = AsyncWalSettings.of(conf).isEnabled();
    Map<String, Object> fields =
      StatusServlet.fieldsOf("enabled", enabled, "server", server, "time", time);
    if (enabled) {
      fields.put("wals", AsyncWalMetrics.get().open().stream().map(bound -> StatusServlet.fieldsOf(
        "name", bound.name(), "unsyncedBytes", bound.unsyncedBytes(),
        "oldestUnsyncedMillis", AsyncWalMetrics.millis(bound.oldestNanos()),
        "maxWindowMillis", AsyncWalMetrics.millis(bound.maxWindowNanos()),
        "blockedWriters", bound.blockedWriters())).collect(Collectors.toList()));
    }
    return fields;
  }
}
