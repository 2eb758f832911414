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

import static org.apache.hadoop.hbase.regionserver.http.StatusTable.NONE;
import static org.apache.hadoop.hbase.regionserver.http.StatusTable.bytes;
import static org.apache.hadoop.hbase.regionserver.http.StatusTable.count;
import static org.apache.hadoop.hbase.regionserver.http.StatusTable.escape;
import static org.apache.hadoop.hbase.regionserver.http.StatusTable.highlighted;
import static org.apache.hadoop.hbase.regionserver.http.StatusTable.note;
import static org.apache.hadoop.hbase.regionserver.http.StatusTable.share;

import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import org.apache.hadoop.hbase.io.hfile.composite.CompositeBucketCacheMetrics;
import org.apache.hadoop.hbase.io.hfile.composite.CompositeBucketCacheSettings;
import org.apache.hadoop.hbase.io.hfile.composite.ReadLatencyHistogram.Summary;
import org.apache.hadoop.hbase.io.hfile.composite.TierHistory;
import org.apache.hadoop.hbase.io.hfile.composite.TierHistory.Count;
import org.apache.yetus.audience.InterfaceAudience;

/** The tiers of the block cache as HTML, between header and footer. */
@InterfaceAudience.Private
final class BlockCacheTiersPage {

  /** Maximum number of tables in the page; the JSON has all. */
  static final int TABLES = 20;

  /** Number of samples per row of the last hour: five minutes. */
  private static final int SAMPLES_PER_ROW = 300 / CompositeBucketCacheMetrics.SAMPLE_SECONDS;
  /** Metrics that are below the others, and highlighted unless they are 0. */
  static final Set<String> ERRORS = new HashSet<>(Arrays.asList("RefusedInsertCount",
    "DroppedBlockCount", "ChecksumFailureCount", "IoErrorCount", "BypassedReadCount",
    "BypassedInsertCount", "RetiredSegmentCount", "LostSegmentCount", "UnreadableEntryCount",
    "BypassedDeviceCount", "ReadOnlyDeviceCount", "IndexFullInsertCount",
    "OverwrittenTombstoneCount", "DeviceState"));

  private final long now;
  private final List<CompositeBucketCacheMetrics.Tier> tiers;
  private final List<Map<String, Long>> values = new ArrayList<>();
  private final List<TierHistory.Sample> samples;

  private BlockCacheTiersPage(long now, CompositeBucketCacheMetrics metrics) {
    this.now = now;
    this.tiers = metrics.getTiers();
    tiers.forEach(tier -> values.add(tier.getValues()));
    this.samples = metrics.getHistory().getSamples();
  }

  /** Returns the page of a server without tiers: how to configure them. */
  static String withoutTiers(String server) {
    return page(server, "<section>\n<p>The block cache of this RegionServer has no tiers. To "
      + "enable them, set <code>" + CompositeBucketCacheSettings.ENABLED_KEY + "=true</code>, L1 "
      + "in memory (<code>" + CompositeBucketCacheSettings.L1_PREFIX + "size</code>) and L2, "
      + "usually on a device (<code>" + CompositeBucketCacheSettings.L2_PREFIX
      + "ioengine</code>, <code>" + CompositeBucketCacheSettings.L2_PREFIX
      + "size</code>) in hbase-site.xml, and restart the RegionServer.</p>\n"
      + "<p><a href=\"/rs-status\">Status of this RegionServer</a></p>\n</section>\n");
  }

  static String of(String server, long now, CompositeBucketCacheMetrics metrics,
    List<TableUse> tables) {
    BlockCacheTiersPage page = new BlockCacheTiersPage(now, metrics);
    return page(server, page.lookups() + page.lastHour() + page.tiers() + tables(tables));
  }

  private static String page(String server, String sections) {
    return StatusTable.page("Block Cache Tiers", server, sections + MetricsSection.all());
  }

  private static String section(String title, String content) {
    return "<section>\n<h2>" + title + "</h2>\n" + content + "</section>\n";
  }

