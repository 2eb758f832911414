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
package dev.stratum.bench.rpc;

import dev.stratum.bench.PinnedJvm;
import dev.stratum.bench.harness.CompilerWarmUp;
import dev.stratum.bench.harness.Headline;
import dev.stratum.bench.harness.MeasuredJvm;
import dev.stratum.bench.harness.StandaloneHBase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.apache.commons.io.FileUtils;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.BenchmarkParams;

/**
 * A get by each of several clients that share a connection, as a client sees it; the RegionServer
 * is in this JVM. Rows are drawn uniformly, have one cell of 100 bytes, and are in memory. The
 * call queues are as many as HBase has by default.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(jvmArgsAppend = { "-Xms2g", "-Xmx2g" })
@Warmup(iterations = 4, time = 1)
@Measurement(iterations = 16, time = 1)
public abstract class SharedConnectionGets extends PinnedJvm {
  private static final TableName NAME = TableName.valueOf("usertable");
  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final byte[] QUALIFIER = Bytes.toBytes("q");
  private static final int VALUE_BYTES = 100;
  private static final int ROWS = 1000;

  /** General handlers of the RegionServer; HBase's default. */
  @Param("30")
  public int handlers = HConstants.DEFAULT_REGION_SERVER_HANDLER_COUNT;

  private Path folder;
  private StandaloneHBase hbase;

  @Setup(Level.Trial)
  public void openAndWarmUp(BenchmarkParams params) throws Exception {
    open();
    CompilerWarmUp.run(params.getThreads(), this::get, () -> {
    });
  }

  void open() throws Exception {
    folder = Files.createTempDirectory("stratum-bench");
    Configuration conf = HBaseConfiguration.create();
    conf.set(HConstants.HBASE_DIR, folder.resolve("hbase").toUri().toString());
    conf.set("hadoop.tmp.dir", folder.resolve("tmp").toString());
    // Hadoop's local file system with checksums cannot sync a stream.
    conf.setClass("fs.file.impl", RawLocalFileSystem.class, FileSystem.class);
    DefaultMetricsSystem.setMiniClusterMode(true);
    conf.setInt(HConstants.REGION_SERVER_HANDLER_COUNT, handlers);
    configure(conf);
    hbase = new StandaloneHBase(conf, folder);
    hbase.createTable(TableDescriptorBuilder.newBuilder(NAME)
      .setColumnFamily(ColumnFamilyDescriptorBuilder.of(FAMILY)).build());
    byte[] value = new byte[VALUE_BYTES];
    try (Table table = hbase.connection().getTable(NAME)) {
      for (int i = 0; i < ROWS; i++) {
        ThreadLocalRandom.current().nextBytes(value);
        table.put(new Put(Bytes.toBytes(i)).addColumn(FAMILY, QUALIFIER, value));
      }
    }
  }

  @TearDown(Level.Trial)
  public void close() throws IOException {
    if (MeasuredJvm.isEnding()) {
      return;
    }
    if (hbase != null) {
      hbase.close();
    }
    if (folder != null) {
      FileUtils.deleteDirectory(folder.toFile());
    }
  }

  /** Sets the keys of the feature. */
  abstract void configure(Configuration conf);

  /** Performs one operation of each benchmark. */
  Result get() throws IOException {
    try (Table table = hbase.connection().getTable(NAME)) {
      return table.get(new Get(Bytes.toBytes(ThreadLocalRandom.current().nextInt(ROWS))));
    }
  }

  @Benchmark
  @Threads(1)
  public Result one() throws IOException {
    return get();
  }

  @Benchmark
  @Threads(16)
  public Result sixteen() throws IOException {
    return get();
  }

  /** Sixty-four clients. */
  @Benchmark
  @Threads(64)
  @Headline(value = "server=true,consolidated=true,handlers=30", warmup = 1, measurement = 2,
      feature = "flush-consolidation")
  public Result sixtyFour() throws IOException {
    return get();
  }
}
