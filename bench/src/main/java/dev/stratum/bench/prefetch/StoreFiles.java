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
package dev.stratum.bench.prefetch;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FsConstants;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.HFileContext;
import org.apache.hadoop.hbase.io.hfile.HFileContextBuilder;
import org.apache.hadoop.hbase.io.hfile.HFileScanner;
import org.apache.hadoop.hbase.io.hfile.PrefetchExecutor;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hadoop.hbase.regionserver.StoreFileWriter;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * Store files of one family on the local file system, in the page cache, as a RegionServer writes
 * and opens them when it caches on write and prefetches on open, without the delay before prefetch.
 * <p>
 * Rows have YCSB's shape: 10 fields of 100 bytes (Cooper et al., Benchmarking Cloud Serving Systems
 * with YCSB, SoCC 2010), uncompressed, with row bloom filter and blocks of 64 KB.
 */
final class StoreFiles implements Closeable {
  static final int FIELDS = 10;
  private static final byte[] FAMILY = Bytes.toBytes("family");
  private static final int FIELD_BYTES = 100;
  private static final int ROW_BYTES = 1560;
  private static final int CELLS_IN_A_RESPONSE = 1000;
  private static final long POLL_NANOS = 50_000;

  private final Configuration conf;
  private final FileSystem fs;
  private final Path folder;
  private final Path family;
  private final ByteBuffAllocator allocator;

  /**
   * Makes a folder for them under <code>java.io.tmpdir</code>.
   * @param conf of a RegionServer; what is set on it for caching on write and prefetch does not
   *             matter
   */
  StoreFiles(Configuration conf) throws IOException {
    this.conf = new Configuration(conf);
    this.conf.setBoolean(CacheConfig.CACHE_BLOCKS_ON_WRITE_KEY, true);
    this.conf.setBoolean(CacheConfig.CACHE_INDEX_BLOCKS_ON_WRITE_KEY, true);
    this.conf.setBoolean(CacheConfig.CACHE_BLOOM_BLOCKS_ON_WRITE_KEY, true);
    this.conf.setBoolean(CacheConfig.PREFETCH_BLOCKS_ON_OPEN_KEY, true);
    this.conf.setInt(PrefetchExecutor.PREFETCH_DELAY, 0);
    PrefetchExecutor.loadConfiguration(this.conf);
    // RowServer has changed the file system of the process.
    this.fs = new RawLocalFileSystem();
    fs.initialize(FsConstants.LOCAL_FS_URI, conf);
    this.folder = new Path(Files.createTempDirectory("stratum-bench").toUri());
    this.family = new Path(folder, "table/region/family");
    this.allocator = ByteBuffAllocator.create(conf, true);
    fs.mkdirs(family);
  }

  /**
   * @param cache which is given each block as it is written, or null
   * @return the path of a new file of so many MB, roughly
   */
  Path write(BlockCache cache, int megabytes) throws IOException {
    int rows = (int) (((long) megabytes << 20) / ROW_BYTES);
    HFileContext context = new HFileContextBuilder().build();
    CacheConfig cacheConf = cache == null ? CacheConfig.DISABLED : cacheConf(cache);
    StoreFileWriter writer = new StoreFileWriter.Builder(conf, cacheConf, fs)
      .withOutputDir(family).withFileContext(context).withBloomType(BloomType.ROW)
      .withMaxKeyCount((long) rows * FIELDS).build();
    Random random = new Random(1);
    byte[] value = new byte[FIELD_BYTES];
    for (int row = 0; row < rows; row++) {
      byte[] key = Bytes.toBytes(String.format("user%019d", row));
      for (int field = 0; field < FIELDS; field++) {
        random.nextBytes(value);
        writer.append(
          new KeyValue(key, FAMILY, Bytes.toBytes("field" + field), 1L, KeyValue.Type.Put, value));
      }
    }
    writer.close();
    return writer.getPath();
  }

  private CacheConfig cacheConf(BlockCache cache) {
    return new CacheConfig(conf, null, cache, allocator);
  }

  /** Opens a file, and so begins to warm it. */
  HFile.Reader open(Path path, BlockCache cache) throws IOException {
    return HFile.createReader(fs, path, cacheConf(cache), true, conf);
  }

  /** Waits until the file is warm. */
  static void awaitWarm(HFile.Reader reader) {
    while (!reader.prefetchComplete()) {
      LockSupport.parkNanos(POLL_NANOS);
    }
  }

  /**
   * Scans a whole file through the block cache, as a scan that is no compaction does.
   * @return the number of cells
   */
  int scan(HFile.Reader reader) throws IOException {
    HFileScanner scanner = reader.getScanner(conf, true, true, false);
    try {
      int cells = 0;
      boolean more = scanner.seekTo();
      while (more) {
        if (scanner.getCell().getValueLength() != FIELD_BYTES) {
          throw new IllegalStateException("No cell of these files: " + scanner.getCell());
        }
        if (++cells % CELLS_IN_A_RESPONSE == 0) {
          scanner.shipped();
        }
        more = scanner.next();
      }
      return cells;
    } finally {
      scanner.close();
    }
  }

  /** Closes a file and takes it out of the cache, its blocks in the writers' queues too. */
  void evict(HFile.Reader reader, BlockCache cache) throws IOException {
    reader.close(true);
    int quiet = 0;
    while (quiet < 2) {
      quiet = cache.evictBlocksByHfileName(reader.getPath().getName()) == 0 ? quiet + 1 : 0;
      LockSupport.parkNanos(10_000_000);
    }
  }

  void delete(Path path) throws IOException {
    fs.delete(path, false);
  }

  @Override
  public void close() throws IOException {
    fs.delete(folder, true);
  }
}
