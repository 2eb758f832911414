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
import dev.stratum.bench.harness.ForkClass;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.KeyValueUtil;
import org.apache.hadoop.hbase.fs.HFileSystem;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.HFileContextBuilder;
import org.apache.hadoop.hbase.io.hfile.HFileScanner;
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
 * One data block of a store file on HDFS, without any block cache, in microseconds and in bytes of
 * heap allocated: read with HBase's checksums verified, by position as a get does
 * ({@link #pread}) or one after the other as a compaction does ({@link #stream}); and written, with
 * its share of its file of 16 MB, from cells in memory as a flush does ({@link #flush}). HDFS is
 * in a process of its own, so that of the measured JVM all is the client's. Reads go over loopback,
 * not through HDFS's short circuit, which needs a native library.
 *
 * <pre>
 * mvn -pl bench jmh:run -Djmh.include=HdfsBlocksBenchmark -Djmh.forks=1
 * </pre>
 *
 * The client of {@link #flush} is set up as the RegionServer of each side does it. The log of each
 * side says which share of what was allocated were the buffers of HDFS's packets. See HBASE-21917,
 * HBASE-22005 and HDFS-7276.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 4, time = 2)
@Measurement(iterations = 3, time = 2)
public class HdfsBlocksBenchmark extends PinnedJvm {

  /** A file on HDFS, or the place for some. */
  @State(Scope.Thread)
  public abstract static class OnHdfs {
    /** The size of data blocks in bytes, before the last cell that makes them full. */
    @Param({ "8192", "65536", "131072" })
    public int size;

    /** The bytes of blocks of a store file, in MB. */
    int megabytes = 16;

    Configuration conf;
    FileSystem fs;
    StoreFileBlocks blocks;
    private HdfsProcess hdfs;

    void open() throws IOException {
      blocks = new StoreFileBlocks(conf, size, (long) megabytes << 20);
      hdfs = new HdfsProcess(conf);
      conf.setBoolean("fs.hdfs.impl.disable.cache", true);
      conf.setInt("dfs.replication", 1);
      fs = new HFileSystem(conf, true);
    }

    @TearDown(Level.Trial)
    public void close() throws IOException {
      fs.close();
      hdfs.close();
      blocks.close();
    }
  }

  /** Blocks of a file, in order and shuffled. */
  public static class Reading extends OnHdfs {
    /** Whether the file system's streams read into byte buffers. */
    @Param({ "true", "false" })
    public boolean byteBuffers;

    /** The server's pool: <code>plain</code>, or <code>classes</code> for size classes. */
    @Param({ "plain", "classes" })
    public String pool;

    private StoreFileReadsBenchmark.Reads reads;

    @Setup(Level.Trial)
    public void fill() throws IOException {
      conf = HBaseConfiguration.create();
      conf.setBoolean("hbase.server.allocator.size.classes.enabled", pool.equals("classes"));
      if (!byteBuffers) {
        conf.setClass("fs.hdfs.impl", HeapReadHdfs.class, FileSystem.class);
      }
      open();
      Path file = new Path("/", blocks.path().getName());
      fs.copyFromLocalFile(blocks.path(), file);
      reads = new StoreFileReadsBenchmark.Reads(blocks, size, fs, file, conf);
    }

    @Override
    public void close() throws IOException {
      reads.close();
      super.close();
    }
  }

  /** Files that are written one after the other, of cells from memory. */
  public static class Flushing extends OnHdfs {
    /** How many iterations warm the pool up. */
    private static final int UNSAMPLED = 2;

    private final List<Cell> cells = new ArrayList<>();
    private StoreFileWriter writer;
    private AllocationSamples samples;
    private int iterations;
    private int cellsInBlock;
    private int next;

    @Setup(Level.Trial)
    public void fill() throws IOException {
      conf = HBaseConfiguration.create();
      configureAsServer(conf);
      open();
      try (HFile.Reader source = HFile.createReader(FileSystem.newInstanceLocal(conf).getRaw(),
        blocks.path(), new CacheConfig(conf, null, null, blocks.allocator()), true, conf);
        HFileScanner scanner = source.getScanner(conf, false, false, true)) {
        scanner.seekTo();
        do {
          cells.add(KeyValueUtil.copyToNewKeyValue(scanner.getCell()));
        } while (scanner.next());
      }
      // Each cell has one more byte for its sequence id.
      cellsInBlock = 1 + size / (cells.get(0).getSerializedSize() + 1);
    }

    /** Does what a RegionServer does before it makes its file system; nothing on stock. */
    private static void configureAsServer(Configuration conf) {
      if (!ForkClass.HDFS_PACKET_POOL.isPresent()) {
        return;
      }
      try {
        ForkClass.HDFS_PACKET_POOL.get().getMethod("configure", Configuration.class).invoke(null,
          conf);
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException(e);
      }
    }

    /** Begins before anything is measured, since the start of JFR allocates as well. */
    @Setup(Level.Iteration)
    public void sample() {
      if (iterations++ == UNSAMPLED) {
        samples = new AllocationSamples();
      }
    }

    int writeBlock() throws IOException {
      for (int i = 0; i < cellsInBlock; i++) {
        if (writer == null) {
          writer = new StoreFileWriter.Builder(conf, new CacheConfig(conf), fs)
            .withFilePath(new Path("/", UUID.randomUUID().toString().replace("-", "")))
            .withFileContext(new HFileContextBuilder().withBlockSize(size).build())
            .withBloomType(BloomType.ROW).withMaxKeyCount(cells.size()).build();
        }
        writer.append(cells.get(next));
        next = next + 1 == cells.size() ? 0 : next + 1;
        if (next == 0) {
          roll();
        }
      }
      return next;
    }

    private void roll() throws IOException {
      if (writer != null) {
        writer.close();
        fs.delete(writer.getPath(), false);
        writer = null;
      }
    }

    @Override
    public void close() throws IOException {
      roll();
      if (samples != null) {
        samples.end();
      }
      super.close();
    }
  }

  /** @return the block's size with header, in bytes */
  @Benchmark
  public int pread(Reading file) throws IOException {
    return file.reads.read(true);
  }

  /** @return the block's size with header, in bytes */
  @Benchmark
  public int stream(Reading file) throws IOException {
    return file.reads.read(false);
  }

  /** @return a number that depends on what was done */
  @Benchmark
  public int flush(Flushing files) throws IOException {
    return files.writeBlock();
  }
}
