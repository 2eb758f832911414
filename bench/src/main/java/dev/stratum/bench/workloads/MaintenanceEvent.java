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

import java.io.IOException;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HStore;
import org.apache.hadoop.hbase.regionserver.RegionScanner;
import org.apache.hbase.thirdparty.com.google.gson.JsonArray;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;

/**
 * A major compaction, a flush, a split, a move or a restart in the middle of a run, and what reads
 * find in the block cache before, during and after it, second by second. For the first two, a tenth
 * of the rows is written anew. One event at a time; used by one thread.
 */
final class MaintenanceEvent {
  private static final int REWRITTEN = 10;
  /** The part of the run before the event. */
  private static final double BEFORE = 0.3;
  private static final int TEN = 10;

  /** Splits or moves regions, and returns when they serve again. */
  interface Change {
    void apply(List<HRegion> all) throws IOException;
  }

  private final Supplier<List<HRegion>> regions;
  private final Supplier<ReadMisses> cacheMisses;
  private final String kind;
  private final Change change;
  /** The reads of each region that ever existed, as of the last sample. */
  private final Map<HRegion, Long> readsOfRegions = new IdentityHashMap<>();
  private final List<Thread> threads = new ArrayList<>();
  private final JsonArray seconds = new JsonArray();
  private volatile IOException failure;
  private volatile double started;
  private volatile double ended;

  /**
   * @param regions     of a table that nothing else writes to
   * @param cacheMisses of all caches that have had blocks of the regions
   * @param kind        <code>compaction</code>, <code>flush</code>, <code>split</code>,
   *                    <code>move</code> or <code>restart</code>
   * @param change      for the last three
   */
  MaintenanceEvent(Supplier<List<HRegion>> regions, Supplier<ReadMisses> cacheMisses,
    String kind, Change change) throws SuiteException {
    if (!List.of("compaction", "flush", "split", "move", "restart").contains(kind)) {
      throw new SuiteException(
        "event=" + kind + " of a case is not known: compaction, flush, split, move or restart.");
    }
    this.regions = regions;
    this.cacheMisses = cacheMisses;
    this.kind = kind;
    this.change = change;
  }

  /** Writes rows anew, and flushes them if they are to be compacted. */
  void prepare() throws IOException {
    for (HRegion region : regions.get()) {
      if (kind.equals("split")) {
        // The region may be a daughter of an earlier split: one with references is not split.
        region.compact(true);
        for (HStore store : region.getStores()) {
          store.closeAndArchiveCompactedFiles();
        }
        continue;
      }
      if (kind.equals("move") || kind.equals("restart")) {
        continue;
      }
      for (Put put : tenth(region)) {
        region.put(put);
      }
      if (kind.equals("compaction")) {
        region.flush(true);
      }
    }
  }

  private static List<Put> tenth(HRegion region) throws IOException {
    List<Put> puts = new ArrayList<>();
    try (RegionScanner scanner = region.getScanner(new Scan().setCacheBlocks(false))) {
      List<Cell> row = new ArrayList<>();
      boolean more = true;
      for (int i = 0; more; i++) {
        row.clear();
        more = scanner.next(row);
        if (i % REWRITTEN == 0 && !row.isEmpty()) {
          Put put = new Put(CellUtil.cloneRow(row.get(0))).setDurability(Durability.SKIP_WAL);
          row.forEach(cell -> put.addColumn(CellUtil.cloneFamily(cell),
            CellUtil.cloneQualifier(cell), CellUtil.cloneValue(cell)));
          puts.add(put);
        }
      }
    }
    return puts;
  }

  /** Begins to sample, and has the event happen after a third of a run of so many seconds. */
  void begin(double length) {
    ReadMisses misses = cacheMisses.get();
    long reads = reads();
    long start = System.nanoTime();
    start("event", () -> happen(start, length * BEFORE));
    start("samples", () -> sample(start, (int) length, misses, reads));
  }

