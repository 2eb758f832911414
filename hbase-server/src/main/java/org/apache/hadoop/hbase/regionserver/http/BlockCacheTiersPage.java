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

import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.LongFunction;
import java.util.function.ToLongFunction;
import org.apache.hadoop.hbase.io.hfile.composite.CompositeBucketCacheMetrics;
import org.apache.hadoop.hbase.io.hfile.composite.CompositeBucketCacheSettings;
import org.apache.hadoop.hbase.io.hfile.composite.ReadLatencyHistogram;
import org.apache.hadoop.hbase.io.hfile.composite.TierHistory;
import org.apache.hadoop.util.StringUtils.TraditionalBinaryPrefix;
import org.apache.yetus.audience.InterfaceAudience;

import org.apache.hbase.thirdparty.com.google.common.html.HtmlEscapers;

/**
 * The tiers of the block cache as HTML, between the header and the footer that the RegionServer's
 * pages share. Needs only their style sheets: no script, no other server.
 */
@InterfaceAudience.Private
final class BlockCacheTiersPage {

  /** Maximum number of tables in the page; the JSON has all. */
  static final int TABLES = 20;
  /** Number of samples per point of a plot: half a minute. */
  private static final int SAMPLES_PER_POINT = 30 / CompositeBucketCacheMetrics.SAMPLE_SECONDS;
  /** A ratio of fewer lookups in a point is drawn faint, since chance determines it. */
  private static final int FEW_LOOKUPS = 100;
  private static final String L1_COLOR = "#337ab7";
  private static final String ANY_COLOR = "#2e8b57";
  private static final String DEMOTION_COLOR = "#d9822b";
  private static final String NONE = "\u2013";

  static final String TABLE =
    "<div class=\"table-responsive\">\n<table class=\"table table-striped\">\n";
  static final String FIXED_TABLE =
    "<div class=\"table-responsive\">\n<table class=\"table table-striped t\">\n";
  static final String END_OF_TABLE = "</table>\n</div>\n";

  private static final String STYLE = "<style>\n"
    + ".tiers td, .tiers th { vertical-align: top; }\n"
    + ".tiers .n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }\n"
    + ".tiers th.n { white-space: normal; }\n"
    + ".tiers td.l { word-break: normal; overflow-wrap: normal; }\n"
    + ".tiers td.w, .tiers p.w { word-break: normal; overflow-wrap: anywhere; }\n"
    + ".tiers tr.g th { padding-top: 1.2em; }\n"
    + ".tiers table.t { max-width: 64em; table-layout: fixed; }\n"
    + ".tiers .bad { color: #a94442; font-weight: bold; }\n"
    + ".tiers .d { color: #6c757d; }\n"
    + ".tiers .bar { background: #ddd; height: 6px; margin: 4px 0 0 auto; max-width: 12em; }\n"
    + ".tiers .bar div { background: " + L1_COLOR + "; height: 6px; }\n"
    + ".tiers svg { width: 100%; max-width: 720px; height: auto; font-size: 13px; }\n"
    + ".tiers svg text { fill: #6c757d; }\n"
    + ".tiers-legend span { margin-right: 1.5em; white-space: nowrap; }\n"
    + ".tiers-legend i { display: inline-block; width: 1.2em; height: 4px;"
    + " margin-right: .4em; vertical-align: middle; }\n"
    + "@media (max-width: 575px) {\n"
    + "  html .content { padding: 0 .8em; }\n"
    + "  .tiers h1 small { display: block; overflow-wrap: anywhere; }\n"
    + "  .tiers svg { font-size: 17px; }\n"
    + "  .tiers table { font-size: 85%; }\n"
    + "  .tiers td, .tiers th { padding: .5rem .25rem !important; }\n"
    + "}\n</style>\n";

  private final StringBuilder html = new StringBuilder();
  private final long now;
  private final CompositeBucketCacheMetrics.Tier[] tiers;
  private final List<Map<String, Long>> values = new ArrayList<>();
  private final List<TierHistory.Sample> samples;

