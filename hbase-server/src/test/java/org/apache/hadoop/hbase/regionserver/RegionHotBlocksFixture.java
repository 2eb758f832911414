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
package org.apache.hadoop.hbase.regionserver;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseTestingUtility;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.StartMiniClusterOption;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.coprocessor.CoprocessorHost;
import org.apache.hadoop.hbase.coprocessor.ObserverContext;
import org.apache.hadoop.hbase.coprocessor.RegionCoprocessor;
import org.apache.hadoop.hbase.coprocessor.RegionCoprocessorEnvironment;
import org.apache.hadoop.hbase.coprocessor.RegionObserver;
import org.apache.hadoop.hbase.io.ReferredFile;
import org.apache.hadoop.hbase.io.hfile.CachedBlock;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.PrefetchExecutor;
import org.apache.hadoop.hbase.io.hfile.load.HandoverSettings;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hdfs.DistributedFileSystem;
import org.junit.AfterClass;
import org.junit.Before;
import org.junit.BeforeClass;
import org.junit.Rule;
import org.junit.rules.TestName;

/** Two servers with HBase's default handlers, and tables a part of whose rows is read. */
public abstract class RegionHotBlocksFixture {

  protected static final HBaseTestingUtility UTIL = new HBaseTestingUtility();
  protected static final byte[][] FAMILIES = { Bytes.toBytes("f"), Bytes.toBytes("g") };
  protected static final byte[] QUALIFIER = Bytes.toBytes("q");
  protected static final int ROWS = 10_000;
  protected static final int VALUE_BYTES = 200;
  /** The first {@link #HOT} of this many rows are hot, about one block's rows in eight. */
  protected static final int STRIDE = 160;
  protected static final int HOT = 10;

  /** HDFS, which may not create the file of a hint until it is told to. */
  public static final class SlowHints extends DistributedFileSystem {
    private static volatile CountDownLatch created = new CountDownLatch(0);

    /** Has no hint be created from now on, until the result is counted down. */
    static CountDownLatch block() {
      created = new CountDownLatch(1);
      return created;
    }

    @Override
    public HdfsDataOutputStreamBuilder createFile(Path path) {
      if (path.getName().equals(RegionHotBlocks.FILE)) {
        try {
          assertTrue(created.await(1, TimeUnit.MINUTES));
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
        }
      }
      return super.createFile(path);
    }
  }

  /** Has a close wait for its hint's file, so that the next server finds it on any machine. */
  public static final class HintsInTime implements RegionCoprocessor, RegionObserver {
    static volatile boolean enabled;

    @Override
    public Optional<RegionObserver> getRegionObserver() {
      return Optional.of(this);
    }

    @Override
    public void postClose(ObserverContext<RegionCoprocessorEnvironment> context,
      boolean abortRequested) {
      if (enabled) {
        CachedBlockFixture.await(() -> !RegionHotBlocks.isLeaving());
      }
    }
  }

  @Rule
  public final TestName name = new TestName();

  protected TableName table;

  @BeforeClass
  public static void start() throws Exception {
    Configuration conf = UTIL.getConfiguration();
    conf.setBoolean(HandoverSettings.ENABLED_KEY, true);
    conf.set(HConstants.BUCKET_CACHE_IOENGINE_KEY, "offheap");
    conf.setInt(HConstants.BUCKET_CACHE_SIZE_KEY, 64);
    conf.setInt(PrefetchExecutor.PREFETCH_DELAY, 0);
    conf.setClass("fs.hdfs.impl", SlowHints.class, FileSystem.class);
    conf.set(CoprocessorHost.REGION_COPROCESSOR_CONF_KEY, HintsInTime.class.getName());
    conf.setInt(HConstants.REGION_SERVER_HANDLER_COUNT,
      HConstants.DEFAULT_REGION_SERVER_HANDLER_COUNT);
    PrefetchExecutor.loadConfiguration(conf);
    UTIL.startMiniCluster(StartMiniClusterOption.builder().numRegionServers(2).build());
    UTIL.getAdmin().balancerSwitch(false, true);
  }

  @AfterClass
  public static void stop() throws Exception {
    UTIL.shutdownMiniCluster();
  }

  @Before
  public void setUp() throws Exception {
    RegionHotBlocks.maxWaitMillis = 60_000;
    HintsInTime.enabled = true;
    table = TableName.valueOf(name.getMethodName());
    UTIL.getAdmin().compactionSwitch(false, new ArrayList<>());
  }

  protected static byte[] row(int i) {
    return Bytes.toBytes(String.format("%06d", i));
  }

