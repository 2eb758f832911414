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

import dev.stratum.bench.PinnedJvm;
import dev.stratum.bench.blockcache.Engine;
import dev.stratum.bench.blockcache.StoreFileBlocks;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.ByteBufferKeyValue;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.KeyValueUtil;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.HFileContextBuilder;
import org.apache.hadoop.hbase.io.hfile.HFileScanner;
import org.apache.hadoop.hbase.io.hfile.bucket.BucketCache;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hadoop.hbase.regionserver.StoreFileWriter;
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
 * One data block put into a bucket cache on a file, in microseconds and in bytes of heap allocated:
 * written with all its cells to a store file and cached on write, the cells from memory as in a
 * flush ({@link #flush}) or scanned from another store file as in a compaction
 * ({@link #compaction}), each with its share of the file's index and bloom filter; or inserted as
 * it is ({@link #insert}), and the oldest block is evicted. Store files are local ones, so that
 * nothing of HDFS is in it.
 *
 * <pre>
 * mvn -pl bench jmh:run -Djmh.include=CacheWritesBenchmark -Djmh.forks=1
 * </pre>
 *
 * See HBASE-23107.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 4, time = 2)
@Measurement(iterations = 3, time = 2)
public class CacheWritesBenchmark extends PinnedJvm {

  /** A bucket cache on a file that takes all it is given, and the source of what it is given. */
  @State(Scope.Thread)
  public abstract static class Caching {
    private static final int WRITER_THREADS = 3;
    private static final int WRITER_QUEUE = 64;

    /** The size of data blocks in bytes, before the last cell that makes them full. */
    @Param({ "8192", "65536", "131072" })
    public int size;

    /** The bytes of blocks of a store file, in MB. */
    int megabytes = 16;

    Configuration conf;
    StoreFileBlocks blocks;
    BucketCache cache;
    private Engine engine;
    private java.nio.file.Path map;

    void open(boolean persistent) throws IOException {
      conf = HBaseConfiguration.create();
      conf.setLong(BucketCache.QUEUE_ADDITION_WAIT_TIME, TimeUnit.MINUTES.toMillis(1));
      conf.setBoolean(CacheConfig.CACHE_BLOCKS_ON_WRITE_KEY, true);
      conf.setBoolean(CacheConfig.CACHE_INDEX_BLOCKS_ON_WRITE_KEY, true);
      conf.setBoolean(CacheConfig.CACHE_BLOOM_BLOCKS_ON_WRITE_KEY, true);
      blocks = new StoreFileBlocks(conf, size, (long) megabytes << 20);
      engine = new Engine("file");
      map = persistent ? Files.createTempFile("stratum-bench", ".map") : null;
      cache = new BucketCache(engine.setting(), (4L * megabytes + 64) << 20, size, null,
        WRITER_THREADS, WRITER_QUEUE, map == null ? null : map.toString(),
        BucketCache.DEFAULT_ERROR_TOLERATION_DURATION, conf);
    }

    /** @throws IllegalStateException if a block was dropped, so that the figure means nothing */
    @TearDown(Level.Trial)
    public void close() throws IOException {
      long dropped = cache.getStats().getFailedInserts();
      cache.shutdown();
      if (map != null) {
        Files.deleteIfExists(map);
      }
      engine.close();
      blocks.close();
      if (dropped > 0) {
        throw new IllegalStateException(dropped + " blocks were dropped");
      }
    }
  }

  /** Store files that are written one after the other, with their blocks cached. */
  public abstract static class Writing extends Caching {
    private FileSystem fs;
    private StoreFileWriter writer;
    HFile.Reader source;
    HFileScanner scanner;
    int cellsInBlock;

    void openFiles() throws IOException {
      open(false);
      fs = FileSystem.newInstanceLocal(conf).getRaw();
      source = HFile.createReader(fs, blocks.path(),
        new CacheConfig(conf, null, null, blocks.allocator()), true, conf);
      scanner = source.getScanner(conf, false, false, true);
      scanner.seekTo();
      Cell first = scanner.getCell();
      // Each cell has one more byte for its sequence id.
      cellsInBlock = 1 + size / (first.getSerializedSize() + 1);
    }

    void append(Cell cell) throws IOException {
      if (writer == null) {
        writer = new StoreFileWriter.Builder(conf,
          new CacheConfig(conf, null, cache, blocks.allocator()), fs)
          .withFilePath(new Path(blocks.path().getParent(),
            UUID.randomUUID().toString().replace("-", "")))
          .withFileContext(new HFileContextBuilder().withBlockSize(size).build())
          .withBloomType(BloomType.ROW).withMaxKeyCount(source.getEntries()).build();
      }
      writer.append(cell);
    }

    void beforeShipped() throws IOException {
      writer.beforeShipped();
    }

    /** Ends the file, and takes it and its blocks away. */
    void roll() throws IOException {
      if (writer != null) {
        writer.close();
        cache.evictBlocksByHfileName(writer.getPath().getName());
        fs.delete(writer.getPath(), false);
        writer = null;
      }
    }

    @Override
    public void close() throws IOException {
      roll();
      source.close();
      super.close();
    }
  }

  /** Files of cells from memory. */
  public static class Flush extends Writing {
    private final List<Cell> cells = new ArrayList<>();
    private int next;

    @Setup(Level.Trial)
    public void fill() throws IOException {
      openFiles();
      do {
        byte[] cell = KeyValueUtil.copyToNewByteArray(scanner.getCell());
        // A cell in a chunk of a memstore has the same class.
        cells.add(new ByteBufferKeyValue(ByteBuffer.wrap(cell), 0, cell.length));
      } while (scanner.next());
      scanner.close();
    }

    int writeBlock() throws IOException {
      for (int i = 0; i < cellsInBlock; i++) {
        append(cells.get(next));
        next = next + 1 == cells.size() ? 0 : next + 1;
        if (next == 0) {
          roll();
        }
      }
      return next;
    }
  }

  /** Files of cells of another file. */
  public static class Compaction extends Writing {
    @Setup(Level.Trial)
    public void fill() throws IOException {
      openFiles();
    }

    long writeBlock() throws IOException {
      for (int i = 0; i < cellsInBlock; i++) {
        append(scanner.getCell());
        if (!scanner.next()) {
          roll();
          scanner.close();
          scanner = source.getScanner(conf, false, false, true);
          scanner.seekTo();
          return cellsInBlock;
        }
      }
      beforeShipped();
      scanner.shipped();
      return cellsInBlock;
    }

    @Override
    public void close() throws IOException {
      scanner.close();
      super.close();
    }
  }

  /** Blocks that are inserted as they are. */
  public static class Insertion extends Caching {
    private static final int DISTINCT_BLOCKS = 16;
    private static final int KEPT_BLOCKS = 256;

    /** Whether the cache persists its entries. */
    @Param({ "false", "true" })
    public boolean persistent;

    private final List<HFileBlock> distinct = new ArrayList<>();
    private final String file = UUID.randomUUID().toString().replace("-", "");
    private long inserted;

    @Setup(Level.Trial)
    public void fill() throws IOException {
      open(persistent);
      blocks.readAll(block -> {
        if (block.getBlockType().isData() && distinct.size() < DISTINCT_BLOCKS) {
          distinct.add(block.retain());
        }
      });
    }

    long insertBlock() {
      HFileBlock block = distinct.get((int) (inserted % distinct.size()));
      cache.cacheBlock(key(inserted), block, false, true);
      if (inserted >= KEPT_BLOCKS) {
        cache.evictBlock(key(inserted - KEPT_BLOCKS));
      }
      return ++inserted;
    }

    private BlockCacheKey key(long index) {
      return new BlockCacheKey(file, index * size, true, BlockType.DATA);
    }

    @Override
    public void close() throws IOException {
      distinct.forEach(HFileBlock::release);
      super.close();
    }
  }

  /** @return a number that depends on what was done */
  @Benchmark
  public int flush(Flush files) throws IOException {
    return files.writeBlock();
  }

  /** @return a number that depends on what was done */
  @Benchmark
  public long compaction(Compaction files) throws IOException {
    return files.writeBlock();
  }

  /** @return how many blocks were inserted so far */
  @Benchmark
  public long insert(Insertion blocks) {
    return blocks.insertBlock();
  }
}