  private BlockCacheTiersPage(long now, CompositeBucketCacheMetrics metrics) {
    this.now = now;
    this.tiers = metrics.getTiers().toArray(new CompositeBucketCacheMetrics.Tier[0]);
    for (CompositeBucketCacheMetrics.Tier tier : tiers) {
      values.add(tier.getValues());
    }
    this.samples = metrics.getHistory().getSamples();
  }

  /** Returns the page of a server without tiers: how to configure them. */
  static String withoutTiers(String server) {
    return STYLE + top(server)
      + "<section>\n<p>The block cache of this RegionServer has no tiers. To enable them, set "
      + "<code>" + CompositeBucketCacheSettings.ENABLED_KEY + "=true</code>, L1 in "
      + "memory (<code>" + CompositeBucketCacheSettings.L1_PREFIX + "size</code>) and L2, "
      + "usually on a device (<code>" + CompositeBucketCacheSettings.L2_PREFIX
      + "ioengine</code>, <code>" + CompositeBucketCacheSettings.L2_PREFIX
      + "size</code>) in hbase-site.xml, and restart the RegionServer.</p>\n"
      + "<p><a href=\"/rs-status\">Status of this RegionServer</a></p>\n</section>\n"
      + MetricsSection.all() + "</div>\n";
  }

  static String of(String server, long now, CompositeBucketCacheMetrics metrics,
    List<TableUse> tables) {
    BlockCacheTiersPage page = new BlockCacheTiersPage(now, metrics);
    page.html.append(STYLE).append(top(server));
    page.appendLookups();
    page.appendPlots();
    page.appendTiers();
    page.appendTables(tables);
    page.html.append(MetricsSection.all()).append("</div>\n");
    return page.html.toString();
  }

  private static String top(String server) {
    return "<div class=\"container-fluid content tiers\">\n<div class=\"row inner_header\">\n"
      + "<div class=\"page-header\">\n<h1>Block Cache Tiers <small>" + escape(server)
      + "</small></h1>\n</div>\n</div>\n";
  }

  static String escape(String text) {
    return HtmlEscapers.htmlEscaper().escape(text);
  }

  private void appendLookups() {
    html.append("<section>\n<h2>Lookups by tier</h2>\n" + TABLE
      + "<tr><th></th><th class=\"n\">Minute</th><th class=\"n\">10 min</th>"
      + "<th class=\"n\">Hour</th><th class=\"n\">Since start</th></tr>\n");
    long[][] periods = { last(60), last(600), last(3600), sinceStart() };
    appendShares(periods);
    appendCounts("Lookups", periods, counts -> lookups(counts));
    appendCounts("Promotions", periods,
      counts -> counts[TierHistory.Count.PROMOTIONS.ordinal()]);
    appendCounts("Rejected", periods,
      counts -> counts[TierHistory.Count.REJECTED_PROMOTIONS.ordinal()]);
    appendCounts("Demotions", periods, counts -> counts[TierHistory.Count.DEMOTIONS.ordinal()]);
    html.append(END_OF_TABLE + "<p class=\"d\">The first three as shares of all lookups. A "
      + "promotion copies a data block that was found in L2 into L1. It is rejected if the block "
      + "is read less often than those in L1. A demotion drops such a copy.</p>\n</section>\n");
  }

  private long[] last(int seconds) {
    long[] sums = new long[TierHistory.Count.values().length];
    // A sample may be late, so time selects it; its middle counts, so that none is counted for a
    // moment.
    long since = now - seconds * 1000L;
    for (TierHistory.Sample sample : samples) {
      if (sample.getTime() - sample.getMillis() / 2 > since) {
        for (TierHistory.Count count : TierHistory.Count.values()) {
          sums[count.ordinal()] += sample.get(count);
        }
      }
    }
    return sums;
  }

