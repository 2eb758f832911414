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

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.CombinedBlockCache;
import org.apache.hadoop.hbase.io.hfile.FirstLevelBlockCache;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.HFileContext;
import org.apache.hadoop.hbase.io.hfile.HFileContextBuilder;
import org.apache.hadoop.hbase.io.hfile.bucket.BucketCache;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hadoop.hbase.regionserver.StoreFileWriter;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * One store file on the local file system and its blocks, written and read by HBase itself.
 * <p>
 * Rows have YCSB's shape: 10 fields of 100 bytes (Cooper et al., Benchmarking Cloud Serving Systems
 * with YCSB, SoCC 2010), uncompressed, with row bloom filter. Blocks are read into buffers of a
 * pooled allocator made from the RegionServer's defaults, as a RegionServer reads them: a block
 * cache's entry remembers that allocator and takes its buffers from it on a hit.
 */
public final class StoreFileBlocks implements Closeable {
  private static final byte[] FAMILY = Bytes.toBytes("family");
  static final int FIELDS = 10;
  private static final int FIELD_BYTES = 100;

  private final Configuration conf;
  private final Path dir;
  private final Path file;
  private final Path strangersFile;
  private final FileSystem fs;
  private final ByteBuffAllocator allocator;

  /** A block's place in the file. */
  public static final class Location {
    public final long offset;
    public final int sizeWithHeader;
    public final BlockType type;

    private Location(HFileBlock block) {
      this.offset = block.getOffset();
      this.sizeWithHeader = block.getOnDiskSizeWithHeader();
      this.type = block.getBlockType();
    }
  }

  /**
   * Writes the file, under <code>java.io.tmpdir</code>.
   * @param conf      for the chunk sizes of index and bloom blocks
   * @param blockSize of data blocks, in bytes
   * @param dataBytes how many bytes of data blocks to write, roughly
   */
  public StoreFileBlocks(Configuration conf, int blockSize, long dataBytes) throws IOException {
    this.conf = conf;
    this.fs = FileSystem.newInstanceLocal(conf).getRaw();
    this.dir = new Path(Files.createTempDirectory("stratum-bench").toUri());
    // The name is as long as a store file's, since a lookup hashes and compares it.
    this.file = new Path(dir, UUID.randomUUID().toString().replace("-", ""));
    this.strangersFile = new Path(dir, UUID.randomUUID().toString().replace("-", ""));
    this.allocator = ByteBuffAllocator.create(conf, true);
    HFileContext context = new HFileContextBuilder().withBlockSize(blockSize).build();
    long rows = Math.max(1, dataBytes / (FIELDS * (FIELD_BYTES + 50)));
    StoreFileWriter writer = new StoreFileWriter.Builder(conf, new CacheConfig(conf), fs)
      .withFilePath(file).withFileContext(context).withBloomType(BloomType.ROW)
      .withMaxKeyCount(rows * FIELDS).build();
    Random random = new Random(1);
    byte[] value = new byte[FIELD_BYTES];
    for (long row = 0; row < rows; row++) {
      byte[] key = row(row);
      for (int field = 0; field < FIELDS; field++) {
        random.nextBytes(value);
        writer.append(
          new KeyValue(key, FAMILY, Bytes.toBytes("field" + field), 1L, KeyValue.Type.Put, value));
      }
    }
    writer.close();
  }

  /** Returns the key of a row, of those that the file has. */
  static byte[] row(long number) {
    return Bytes.toBytes(String.format("user%019d", number));
  }

  /** Returns the pool that blocks are read into. */
  public ByteBuffAllocator allocator() {
    return allocator;
  }

  /** Returns the file, for a reader of one's own. */
  public Path path() {
    return file;
  }

  /** Returns the key that a reader of this file looks a block up by, new at each call as there. */
  public BlockCacheKey key(Location location) {
    return new BlockCacheKey(file, location.offset, true, location.type);
  }

  /** Returns the key of a block that was just read. */
  public BlockCacheKey key(HFileBlock block) {
    return new BlockCacheKey(file, block.getOffset(), true, block.getBlockType());
  }

  /** Returns the key of a block of a similar file, which no cache holds. */
  BlockCacheKey strangersKey(Location location) {
    return new BlockCacheKey(strangersFile, location.offset, true, location.type);
  }

  /**
   * Reads every block up to the part that is read when a file is opened, without any cache.
   * @param consumer takes each block, which is released when it returns
   * @return the blocks' locations, in the order of the file
   */
  public List<Location> readAll(Consumer<HFileBlock> consumer) throws IOException {
    return readAll(null, consumer);
  }

  /**
   * Reads every block as a RegionServer's reader does that uses the given block cache, so that the
   * reader puts each into the cache by its own rules.
   */
  List<Location> readAllThrough(BlockCache cache) throws IOException {
    return readAll(cache, block -> {
    });
  }

  /** Returns the data blocks among these in random order. */
  static Location[] shuffledData(List<Location> all) {
    List<Location> data = new ArrayList<>(all);
    data.removeIf(location -> !location.type.isData());
    Collections.shuffle(data, new Random(1));
    return data.toArray(new Location[0]);
  }

  private List<Location> readAll(BlockCache cache, Consumer<HFileBlock> consumer)
    throws IOException {
    List<Location> locations = new ArrayList<>();
    CacheConfig cacheConfig = new CacheConfig(conf, null, cache, allocator);
    try (HFile.Reader reader = HFile.createReader(fs, file, cacheConfig, true, conf)) {
      long end = reader.getTrailer().getLoadOnOpenDataOffset();
      long offset = 0;
      while (offset < end) {
        // A get reads with the type it expects, which decides whether the pool or the heap is read
        // into; what is to be expected here is known after a first look.
        BlockType type = null;
        if (cache != null) {
          HFileBlock look = reader.readBlock(offset, -1, false, true, false, false, null, null);
          type = look.getBlockType();
          look.release();
        }
        HFileBlock block =
          reader.readBlock(offset, -1, cache != null, true, false, false, type, null);
        try {
          locations.add(new Location(block));
          offset += block.getOnDiskSizeWithHeader();
          consumer.accept(block);
        } finally {
          block.release();
        }
      }
    }
    return locations;
  }

  /**
   * Waits until the cache's writers have put all these blocks where they stay.
   * @throws IllegalStateException if one is not there after a minute
   */
  void awaitCached(BlockCache cache, List<Location> locations) throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
    for (Location location : locations) {
      while (!isCached(cache, key(location))) {
        if (System.nanoTime() > deadline) {
          throw new IllegalStateException("Not cached after a minute: " + key(location));
        }
        Thread.sleep(1);
      }
    }
  }

  private static boolean isCached(BlockCache cache, BlockCacheKey key) {
    if (cache instanceof CombinedBlockCache) {
      CombinedBlockCache combined = (CombinedBlockCache) cache;
      return isCached(combined.getFirstLevelCache(), key)
        || isCached(combined.getSecondLevelCache(), key);
    }
    if (cache instanceof BucketCache) {
      // The map is asked: the fork's cache says that it has a block which waits to be written as
      // well.
      return ((BucketCache) cache).getBackingMap().containsKey(key);
    }
    // The on-heap cache has what it has at once.
    return ((FirstLevelBlockCache) cache).containsBlock(key);
  }

  @Override
  public void close() throws IOException {
    fs.delete(dir, true);
  }
}
