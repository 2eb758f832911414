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
package dev.stratum.bench.allocation;

import dev.stratum.bench.harness.MeasuredJvm;
import dev.stratum.bench.harness.StandaloneHBase;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.commons.io.FileUtils;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.CombinedBlockCache;
import org.apache.hadoop.hbase.io.hfile.bucket.BucketCache;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hadoop.hbase.regionserver.DisabledRegionSplitPolicy;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;

/**
 * HBase's standalone mode (ZooKeeper, master and RegionServer in this JVM, files under
 * <code>java.io.tmpdir</code>) with a client, a table of one region whose data is all in a bucket
 * cache on a file, cached when it is written, and a restart that finds the cache as it was.
 * <p>
 * Rows have YCSB's shape, 10 fields of 100 bytes. The memstore is flushed at 16 MB, so that puts
 * lead to flushes, compactions and blocks cached on write. May be used by several threads, which
 * each bring a {@link Table} of their own.
 */
final class StandaloneTable implements Closeable {
  private static final TableName NAME = TableName.valueOf("usertable");
  private static final byte[] FAMILY = Bytes.toBytes("family");
  /** The number of cells in a row. */
  static final int FIELD_COUNT = 10;
  private static final byte[][] FIELDS = new byte[FIELD_COUNT][];
  private static final int FIELD_BYTES = 100;
  private static final int ROWS_IN_A_BATCH = 100;
  private static final long START_MILLIS = 60_000;
  private static final long SETTLE_MILLIS = 60_000;
  private static final long QUIET_MILLIS = 1000;
  /** A restart may lose one block in this many. */
  private static final int TOLERATED_LOSS = 10;

  static {
    for (int i = 0; i < FIELDS.length; i++) {
      FIELDS[i] = Bytes.toBytes("field" + i);
    }
  }

  private final Path folder;
  private final Configuration conf;
  private final int rows;
  private HdfsProcess hdfs;
  private StandaloneHBase hbase;