  private long[] sinceStart() {
    long[] sums = new long[TierHistory.Count.values().length];
    sums[TierHistory.Count.FIRST_HITS.ordinal()] = value(0, "HitCount");
    sums[TierHistory.Count.SECOND_HITS.ordinal()] = value(1, "HitCount");
    sums[TierHistory.Count.MISSES.ordinal()] = value(0, "MissCount") + value(1, "MissCount");
    sums[TierHistory.Count.PROMOTIONS.ordinal()] = value(0, "PromotedBlockCount");
    sums[TierHistory.Count.REJECTED_PROMOTIONS.ordinal()] = value(0, "RejectedPromotionCount");
    sums[TierHistory.Count.DEMOTIONS.ordinal()] = value(0, "DemotedBlockCount");
    return sums;
  }

  private long value(int tier, String gauge) {
    return values.get(tier).getOrDefault(gauge, 0L);
  }

  private static long lookups(long[] counts) {
    return counts[TierHistory.Count.FIRST_HITS.ordinal()]
      + counts[TierHistory.Count.SECOND_HITS.ordinal()]
      + counts[TierHistory.Count.MISSES.ordinal()];
  }

  private void appendShares(long[][] periods) {
    String[] names = { "In L1", "In L2", "In neither" };
    String[][] shares = new String[periods.length][];
    for (int i = 0; i < periods.length; i++) {
      shares[i] = Shares.of(periods[i][TierHistory.Count.FIRST_HITS.ordinal()],
        periods[i][TierHistory.Count.SECOND_HITS.ordinal()],
        periods[i][TierHistory.Count.MISSES.ordinal()]);
    }
    for (int row = 0; row < names.length; row++) {
      html.append("<tr><td class=\"l\">").append(names[row]).append("</td>");
      for (String[] period : shares) {
        html.append("<td class=\"n\">").append(period[row]).append("</td>");
      }
      html.append("</tr>\n");
    }
  }

  private void appendCounts(String name, long[][] periods, ToLongFunction<long[]> value) {
    html.append("<tr><td class=\"l\">").append(name).append("</td>");
    for (long[] counts : periods) {
      long count = value.applyAsLong(counts);
      html.append("<td class=\"n\" title=\"").append(exact(count)).append("\">")
        .append(rounded(count)).append("</td>");
    }
    html.append("</tr>\n");
  }

  private void appendPlots() {
    HourPlot ratio = new HourPlot("Hit ratio over the last hour", now,
      value -> String.format(Locale.ROOT, "%.0f %%", value)).line("L1", L1_COLOR)
        .line("L1 or L2", ANY_COLOR);
    HourPlot moves = new HourPlot("Promotions and demotions per second over the last hour", now,
      BlockCacheTiersPage::perSecond).line("promotions", L1_COLOR)
        .line("demotions", DEMOTION_COLOR);
    for (int i = 0; i < samples.size(); i += SAMPLES_PER_POINT) {
      TierHistory.Sample sample = samples.get(i);
      for (int j = i + 1; j < Math.min(samples.size(), i + SAMPLES_PER_POINT); j++) {
        sample = sample.and(samples.get(j));
      }
      addPoint(ratio, moves, sample);
    }
    html.append("<section>\n<h2>The last hour</h2>\n");
    if (samples.isEmpty()) {
      html.append("<p>There is nothing to plot yet: the first sample comes ")
        .append(CompositeBucketCacheMetrics.SAMPLE_SECONDS)
        .append(" seconds after the start, then one as often.</p>\n</section>\n");
      return;
    }
    html.append("<div class=\"row\">\n<div class=\"col-lg-6\">\n<h4>Hit ratio</h4>\n")
      .append(ratio.svg(100)).append(ratio.legend())
      .append("</div>\n<div class=\"col-lg-6\">\n<h4>Data blocks moved per second</h4>\n")
      .append(moves.svg(0)).append(moves.legend())
      .append("</div>\n</div>\n<p class=\"d\">Faint: fewer than ").append(FEW_LOOKUPS)
      .append(" lookups in half a minute.</p>\n</section>\n");
  }

