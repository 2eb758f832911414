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

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.regionserver.RegionScanner;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;

/**
 * Another RegionServer in the JVM of the first one, to which regions move. It has a block cache of
 * its own, empty at first, whose L2 outlives a restart. Used by one thread at a time.
 */
final class SecondRegionServer implements Closeable {
  private static final long LIMIT_NS = TimeUnit.MINUTES.toNanos(2);
  private static final long POLL_MILLIS = 20;
  private static final String FILE = "file:";
  /** The keys of stock's L2 and of the fork's. */
  private static final List<String> CACHES = List.of("hbase.bucketcache.",
    "hbase.bucketcache.l2.");

  private interface Condition {
    boolean isTrue() throws IOException;
  }

  private final HRegionServer first;
  private volatile HRegionServer server;
  /** The misses of servers that were stopped; guarded by this. */
  private ReadMisses earlierMisses = ReadMisses.NONE;

  /** Starts it, and has the master move regions only when told to. */
  SecondRegionServer(HRegionServer first) throws IOException {
    this.first = first;
    // Or two servers of a JVM may not have metrics of the same names.
    DefaultMetricsSystem.setMiniClusterMode(true);
    try (Admin admin = first.getConnection().getAdmin()) {
      admin.balancerSwitch(false, true);
    }
    start();
  }

  /** Returns the settings of the first one, with another file of L2. */
  static Configuration configuration(Configuration first) {
    Configuration conf = new Configuration(first);
    for (String cache : CACHES) {
      String engine = conf.get(cache + "ioengine", "");
      if (engine.startsWith(FILE)) {
        conf.set(cache + "ioengine", engine + ".second");
        conf.set(cache + "persistent.path", engine.substring(FILE.length()) + ".second.map");
      }
    }
    conf.setInt(HConstants.REGIONSERVER_PORT, 0);
    return conf;
  }

  private void start() throws IOException {
    HRegionServer started = new HRegionServer(configuration(first.getConfiguration()));
    started.start();
    await("The second RegionServer was not online",
      () -> started.isOnline() || started.isAborted());
    if (started.isAborted()) {
      throw new IOException("The second RegionServer ended while starting.");
    }
    synchronized (this) {
      earlierMisses = server == null ? earlierMisses : earlierMisses.plus(misses(server));
      server = started;
    }
  }

  private void stop() {
    server.stop("as it was told to");
    try {
      server.join();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static void await(String otherwise, Condition condition) throws IOException {
    long deadline = System.nanoTime() + LIMIT_NS;
    while (!condition.isTrue()) {
      if (System.nanoTime() - deadline > 0) {
        throw new IOException(
          otherwise + " within " + TimeUnit.NANOSECONDS.toSeconds(LIMIT_NS) + " s.");
      }
      try {
        Thread.sleep(POLL_MILLIS);
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  List<HRegion> regions(TableName table) {
    return server.getRegions(table);
  }

  /** Returns the misses of its cache, before restarts too. */
  synchronized ReadMisses misses() {
    return earlierMisses.plus(misses(server));
  }

  private static ReadMisses misses(HRegionServer server) {
    return server.getBlockCache().map(cache -> ReadMisses.of(cache.getStats()))
      .orElse(ReadMisses.NONE);
  }

  /** Returns how many bytes are cached. */
  long cachedBytes() {
    return server.getBlockCache().map(cache -> cache.getCurrentSize()).orElse(0L);
  }

  /** Moves regions of the first one here, and returns when they serve. */
  void take(List<HRegion> regions) throws IOException {
    move(regions, server);
  }

  /** Reads all rows of a table that are here. */
  void cache(TableName table) throws IOException {
    for (HRegion region : regions(table)) {
      try (RegionScanner scanner = region.getScanner(new Scan())) {
        List<Cell> row = new ArrayList<>();
        boolean more = true;
        while (more) {
          row.clear();
          more = scanner.next(row);
        }
      }
    }
  }

  /** Stops and starts it as in a rolling restart: regions are with the first one meanwhile. */
  void restart() throws IOException {
    List<HRegion> regions = new ArrayList<>(all());
    move(regions, first);
    stop();
    start();
    move(regions, server);
  }

  private List<HRegion> all() {
    List<HRegion> regions = new ArrayList<>();
    server.getRegions().forEach(region -> regions.add((HRegion) region));
    return regions;
  }

  private void move(List<HRegion> regions, HRegionServer to) throws IOException {
    try (Admin admin = first.getConnection().getAdmin()) {
      for (HRegion region : regions) {
        // The master moves it elsewhere while it does not know of the server yet.
        await("A region was not moved", () -> {
          admin.move(region.getRegionInfo().getEncodedNameAsBytes(), to.getServerName());
          return to.getOnlineRegion(region.getRegionInfo().getRegionName()) != null;
        });
      }
    }
  }

  /** Moves all regions to the first one, and stops. */
  @Override
  public void close() throws IOException {
    move(all(), first);
    stop();
  }
}