  private void start(String name, Runnable task) {
    Thread thread = new Thread(task, "maintenance-" + name);
    thread.setDaemon(true);
    thread.setUncaughtExceptionHandler((failed, error) -> failure = new IOException(error));
    threads.add(thread);
    thread.start();
  }

  private static void sleepUntil(long nanos) {
    try {
      TimeUnit.NANOSECONDS.sleep(nanos - System.nanoTime());
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private void happen(long start, double second) {
    sleepUntil(start + (long) (second * 1e9));
    started = (System.nanoTime() - start) / 1e9;
    try {
      List<HRegion> all = regions.get();
      switch (kind) {
        case "compaction":
          for (HRegion region : all) {
            region.compact(true);
          }
          break;
        case "flush":
          for (HRegion region : all) {
            region.flush(true);
          }
          break;
        default:
          reads();
          change.apply(all);
      }
    } catch (IOException e) {
      failure = e;
    }
    ended = (System.nanoTime() - start) / 1e9;
  }

  /** Reads like reads that cache their blocks: no compaction, and no prefetch. */
  private void sample(long start, int count, ReadMisses missesBefore, long readsBefore) {
    ReadMisses misses = missesBefore;
    long reads = readsBefore;
    for (int second = 1; second <= count; second++) {
      sleepUntil(start + TimeUnit.SECONDS.toNanos(second));
      ReadMisses missesNow = cacheMisses.get();
      long readsNow = reads();
      JsonObject sample = new JsonObject();
      sample.addProperty("second", second);
      sample.addProperty("reads", readsNow - reads);
      missesNow.since(misses).addTo(sample);
      synchronized (seconds) {
        seconds.add(sample);
      }
      misses = missesNow;
      reads = readsNow;
    }
  }

  /** Returns the reads; a region that is gone has the reads that it had. */
  private synchronized long reads() {
    for (HRegion region : regions.get()) {
      readsOfRegions.put(region, region.getReadRequestsCount());
    }
    return readsOfRegions.values().stream().mapToLong(Long::longValue).sum();
  }

  /**
   * Waits for the end of event and samples.
   * @return <code>started</code> and <code>ended</code>, in seconds of the run; the samples as
   *         <code>seconds</code>, each with its <code>reads</code> and the misses of
   *         {@link ReadMisses#addTo}; and misses per 100 reads <code>before</code> the event,
   *         <code>since</code> it began until the end of the run, in the
   *         <code>worstSecond</code> and the <code>worstTen</code> seconds of that, and from ten
   *         seconds <code>after</code> its end on
   */
  JsonObject end() throws IOException, InterruptedException {
    for (Thread thread : threads) {
      thread.join();
    }
    if (failure != null) {
      throw failure;
    }
    JsonObject result = new JsonObject();
    result.addProperty("started", started);
    result.addProperty("ended", ended);
    result.add("seconds", seconds);
    int first = (int) started;
    result.addProperty("before", missesPer100(seconds, 0, first));
    result.addProperty("since", missesPer100(seconds, first, seconds.size()));
    result.addProperty("worstSecond", worst(seconds, first, 1));
    result.addProperty("worstTen", worst(seconds, first, TEN));
    result.addProperty("after",
      missesPer100(seconds, Math.min((int) ended + TEN, seconds.size()), seconds.size()));
    return result;
  }

  /** Returns the largest number of misses per 100 reads of so many consecutive seconds. */
  static double worst(JsonArray seconds, int from, int length) {
    double worst = 0;
    for (int i = from; i < seconds.size(); i++) {
      worst = Math.max(worst, missesPer100(seconds, i, Math.min(i + length, seconds.size())));
      if (i + length >= seconds.size()) {
        break;
      }
    }
    return worst;
  }

  static double missesPer100(JsonArray seconds, int from, int to) {
    double reads = 0;
    double misses = 0;
    for (int i = from; i < to; i++) {
      reads += seconds.get(i).getAsJsonObject().get("reads").getAsDouble();
      misses += seconds.get(i).getAsJsonObject().get("misses").getAsDouble();
    }
    return reads == 0 ? 0 : Math.round(10_000 * misses / reads) / 100.0;
  }
}