  private static void addPoint(HourPlot ratio, HourPlot moves, TierHistory.Sample sample) {
    long l1 = sample.get(TierHistory.Count.FIRST_HITS);
    long any = l1 + sample.get(TierHistory.Count.SECOND_HITS);
    double lookups = any + sample.get(TierHistory.Count.MISSES);
    long from = sample.getTime() - sample.getMillis();
    String when = clock(from) + NONE + clock(sample.getTime());
    // Without lookups the ratio is 0 / 0 = NaN, which leaves a gap in the line.
    ratio.point(from, sample.getTime(), when, lookups < FEW_LOOKUPS, 100 * l1 / lookups,
      100 * any / lookups);
    double seconds = Math.max(1, sample.getMillis()) / 1000.0;
    moves.point(from, sample.getTime(), when, false,
      sample.get(TierHistory.Count.PROMOTIONS) / seconds,
      sample.get(TierHistory.Count.DEMOTIONS) / seconds);
  }

  private void appendTiers() {
    html.append("<section>\n<h2>Tiers</h2>\n");
    for (CompositeBucketCacheMetrics.Tier tier : tiers) {
      html.append("<p class=\"w\"><b>").append(tier.getName()).append("</b> ")
        .append(escape(tier.getIoEngine())).append("</p>\n");
    }
    html.append(FIXED_TABLE + "<tr><th></th>"
      + "<th class=\"n\">L1</th><th class=\"n\">L2</th></tr>\n");
    appendRow("Size", tier -> bytes(value(tier, "Capacity")));
    appendRow("Used", tier -> used(value(tier, "Used"), value(tier, "Capacity")));
    appendRow("Capacity for data", tier -> tier == 0 ? bytes(value(0, "DataCapacity")) : NONE);

    appendGroup("Blocks");
    appendBlocks("Index", "Index");
    appendBlocks("Bloom", "Bloom");
    appendBlocks("All meta", "Meta");
    appendBlocks("Data", "Data");
    appendGauge("Waiting to be written", "WaitingBlockCount");

    appendGroup("Lookups");
    appendGauge("Hits", "HitCount");
    appendGauge("Misses", "MissCount");
    appendRow("Hit ratio", this::hitRatio);

    appendGroup("Read latency, last minute");
    appendRow("Median", tier -> readTime(tier, ReadLatencyHistogram.Summary::getMedian));
    appendRow("95 %", tier -> readTime(tier, ReadLatencyHistogram.Summary::getP95));
    appendRow("99 %", tier -> readTime(tier, ReadLatencyHistogram.Summary::getP99));
    appendRow("99.9 %", tier -> readTime(tier, ReadLatencyHistogram.Summary::getP999));
    appendRow("Max", tier -> readTime(tier, ReadLatencyHistogram.Summary::getMax));

    appendGroup("Insertions and evictions");
    appendGauge("Inserted", "InsertedBlockCount");
    appendGauge("Blocks of read misses admitted", "AdmittedReadInsertCount");
    appendGauge("Blocks of read misses rejected", "RejectedReadInsertCount");
    appendRow("Bytes written", tier -> bytes(value(tier, "WrittenBytes")));
    appendGauge("Evicted for space", "EvictedBlockCount");
    appendGauge("Promoted from L2", "PromotedBlockCount");
    appendGauge("Promotions rejected", "RejectedPromotionCount");
    appendGauge("Demoted", "DemotedBlockCount");
    appendGauge("Buckets reassigned to another size", "ReassignedBucketCount");
    appendGauge("Idle meta blocks evicted", "IdleMetaEvictedCount");
    appendGauge("Spilled to L2", "SpilledBlockCount");
    appendGauge("Returned from L2", "ReturnedBlockCount");

    if (values.get(1).containsKey("SegmentCount")) {
      appendSegments();
    }

    appendGroup("Errors");
    appendErrors("Refused: writer queue full", "RefusedInsertCount");
    appendErrors("Not spilled: L2 busy", "DroppedBlockCount");
    appendErrors("Checksum failures", "ChecksumFailureCount");
    appendErrors("I/O errors", "IoErrorCount");
    appendErrors("Reads bypassed", "BypassedReadCount");
    appendErrors("Inserts bypassed", "BypassedInsertCount");
    appendRow("Device",
      tier -> ifThere(tier, "DeviceState", state -> state == 0 ? "in use" : bad("bypassed")));
    html.append(END_OF_TABLE + "<p class=\"d\">Counts are since the start. L1's hit ratio is its "
      + "hits by all lookups, L2's its hits by the lookups that L1 left over. <a href=\"")
      .append(BlockCacheTiersServlet.PATH).append("?format=json\">As JSON</a>, and the same in "
        + "<a href=\"/jmx?qry=Hadoop:service=HBase,name=RegionServer,sub=BlockCacheTiers\">JMX</a>."
        + "</p>\n</section>\n");
  }

