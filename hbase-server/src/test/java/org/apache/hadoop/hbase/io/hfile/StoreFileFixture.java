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
package org.apache.hadoop.hbase.io.hfile;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.Waiter;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hadoop.hbase.regionserver.StoreFileWriter;
import org.apache.hadoop.hbase.util.BloomFilterFactory;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.rules.ExternalResource;
import org.junit.rules.TemporaryFolder;
import org.junit.runner.Description;
import org.junit.runners.model.Statement;

/**
 * Store files in a folder for one test, small but with every kind of block: data, leaf and
 * intermediate index, general and delete family bloom.
 */
public final class StoreFileFixture extends ExternalResource {
  private static final int ROWS = 4000;

  private final TemporaryFolder folder = new TemporaryFolder();
  private final Configuration conf = HBaseConfiguration.create();
  private FileSystem fs;
  private Path family;

  /** One block before the load-on-open section. */
  public static final class Block {
    private final BlockCacheKey key;
    private final BlockType type;
    private final int size;

    private Block(String file, HFileBlock block) {
      this.type = block.getBlockType();
      this.key = new BlockCacheKey(file, block.getOffset(), true, type);
      this.size = block.getOnDiskSizeWithHeader();
    }

    /** Returns a key that does not know the type. */
    public BlockCacheKey key() {
      return new BlockCacheKey(key.getHfileName(), key.getOffset());
    }

    public BlockType type() {
      return type;
    }

    public long offset() {
      return key.getOffset();
    }

    /** Returns the size on disk with header and checksums, in bytes. */
    public int size() {
      return size;
    }

    @Override
    public String toString() {
      return type + " at " + offset();
    }
  }

  @Override
  public Statement apply(Statement base, Description description) {
    return folder.apply(super.apply(base, description), description);
  }

  @Override
  protected void before() throws IOException {
    fs = FileSystem.getLocal(conf);
    family = new Path(folder.newFolder("table", "region", "f").getPath());
    conf.setInt(HFileBlockIndex.MAX_CHUNK_SIZE_KEY, 1024);
    conf.setInt(BloomFilterFactory.IO_STOREFILE_BLOOM_BLOCK_SIZE, 512);
    conf.setInt(PrefetchExecutor.PREFETCH_DELAY, 0);
    PrefetchExecutor.loadConfiguration(conf);
  }

  public Configuration conf() {
    return conf;
  }

  public FileSystem fileSystem() {
    return fs;
  }

  /** Returns the path of a file that is still to be written. */
  public Path newFile() {
    return new Path(family, UUID.randomUUID().toString().replace("-", ""));
  }

  /** Has the files that are written from now on cached as they are written. */
  public void cacheAllOnWrite() {
    conf.setBoolean(CacheConfig.CACHE_BLOCKS_ON_WRITE_KEY, true);
    conf.setBoolean(CacheConfig.CACHE_INDEX_BLOCKS_ON_WRITE_KEY, true);
    conf.setBoolean(CacheConfig.CACHE_BLOOM_BLOCKS_ON_WRITE_KEY, true);
  }

  public Path write(CacheConfig cacheConf) throws IOException {
    return write(cacheConf, new HFileContextBuilder().withBlockSize(1024).build());
  }

  /** Writes a file as a region server does, with put and delete family cells of random values. */
  public Path write(CacheConfig cacheConf, HFileContext context) throws IOException {
    StoreFileWriter writer = new StoreFileWriter.Builder(conf, cacheConf, fs)
      .withOutputDir(family).withFileContext(context).withBloomType(BloomType.ROW)
      .withMaxKeyCount(ROWS).build();
    try {
      Random random = new Random(17);
      byte[] value = new byte[100];
      for (int i = 0; i < ROWS; i++) {
        byte[] row = Bytes.toBytes(String.format("row%08d", i));
        if (i % 3 == 0) {
          writer.append(
            new KeyValue(row, Bytes.toBytes("f"), null, 1L, KeyValue.Type.DeleteFamily));
        }
        random.nextBytes(value);
        writer.append(new KeyValue(row, Bytes.toBytes("f"), Bytes.toBytes("q"), 2L, value));
      }
      writer.appendMetadata(1, false);
    } finally {
      writer.close();
    }
    return writer.getPath();
  }

  /** Returns the offset of the data block of a cell, found as a reader finds it. */
  public static long dataBlockOf(HFile.Reader reader, KeyValue cell) throws IOException {
    HFileBlock block = reader.getDataBlockIndexReader().seekToDataBlock(cell, null, false, true,
      false, reader.getEffectiveEncodingInCache(false), reader);
    try {
      return block.getOffset();
    } finally {
      block.release();
    }
  }

  /** Returns all blocks that can be cached while the file is open, by offset. */
  public List<Block> blocks(Path path) throws IOException {
    List<Block> blocks = new ArrayList<>();
    try (HFile.Reader reader = HFile.createReader(fs, path, CacheConfig.DISABLED, true, conf)) {
      long offset = 0;
      while (offset < reader.getTrailer().getLoadOnOpenDataOffset()) {
        HFileBlock block = reader.readBlock(offset, -1, false, true, false, true, null, null);
        blocks.add(new Block(path.getName(), block));
        offset += block.getOnDiskSizeWithHeader();
        block.release();
      }
    }
    return blocks;
  }

  /** Opens the file with prefetch, waits until that is over, and looks before it is closed. */
  public void prefetch(Path path, BlockCache cache, Runnable look) throws IOException {
    conf.setBoolean(CacheConfig.PREFETCH_BLOCKS_ON_OPEN_KEY, true);
    CacheConfig cacheConf = new CacheConfig(conf, null, cache, ByteBuffAllocator.HEAP);
    try (HFile.Reader reader = HFile.createReader(fs, path, cacheConf, true, conf)) {
      Waiter.waitFor(conf, 120_000, 10, reader::prefetchComplete);
      look.run();
    } finally {
      conf.unset(CacheConfig.PREFETCH_BLOCKS_ON_OPEN_KEY);
    }
  }
}
