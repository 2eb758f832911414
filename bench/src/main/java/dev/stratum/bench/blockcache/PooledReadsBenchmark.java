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
package dev.stratum.bench.blockcache;

import dev.stratum.bench.PinnedJvm;
import dev.stratum.bench.harness.Headline;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.bucket.BucketCache;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * What a block leaves on the heap when it is read from a bucket cache, in bytes of heap allocated
 * per block, and how long that takes, in microseconds: a block that was cached in this process
 * ({@link #fresh}), and one that the cache has recovered from the map that the process before it
 * persisted ({@link #recovered}).
 *
 * <pre>
 * mvn -pl bench jmh:run -Djmh.include=PooledReadsBenchmark
 * </pre>
 *
 * The paths and sizes of HBASE-22802 (no block-sized allocation for a read of a file engine),
 * beyond the sizes that it was shown with. With <code>pool=classes</code> the fork uses its pool
 * with size classes; the published jars do not know the key and use their own pool there too.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 3, time = 300, timeUnit = TimeUnit.MILLISECONDS)
public class PooledReadsBenchmark extends PinnedJvm {
  private static final String CLASSES_KEY = "hbase.server.allocator.size.classes.enabled";

  /** A full cache and the order to read it in. */
  @State(Scope.Thread)
  public abstract static class Blocks {
    /** The size of data blocks in bytes, before the last cell that makes them full. */
    @Param({ "4096", "8192", "16384", "32768", "65536", "131072" })
    public int size;

    /** The server's pool: <code>plain</code>, or <code>classes</code> for size classes. */
    @Param({ "plain", "classes" })
    public String pool;

    /** The bytes of blocks in the cache, in MB. */
    int megabytes = 16;

    final Configuration conf = HBaseConfiguration.create();
    StoreFileBlocks blocks;
    BucketCache cache;
    private Engine storage;
    private StoreFileBlocks.Location[] order;
    private int next;

    void fill(String engine, String persistencePath) throws IOException, InterruptedException {
      conf.setBoolean(CLASSES_KEY, pool.equals("classes"));
      blocks = new StoreFileBlocks(conf, size, (long) megabytes << 20);
      storage = new Engine(engine);
      open(persistencePath);
      List<StoreFileBlocks.Location> data = new ArrayList<>();
      List<StoreFileBlocks.Location> all = blocks.readAll(block -> {
        if (block.getBlockType().isData()) {
          cache.cacheBlock(blocks.key(block), block);
        }
      });
      for (StoreFileBlocks.Location location : all) {
        // The last block is smaller.
        if (location.type.isData() && location.sizeWithHeader >= size) {
          data.add(location);
        }
      }
      blocks.awaitCached(cache, data);
      Collections.shuffle(data, new Random(1));
      order = data.toArray(new StoreFileBlocks.Location[0]);
    }

    void open(String persistencePath) throws IOException {
      // The allocator hands out whole buckets, which takes twice the space; the queue takes
      // everything.
      cache = new BucketCache(storage.setting(), (2L * megabytes + 64) << 20, size, null, 3,
        1 << 16, persistencePath, BucketCache.DEFAULT_ERROR_TOLERATION_DURATION, conf);
    }

    int read() {
      StoreFileBlocks.Location location = order[next];
      next = next + 1 == order.length ? 0 : next + 1;
      HFileBlock block = (HFileBlock) cache.getBlock(blocks.key(location), true, false, true);
      int sizeWithHeader = block.getOnDiskSizeWithHeader();
      block.release();
      return sizeWithHeader;
    }

    @TearDown(Level.Trial)
    public void close() throws IOException {
      cache.shutdown();
      storage.close();
      blocks.close();
    }
  }

  /** Blocks that were cached in this process. */
  public static class Fresh extends Blocks {
    /** The engine, as <code>hbase.bucketcache.ioengine</code> names it, without a path. */
    @Param({ "file", "mmap", "pmem", "offheap" })
    public String engine;

    @Setup(Level.Trial)
    public void fill() throws IOException, InterruptedException {
      fill(engine, null);
    }
  }

  /** Blocks that were cached by the cache before this one; <code>file</code> alone keeps them. */
  public static class Recovered extends Blocks {
    private Path map;

    @Setup(Level.Trial)
    public void fill() throws IOException, InterruptedException {
      map = Files.createTempFile("stratum-bench", ".map");
      fill("file", map.toString());
      // A writer that has just stored a block drops it again if it is stopped before it is done.
      Thread.sleep(500);
      cache.shutdown();
      open(map.toString());
      // A store does the same when it is opened.
      new CacheConfig(conf, null, cache, blocks.allocator());
    }

    @Override
    public void close() throws IOException {
      super.close();
      Files.deleteIfExists(map);
    }
  }

  /** @return the block's size with header, in bytes */
  @Benchmark
  public int fresh(Fresh blocks) {
    return blocks.read();
  }

  /** @return the block's size with header, in bytes */
  @Benchmark
  @Headline(value = "size=65536,pool=plain", feature = "pooled-reads")
  public int recovered(Recovered blocks) {
    return blocks.read();
  }
}