  private String lookups() {
    long[][] periods = { last(60), last(600), last(3600), sinceStart() };
    StatusTable table = new StatusTable("", "Minute", "10 min", "Hour", "Since start");
    row(table, "In L1", periods, sums -> share(sum(sums, Count.FIRST_HITS), all(sums)));
    row(table, "In L2", periods, sums -> share(sum(sums, Count.SECOND_HITS), all(sums)));
    row(table, "In neither", periods, sums -> share(sum(sums, Count.MISSES), all(sums)));
    row(table, "Lookups", periods, sums -> count(all(sums)));
    row(table, "Promotions", periods, sums -> count(sum(sums, Count.PROMOTIONS)));
    row(table, "Rejected", periods, sums -> count(sum(sums, Count.REJECTED_PROMOTIONS)));
    row(table, "Demotions", periods, sums -> count(sum(sums, Count.DEMOTIONS)));
    return section("Lookups by tier", table.html() + note("The first three as shares of all "
      + "lookups. A promotion copies a data block that was found in L2 into L1. It is rejected if "
      + "the block is read less often than those in L1. A demotion drops such a copy."));
  }

  private static void row(StatusTable table, String name, long[][] periods,
    Function<long[], String> cell) {
    table.row(name, Stream.of(periods).map(cell).toArray(String[]::new));
  }

  private static long sum(long[] sums, Count count) {
    return sums[count.ordinal()];
  }

  private static long all(long[] sums) {
    return sum(sums, Count.FIRST_HITS) + sum(sums, Count.SECOND_HITS) + sum(sums, Count.MISSES);
  }

  private long[] last(int seconds) {
    long[] sums = new long[Count.values().length];
    // A sample may be late, so time selects it; its middle counts, so that none is counted for a
    // moment.
    long since = now - seconds * 1000L;
    for (TierHistory.Sample sample : samples) {
      if (sample.getTime() - sample.getMillis() / 2 > since) {
        for (Count count : Count.values()) {
          sums[count.ordinal()] += sample.get(count);
        }
      }
    }
    return sums;
  }

  /** Returns the sums in the order of {@link Count}. */
  private long[] sinceStart() {
    return new long[] { value(0, "HitCount"), value(1, "HitCount"),
      value(0, "MissCount") + value(1, "MissCount"), value(0, "PromotedBlockCount"),
      value(0, "RejectedPromotionCount"), value(0, "DemotedBlockCount") };
  }

  private long value(int tier, String metric) {
    return values.get(tier).getOrDefault(metric, 0L);
  }

  private String lastHour() {
    if (samples.isEmpty()) {
      return section("The last hour", "<p>There is nothing to show yet: the first sample comes "
        + CompositeBucketCacheMetrics.SAMPLE_SECONDS
        + " seconds after the start, then one as often.</p>\n");
    }
    StatusTable table = new StatusTable("Until", "Lookups", "In L1", "In L1 or L2",
      "Promotions per second", "Demotions per second");
    for (int end = samples.size(); end > 0; end -= SAMPLES_PER_ROW) {
      int begin = Math.max(0, end - SAMPLES_PER_ROW);
      TierHistory.Sample sum = samples.get(begin);
      for (TierHistory.Sample next : samples.subList(begin + 1, end)) {
        sum = sum.and(next);
      }
      long l1 = sum.get(Count.FIRST_HITS);
      long any = l1 + sum.get(Count.SECOND_HITS);
      long lookups = any + sum.get(Count.MISSES);
      table.row(clock(sum.getTime()), count(lookups), share(l1, lookups), share(any, lookups),
        perSecond(sum, Count.PROMOTIONS), perSecond(sum, Count.DEMOTIONS));
    }
    return section("The last hour", table.html());
  }

