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
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.RegionInfoBuilder;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.regionserver.ChunkCreator;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.MemStoreLAB;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.CommonFSUtils;
import org.apache.hadoop.hbase.wal.WAL;
import org.apache.hadoop.hbase.wal.WALFactory;

/**
 * A region without a server, whose files and WAL are in HDFS on loopback with two DataNodes.
 * Whoever uses it is a handler: there is no client and no connection. As thread-safe as a region.
 */
public final class RegionOnHdfs implements Closeable {
  /** Its column family. */
  public static final byte[] FAMILY = Bytes.toBytes("f");
  private static final int DATA_NODES = 2;

  private LoopbackHdfs hdfs;
  private WALFactory factory;
  private WAL wal;
  private Path root;
  private HRegion region;

  /**
   * Opens a new region that has no block cache.
   * @param conf     the settings of the WAL; those of HDFS are added
   * @param provider the kind of WAL: asyncfs or filesystem
   */
  public RegionOnHdfs(Configuration conf, String provider) throws IOException {
    this(conf, provider, null);
  }

  /**
   * Opens a new region.
   * @param conf     the settings of the WAL and the store; those of HDFS are added
   * @param provider the kind of WAL: asyncfs or filesystem
   * @param cache    its block cache, which is not shut down with it; null for none
   */
  public RegionOnHdfs(Configuration conf, String provider, BlockCache cache) throws IOException {
    try {
      open(conf, provider, cache);
    } catch (IOException | RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  private void open(Configuration conf, String provider, BlockCache cache) throws IOException {
    conf.set(WALFactory.WAL_PROVIDER, provider);
    conf.setLong(HConstants.HREGION_MEMSTORE_FLUSH_SIZE, 1L << 30);
    hdfs = new LoopbackHdfs(conf, DATA_NODES);
    root = new Path("/hbase");
    CommonFSUtils.setRootDir(conf, root.getFileSystem(conf).makeQualified(root));
    ChunkCreator.initialize(MemStoreLAB.CHUNK_SIZE_DEFAULT, false, 0, 0, 0, null,
      MemStoreLAB.INDEX_CHUNK_SIZE_PERCENTAGE_DEFAULT);
    TableName name = TableName.valueOf("usertable");
    TableDescriptor table = TableDescriptorBuilder.newBuilder(name)
      .setColumnFamily(ColumnFamilyDescriptorBuilder.of(FAMILY)).build();
    RegionInfo info = RegionInfoBuilder.newBuilder(name).build();
    factory = new WALFactory(conf, "bench");
    wal = factory.getWAL(info);
    region = HRegion.createHRegion(info, CommonFSUtils.getRootDir(conf), conf, table, wal, false);
    region.setBlockCache(cache);
    region.initialize();
  }

  public HRegion region() {
    return region;
  }

  public WAL wal() {
    return wal;
  }

  /** Flushes the region and rolls the WAL; deletes those before, as HDFS is in memory. */
  public void startAnew() throws IOException {
    region.flush(true);
    wal.rollWriter(true);
    FileSystem fs = region.getFilesystem();
    Path old = new Path(root, HConstants.HREGION_OLDLOGDIR_NAME);
    if (fs.exists(old)) {
      for (FileStatus file : fs.listStatus(old)) {
        fs.delete(file.getPath(), true);
      }
    }
  }

  @Override
  public void close() throws IOException {
    if (MeasuredJvm.isEnding()) {
      return;
    }
    if (region != null) {
      region.close();
    }
    if (factory != null) {
      factory.close();
    }
    if (hdfs != null) {
      hdfs.close();
    }
  }
}
