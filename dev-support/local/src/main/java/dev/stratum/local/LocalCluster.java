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
package dev.stratum.local;

import dev.stratum.local.RunLocal.Failure;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import org.apache.commons.lang3.exception.ExceptionUtils;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.LocalHBaseCluster;
import org.apache.hadoop.hbase.master.HMaster;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.zookeeper.MiniZooKeeperCluster;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;

/**
 * ZooKeeper, one master and one RegionServer in this JVM: HBase's standalone mode, as
 * {@code hbase master start} runs it, with all files in one folder and on the loopback interface.
 * Start it once; another thread may stop it.
 */
final class LocalCluster {
  private static final String HOST = "localhost";
  private static final String LOOPBACK = "127.0.0.1";

  private final Configuration conf;
  private volatile MiniZooKeeperCluster zooKeeper;
  private volatile LocalHBaseCluster servers;

  LocalCluster(Configuration conf) {
    this.conf = conf;
  }

  /**
   * Returns the configuration of a cluster.
   * @param folder   where everything is kept
   * @param l1Mb     size of the first cache tier, MB
   * @param l2Mb     size of the second cache tier, MB
   * @param settings {@code key=value}, which win over anything set here
   */
  static Configuration settings(Path folder, int l1Mb, int l2Mb, String... settings) {
    Configuration conf = HBaseConfiguration.create();
    conf.setBoolean(HConstants.CLUSTER_DISTRIBUTED, false);
    conf.set(HConstants.HBASE_DIR, "file://" + folder.resolve("hbase"));
    conf.set("hbase.tmp.dir", folder.resolve("tmp").toString());
    conf.set("hadoop.tmp.dir", folder.resolve("tmp").toString());
    conf.set(HConstants.ZOOKEEPER_DATA_DIR, folder.resolve("zookeeper").toString());
    // Hadoop's file: with checksums of its own cannot sync a stream, on which the WAL and with it
    // the recovery of a killed run depend; HBase verifies its blocks itself, as on HDFS.
    conf.setClass("fs.file.impl", RawLocalFileSystem.class, FileSystem.class);

    // Names that need no DNS.
    conf.set(HConstants.ZOOKEEPER_QUORUM, HOST);
    conf.set("hbase.master.hostname", HOST);
    conf.set("hbase.unsafe.regionserver.hostname", HOST);
    conf.set("hbase.master.ipc.address", LOOPBACK);
    conf.set("hbase.regionserver.ipc.address", LOOPBACK);
    conf.set("hbase.master.info.bindAddress", LOOPBACK);
    conf.set("hbase.regionserver.info.bindAddress", LOOPBACK);

    // One JVM: short waits for a cluster of one, and a short session, so that the next run after
    // a kill takes the regions over quickly.
    conf.setInt("hbase.master.wait.on.regionservers.maxtostart", 1);
    conf.setInt("hbase.regionserver.msginterval", 500);
    conf.setInt(HConstants.ZK_SESSION_TIMEOUT, 10_000);
    // The program stops the servers itself, in order.
    conf.setBoolean("hbase.shutdown.hook", false);

    // Two tiers of BucketCache (HBASE-23296), unlike the default.
    conf.setFloat(HConstants.HFILE_BLOCK_CACHE_SIZE_KEY, 0f);
    conf.setBoolean("hbase.bucketcache.composite.enabled", true);
    conf.setInt("hbase.bucketcache.l1.size", l1Mb);
    conf.set("hbase.bucketcache.l2.ioengine", "file:" + folder.resolve("l2.cache"));
    conf.setInt("hbase.bucketcache.l2.size", l2Mb);
    for (String setting : settings) {
      String[] pair = setting.split("=", 2);
      conf.set(pair[0], pair[1]);
    }
    return conf;
  }

  /** @throws Failure if the servers refuse their settings or a port is in use */
  void start() throws Exception {
    // One metrics system serves both servers of this JVM.
    DefaultMetricsSystem.setMiniClusterMode(true);
    zooKeeper = new MiniZooKeeperCluster(conf);
    // Another port is taken if this one is in use.
    zooKeeper.setDefaultClientPort(
      conf.getInt(HConstants.ZOOKEEPER_CLIENT_PORT, HConstants.DEFAULT_ZOOKEEPER_CLIENT_PORT));
    conf.setInt(HConstants.ZOOKEEPER_CLIENT_PORT,
      zooKeeper.startup(new File(conf.get(HConstants.ZOOKEEPER_DATA_DIR))));
    RunLocal.done("ZooKeeper is up");
    try {
      servers = new LocalHBaseCluster(conf, 1, 1, HMaster.class, HRegionServer.class);
      servers.startup();
    } catch (IOException | RuntimeException e) {
      // HBase names the key of a port in use, but not in the innermost exception.
      String message = ExceptionUtils.getThrowableList(e).stream().map(Throwable::getMessage)
        .filter(each -> each != null && each.contains("To switch ports use")).reduce((a, b) -> b)
        .orElse(String.valueOf(ExceptionUtils.getRootCause(e).getMessage()));
      throw new Failure("The servers refuse to start: " + message.replaceFirst("\\.$", "") + ".",
        e);
    }
  }

  /** Waits for the end of the RegionServer, which ends by itself when it fails. */
  void awaitEnd() throws InterruptedException {
    servers.getRegionServers().get(0).join();
  }

  int masterInfoPort() {
    return servers.getActiveMaster().getInfoServer().getPort();
  }

  HRegionServer regionServer() {
    return servers.getRegionServer(0);
  }

  /** Closes the regions, the WAL and ZooKeeper, in this order, and waits for each. */
  void stop() {
    if (servers != null) {
      servers.shutdown();
    }
    if (zooKeeper != null) {
      try {
        zooKeeper.shutdown();
      } catch (IOException e) {
        RunLocal.done("ZooKeeper did not stop in order: %s", e);
      }
    }
  }
}
