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
import org.apache.commons.lang3.exception.ExceptionUtils;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.LocalHBaseCluster;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.master.HMaster;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.zookeeper.MiniZooKeeperCluster;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;

/**
 * ZooKeeper, one master and one RegionServer in this JVM: HBase's standalone mode, as
 * {@code hbase master start} runs it, with a handle on the servers. Start it once; other threads
 * may watch and stop it.
 */
final class LocalCluster {
  private final Configuration conf;
  private volatile MiniZooKeeperCluster zooKeeper;
  private volatile LocalHBaseCluster servers;

  LocalCluster(Configuration conf) {
    this.conf = conf;
  }

  /** @throws Failure if the servers refuse their settings or are not ready in HBase's own time */
  void start() throws Exception {
    // One metrics system serves both servers of this JVM.
    DefaultMetricsSystem.setMiniClusterMode(true);
    zooKeeper = new MiniZooKeeperCluster(conf);
    zooKeeper.setDefaultClientPort(
      conf.getInt(HConstants.ZOOKEEPER_CLIENT_PORT, HConstants.DEFAULT_ZOOKEEPER_CLIENT_PORT));
    conf.setInt(HConstants.ZOOKEEPER_CLIENT_PORT,
      zooKeeper.startup(new File(conf.get(HConstants.ZOOKEEPER_DATA_DIR))));
    RunLocal.done("ZooKeeper is up");
    try {
      servers = new LocalHBaseCluster(conf, 1, 1, HMaster.class, HRegionServer.class);
      servers.startup();
    } catch (IOException | RuntimeException e) {
      Throwable cause = ExceptionUtils.getRootCause(e);
      String message = cause.getMessage() == null ? cause.toString() : cause.getMessage();
      throw new Failure("The servers refuse to start: " + message.replaceFirst("\\.$", "") + ".",
        e);
    }
  }

  /** Returns the server that has ended by itself or is about to, or null. */
  String endedServer() {
    LocalHBaseCluster cluster = servers;
    if (cluster == null) {
      return null;
    }
    if (cluster.getMasters().stream().anyMatch(master -> master.getMaster().isAborted()
      || master.getState() == Thread.State.TERMINATED)) {
      return "master";
    }
    return cluster.getRegionServers().stream().anyMatch(server -> server.getRegionServer()
      .isAborted() || server.getState() == Thread.State.TERMINATED) ? "RegionServer" : null;
  }

  int masterInfoPort() {
    return servers.getActiveMaster().getInfoServer().getPort();
  }

  HRegionServer regionServer() {
    return servers.getRegionServer(0);
  }

  /** @throws Failure if the configuration disables the block cache */
  BlockCache blockCache() throws Failure {
    return regionServer().getBlockCache().orElseThrow(() -> new Failure(
      "The RegionServer has no block cache; leave " + HConstants.HFILE_BLOCK_CACHE_SIZE_KEY
        + " and hbase.bucketcache.* as they are."));
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
