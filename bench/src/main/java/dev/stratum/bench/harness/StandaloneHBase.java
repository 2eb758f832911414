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
package dev.stratum.bench.harness;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.LocalHBaseCluster;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.master.HMaster;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.zookeeper.MiniZooKeeperCluster;

/**
 * HBase's standalone mode: ZooKeeper, a master and a RegionServer in this JVM, on free ports of the
 * loopback interface and without web pages, and a client of them.
 */
public final class StandaloneHBase implements Closeable {
  private final Configuration conf;
  private final MiniZooKeeperCluster zooKeeper;
  private LocalHBaseCluster cluster;
  private Connection connection;

  /**
   * Starts the servers.
   * @param conf   with {@value HConstants#HBASE_DIR} and all that the benchmark is about; gets what
   *               a client needs to connect
   * @param folder for their other files, which is there
   */
  public StandaloneHBase(Configuration conf, Path folder) throws Exception {
    this.conf = conf;
    conf.setBoolean(HConstants.CLUSTER_DISTRIBUTED, false);
    conf.set("hbase.tmp.dir", folder.resolve("tmp").toString());
    conf.set(HConstants.ZOOKEEPER_QUORUM, "localhost");
    conf.set("hbase.master.hostname", "localhost");
    conf.set("hbase.unsafe.regionserver.hostname", "localhost");
    conf.set("hbase.master.ipc.address", "127.0.0.1");
    conf.set("hbase.regionserver.ipc.address", "127.0.0.1");
    conf.setBoolean(LocalHBaseCluster.ASSIGN_RANDOM_PORTS, true);
    conf.setInt(HConstants.MASTER_INFO_PORT, -1);
    conf.setInt(HConstants.REGIONSERVER_INFO_PORT, -1);
    // How often the server reports, which the master waits for when it starts.
    conf.setInt("hbase.regionserver.msginterval", 500);
    // It waits 4.5 s for others unless this is the last one.
    conf.setInt("hbase.master.wait.on.regionservers.maxtostart", 1);
    conf.setBoolean("hbase.shutdown.hook", false);
    zooKeeper = new MiniZooKeeperCluster(conf);
    try {
      conf.setInt(HConstants.ZOOKEEPER_CLIENT_PORT,
        zooKeeper.startup(folder.resolve("zookeeper").toFile()));
      startServers();
    } catch (Exception | Error e) {
      close();
      throw e;
    }
  }

  private void startServers() throws Exception {
    cluster = new LocalHBaseCluster(conf, 1, 1, HMaster.class, HRegionServer.class);
    cluster.startup();
    connection = ConnectionFactory.createConnection(conf);
  }

  private void stopServers() throws IOException {
    if (connection != null) {
      connection.close();
      connection = null;
    }
    if (cluster != null) {
      cluster.shutdown();
      // The servers' threads still write to their folder.
      cluster.join();
      cluster = null;
    }
  }

  /** Stops the master and the RegionServer and starts others on what they left. */
  public void restart() throws Exception {
    stopServers();
    startServers();
  }

  /** Creates a table of one region, which stays where it is. */
  public void createTable(TableDescriptor table) throws IOException {
    try (Admin admin = connection.getAdmin()) {
      admin.balancerSwitch(false, true);
      admin.createTable(table);
    }
  }

  public Connection connection() {
    return connection;
  }

  public HRegionServer server() {
    return cluster.getRegionServer(0);
  }

  @Override
  public void close() throws IOException {
    if (MeasuredJvm.isEnding()) {
      return;
    }
    stopServers();
    zooKeeper.shutdown();
  }
}