  /**
   * Starts the servers and fills table and cache.
   * @param conf      with settings of the pool
   * @param onHdfs    whether HBase's files are on HDFS, in a process of its own, not local files
   * @param rows      of the table
   * @param blockSize of data blocks, in bytes
   */
  StandaloneTable(Configuration conf, boolean onHdfs, int rows, int blockSize) throws Exception {
    this.folder = Files.createTempDirectory("stratum-bench");
    this.conf = conf;
    this.rows = rows;
    try {
      hdfs = onHdfs ? new HdfsProcess(conf) : null;
      configure();
      hbase = new StandaloneHBase(conf, folder);
      hbase.createTable(TableDescriptorBuilder.newBuilder(NAME)
        // A split leaves a compaction to do, in the middle of whatever is next.
        .setRegionSplitPolicyClassName(DisabledRegionSplitPolicy.class.getName())
        .setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(FAMILY)
          .setBlocksize(blockSize).setBloomFilterType(BloomType.ROW).build())
        .build());
      load();
      read();
    } catch (Exception | Error e) {
      close();
      throw e;
    }
  }

  private void configure() {
    conf.set(HConstants.HBASE_DIR, hdfs == null
      ? folder.resolve("hbase").toUri().toString()
      : conf.get(FileSystem.FS_DEFAULT_NAME_KEY) + "/hbase");
    conf.setInt("dfs.replication", 1);
    conf.set("hadoop.tmp.dir", folder.resolve("tmp").toString());
    // Hadoop's local file system with checksums cannot sync a stream.
    conf.setClass("fs.file.impl", RawLocalFileSystem.class, FileSystem.class);
    conf.setInt(HConstants.REGION_SERVER_HANDLER_COUNT, 10);
    conf.setLong(HConstants.HREGION_MEMSTORE_FLUSH_SIZE, 16 << 20);
    conf.setFloat(HConstants.HFILE_BLOCK_CACHE_SIZE_KEY, 0.1f);
    conf.set(HConstants.BUCKET_CACHE_IOENGINE_KEY, "file:" + folder.resolve("cache"));
    conf.setInt(HConstants.BUCKET_CACHE_SIZE_KEY, 1024);
    conf.set(HConstants.BUCKET_CACHE_PERSISTENT_PATH_KEY, folder.resolve("map").toString());
    conf.setInt(BlockCacheFactory.BUCKET_CACHE_WRITER_QUEUE_KEY, 1 << 14);
    conf.setBoolean(CacheConfig.CACHE_BLOCKS_ON_WRITE_KEY, true);
    conf.setBoolean(CacheConfig.CACHE_INDEX_BLOCKS_ON_WRITE_KEY, true);
    conf.setBoolean(CacheConfig.CACHE_BLOOM_BLOCKS_ON_WRITE_KEY, true);
    conf.setBoolean(CacheConfig.CACHE_COMPACTED_BLOCKS_ON_WRITE_KEY, true);
    DefaultMetricsSystem.setMiniClusterMode(true);
  }

  /** Stops the servers and starts them again on what they left. */
  void restart() throws Exception {
    awaitWritten();
    hbase.restart();
    long deadline = System.currentTimeMillis() + START_MILLIS;
    while (!serves()) {
      if (System.currentTimeMillis() > deadline) {
        throw new IllegalStateException("The table is not served again after a minute");
      }
      Thread.sleep(100);
    }
    long misses = bucketCache().getStats().getMissCount();
    read();
    misses = bucketCache().getStats().getMissCount() - misses;
    if (misses > bucketCache().getBlockCount() / TOLERATED_LOSS) {
      throw new IllegalStateException(misses + " blocks were not recovered");
    }
  }

  /** Waits until the cache has had nothing to write for a while: a restart drops what is queued. */
  private void awaitWritten() throws InterruptedException {
    int blocks = -1;
    while (blocks != bucketCache().getBackingMap().size()) {
      blocks = bucketCache().getBackingMap().size();
      Thread.sleep(QUIET_MILLIS);
    }
  }

  private boolean serves() {
    HRegionServer server = hbase.server();
    return server.isOnline() && !server.getRegions(NAME).isEmpty()
      && server.getRegions(NAME).get(0).isAvailable();
  }

  private void load() throws IOException, InterruptedException {
    Random random = new Random(1);
    // There is one at the end: what a compaction has selected, the next one leaves out.
    hbase.server().getCompactSplitThread().setCompactionsEnabled(false);
    try (Table table = table()) {
      List<Put> batch = new ArrayList<>();
      for (int row = 0; row < rows; row++) {
        batch.add(put(row, random));
        if (batch.size() == ROWS_IN_A_BATCH || row == rows - 1) {
          table.put(batch);
          batch.clear();
        }
      }
    }
    settle();
    hbase.server().getCompactSplitThread().setCompactionsEnabled(true);
  }

  /**
   * Makes one file of all that was written, so that nothing is left to do by itself later: a region
   * that is closed flushes what it has in memory, and a server that stops drops the blocks of such
   * a file that wait to be cached.
   */
  private void settle() throws IOException, InterruptedException {
    HRegion region = region();
    long deadline = System.currentTimeMillis() + SETTLE_MILLIS;
    while (!isSettled()) {
      if (System.currentTimeMillis() > deadline) {
        throw new IllegalStateException("The table is not one file after a minute");
      }
      // Does nothing while the server flushes by itself.
      region.flush(true);
      if (region.getMemStoreDataSize() == 0) {
        region.compact(true);
      } else {
        Thread.sleep(10);
      }
    }
  }

  /** Returns whether all rows are in one file of one region. */
  boolean isSettled() {
    return hbase.server().getRegions(NAME).size() == 1 && region().getMemStoreDataSize() == 0
      && region().getStores().get(0).getStorefilesCount() == 1;
  }

  /** Has every block looked up once. */
  private void read() throws IOException {
    int found = 0;
    try (Table table = table(); ResultScanner scanner = table.getScanner(new Scan())) {
      for (Result result : scanner) {
        found += result.isEmpty() ? 0 : 1;
      }
    }
    if (found != rows) {
      throw new IllegalStateException("Scanned " + found + " rows instead of " + rows);
    }
  }

  /** Returns a table for one thread. */
  Table table() throws IOException {
    return hbase.connection().getTable(NAME);
  }

  int rows() {
    return rows;
  }

  HRegion region() {
    return hbase.server().getRegions(NAME).get(0);
  }

  BucketCache bucketCache() {
    return (BucketCache) ((CombinedBlockCache) hbase.server().getBlockCache().get())
      .getSecondLevelCache();
  }

  ByteBuffAllocator allocator() {
    return hbase.server().getRpcServer().getByteBuffAllocator();
  }

  static Get get(int row) {
    return new Get(key(row));
  }

  static Put put(int row, Random random) {
    Put put = new Put(key(row));
    for (byte[] field : FIELDS) {
      byte[] value = new byte[FIELD_BYTES];
      random.nextBytes(value);
      put.addColumn(FAMILY, field, value);
    }
    return put;
  }

  private static byte[] key(int row) {
    byte[] key = Bytes.toBytes("user0000000000000000000");
    for (int i = key.length - 1, rest = row; rest > 0; i--, rest /= 10) {
      key[i] = (byte) ('0' + rest % 10);
    }
    return key;
  }

  @Override
  public void close() throws IOException {
    if (hbase != null) {
      hbase.close();
    }
    if (hdfs != null) {
      hdfs.close();
    }
    if (!MeasuredJvm.isEnding()) {
      FileUtils.deleteDirectory(folder.toFile());
    }
  }
}
