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
package dev.stratum.bench.segment;

import dev.stratum.bench.harness.ForkClass;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.bucket.BucketCache;
import org.apache.hadoop.hbase.io.hfile.segment.SegmentCache;
import org.apache.hadoop.hbase.io.hfile.segment.SegmentCacheSettings;

/**
 * A place for a cache on a file that outlives the process: a segment cache on the fork, and on
 * stock, which has none, a bucket cache on a file with a persisted map. {@link #close()} deletes
 * the file, which lies under <code>java.io.tmpdir</code>, in the page cache.
 */
final class DeviceTier implements Closeable {
  private static final int WRITER_THREADS = 3;
  private static final int WRITER_QUEUE = 64;
  /** What BucketCache's largest blocks take by default; buckets have the size of four of them. */
  private static final int MAX_BUCKET_ITEM = 513 * 1024;
  private static final int BUCKET_UNIT = 256;

  private final Path file;
  private final long capacity;
  private final int largestBlock;
  private final Configuration conf = HBaseConfiguration.create();

  /**
   * @param capacity     bytes
   * @param largestBlock what the largest block takes when it is stored, in bytes
   */
  DeviceTier(long capacity, int largestBlock) throws IOException {
    this.file = Files.createTempFile("stratum-bench", ".tier");
    this.capacity = capacity;
    this.largestBlock = largestBlock;
    conf.setLong(BucketCache.QUEUE_ADDITION_WAIT_TIME, TimeUnit.MINUTES.toMillis(1));
    // An operator would set this key for blocks of one size; the budget of the index depends on it.
    conf.setInt("hbase.segmentcache.expected.block.kb", Math.max(1, largestBlock >> 10));
  }

  /** Sets a key for the next {@link #open}. */
  void set(String key, String value) {
    conf.set(key, value);
  }

  /**
   * Has the kernel forget what it has of the file and has written.
   * @param dirty whether it is to write the rest before
   */
  void dropPages(boolean dirty) throws IOException, InterruptedException {
    Process dd = new ProcessBuilder("dd", "of=" + file, "oflag=nocache",
      dirty ? "conv=notrunc,fdatasync" : "conv=notrunc", "count=0", "status=none").inheritIO()
        .start();
    if (dd.waitFor() != 0) {
      throw new IOException("dd cannot drop the pages of " + file);
    }
  }

  /** Opens the cache, with what it had when it was shut down. */
  BlockCache open(ByteBuffAllocator pool) throws IOException {
    return ForkClass.SEGMENT_CACHE.isPresent() ? Segments.open(this, pool) : Buckets.open(this);
  }

  /** Returns the mean bytes of a write to the file since it was opened; for segments only. */
  long meanWrite(BlockCache cache) {
    return Segments.meanWrite(cache);
  }

  /** Deletes what a shutdown leaves beside the file and a killed process does not. */
  void deleteIndex() throws IOException {
    Files.deleteIfExists(index());
  }

  private Path index() {
    return Path.of(file + (ForkClass.SEGMENT_CACHE.isPresent() ? ".index" : ".map"));
  }

  @Override
  public void close() throws IOException {
    deleteIndex();
    Files.deleteIfExists(file);
  }

  /** Only loaded where there is such a cache. */
  private static final class Segments {
    static BlockCache open(DeviceTier tier, ByteBuffAllocator pool) throws IOException {
      String engine = SegmentCacheSettings.ENGINE + tier.file;
      SegmentCache cache = new SegmentCache("L2", engine, SegmentCacheSettings.of(engine,
        "hbase.bucketcache.l2.size", tier.capacity, null, tier.conf), tier.conf);
      cache.useAllocator(pool);
      return cache;
    }

    static long meanWrite(BlockCache cache) {
      long[] bytes = new long[1];
      ((SegmentCache) cache).forEachMetric((kind, name, gauge) -> {
        if (name.equals("DeviceWriteMeanBytes")) {
          bytes[0] = gauge.getAsLong();
        }
      });
      return bytes[0];
    }
  }

  /**
   * A bucket cache with buckets of one size, as an operator would set it up for blocks of that
   * size.
   */
  private static final class Buckets {
    static BlockCache open(DeviceTier tier) throws IOException {
      int item = (tier.largestBlock / BUCKET_UNIT + 1) * BUCKET_UNIT;
      return new BucketCache("file:" + tier.file, tier.capacity, item,
        new int[] { item, MAX_BUCKET_ITEM }, WRITER_THREADS, WRITER_QUEUE,
        tier.index().toString(), BucketCache.DEFAULT_ERROR_TOLERATION_DURATION, tier.conf);
    }
  }
}
