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
package dev.stratum.bench.workloads;

import dev.stratum.bench.blockcache.DelayedHdfsReads;
import dev.stratum.bench.blockcache.DelayedReads;
import dev.stratum.bench.wal.DelayedSyncWriter;
import dev.stratum.childprocess.Conversation;
import dev.stratum.processes.RegionServerProcess;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.CompactionState;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.CacheStats;
import org.apache.hadoop.hbase.ipc.RpcServer;
import org.apache.hadoop.hbase.metrics.BaseSourceImpl;
import org.apache.hadoop.hbase.metrics.Counter;
import org.apache.hadoop.hbase.metrics.ExceptionTrackingSource;
import org.apache.hadoop.hbase.metrics.Gauge;
import org.apache.hadoop.hbase.metrics.MetricRegistries;
import org.apache.hadoop.hbase.metrics.MetricRegistry;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HStore;
import org.apache.hadoop.hbase.util.FutureUtils;
import org.apache.hadoop.metrics2.lib.DynamicMetricsRegistry;
import org.apache.hbase.thirdparty.com.google.gson.JsonElement;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;
import org.apache.hbase.thirdparty.com.google.gson.JsonPrimitive;

/**
 * The RegionServer of a side. Its <code>start</code> also answers the class of its
 * <code>cache</code>, and how many general <code>handlers</code> it has. More requests:
 * <ul>
 * <li><code>counters</code>: what the JVM has used, what the block cache was asked, and the
 * exceptions that requests have got, by type;</li>
 * <li><code>awaitIdle</code>: answers when no flush or compaction runs any more;</li>
 * <li><code>flush</code> with <code>table</code>: flushes all that it has in memory;</li>
 * <li><code>storeFiles</code> with <code>table</code>: the most that a store of it has;</li>
 * <li><code>calibrate</code> with <code>micros</code>: answers how many ns to request to sleep
 * that long;</li>
 * <li><code>delay</code> with <code>micros</code> and <code>nanos</code>, the answer of
 * <code>calibrate</code>: from now on each read of the L2 file is delayed by that, each one of HDFS
 * by <code>hdfsMicros</code>, and each sync of a WAL by <code>syncMillis</code>; 0 ends it. Answers
 * the delays of L2 until now: <code>count</code> and mean <code>micros</code>;</li>
 * <li><code>prepareEvent</code> with <code>table</code> and <code>event</code>,
 * <code>beginEvent</code> with the <code>seconds</code> of the run that begins now, and
 * <code>endEvent</code>: a {@link MaintenanceEvent} in the middle of that run;</li>
 * <li><code>profile</code>, and <code>flameGraph</code> with <code>title</code> and
 * <code>file</code>: what was sampled between the two.</li>
 * </ul>
 */
final class MeasuredRegionServerProcess extends RegionServerProcess {
  private static final Set<String> FORK_METRICS = Set.of("Handlers", "Responses", "Multiget");
  /** All, and those that have a type of their own. */
  private static final List<String> EXCEPTIONS = List.of(ExceptionTrackingSource.EXCEPTIONS_NAME,
    ExceptionTrackingSource.EXCEPTIONS_BUSY_NAME, ExceptionTrackingSource.EXCEPTIONS_NSRE_NAME,
    ExceptionTrackingSource.EXCEPTIONS_CALL_QUEUE_TOO_BIG,
    ExceptionTrackingSource.EXCEPTIONS_CALL_DROPPED,
    ExceptionTrackingSource.EXCEPTIONS_CALL_TIMED_OUT,
    ExceptionTrackingSource.EXCEPTIONS_SANITY_NAME, ExceptionTrackingSource.OTHER_EXCEPTIONS);
  /** What is so many now, not since the start. */
  private static final Set<String> STATES =
    Set.of("CpuHeadroomCount", "ThreadCount", "PendingHandoffCount");
  private static final Pattern GENERAL_HANDLER =
    Pattern.compile("RpcServer\\.default\\..*\\.handler=");
  private static final int FLUSHES = 8;
  private static final long IDLE_TIMEOUT_SECONDS = 300;
  private static final long POLL_MILLIS = 50;
  /** Longer than it takes from a flush's end to the compaction that follows it. */
  private static final long IDLE_MILLIS = 500;

