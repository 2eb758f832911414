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

import dev.stratum.bench.PinnedJvm;
import dev.stratum.bench.wal.DelayedSyncWriter;
import dev.stratum.processes.LoopbackKeys;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.io.compress.Compression;
import org.openjdk.jmh.annotations.Fork;

/**
 * What the servers of a side are started with: the same keys on both sides but for the features,
 * which only the fork has. Sizes come from <code>suite.properties</code>.
 */
final class ServerSettings {
  /** The built-in ones need a cache of 29 MB at least. */
  private static final String BUCKET_SIZES = "5120,34816,68608,132096";
  /** An off-heap BucketCache leaves this part of the memory to the heap's cache of meta blocks. */
  private static final int META_SHARE = 6;

  private final Properties sizes;

  /** @param sizes with the keys of <code>suite.properties</code> */
  ServerSettings(Properties sizes) {
    this.sizes = sizes;
  }

  private int size(String key) {
    return Integer.parseInt(sizes.getProperty(key));
  }

  /**
   * The JVM options of a process: its heap, all of it from the start, memory outside of it at most.
   * @param process <code>base</code>, <code>regionserver</code> or <code>client</code>
   */
  List<String> options(String process) {
    List<String> options = new ArrayList<>();
    options.add("-Xms" + size(process + ".heap.mb") + "m");
    options.add("-Xmx" + size(process + ".heap.mb") + "m");
    options.add("-XX:MaxDirectMemorySize=" + size(process + ".direct.mb") + "m");
    options.add("-XX:+UseG1GC");
    options.add("-Djava.net.preferIPv4Stack=true");
    for (String option : sizes.getProperty("jvm.options").trim().split("\\s+")) {
      if (!option.isEmpty()) {
        options.add(option);
      }
    }
    // A read through HBase and HDFS is deeper than the 64 frames that a sample has by default.
    options.add("-XX:FlightRecorderOptions=stackdepth=256");
    // DelayedReads changes a class of the JVM that it is in.
    options.add("-Djdk.attach.allowAttachSelf=true");
    // What HBase needs on this JDK is said once, where the JMH benchmarks have it.
    for (String argument : PinnedJvm.class.getAnnotation(Fork.class).jvmArgs()) {
      if (argument.startsWith("--add-") || argument.startsWith("-D")) {
        options.add(argument);
      }
    }
    return options;
  }

  /** Returns what both sides have, by key. */
  Map<String, String> shared() {
    Map<String, String> keys = LoopbackKeys.create();
    keys.put("hbase.regionserver.msginterval", "500");
    keys.put("hbase.master.wait.on.regionservers.maxtostart", "1");
    keys.put("zookeeper.session.timeout", "90000");
    // HDFS is in memory, which what has been emptied would fill for minutes.
    keys.put("hbase.master.cleaner.interval", "5000");
    keys.put("hbase.master.hfilecleaner.ttl", "1000");
    keys.put("hbase.master.logcleaner.ttl", "1000");
    // A server that is gone fails the case, and does not hold it up.
    keys.put("hbase.client.operation.timeout", "120000");
    // A file is closed when the only DataNode has told the only NameNode of its last block; if it
    // has not yet, a flush sleeps, by luck and for 0.4 s at least unless this says otherwise.
    keys.put("dfs.client.block.write.locateFollowingBlock.initial.delay.ms", "10");
    keys.put("dfs.client.block.write.locateFollowingBlock.retries", "10");
    // HDFS's legacy short circuit, which one case uses, needs this key.
    keys.put(HdfsReads.LOCAL_READER_KEY, System.getProperty("user.name"));
    // The factor of its call queues is HBase's.
    keys.put(HConstants.REGION_SERVER_HANDLER_COUNT, sizes.getProperty("handlers"));
    keys.put("hbase.regionserver.global.memstore.size", "0.4");
    keys.put("hbase.hregion.memstore.flush.size",
      Long.toString((long) size("memstore.flush.mb") << 20));
    // A flush of hbase:meta is due every five minutes, and waits in the queue for as long again,
    // where it looks like one in progress.
    keys.put("hbase.regionserver.periodicmemstoreflusher.rangeofdelayseconds", "1");
    keys.put("hbase.hregion.majorcompaction", "0");
    keys.put("hbase.hregion.max.filesize", Long.toString(100L << 30));
    // HBase's own, unless a case delays syncs.
    keys.put(DelayedSyncWriter.KEY, DelayedSyncWriter.class.getName());
    // This codec needs no library of Hadoop's in the machine.
    keys.put(Compression.ZSTD_CODEC_CLASS_KEY,
      "org.apache.hadoop.hbase.io.compress.zstd.ZstdCodec");
    // Blocks come in bursts while a table is cached, and none is to be refused.
    keys.put("hbase.bucketcache.writer.queuelength", "512");
    return keys;
  }

