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

import static org.apache.hadoop.hbase.regionserver.http.StatusTable.bytes;
import static org.apache.hadoop.hbase.regionserver.http.StatusTable.count;

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

/** The progress of prefetching, in the Block Cache section of the RegionServer's status page. */
@InterfaceAudience.Private
public final class PrefetchSection {

  /** Maximum number of tables in the section; the metrics have all. */
  static final int TABLES = 20;

  private PrefetchSection() {
  }

  /** Returns the section, or an empty string if no file was to be prefetched since the start. */
  public static String html() {
    PrefetchProgress progress = PrefetchScheduler.get().progress();
    return progress.isUsed() ? of(progress.snapshot()) : "";
  }

  static String of(Snapshot now) {
    List<Map.Entry<String, Counts>> tables = new ArrayList<>(now.tables().entrySet());
    tables.sort(Comparator
      .comparingLong((Map.Entry<String, Counts> table) -> -table.getValue().get(Count.QueuedBytes))
      .thenComparingLong(table -> -table.getValue().get(Count.PrefetchedBytes))
      .thenComparing(Map.Entry::getKey));
    StatusTable html =
      new StatusTable("Table", "Queued", "Prefetched", "Already cached", "Not prefetched");
    tables.stream().limit(TABLES)
      .forEach(table -> addRow(html, StatusTable.escape(table.getKey()), table.getValue()));
    if (tables.size() > 1) {
      addRow(html, "<b>All</b>", now.total());
    }
    return "<div class=\"figures\">\n" + StatusTable.STYLE + "<h3>Prefetch</h3>\n" + state(now)
      + html.html() + (tables.size() <= TABLES
        ? ""
        : StatusTable.note("And " + (tables.size() - TABLES) + " more tables; /jmx has all."))
      + "</div>\n";
  }

  private static String state(Snapshot now) {
    Counts total = now.total();
    if (total.get(Count.QueuedFileCount) == 0) {
      return "<p>No file is queued. Counts are since the start of this RegionServer.</p>\n";
    }
    long done = total.get(Count.PrefetchedBytes) + total.get(Count.CachedBytes);
    double percent = 100.0 * done / Math.max(1, done + total.get(Count.QueuedBytes));
    return "<p>" + files(total.get(Count.QueuedFileCount)) + " with "
      + bytes(total.get(Count.QueuedBytes)) + " to go at " + bytes(now.bytesPerSecond()) + "/s"
      + (now.limit() > 0 ? ", limit " + bytes(now.limit()) + "/s" : "")
      + (now.secondsToGo() < 0
        ? "; the remaining time is not known yet"
        : "; about " + PrefetchProgress.time(now.secondsToGo()))
      + ". Other counts are since the start of this RegionServer.</p>\n"
      + String.format(Locale.ROOT, "<div class=\"bar\"><div style=\"width:%.1f%%\"></div></div>",
        percent);
  }

  private static void addRow(StatusTable html, String name, Counts counts) {
    List<String> others = new ArrayList<>();
    if (counts.get(Count.FailedFileCount) > 0) {
      others.add(StatusTable.highlighted(counts.get(Count.FailedFileCount) + " failed", true));
    }
    if (counts.get(Count.NoSpaceFileCount) > 0) {
      others.add(counts.get(Count.NoSpaceFileCount) + " no space");
    }
    if (counts.get(Count.CancelledFileCount) > 0) {
      others.add(counts.get(Count.CancelledFileCount) + " closed");
    }
    html.row(name, cell(counts, Count.QueuedFileCount, Count.QueuedBytes),
      cell(counts, Count.PrefetchedFileCount, Count.PrefetchedBytes),
      cell(counts, Count.CachedFileCount, Count.CachedBytes),
      others.isEmpty() ? StatusTable.NONE : String.join("<br>", others));
  }

  private static String cell(Counts counts, Count files, Count bytes) {
    if (counts.get(files) == 0 && counts.get(bytes) == 0) {
      return StatusTable.NONE;
    }
    return bytes(counts.get(bytes)) + (counts.get(files) == 0
      ? ""
      : "<br><span class=\"d\">" + files(counts.get(files)) + "</span>");
  }

  private static String files(long files) {
    return files == 1 ? "1 file" : count(files) + " files";
  }
}
