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

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.LocalHBaseCluster;

/** The HBase configuration of a run: everything in one folder and on the loopback interface. */
final class LocalSettings {
  /** Enables the two BucketCache tiers (HBASE-23296). */
  static final String COMPOSITE_ENABLED = "hbase.bucketcache.composite.enabled";
  static final String HOST = "localhost";
  private static final String LOOPBACK = "127.0.0.1";

  private LocalSettings() {
  }

  /**
   * @param folder    where everything is kept
   * @param l1Mb      size of the first cache tier, MB
   * @param l2Mb      size of the second cache tier, MB
   * @param overrides keys that win over anything set here
   */
  static Configuration create(Path folder, int l1Mb, int l2Mb, Map<String, String> overrides) {
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
    // This program stops the servers itself, in order.
    conf.setBoolean("hbase.shutdown.hook", false);

    // Unlike the default.
    conf.setBoolean(COMPOSITE_ENABLED, true);
    setAll(conf, overrides);
    if (conf.getBoolean(COMPOSITE_ENABLED, true)) {
      conf.setFloat(HConstants.HFILE_BLOCK_CACHE_SIZE_KEY, 0f);
      conf.set("hbase.bucketcache.l1.ioengine", "offheap");
      conf.setInt("hbase.bucketcache.l1.size", l1Mb);
      conf.set("hbase.bucketcache.l2.ioengine", "file:" + folder.resolve("l2.cache"));
      conf.setInt("hbase.bucketcache.l2.size", l2Mb);
    } else {
      double heapMb = Runtime.getRuntime().maxMemory() / 1048576.0;
      conf.setFloat(HConstants.HFILE_BLOCK_CACHE_SIZE_KEY, (float) (l1Mb / heapMb));
      conf.set(HConstants.BUCKET_CACHE_IOENGINE_KEY, "file:" + folder.resolve("l2.cache"));
      conf.setInt(HConstants.BUCKET_CACHE_SIZE_KEY, l2Mb);
    }
    setAll(conf, overrides);
    return conf;
  }

  /** The ports that the servers will listen on, by key; without those that are chosen freely. */
  static Map<String, Integer> fixedPorts(Configuration conf) {
    Map<String, Integer> defaults = new LinkedHashMap<>();
    defaults.put(HConstants.ZOOKEEPER_CLIENT_PORT, HConstants.DEFAULT_ZOOKEEPER_CLIENT_PORT);
    defaults.put(HConstants.MASTER_PORT, HConstants.DEFAULT_MASTER_PORT);
    defaults.put(HConstants.MASTER_INFO_PORT, HConstants.DEFAULT_MASTER_INFOPORT);
    defaults.put(HConstants.REGIONSERVER_PORT, HConstants.DEFAULT_REGIONSERVER_PORT);
    defaults.put(HConstants.REGIONSERVER_INFO_PORT, HConstants.DEFAULT_REGIONSERVER_INFOPORT);
    boolean random = conf.getBoolean(LocalHBaseCluster.ASSIGN_RANDOM_PORTS, false);
    Map<String, Integer> ports = new LinkedHashMap<>();
    defaults.forEach((key, standard) -> {
      int port = conf.getInt(key, standard);
      boolean replaced =
        random && port == standard && !key.equals(HConstants.ZOOKEEPER_CLIENT_PORT);
      if (port > 0 && !replaced) {
        ports.put(key, port);
      }
    });
    return ports;
  }

  private static void setAll(Configuration conf, Map<String, String> values) {
    values.forEach(conf::set);
  }
}
