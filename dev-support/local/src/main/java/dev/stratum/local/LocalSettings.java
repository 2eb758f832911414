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

import com.sun.management.OperatingSystemMXBean;
import dev.stratum.local.RunLocal.Failure;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.LocalHBaseCluster;

/**
 * The HBase configuration of a run, everything in one folder and on the loopback interface, and
 * what must hold before servers start with it; each violation is one sentence with a remedy.
 */
final class LocalSettings {
  /** Enables the two BucketCache tiers (HBASE-23296). */
  static final String COMPOSITE_ENABLED = "hbase.bucketcache.composite.enabled";
  private static final String HOST = "localhost";
  private static final String LOOPBACK = "127.0.0.1";
  private static final Map<String, Integer> STANDARD_PORTS =
    Map.of(HConstants.ZOOKEEPER_CLIENT_PORT, HConstants.DEFAULT_ZOOKEEPER_CLIENT_PORT,
      HConstants.MASTER_PORT, HConstants.DEFAULT_MASTER_PORT, HConstants.MASTER_INFO_PORT,
      HConstants.DEFAULT_MASTER_INFOPORT, HConstants.REGIONSERVER_PORT,
      HConstants.DEFAULT_REGIONSERVER_PORT, HConstants.REGIONSERVER_INFO_PORT,
      HConstants.DEFAULT_REGIONSERVER_INFOPORT);
  private static final long MB = 1 << 20;
  /** Code, thread stacks and the collector's own memory, as seen on JDK 17. */
  private static final long JVM_OVERHEAD_MB = 300;
  /** Row keys, cell headers and the files of a compaction beside those that they replace. */
  private static final int DISK_BYTES_PER_ROW = 6 * UserTable.ROW_BYTES;

  private LocalSettings() {
  }

  /**
   * @param folder   where everything is kept
   * @param l1Mb     size of the first cache tier, MB
   * @param l2Mb     size of the second cache tier, MB
   * @param settings {@code key=value}, which win over anything set here
   */
  static Configuration create(Path folder, int l1Mb, int l2Mb, String... settings) {
    Configuration conf = HBaseConfiguration.create();
    conf.setBoolean(HConstants.CLUSTER_DISTRIBUTED, false);
    conf.set(HConstants.HBASE_DIR, "file://" + folder.resolve("hbase"));
    conf.set("hbase.tmp.dir", folder.resolve("tmp").toString());
    conf.set("hadoop.tmp.dir", folder.resolve("tmp").toString());
    conf.set(HConstants.ZOOKEEPER_DATA_DIR, folder.resolve("zookeeper").toString());
    // Hadoop's local file system with checksums cannot sync a stream, on which the WAL and with it
    // the recovery of a killed run depend; HBase verifies its blocks itself, as on HDFS.
    conf.setClass("fs.file.impl", RawLocalFileSystem.class, FileSystem.class);

    // These names need no DNS.
    conf.set(HConstants.ZOOKEEPER_QUORUM, HOST);
    conf.set("hbase.master.hostname", HOST);
    conf.set("hbase.unsafe.regionserver.hostname", HOST);
    conf.set("hbase.master.ipc.address", LOOPBACK);
    conf.set("hbase.regionserver.ipc.address", LOOPBACK);
    conf.set("hbase.master.info.bindAddress", LOOPBACK);
    conf.set("hbase.regionserver.info.bindAddress", LOOPBACK);

    // A cluster of one need not wait for others. A short session lets the next run after a kill
    // take the regions over quickly.
    conf.setInt("hbase.master.wait.on.regionservers.maxtostart", 1);
    conf.setInt("hbase.regionserver.msginterval", 500);
    conf.setInt(HConstants.ZK_SESSION_TIMEOUT, 10_000);
    // This program stops the servers itself, in order.
    conf.setBoolean("hbase.shutdown.hook", false);

    // The default is false.
    conf.setBoolean(COMPOSITE_ENABLED, true);
    setAll(conf, settings);
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
    setAll(conf, settings);
    return conf;
  }

  private static void setAll(Configuration conf, String... settings) {
    for (String setting : settings) {
      String[] pair = setting.split("=", 2);
      conf.set(pair[0], pair[1]);
    }
  }

  /** @throws Failure if a port is in use, or this machine has not the memory or the disk space */
  static void check(Configuration conf, Path folder, int l2Mb, int rows)
    throws IOException, Failure {
    checkMemory(RunLocal.megabytes("MaxHeapSize"), RunLocal.megabytes("MaxDirectMemorySize"),
      availableMemoryMb());
    checkDisk(folder, l2Mb + (long) rows * DISK_BYTES_PER_ROW / MB,
      Files.getFileStore(folder).getUsableSpace() / MB);
    checkPorts(conf);
  }

  static void checkMemory(long heapMb, long directMb, long availableMb) throws Failure {
    long neededMb = heapMb + directMb + JVM_OVERHEAD_MB;
    if (neededMb > availableMb) {
      throw new Failure("Too little memory: " + neededMb + " MB are needed (heap " + heapMb
        + ", direct " + directMb + ", the JVM itself " + JVM_OVERHEAD_MB + ") and " + availableMb
        + " MB are available; choose a smaller --l1-mb or stop other programs.");
    }
  }

  /** Returns the memory of the machine or container, or what Linux says is available of it. */
  private static long availableMemoryMb() throws IOException {
    OperatingSystemMXBean system =
      (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    Path linux = Path.of("/proc/meminfo");
    // The bean's free memory leaves out what the page cache would give back.
    List<String> lines = Files.isReadable(linux) ? Files.readAllLines(linux) : List.of();
    return lines.stream().filter(line -> line.startsWith("MemAvailable:"))
      .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) / 1024)
      .reduce(system.getTotalMemorySize() / MB, Math::min);
  }

  static void checkDisk(Path folder, long neededMb, long usableMb) throws Failure {
    if (neededMb > usableMb) {
      throw new Failure("Too little disk space: " + neededMb + " MB are needed in " + folder
        + " and " + usableMb + " MB are free; choose a smaller --rows or --l2-mb.");
    }
  }

  /** Checks the ports that servers will listen on, unless they are chosen freely. */
  static void checkPorts(Configuration conf) throws Failure {
    boolean random = conf.getBoolean(LocalHBaseCluster.ASSIGN_RANDOM_PORTS, false);
    for (Map.Entry<String, Integer> standard : STANDARD_PORTS.entrySet()) {
      String key = standard.getKey();
      int port = conf.getInt(key, standard.getValue());
      boolean replaced = random && port == standard.getValue()
        && !key.equals(HConstants.ZOOKEEPER_CLIENT_PORT);
      if (port > 0 && !replaced && isInUse(port)) {
        throw new Failure("Port " + port + " (" + key + ") is in use; stop what listens there or"
          + " choose another one with -D" + key + "=PORT.");
      }
    }
  }

  private static boolean isInUse(int port) {
    // On some systems, binding succeeds beside a listener on all interfaces.
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      return socket.isConnected();
    } catch (IOException e) {
      return false;
    }
  }
}