  private DelayedReads delayedReads;
  private boolean isDelayed;
  private FlameGraph flameGraph;
  private MaintenanceEvent event;
  /** Null unless an event moves regions. */
  private SecondRegionServer second;

  private MeasuredRegionServerProcess() {
  }

  public static void main(String[] args) throws InterruptedException {
    Conversation.hold(new MeasuredRegionServerProcess());
  }

  @Override
  public JsonElement answer(JsonObject request, Conversation conversation) throws Exception {
    switch (request.get("do").getAsString()) {
      case "counters":
        return counters();
      case "awaitIdle":
        awaitIdle();
        return null;
      case "flush":
        flush(request.get("table").getAsString());
        return null;
      case "storeFiles":
        return new JsonPrimitive(storeFiles(request.get("table").getAsString()));
      case "delay":
        DelayedHdfsReads.delay(request.get("hdfsMicros").getAsInt());
        DelayedSyncWriter.delay(request.get("syncMillis").getAsInt());
        return delayReads(request.get("micros").getAsInt(), request.get("nanos").getAsLong());
      case "calibrate":
        return new JsonPrimitive(DelayedReads.calibrate(request.get("micros").getAsInt()));
      case "prepareEvent":
        prepareEvent(request.get("table").getAsString(), request.get("event").getAsString());
        return null;
      case "beginEvent":
        event.begin(request.get("seconds").getAsDouble());
        return null;
      case "endEvent":
        return endEvent();
      case "profile":
        flameGraph = new FlameGraph();
        return null;
      case "flameGraph":
        FlameGraph.finish(flameGraph, request);
        return null;
      default:
        return super.answer(request, conversation);
    }
  }

  @Override
  protected JsonObject start(Configuration conf) throws Exception {
    // The JVM forgets all that it has compiled when a class of reads is changed: before any.
    delayedReads = new DelayedReads(1, 0);
    DelayedHdfsReads.install();
    ServerSettings.setCodecs(conf);
    JsonObject answer = super.start(conf);
    answer.addProperty("cache", server().getBlockCache().map(c -> c.getClass().getSimpleName())
      .orElse("none"));
    answer.addProperty("handlers", handlers());
    return answer;
  }

  private static long handlers() {
    return Thread.getAllStackTraces().keySet().stream()
      .filter(thread -> GENERAL_HANDLER.matcher(thread.getName()).lookingAt()).count();
  }

  private JsonObject counters() {
    JsonObject counters = JvmCounters.read();
    // Stock has none of them.
    for (MetricRegistry registry : MetricRegistries.global().getMetricRegistries()) {
      String name = registry.getMetricRegistryInfo().getMetricsName();
      if (FORK_METRICS.contains(name)) {
        registry.getMetrics().forEach((metric, value) -> {
          if (!STATES.contains(metric)) {
            counters.addProperty(
              metric.substring(0, 1).toLowerCase(Locale.ROOT) + metric.substring(1),
              value instanceof Counter
                ? ((Counter) value).getCount()
                : (Number) ((Gauge<?>) value).getValue());
          }
        });
      }
    }
    DynamicMetricsRegistry calls =
      ((BaseSourceImpl) ((RpcServer) server().getRpcServer()).getMetrics().getMetricsSource())
        .getMetricsRegistry();
    for (String type : EXCEPTIONS) {
      long count = calls.getCounter(type, 0).value();
      if (count > 0) {
        counters.addProperty(type, count);
      }
    }
    BlockCache cache = server().getBlockCache().orElse(null);
    if (cache == null) {
      return counters;
    }
    CacheStats all = cache.getStats();
    counters.addProperty("cacheHits", all.getHitCount());
    counters.addProperty("cacheMisses", all.getMissCount());
    BlockCache[] tiers = cache.getBlockCaches();
    for (int i = 0; tiers != null && i < tiers.length; i++) {
      counters.addProperty("l" + (i + 1) + "Hits", tiers[i].getStats().getHitCount());
      counters.addProperty("l" + (i + 1) + "Evicted", tiers[i].getStats().getEvictedCount());
    }
    return counters;
  }

