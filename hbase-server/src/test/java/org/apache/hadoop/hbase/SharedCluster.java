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
package org.apache.hadoop.hbase;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.ipc.NettyRpcServer;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.wal.WALFactory;

/**
 * The mini cluster that the test classes of one JVM share: HDFS, ZooKeeper, a master, and two
 * RegionServers with HBase's default handlers and all features enabled. The first has segments as
 * L2 and AsyncFSWAL, the second buckets and FSHLog. Regions stay where they are opened.
 * <p>
 * The first class that needs the cluster starts it; it ends with the JVM. A class has tables of its
 * own, and changes neither settings nor the number of servers. Keys are literals, so that the class
 * compiles in the export of any feature; a server ignores those of features that it lacks.
 */
public final class SharedCluster {
  /** Age at which a write without a sync is synced. */
  public static final int ASYNC_WAL_MILLIS = 10;
  public static final long TIMEOUT_MILLIS = 300_000;

  private static HBaseTestingUtility util;

  private SharedCluster() {
  }

  public static synchronized HBaseTestingUtility util() throws Exception {
    if (util == null) {
      util = start();
    }
    return util;
  }

  private static HBaseTestingUtility start() throws Exception {
    HBaseTestingUtility util = new HBaseTestingUtility();
    Path folder = util.getDataTestDir();
    util.getTestFileSystem().mkdirs(folder);
    Configuration conf = util.getConfiguration();
    conf.setInt(HConstants.REGION_SERVER_HANDLER_COUNT,
      HConstants.DEFAULT_REGION_SERVER_HANDLER_COUNT);
    conf.setInt(HConstants.REGIONSERVER_INFO_PORT, 0);
    setTiers(conf, "segments:" + folder + "/segments");
    setFeatures(conf);
    setClient(conf);
    // With these watermarks, large responses fill a connection.
    conf.setInt(NettyRpcServer.CHANNEL_WRITABLE_LOW_WATERMARK_KEY, 64 * 1024);
    conf.setInt(NettyRpcServer.CHANNEL_WRITABLE_HIGH_WATERMARK_KEY, 128 * 1024);
    conf.setInt("replication.source.sleepforretries", 10);
    util.startMiniCluster(1);
    MiniHBaseCluster cluster = util.getMiniHBaseCluster();
    setTiers(cluster.getConfiguration(), "file:" + folder + "/buckets");
    cluster.getConfiguration().set(WALFactory.WAL_PROVIDER, "filesystem");
    ServerName second =
      cluster.startRegionServerAndWait(TIMEOUT_MILLIS).getRegionServer().getServerName();
    util.waitFor(TIMEOUT_MILLIS, 20,
      () -> cluster.getMaster().getServerManager().isServerOnline(second));
    util.getAdmin().balancerSwitch(false, true);
    return util;
  }

  private static void setTiers(Configuration conf, String secondEngine) {
    conf.setBoolean("hbase.bucketcache.composite.enabled", true);
    conf.set(HConstants.HFILE_BLOCK_CACHE_SIZE_KEY, "0");
    conf.set("hbase.bucketcache.l1.size", "32");
    conf.set("hbase.bucketcache.l2.size", "65");
    conf.set("hbase.bucketcache.l2.ioengine", secondEngine);
    conf.setInt("hbase.segmentcache.segment.mb", 1);
  }

  private static void setFeatures(Configuration conf) {
    conf.setBoolean("hbase.rs.compaction.cache.handover.enabled", true);
    conf.setBoolean("hbase.regionserver.parallel.get.enabled", true);
    conf.setBoolean("hbase.regionserver.point.get.enabled", true);
    conf.setInt("hbase.regionserver.point.get.on.connection.thread.max", 7);
    conf.setInt("hbase.regionserver.row.cache.size.mb", 3);
    conf.setBoolean("hbase.regionserver.write.groups.enabled", true);
    conf.setBoolean("hbase.regionserver.increment.coalesce.enabled", true);
    conf.setLong("hbase.wal.async.sync.interval.ms", ASYNC_WAL_MILLIS);
    conf.setBoolean("hbase.server.netty.flush.consolidation.enabled", true);
    conf.setBoolean("hbase.client.netty.flush.consolidation.enabled", true);
  }

  /** Configures clients, more than there are handlers, that continue while regions move. */
  private static void setClient(Configuration conf) {
    // Multigets that wait for a region and lookups of its place share these threads.
    conf.setInt("hbase.hconnection.threads.max", 200);
    conf.setInt("hbase.hconnection.threads.core", 200);
    conf.setInt(HConstants.HBASE_CLIENT_RETRIES_NUMBER, 100);
    conf.setInt(HConstants.HBASE_CLIENT_PAUSE, 20);
  }

  /** Returns the server with segments as L2, and AsyncFSWAL. */
  public static HRegionServer first() throws Exception {
    return util().getMiniHBaseCluster().getRegionServer(0);
  }

  /** Returns the server with buckets as L2, and FSHLog. */
  public static HRegionServer second() throws Exception {
    return util().getMiniHBaseCluster().getRegionServer(1);
  }
}
