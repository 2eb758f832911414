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
package dev.stratum.bench.harness;

import dev.stratum.processes.LoopbackHdfs;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.commons.io.FileUtils;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.AdvancedScanResultConsumer;
import org.apache.hadoop.hbase.client.AsyncConnection;
import org.apache.hadoop.hbase.client.AsyncTable;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.util.Bytes;

/**
 * A table of one region and one family on a master and a RegionServer in this JVM, whose files are
 * in HDFS on loopback with two DataNodes. Thread-safe but for {@link #close()}.
 */
public final class TableOnHdfs implements Closeable {
  /** The table's family. */
  public static final byte[] FAMILY = Bytes.toBytes("f");

  private static final TableName NAME = TableName.valueOf("table");
  private static final int DATA_NODES = 2;

  private final Path folder = Files.createTempDirectory("stratum-bench");
  private LoopbackHdfs hdfs;
  private StandaloneHBase hbase;
  private AsyncConnection async;

  /**
   * Starts the servers and creates the table.
   * @param conf what the benchmark is about; gets what a client needs to connect
   * @throws Exception if a server does not start; none is left then
   */
  public TableOnHdfs(Configuration conf) throws Exception {
    try {
      start(conf);
    } catch (Exception | Error e) {
      close();
      throw e;
    }
  }

  private void start(Configuration conf) throws Exception {
    hdfs = new LoopbackHdfs(conf, DATA_NODES);
    conf.set(HConstants.HBASE_DIR, conf.get("fs.defaultFS") + "/hbase");
    hbase = new StandaloneHBase(conf, folder);
    hbase.createTable(TableDescriptorBuilder.newBuilder(NAME)
      .setColumnFamily(ColumnFamilyDescriptorBuilder.of(FAMILY)).build());
  }

  /** Returns a table for one thread, which closes it. */
  public Table table() throws IOException {
    return hbase.connection().getTable(NAME);
  }

  /** Returns a table that does not block, of a connection of its own. Thread-safe. */
  public synchronized AsyncTable<AdvancedScanResultConsumer> asyncTable() {
    if (async == null) {
      async = ConnectionFactory.createAsyncConnection(hbase.connection().getConfiguration()).join();
    }
    return async.getTable(NAME);
  }

  @Override
  public void close() throws IOException {
    if (MeasuredJvm.isEnding()) {
      return;
    }
    if (async != null) {
      async.close();
    }
    if (hbase != null) {
      hbase.close();
    }
    if (hdfs != null) {
      hdfs.close();
    }
    FileUtils.deleteDirectory(folder.toFile());
  }
}