  private void awaitIdle() throws InterruptedException, SuiteException {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(IDLE_TIMEOUT_SECONDS);
    long idleSince = System.nanoTime();
    while (System.nanoTime() - idleSince < TimeUnit.MILLISECONDS.toNanos(IDLE_MILLIS)) {
      if (isBusy()) {
        idleSince = System.nanoTime();
      }
      if (System.nanoTime() > end) {
        throw new SuiteException(
          "Flushes and compactions went on for " + IDLE_TIMEOUT_SECONDS + " s.");
      }
      Thread.sleep(POLL_MILLIS);
    }
  }

  private void prepareEvent(String table, String kind)
    throws IOException, InterruptedException, SuiteException {
    Supplier<ReadMisses> misses =
      () -> ReadMisses.of(server().getBlockCache().orElseThrow().getStats())
        .plus(second == null ? ReadMisses.NONE : second.misses());
    MaintenanceEvent.Change change = this::split;
    if (kind.equals("move")) {
      second = new SecondRegionServer(server());
      change = second::take;
    } else if (kind.equals("restart")) {
      second = new SecondRegionServer(server());
      second.take(regions(table));
      second.cache(TableName.valueOf(table));
      change = any -> second.restart();
    }
    event = new MaintenanceEvent(() -> regions(table), misses, kind, change);
    event.prepare();
  }

  private JsonObject endEvent() throws IOException, InterruptedException {
    JsonObject result = event.end();
    if (second != null) {
      result.addProperty("cachedBytes", second.cachedBytes());
      second.close();
      second = null;
    }
    return result;
  }

  private void split(List<HRegion> all) throws IOException {
    try (Admin admin = server().getConnection().getAdmin()) {
      for (HRegion region : all) {
        FutureUtils.get(admin.splitRegionAsync(region.getRegionInfo().getRegionName()));
      }
    }
  }

  private List<HRegion> regions(String table) {
    List<HRegion> regions = new ArrayList<>(server().getRegions(TableName.valueOf(table)));
    if (second != null) {
      regions.addAll(second.regions(TableName.valueOf(table)));
    }
    return regions;
  }

  /**
   * Flushes all that a table has in memory, several regions at a time, as a flush mostly waits for
   * HDFS. The master's way to do it waits for good if a region is just being flushed: its procedure
   * may be told so before it waits to be told.
   */
  private void flush(String table) throws InterruptedException, ExecutionException {
    ExecutorService threads = Executors.newFixedThreadPool(FLUSHES);
    try {
      List<Callable<Void>> flushes = new ArrayList<>();
      regions(table).forEach(region -> flushes.add(() -> flush(region)));
      for (Future<Void> flush : threads.invokeAll(flushes)) {
        flush.get();
      }
    } finally {
      threads.shutdown();
    }
  }

  private static Void flush(HRegion region) throws IOException {
    while (region.getMemStoreDataSize() > 0) {
      region.waitForFlushes();
      region.flush(true);
    }
    return null;
  }

  /** Counts files that were not compacted; the cache forgets the blocks of others now. */
  private int storeFiles(String table) throws IOException {
    int count = 0;
    for (HRegion region : regions(table)) {
      for (HStore store : region.getStores()) {
        store.closeAndArchiveCompactedFiles();
        count = Math.max(count, store.getStorefilesCount());
      }
    }
    return count;
  }

  private boolean isBusy() {
    return server().getMetrics().getRegionServerWrapper().getFlushQueueSize() > 0
      || server().getCompactSplitThread().getCompactionQueueSize() > 0
      || server().getOnlineRegionsLocalContext().stream().anyMatch(
        region -> ((HRegion) region).getCompactionState() != CompactionState.NONE);
  }

  private JsonObject delayReads(int micros, long nanos) {
    JsonObject answer = new JsonObject();
    if (isDelayed) {
      answer.addProperty("count", delayedReads.count());
      answer.addProperty("micros", delayedReads.count() == 0 ? 0 : delayedReads.meanMicros());
      delayedReads.pause();
    }
    isDelayed = micros > 0;
    if (isDelayed) {
      delayedReads.resume(micros, nanos);
    }
    return answer;
  }
}
