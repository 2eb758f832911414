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

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.hadoop.hbase.io.hfile.load.PrefetchMetrics.Count;
import org.apache.hadoop.hbase.io.hfile.load.PrefetchProgress;
import org.apache.hadoop.hbase.io.hfile.load.PrefetchProgress.Counts;
import org.apache.hadoop.hbase.io.hfile.load.PrefetchProgress.Snapshot;
import org.apache.hadoop.hbase.io.hfile.load.PrefetchScheduler;
import org.apache.yetus.audience.InterfaceAudience;

import org.apache.hbase.thirdparty.com.google.common.html.HtmlEscapers;

/**
 * The progress of prefetching, in the Block Cache section of the RegionServer's status page. Needs
 * no script.
 */
@InterfaceAudience.Private
public final class PrefetchSection {

  /** Maximum number of tables in the section; the metrics have all. */
  static final int TABLES = 20;

  private static final String STYLE = "<style>\n"
    + ".warmup td, .warmup th { vertical-align: top; }\n"
    + ".warmup table { max-width: 64em; }\n"
    + ".warmup th:first-child { min-width: 7em; }\n"
    + ".warmup .n { text-align: right; font-variant-numeric: tabular-nums; }\n"
    + ".warmup td.n { white-space: nowrap; }\n"
    + ".warmup .table td { word-break: normal; }\n"
    + ".warmup td.w { overflow-wrap: anywhere; }\n"
    + ".warmup .d { color: #6c757d; }\n"
    + ".warmup .bad { color: #a94442; font-weight: bold; }\n"
    + ".warmup .bar { background: #ddd; height: 6px; margin: 0 0 1em; max-width: 40em; }\n"
    + ".warmup .bar div { background: #337ab7; height: 6px; }\n"
    + "@media (max-width: 575px) {\n"
    + "  .warmup table { font-size: 80%; }\n"
    + "  .warmup table td, .warmup table th { padding: .3em .25em; }\n"
    + "}\n</style>\n";

  private PrefetchSection() {
  }

  /** Returns the section, or an empty string if no file was to be prefetched since the start. */
  public static String html() {
    PrefetchProgress progress = PrefetchScheduler.get().progress();
    return progress.isUsed() ? of(progress.snapshot()) : "";
  }

  static String of(Snapshot now) {
    StringBuilder html = new StringBuilder();
    html.append("<div class=\"warmup\">\n").append(STYLE).append("<h3>Prefetch</h3>\n");
    appendState(html, now);
    List<Map.Entry<String, Counts>> tables = new ArrayList<>(now.tables().entrySet());
    tables.sort(Comparator
      .comparingLong((Map.Entry<String, Counts> table) -> -table.getValue().get(Count.QueuedBytes))
      .thenComparingLong(table -> -table.getValue().get(Count.PrefetchedBytes))
      .thenComparing(Map.Entry::getKey));
    html.append(BlockCacheTiersPage.TABLE + "<tr><th>Table</th>"
      + "<th class=\"n\">Queued</th><th class=\"n\">Prefetched</th>"
      + "<th class=\"n\">Already cached</th>"
      + "<th class=\"n\">Not prefetched</th></tr>\n");
    tables.stream().limit(TABLES).forEach(table -> appendRow(html,
      HtmlEscapers.htmlEscaper().escape(table.getKey()), table.getValue()));
    if (tables.size() > 1) {
      appendRow(html, "<b>All</b>", now.total());
    }
    html.append(BlockCacheTiersPage.END_OF_TABLE);
    if (tables.size() > TABLES) {
      html.append("<p class=\"d\">And ").append(tables.size() - TABLES)
        .append(" more tables; /jmx has all.</p>\n");
    }
    return html.append("</div>\n").toString();
  }

  private static void appendState(StringBuilder html, Snapshot now) {
    Counts total = now.total();
    if (total.get(Count.QueuedFileCount) == 0) {
      html.append("<p>No file is queued. Counts are since the start of this RegionServer.</p>\n");
      return;
    }
    long done = total.get(Count.PrefetchedBytes) + total.get(Count.CachedBytes);
    double percent = 100.0 * done / Math.max(1, done + total.get(Count.QueuedBytes));
    html.append("<p>").append(files(total.get(Count.QueuedFileCount))).append(" with ")
      .append(PrefetchProgress.bytes(total.get(Count.QueuedBytes))).append(" to go at ")
      .append(PrefetchProgress.bytes(now.bytesPerSecond())).append("/s");
    if (now.limit() > 0) {
      html.append(", limit ").append(PrefetchProgress.bytes(now.limit())).append("/s");
    }
    html.append(now.secondsToGo() < 0
      ? "; the remaining time is not known yet"
      : "; about " + PrefetchProgress.time(now.secondsToGo()));
    html.append(". Other counts are since the start of this RegionServer.</p>\n")
      .append(String.format(Locale.ROOT,
        "<div class=\"bar\"><div style=\"width:%.1f%%\"></div></div>\n", percent));
  }

  private static void appendRow(StringBuilder html, String name, Counts counts) {
    html.append("<tr><td class=\"w\">").append(name).append("</td>");
    appendCell(html, counts.get(Count.QueuedFileCount), counts.get(Count.QueuedBytes));
    appendCell(html, counts.get(Count.PrefetchedFileCount), counts.get(Count.PrefetchedBytes));
    appendCell(html, counts.get(Count.CachedFileCount), counts.get(Count.CachedBytes));
    html.append("<td class=\"n\">");
    List<String> others = new ArrayList<>();
    if (counts.get(Count.FailedFileCount) > 0) {
      others.add("<span class=\"bad\">" + counts.get(Count.FailedFileCount) + " failed</span>");
    }
    if (counts.get(Count.NoSpaceFileCount) > 0) {
      others.add(counts.get(Count.NoSpaceFileCount) + " no space");
    }
    if (counts.get(Count.CancelledFileCount) > 0) {
      others.add(counts.get(Count.CancelledFileCount) + " closed");
    }
    html.append(others.isEmpty() ? "\u2013" : String.join("<br>", others)).append("</td></tr>\n");
  }

  private static void appendCell(StringBuilder html, long files, long bytes) {
    html.append("<td class=\"n\">");
    if (files == 0 && bytes == 0) {
      html.append("\u2013");
    } else {
      html.append(PrefetchProgress.bytes(bytes));
      if (files > 0) {
        html.append("<br><span class=\"d\">").append(files(files)).append("</span>");
      }
    }
    html.append("</td>");
  }

  private static String files(long files) {
    return files == 1 ? "1 file" : String.format(Locale.ROOT, "%,d files", files);
  }
}