  /** Appends the values that only a segment tier has. */
  private void appendSegments() {
    appendGroup("Segments");
    appendGauge("All", "SegmentCount");
    appendGauge("Clean", "CleanSegmentCount");
    appendGauge("Never written", "UnwrittenSegmentCount");
    appendGauge("Waiting to be written", "WaitingSegmentCount");
    appendErrors("Retired", "RetiredSegmentCount");
    appendErrors("Lost: could not be written", "LostSegmentCount");
    appendErrors("Entries not readable", "UnreadableEntryCount");
    appendErrors("Devices bypassed", "BypassedDeviceCount");
    appendErrors("Devices read-only", "ReadOnlyDeviceCount");
    appendGauge("Refused blocks of reads", "RefusedReadInsertCount");
    appendGauge("Refused blocks of prefetch", "RefusedPrefetchInsertCount");
    appendGauge("Refused blocks of flushes and compactions", "RefusedWriteInsertCount");
    appendErrors("Refused blocks: index full", "IndexFullInsertCount");
    appendGauge("Tombstones of dropped files", "TombstoneCount");
    appendErrors("Tombstones overwritten", "OverwrittenTombstoneCount");
    appendGauge("Dropped files that no region has", "OrphanFileCount");
    appendGauge("Dead blocks not recovered", "DeadBlockCount");
  }

  private interface Cell {
    String of(int tier);
  }

  private void appendGroup(String name) {
    html.append("<tr class=\"g\"><th colspan=\"3\">").append(name).append("</th></tr>\n");
  }

  private void appendRow(String name, Cell cell) {
    html.append("<tr><td class=\"l\">").append(name).append("</td>");
    for (int tier = 0; tier < tiers.length; tier++) {
      html.append("<td class=\"n\">").append(cell.of(tier)).append("</td>");
    }
    html.append("</tr>\n");
  }

  private void appendBlocks(String name, String type) {
    appendRow(name, tier -> exact(value(tier, type + "BlockCount")) + "<br>"
      + "<span class=\"d\">" + bytes(value(tier, type + "BlockSize")) + "</span>");
  }

  private void appendGauge(String name, String gauge) {
    appendRow(name, tier -> ifThere(tier, gauge, BlockCacheTiersPage::exact));
  }

  private void appendErrors(String name, String gauge) {
    appendRow(name, tier -> ifThere(tier, gauge, count -> count == 0
      ? "0"
      : bad(exact(count))));
  }

  private static String bad(String text) {
    return "<span class=\"bad\">" + text + "</span>";
  }

  private String ifThere(int tier, String gauge, LongFunction<String> format) {
    Long value = values.get(tier).get(gauge);
    return value == null ? NONE : format.apply(value);
  }

  private String hitRatio(int tier) {
    long[] counts = sinceStart();
    long hits = counts[tier == 0
      ? TierHistory.Count.FIRST_HITS.ordinal()
      : TierHistory.Count.SECOND_HITS.ordinal()];
    return share(hits,
      tier == 0 ? lookups(counts) : hits + counts[TierHistory.Count.MISSES.ordinal()]);
  }

  private String readTime(int tier, ToLongFunction<ReadLatencyHistogram.Summary> value) {
    ReadLatencyHistogram.Summary summary = tiers[tier].getReadLatencies().getSummary();
    return summary.getCount() == 0 ? NONE : time(value.applyAsLong(summary));
  }

