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
import dev.stratum.bench.blockcache.StoreFileBlocks;
import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.fs.HFileSystem;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
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
 * One data block read from a store file by the file's reader, without any block cache, with HBase's
 * checksums verified: by position as a get does ({@link #pread}), and one after the other as a
 * compaction does ({@link #stream}); in microseconds, and in bytes of heap allocated. The file
 * system is a local one with the interfaces of HDFS, which allocates nothing itself; the garbage of
 * The allocations of HDFS's own client are not included.
 *
 * <pre>
 * mvn -pl bench jmh:run -Djmh.include=StoreFileReadsBenchmark -Djmh.forks=1
 * </pre>
 *
 * See HBASE-21917 and HBASE-22005.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 3, time = 300, timeUnit = TimeUnit.MILLISECONDS)
public class StoreFileReadsBenchmark extends PinnedJvm {
  /** The size of data blocks in bytes, before the last cell that makes them full. */
  @Param({ "4096", "8192", "16384", "32768", "65536", "131072" })
  public int size;

  /** Whether the file system's streams read into byte buffers. */
  @Param({ "true", "false" })
  public boolean byteBuffers;

  /** The server's pool: <code>plain</code>, or <code>classes</code> for size classes. */
  @Param({ "plain", "classes" })
  public String pool;

  /** The bytes of blocks in the file, in MB. */
  int megabytes = 16;

  private StoreFileBlocks blocks;
  private FileSystem fs;
  private Reads reads;

  /** Reads of the full data blocks of a file, in order or in random order. */
  static final class Reads implements Closeable {
    private final List<StoreFileBlocks.Location> inOrder = new ArrayList<>();
    private final List<StoreFileBlocks.Location> shuffled;
    private final HFile.Reader reader;
    private int next;

    /**
     * @param size of blocks
     * @param file with these blocks, on this file system
     */
    Reads(StoreFileBlocks blocks, int size, FileSystem fs, Path file, Configuration conf)
      throws IOException {
      for (StoreFileBlocks.Location location : blocks.readAll(block -> {
      })) {
        // The last block is smaller.
        if (location.type.isData() && location.sizeWithHeader >= size) {
          inOrder.add(location);
        }
      }
      shuffled = new ArrayList<>(inOrder);
      Collections.shuffle(shuffled, new Random(1));
      reader = HFile.createReader(fs, file, new CacheConfig(conf, null, null, blocks.allocator()),
        true, conf);
      if (!reader.getFileContext().isUseHBaseChecksum()) {
        throw new IllegalStateException("No checksums to verify");
      }
    }

    /** @return the block's size with header, in bytes */
    int read(boolean pread) throws IOException {
      List<StoreFileBlocks.Location> order = pread ? shuffled : inOrder;
      StoreFileBlocks.Location location = order.get(next);
      next = next + 1 == order.size() ? 0 : next + 1;
      HFileBlock block = reader.readBlock(location.offset, location.sizeWithHeader, false, pread,
        !pread, false, location.type, null);
      int sizeWithHeader = block.getOnDiskSizeWithHeader();
      block.release();
      return sizeWithHeader;
    }

    @Override
    public void close() throws IOException {
      reader.close();
    }
  }

  @Setup(Level.Trial)
  public void open() throws IOException {
    Configuration conf = HBaseConfiguration.create();
    conf.setBoolean("hbase.server.allocator.size.classes.enabled", pool.equals("classes"));
    blocks = new StoreFileBlocks(conf, size, (long) megabytes << 20);
    conf.set("fs.defaultFS", "file:///");
    conf.setClass("fs.file.impl", ByteBufferFileSystem.class, FileSystem.class);
    conf.setBoolean("fs.file.impl.disable.cache", true);
    conf.setBoolean(ByteBufferFileSystem.BYTE_BUFFERS_KEY, byteBuffers);
    fs = new HFileSystem(conf, true);
    reads = new Reads(blocks, size, fs, blocks.path(), conf);
  }

  @TearDown(Level.Trial)
  public void close() throws IOException {
    reads.close();
    fs.close();
    blocks.close();
  }

  /** @return the block's size with header, in bytes */
  @Benchmark
  public int pread() throws IOException {
    return reads.read(true);
  }

  /** @return the block's size with header, in bytes */
  @Benchmark
  public int stream() throws IOException {
    return reads.read(false);
  }
}