  private String tiers() {
    StringBuilder html = new StringBuilder();
    tiers.forEach(tier -> html.append("<p class=\"w\"><b>").append(tier.getName())
      .append("</b> ").append(escape(tier.getIoEngine())).append("</p>\n"));
    long[] sums = sinceStart();
    long hits = sum(sums, Count.SECOND_HITS);
    StatusTable table = new StatusTable("", "L1", "L2")
      .row("Hit ratio", share(sum(sums, Count.FIRST_HITS), all(sums)),
        share(hits, hits + sum(sums, Count.MISSES)));
    Set<String> metrics = new LinkedHashSet<>();
    values.forEach(tier -> metrics.addAll(tier.keySet()));
    metrics.stream().sorted(Comparator.comparing(ERRORS::contains)).forEach(
      metric -> table.row(StatusTable.words(metric), cell(0, metric), cell(1, metric)));
    addLatency(table, "median", Summary::getMedian);
    addLatency(table, "95 %", Summary::getP95);
    addLatency(table, "99 %", Summary::getP99);
    addLatency(table, "99.9 %", Summary::getP999);
    addLatency(table, "max", Summary::getMax);
    return section("Tiers", html + table.html() + note("Counts are since the start, read latencies "
      + "of the last minute. L1's hit ratio is its hits by all lookups, L2's its hits by the "
      + "lookups that L1 left over. <a href=\"" + BlockCacheTiersServlet.PATH
      + "?format=json\">As JSON</a>, and the same in <a href=\"/jmx?qry=Hadoop:service=HBase,"
      + "name=RegionServer,sub=BlockCacheTiers\">JMX</a>."));
  }

  private String cell(int tier, String metric) {
    Long value = values.get(tier).get(metric);
    if (value == null) {
      return NONE;
    }
    if (metric.equals("DeviceState")) {
      return highlighted(value == 0 ? "in use" : "bypassed", value != 0);
    }
    String figure = StatusTable.value(metric, value);
    if (metric.equals("DroppedBlockCount") && tier == 1) {
      // Those of L2 are of evicted files, and leave its index within seconds.
      return figure;
    }
    return metric.equals("Used")
      ? figure + " <span class=\"d\">" + share(value, value(tier, "Capacity")) + "</span>"
      : highlighted(figure, value != 0 && ERRORS.contains(metric));
  }

  private void addLatency(StatusTable table, String name, ToLongFunction<Summary> value) {
    table.row("Read latency, " + name, tiers.stream().map(tier -> {
      Summary summary = tier.getReadLatencies().getSummary();
      return summary.getCount() == 0 ? NONE : time(value.applyAsLong(summary));
    }).toArray(String[]::new));
  }

  private static String tables(List<TableUse> tables) {
    if (tables.isEmpty()) {
      return section("Tables by use of L1", "<p>Nothing is cached yet.</p>\n");
    }
    StatusTable table = new StatusTable("Table", "L1", "Blocks in L1", "L2", "Blocks in L2");
    for (TableUse use : tables.subList(0, Math.min(TABLES, tables.size()))) {
      table.row(
        use.getTable() == null ? "<i>files that no region has open</i>" : escape(use.getTable()),
        bytes(use.getBytes(0)), count(use.getBlocks(0)), bytes(use.getBytes(1)),
        count(use.getBlocks(1)));
    }
    long rest = tables.stream().skip(TABLES).mapToLong(use -> use.getBytes(0)).sum();
    return section("Tables by use of L1",
      table.html() + (tables.size() <= TABLES ? "" : note(count(tables.size() - TABLES)
        + " more tables take " + bytes(rest) + " of L1; <a href=\"" + BlockCacheTiersServlet.PATH
        + "?format=json\">the JSON has all</a>.")));
  }

  static String time(long nanos) {
    return nanos < 100_000
      ? String.format(Locale.ROOT, nanos < 10_000 ? "%.2f \u00b5s" : "%.1f \u00b5s", nanos / 1e3)
      : String.format(Locale.ROOT, nanos < 10_000_000 ? "%.2f ms" : "%.0f ms", nanos / 1e6);
  }

  private static String perSecond(TierHistory.Sample sample, Count count) {
    return String.format(Locale.ROOT, "%,.1f",
      1000.0 * sample.get(count) / Math.max(1, sample.getMillis()));
  }

  private static String clock(long time) {
    return DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT)
      .format(Instant.ofEpochMilli(time).atZone(ZoneId.systemDefault()));
  }
}