  /** Has this JVM use the codecs of a server's keys, and not of the files in its class path. */
  static void setCodecs(Configuration conf) {
    Compression.Algorithm.ZSTD.reload(conf);
  }

  /** Returns stock's keys, with as much memory for {@link StockCache} as the fork's L1 has. */
  Map<String, String> stock(Path cacheFile) {
    Map<String, String> keys = new LinkedHashMap<>();
    int heapMegabytes = size("l1.mb");
    switch (stockCache()) {
      case FILE:
        keys.put("hbase.bucketcache.ioengine", "file:" + cacheFile);
        keys.put("hbase.bucketcache.size", sizes.getProperty("l2.mb"));
        break;
      case OFF_HEAP:
        heapMegabytes /= META_SHARE;
        keys.put("hbase.bucketcache.ioengine", "offheap");
        keys.put("hbase.bucketcache.size", Integer.toString(size("l1.mb") - heapMegabytes));
        keys.put("hbase.bucketcache.bucket.sizes", BUCKET_SIZES);
        break;
      default:
        break;
    }
    keys.put("hfile.block.cache.size",
      Float.toString((float) heapMegabytes / size("regionserver.heap.mb")));
    return keys;
  }

  StockCache stockCache() {
    return StockCache.of(sizes.getProperty("stock.cache"));
  }

  /** Returns the fork's keys: the same two sizes, L1 off the heap, and its features. */
  Map<String, String> fork(Path cacheFile) {
    Map<String, String> keys = new LinkedHashMap<>();
    keys.put("hfile.block.cache.size", "0");
    keys.put("hbase.bucketcache.composite.enabled", "true");
    keys.put("hbase.bucketcache.l1.size", sizes.getProperty("l1.mb"));
    keys.put("hbase.bucketcache.l1.bucket.sizes", BUCKET_SIZES);
    keys.put("hbase.bucketcache.l2.ioengine", sizes.getProperty("l2.engine") + ":" + cacheFile);
    keys.put("hbase.bucketcache.l2.size", sizes.getProperty("l2.mb"));
    keys.put("hbase.bucketcache.composite.promotion", "frequency");
    keys.put("hbase.rs.prefetch.order", "newest");
    keys.put("hbase.regionserver.parallel.get.enabled", "true");
    // The number is for reads of a device; blocks in memory are read by one thread per CPU.
    keys.put("hbase.regionserver.parallel.get.threads", "16");
    keys.put("hbase.regionserver.point.get.enabled", "true");
    keys.put("hbase.regionserver.point.get.on.connection.thread.max", "16");
    keys.put("hbase.regionserver.write.groups.enabled", "true");
    keys.put("hbase.regionserver.increment.coalesce.enabled", "true");
    keys.put("hbase.wal.async.sync.interval.ms", "100");
    keys.put("hbase.server.netty.flush.consolidation.enabled", "true");
    keys.put("hbase.client.netty.flush.consolidation.enabled", "true");
    return keys;
  }
}
