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
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HRegionServer;

/**
 * Another RegionServer in the JVM of the first one, with an empty block cache of its own, to which
 * regions move. Used by one thread at a time.
 */
final class SecondRegionServer implements Closeable {
  private static final long LIMIT_NS = TimeUnit.MINUTES.toNanos(2);
  private static final long POLL_MILLIS = 5;
  private static final List<String> FILES = List.of("hbase.bucketcache.ioengine",
    "hbase.bucketcache.l2.ioengine");

  private interface Condition {
    boolean isTrue();
  }

  private final HRegionServer first;
  private final HRegionServer server;

  /** Starts it, and has the master move regions only when told to. */
  SecondRegionServer(HRegionServer first) throws IOException, InterruptedException {
    this.first = first;
    server = new HRegionServer(configuration(first.getConfiguration()));
    server.start();
    await("The second RegionServer was not online", server::isOnline);
    try (Admin admin = first.getConnection().getAdmin()) {
      admin.balancerSwitch(false, true);
    }
  }

  /** The settings of the first one, with another file of L2. */
  static Configuration configuration(Configuration first) {
    Configuration conf = new Configuration(first);
    for (String key : FILES) {
      if (conf.get(key, "").startsWith("file:")) {
        conf.set(key, conf.get(key) + ".second");
      }
    }
    conf.setInt(HConstants.REGIONSERVER_PORT, 0);
    return conf;
  }

  private static void await(String otherwise, Condition condition)
    throws IOException, InterruptedException {
    long deadline = System.nanoTime() + LIMIT_NS;
    while (!condition.isTrue()) {
      if (System.nanoTime() - deadline > 0) {
        throw new IOException(
          otherwise + " within " + TimeUnit.NANOSECONDS.toSeconds(LIMIT_NS) + " s.");
      }
      Thread.sleep(POLL_MILLIS);
    }
  }

  List<HRegion> regions(TableName table) {
    return server.getRegions(table);
  }

  /** Returns how many lookups of reads have found no block. */
  long misses() {
    return server.getBlockCache().map(cache -> cache.getStats().getMissCachingCount()).orElse(0L);
  }

  /** Returns how many bytes are cached. */
  long cachedBytes() {
    return server.getBlockCache().map(cache -> cache.getCurrentSize()).orElse(0L);
  }

  /** Moves a region of the first one here, and returns when it serves. */
  void take(HRegion region) throws IOException {
    move(region, server);
  }

  private void move(HRegion region, HRegionServer to) throws IOException {
    try (Admin admin = first.getConnection().getAdmin()) {
      admin.move(region.getRegionInfo().getEncodedNameAsBytes(), to.getServerName());
      await("A region was not moved",
        () -> to.getOnlineRegion(region.getRegionInfo().getRegionName()) != null);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Moves all regions to the first one, and stops. */
  @Override
  public void close() throws IOException {
    for (Object region : server.getRegions()) {
      move((HRegion) region, first);
    }
    server.stop("no longer needed");
    try {
      server.join();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
