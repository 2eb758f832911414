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

import java.io.File;
import java.io.IOException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.LocalHBaseCluster;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.master.HMaster;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.util.JVMClusterUtil;
import org.apache.hadoop.hbase.zookeeper.MiniZooKeeperCluster;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * ZooKeeper, one master and one RegionServer in this JVM: HBase's standalone mode, as
 * {@code hbase master start} runs it, with a handle on the servers. Start it once; {@link #stop}
 * may be called from any thread, several times.
 */
final class LocalCluster {
  private static final Logger LOG = LoggerFactory.getLogger(LocalCluster.class);
  private static final long START_SECONDS = 180;
  private static final long POLL_MILLIS = 100;

  private final Configuration conf;
  private MiniZooKeeperCluster zooKeeper;
  private LocalHBaseCluster servers;

  /** @param conf gets the ports that were chosen */
  LocalCluster(Configuration conf) {
    this.conf = conf;
  }

  /** @throws RunLocalException if ZooKeeper does not get its port */
  synchronized void startZooKeeper() throws Exception {
    // One metrics system serves both servers of this JVM.
    DefaultMetricsSystem.setMiniClusterMode(true);
    int port =
      conf.getInt(HConstants.ZOOKEEPER_CLIENT_PORT, HConstants.DEFAULT_ZOOKEEPER_CLIENT_PORT);
    zooKeeper = new MiniZooKeeperCluster(conf);
    zooKeeper.setDefaultClientPort(port);
    int started = zooKeeper.startup(new File(conf.get(HConstants.ZOOKEEPER_DATA_DIR)));
    if (started != port) {
      throw new RunLocalException("Port " + port + " (" + HConstants.ZOOKEEPER_CLIENT_PORT
        + ") is in use; stop what listens there or choose another one with -D"
        + HConstants.ZOOKEEPER_CLIENT_PORT + "=PORT.");
    }
  }

  /** @throws RunLocalException if a server refuses its settings or ends before it is ready */
  void startServers() throws Exception {
    LocalHBaseCluster cluster;
    synchronized (this) {
      try {
        servers = new LocalHBaseCluster(conf, 1, 1, HMaster.class, HRegionServer.class);
      } catch (IOException | RuntimeException e) {
        throw new RunLocalException("The servers refuse to start: " + rootCause(e) + ".", e);
      }
      cluster = servers;
    }
    ExecutorService starter = Executors.newSingleThreadExecutor(task -> {
      Thread thread = new Thread(task, "start-servers");
      thread.setDaemon(true);
      return thread;
    });
    Future<Void> start = starter.submit(() -> {
      cluster.startup();
      return null;
    });
    starter.shutdown();
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS);
    while (true) {
      try {
        start.get(POLL_MILLIS, TimeUnit.MILLISECONDS);
        return;
      } catch (ExecutionException e) {
        throw new RunLocalException("The servers did not start: " + rootCause(e) + ".", e);
      } catch (TimeoutException e) {
        // LocalHBaseCluster continues to wait after a server has aborted, so that is checked here.
        String ended = endedServer();
        if (ended != null) {
          throw new RunLocalException("The " + ended + " ended while starting.");
        }
        if (System.nanoTime() > deadline) {
          throw new RunLocalException(
            "The servers were not ready within " + START_SECONDS + " s.");
        }
      }
    }
  }

  /** The server that has ended by itself or is about to, or null. */
  String endedServer() {
    LocalHBaseCluster cluster;
    synchronized (this) {
      cluster = servers;
    }
    if (cluster == null) {
      return null;
    }
    for (JVMClusterUtil.MasterThread master : cluster.getMasters()) {
      if (master.getMaster().isAborted() || master.getState() == Thread.State.TERMINATED) {
        return "master";
      }
    }
    for (JVMClusterUtil.RegionServerThread server : cluster.getRegionServers()) {
      if (
        server.getRegionServer().isAborted() || server.getState() == Thread.State.TERMINATED
      ) {
        return "RegionServer";
      }
    }
    return null;
  }

  HRegionServer regionServer() {
    return servers.getRegionServer(0);
  }

  /** @throws RunLocalException if the configuration disables the block cache */
  BlockCache blockCache() throws RunLocalException {
    return regionServer().getBlockCache().orElseThrow(() -> new RunLocalException(
      "The RegionServer has no block cache; leave " + HConstants.HFILE_BLOCK_CACHE_SIZE_KEY
        + " and hbase.bucketcache.* as they are."));
  }

  /** Closes the regions, the WAL and ZooKeeper, in this order, and waits for each. */
  synchronized void stop() {
    if (servers != null) {
      servers.shutdown();
      servers = null;
    }
    if (zooKeeper != null) {
      try {
        zooKeeper.shutdown();
      } catch (IOException e) {
        LOG.warn("ZooKeeper did not stop in order", e);
      }
      zooKeeper = null;
    }
  }

  private static String rootCause(Throwable thrown) {
    Throwable cause = thrown;
    while (cause.getCause() != null) {
      cause = cause.getCause();
    }
    String message = cause.getMessage() == null ? cause.toString() : cause.getMessage();
    return message.endsWith(".") ? message.substring(0, message.length() - 1) : message;
  }
}