  private static String used(long used, long capacity) {
    double percent = capacity == 0 ? 0 : 100.0 * used / capacity;
    return String.format(Locale.ROOT,
      "%s<br><span class=\"d\">%.1f %%</span><div class=\"bar\"><div style=\"width:%.1f%%\"></div>"
        + "</div>",
      bytes(used), percent, Math.min(100, percent));
  }

  private void appendTables(List<TableUse> tables) {
    html.append("<section>\n<h2>Tables by use of L1</h2>\n");
    if (tables.isEmpty()) {
      html.append("<p>Nothing is cached yet.</p>\n</section>\n");
      return;
    }
    long all = Math.max(1, tables.stream().mapToLong(use -> use.getBytes(0)).sum());
    html.append(TABLE + "<tr><th>Table</th><th class=\"n\">L1</th>"
      + "<th class=\"n d-none d-md-table-cell\">Blocks in L1</th><th class=\"n\">L2</th>"
      + "<th class=\"n d-none d-md-table-cell\">Blocks in L2</th></tr>\n");
    for (TableUse use : tables.subList(0, Math.min(TABLES, tables.size()))) {
      html.append("<tr><td class=\"w\">")
        .append(use.getTable() == null
          ? "<i>files that no region has open</i>"
          : escape(use.getTable()))
        .append("</td><td class=\"n\">")
        .append(String.format(Locale.ROOT,
          "%s<div class=\"bar\"><div style=\"width:%.1f%%\"></div></div>", bytes(use.getBytes(0)),
          100.0 * use.getBytes(0) / all))
        .append("</td><td class=\"n d-none d-md-table-cell\">").append(exact(use.getBlocks(0)))
        .append("</td><td class=\"n\">").append(bytes(use.getBytes(1)))
        .append("</td><td class=\"n d-none d-md-table-cell\">").append(exact(use.getBlocks(1)))
        .append("</td></tr>\n");
    }
    html.append(END_OF_TABLE);
    if (tables.size() > TABLES) {
      long rest = tables.stream().skip(TABLES).mapToLong(use -> use.getBytes(0)).sum();
      html.append("<p class=\"d\">").append(exact(tables.size() - TABLES))
        .append(" more tables take ").append(bytes(rest)).append(" of L1; <a href=\"")
        .append(BlockCacheTiersServlet.PATH).append("?format=json\">the JSON has all</a>.</p>\n");
    }
    html.append("</section>\n");
  }

  /** Rounds down, so that 100 % is shown only if there was no miss. */
  static String share(long part, long whole) {
    return whole == 0
      ? NONE
      : String.format(Locale.ROOT, "%.1f %%", Math.floor(1000.0 * part / whole) / 10);
  }

  static String exact(long count) {
    return String.format(Locale.ROOT, "%,d", count);
  }

  /** Formats a count with three digits and a decimal unit, for narrow columns. */
  static String rounded(long count) {
    if (count < 10_000) {
      return exact(count);
    }
    double value = count;
    int unit = -1;
    while (value >= 999.5) {
      value /= 1000;
      unit++;
    }
    return String.format(Locale.ROOT, value < 9.995 ? "%.2f %c" : value < 99.95 ? "%.1f %c"
      : "%.0f %c", value, "kMGTPE".charAt(unit));
  }

  static String bytes(long bytes) {
    return TraditionalBinaryPrefix.long2String(bytes, "B", 1);
  }

  static String time(long nanos) {
    return nanos < 100_000
      ? String.format(Locale.ROOT, nanos < 10_000 ? "%.2f \u00b5s" : "%.1f \u00b5s", nanos / 1e3)
      : String.format(Locale.ROOT, nanos < 10_000_000 ? "%.2f ms" : "%.0f ms", nanos / 1e6);
  }

  private static String perSecond(double value) {
    if (value >= 10_000) {
      return rounded((long) value);
    }
    // Axis labels are a quarter of a round number each.
    return String.format(Locale.ROOT, "%.2f", value).replaceFirst("\\.?0+$", "");
  }

  private static String clock(long time) {
    return DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT)
      .format(Instant.ofEpochMilli(time).atZone(ZoneId.systemDefault()));
  }
}
