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
package org.apache.hadoop.hbase.regionserver.wal;

import java.io.EOFException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.regionserver.ChunkCreator;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.MemStoreLAB;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.CommonFSUtils;
import org.apache.hadoop.hbase.wal.WAL;
import org.apache.hadoop.hbase.wal.WALEdit;
import org.apache.hadoop.hbase.wal.WALFactory;
import org.apache.hadoop.hbase.wal.WALStreamReader;
import org.junit.rules.ExternalResource;

/** Regions without a server around them, which write to one WAL in HDFS. */
final class RegionsInHdfs {
  static final byte[] FAMILY = Bytes.toBytes("f");

  /** HDFS with one DataNode, for all test classes of a JVM, with which it ends. */
  static final class Hdfs extends ExternalResource {
    private static HBaseTestingUtility util;

    @Override
    protected void before() throws Exception {
      if (util == null) {
        util = new HBaseTestingUtility();
        util.startMiniDFSCluster(1);
      }
      ChunkCreator.initialize(MemStoreLAB.CHUNK_SIZE_DEFAULT, false, 0, 0, 0, null,
        MemStoreLAB.INDEX_CHUNK_SIZE_PERCENTAGE_DEFAULT);
    }

    /** Returns settings of a test's own, with regions and WALs in this HDFS. */
    Configuration configuration() throws IOException {
      Configuration conf = new Configuration(util.getConfiguration());
      CommonFSUtils.setRootDir(conf, util.getDataTestDirOnTestFS("root"));
      CommonFSUtils.setWALRootDir(conf, util.getDataTestDirOnTestFS("wals"));
      return conf;
    }
  }

  /** The writer of FSHLog whose appends wait, and fail with the failure if it is not null. */
  public static final class FailingWriter extends ProtobufLogWriter {
    static final CompletableFuture<IOException> NONE = CompletableFuture.completedFuture(null);
    static volatile CompletableFuture<IOException> failure = NONE;

    static void fail() {
      failure = CompletableFuture.completedFuture(new IOException("Disk on fire"));
    }

    @Override
    public void append(WAL.Entry entry) throws IOException {
      IOException thrown = failure.join();
      if (thrown != null) {
        throw thrown;
      }
      super.append(entry);
    }
  }

  private final List<HRegion> regions = new ArrayList<>();
  private Configuration conf;
  private WALFactory factory;
  private AbstractFSWAL<?> wal;

  /** Opens a new region; the first one's settings are the WAL's. */
  HRegion open(Configuration conf, TableName name, Durability durability) throws IOException {
    this.conf = conf;
    TableDescriptor table = TableDescriptorBuilder.newBuilder(name).setDurability(durability)
      .setColumnFamily(ColumnFamilyDescriptorBuilder.of(FAMILY)).build();
    RegionInfo info = RegionInfoBuilder.newBuilder(name).build();
    if (factory == null) {
      factory = new WALFactory(conf, "regions" + System.nanoTime());
      wal = (AbstractFSWAL<?>) factory.getWAL(info);
    }
    HRegion region =
      HRegion.createHRegion(info, CommonFSUtils.getRootDir(conf), conf, table, wal);
    regions.add(region);
    return region;
  }

  WALFactory factory() {
    return factory;
  }

  AbstractFSWAL<?> wal() {
    return wal;
  }

  /** Returns a write of {@code size} bytes. */
  static Put put(int row, Durability durability, int size) {
    return new Put(Bytes.toBytes(row)).addColumn(FAMILY, FAMILY, new byte[size])
      .setDurability(durability);
  }

  /** Returns the rows that a reader of HDFS finds in the WAL file {@code path} now. */
  List<Integer> rowsIn(Path path) throws IOException {
    List<Integer> found = new ArrayList<>();
    try (WALStreamReader reader =
      WALFactory.createStreamReader(path.getFileSystem(conf), path, conf)) {
      for (WAL.Entry entry; (entry = reader.next()) != null;) {
        for (Cell cell : entry.getEdit().getCells()) {
          if (!CellUtil.matchingFamily(cell, WALEdit.METAFAMILY)) {
            found.add(Bytes.toInt(CellUtil.cloneRow(cell)));
          }
        }
      }
    } catch (EOFException e) {
      // This is the end of what is there so far.
    }
    return found;
  }

  /** Returns the rows in all files of the WAL, in the order in which they were written. */
  List<Integer> rowsInAllFiles() throws IOException {
    List<Integer> found = new ArrayList<>();
    FileStatus[] files = wal.getFiles();
    Arrays.sort(files);
    for (FileStatus file : files) {
      found.addAll(rowsIn(file.getPath()));
    }
    return found;
  }

  /** Closes the regions as if their server stopped, and the WAL. */
  void close() throws IOException {
    for (HRegion region : regions) {
      region.close(true);
    }
    if (factory != null) {
      factory.close();
    }
  }
}
