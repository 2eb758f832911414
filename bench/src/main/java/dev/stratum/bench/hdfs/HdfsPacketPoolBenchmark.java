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
package dev.stratum.bench.hdfs;

import dev.stratum.bench.PinnedJvm;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.nio.file.Files;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.apache.commons.io.FileUtils;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.HFileContextBuilder;
import org.apache.hadoop.hbase.regionserver.StoreFileWriter;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * One store file of 16 MB written to HDFS, as a flush writes it, in milliseconds and in bytes of
 * heap allocated, those of the NameNode and the DataNode in the same JVM included.
 *
 * <pre>
 * mvn -pl bench jmh:run -Djmh.include=HdfsPacketPoolBenchmark
 * </pre>
 *
 * Rows have YCSB's shape, 10 fields of 100 bytes, and are made before the clock runs. On the fork
 * the HDFS client is set up as a RegionServer sets it up when it starts, on the published jars it
 * is what HDFS's defaults make it (HDFS-7276).
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 4, time = 1, timeUnit = TimeUnit.SECONDS)
@Measurement(iterations = 4, time = 1, timeUnit = TimeUnit.SECONDS)
public class HdfsPacketPoolBenchmark extends PinnedJvm {
  private static final byte[] FAMILY = Bytes.toBytes("family");
  private static final int FIELDS = 10;

  /** The rows of a file, of about 1.5 KB each. */
  int rows = 11_000;

  private java.nio.file.Path dir;
  private MiniDFSCluster hdfs;
  private Configuration conf;
  private FileSystem fs;
  private KeyValue[] cells;
  private int files;

  @Setup(Level.Trial)
  public void start() throws IOException, ReflectiveOperationException {
    conf = HBaseConfiguration.create();
    configureAsRegionServer(conf);
    dir = Files.createTempDirectory("stratum-bench");
    hdfs = new MiniDFSCluster.Builder(conf, dir.toFile()).numDataNodes(1).build();
    hdfs.waitActive();
    fs = hdfs.getFileSystem();
    Random random = new Random(1);
    byte[] value = new byte[100];
    cells = new KeyValue[rows * FIELDS];
    for (int i = 0; i < cells.length; i++) {
      random.nextBytes(value);
      cells[i] = new KeyValue(Bytes.toBytes(String.format("user%019d", i / FIELDS)), FAMILY,
        Bytes.toBytes("field" + i % FIELDS), 1L, KeyValue.Type.Put, value);
    }
  }

  /** What HRegionServer calls before its first file system, where it is there to be called. */
  private static void configureAsRegionServer(Configuration conf)
    throws ReflectiveOperationException {
    try {
      Class.forName("org.apache.hadoop.hbase.fs.HdfsPacketPool")
        .getMethod("configure", Configuration.class).invoke(null, conf);
    } catch (ClassNotFoundException e) {
      // The published jars leave HDFS as it is.
    } catch (InvocationTargetException e) {
      throw new IllegalStateException(e.getCause());
    }
  }

  @TearDown(Level.Trial)
  public void stop() throws IOException {
    hdfs.shutdown(true);
    FileUtils.deleteDirectory(dir.toFile());
  }

  /** @return the length of the file in bytes */
  @Benchmark
  public long flush() throws IOException {
    Path path = new Path("/file" + files++);
    StoreFileWriter writer = new StoreFileWriter.Builder(conf, new CacheConfig(conf), fs)
      .withFilePath(path).withFileContext(new HFileContextBuilder().build())
      .withMaxKeyCount(cells.length).build();
    for (KeyValue cell : cells) {
      writer.append(cell);
    }
    writer.close();
    long length = fs.getFileStatus(path).getLen();
    fs.delete(path, false);
    return length;
  }
}