  protected static byte[] value(int i) {
    byte[] value = new byte[VALUE_BYTES];
    new Random(i).nextBytes(value);
    return value;
  }

  /** Creates the table with two files in each of two families, and reads the hot rows. */
  protected void createAndRead(boolean handover, byte[]... splits) throws Exception {
    TableDescriptorBuilder descriptor = TableDescriptorBuilder.newBuilder(table)
      .setValue(HandoverSettings.ENABLED_KEY, Boolean.toString(handover));
    for (byte[] family : FAMILIES) {
      descriptor.setColumnFamily(
        ColumnFamilyDescriptorBuilder.newBuilder(family).setBlocksize(4096).build());
    }
    try (Table created = UTIL.createTable(descriptor.build(),
      splits.length == 0 ? null : splits)) {
      for (int half = 0; half < 2; half++) {
        List<Put> puts = new ArrayList<>();
        for (int i = half; i < ROWS; i += 2) {
          Put put = new Put(row(i));
          for (byte[] family : FAMILIES) {
            put.addColumn(family, QUALIFIER, value(i));
          }
          puts.add(put);
        }
        created.put(puts);
        UTIL.flush(table);
      }
    }
    readHotRows();
    readHotRows();
  }

  protected void readHotRows() throws Exception {
    try (Table read = UTIL.getConnection().getTable(table)) {
      List<Get> gets = IntStream.range(0, ROWS).filter(i -> i % STRIDE < HOT)
        .mapToObj(i -> new Get(row(i))).collect(Collectors.toList());
      for (Result result : read.get(gets)) {
        assertRow(result);
      }
    }
    for (HRegion region : UTIL.getMiniHBaseCluster().getRegions(table)) {
      CachedBlockFixture.awaitWriters(region.getBlockCache());
    }
  }

  protected static void assertRow(Result result) {
    int i = Integer.parseInt(Bytes.toString(result.getRow()));
    for (byte[] family : FAMILIES) {
      assertArrayEquals("row " + i, value(i), result.getValue(family, QUALIFIER));
    }
  }

  protected void assertAllRows(TableName of) throws Exception {
    try (Table read = UTIL.getConnection().getTable(of);
      ResultScanner scanner = read.getScanner(new Scan().setCacheBlocks(false))) {
      int count = 0;
      for (Result result : scanner) {
        assertRow(result);
        count++;
      }
      assertEquals(ROWS, count);
    }
  }

  protected static HRegionServer serverOf(HRegion region) {
    return UTIL.getMiniHBaseCluster().getRegionServerThreads().stream()
      .map(thread -> thread.getRegionServer())
      .filter(server -> server.getRegion(region.getRegionInfo().getEncodedName()) == region)
      .findAny().get();
  }

  /** Returns the server that does not have the region. */
  protected static HRegionServer otherServer(HRegion region) {
    HRegionServer from = serverOf(region);
    return UTIL.getMiniHBaseCluster().getRegionServerThreads().stream()
      .map(thread -> thread.getRegionServer()).filter(server -> server != from).findAny().get();
  }

  /** Returns the data blocks in the cache of a region's files, or of those that they refer to. */
  protected static List<CachedBlock> dataOf(HRegion region) {
    Set<String> files = new HashSet<>();
    region.getStores().forEach(store -> store.getStorefiles().forEach(file -> {
      String own = file.getPath().getName();
      files.add(own);
      files.add(ReferredFile.of(own));
    }));
    List<CachedBlock> blocks = new ArrayList<>();
    region.getBlockCache().forEach(block -> {
      if (files.contains(block.getFilename()) && isData(block)) {
        blocks.add(block);
      }
    });
    return blocks;
  }

  /** A lookup for a block below a leaf of the index does not tell the type. */
  protected static boolean isData(CachedBlock block) {
    return block.getBlockType() == null || block.getBlockType().isData();
  }

  protected static long bytes(List<CachedBlock> blocks) {
    return blocks.stream().mapToLong(CachedBlock::getSize).sum();
  }

  protected static long filesOf(HRegion region) {
    return region.getStores().stream().mapToLong(HStore::getStorefilesSize).sum();
  }

  /** Reads the hot rows again, and returns the data blocks that were not cached. */
  protected long misses() throws Exception {
    long before = missCount();
    readHotRows();
    return missCount() - before;
  }

  protected static long missCount() {
    return UTIL.getMiniHBaseCluster().getRegionServerThreads().stream()
      .map(thread -> thread.getRegionServer().getBlockCache().get())
      .mapToLong(cache -> cache.getStats().getDataMissCount()).sum();
  }
}
