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
package org.apache.hadoop.hbase.io.hfile.bucket;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.RandomAccessFile;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseTestingUtility;
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
import org.apache.hadoop.hbase.io.hfile.CompositeBucketCache;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * Clients read from a RegionServer while bits flip in the file of its second tier, and every row is
 * right. The same on a stock server returned wrong bytes, no row or an error for half of the gets.
 */
@Category({ IOTests.class, LargeTests.class })
public class TestCorruptDeviceOnCluster {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestCorruptDeviceOnCluster.class);

  private static final TableName TABLE = TableName.valueOf("corrupt");
  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final byte[] QUALIFIER = Bytes.toBytes("q");
  private static final int ROWS = 2000;
  private static final int CLIENTS = 3;

  private HBaseTestingUtility util;
  private String file;

  @Before
  public void setUp() throws Exception {
    util = new HBaseTestingUtility();
    Configuration conf = util.getConfiguration();
    String folder = util.getDataTestDir().toString();
    util.getTestFileSystem().mkdirs(new Path(folder));
    file = folder + "/l2";
    conf.setBoolean("hbase.bucketcache.composite.enabled", true);
    // All data stays where the bits flip.
    conf.set("hbase.bucketcache.composite.promotion", "none");
    conf.set("hfile.block.cache.size", "0");
    conf.set("hbase.bucketcache.l1.size", "32");
    conf.set("hbase.bucketcache.l2.size", "64");
    conf.set("hbase.bucketcache.l2.ioengine", "file:" + file);
    util.startMiniCluster(StartMiniClusterOption.builder().numRegionServers(1).build());
  }

  @After
  public void tearDown() throws Exception {
    util.shutdownMiniCluster();
  }

  private static byte[] row(int i) {
    return Bytes.toBytes(String.format("%06d", i));
  }

  private static byte[] value(int i) {
    byte[] value = new byte[400];
    new Random(i).nextBytes(value);
    return value;
  }

  private BucketCacheTier tier() {
    return (BucketCacheTier) ((CompositeBucketCache) util.getMiniHBaseCluster()
      .getRegionServer(0).getBlockCache().get()).getSecondLevelCache();
  }

  private static void get(Table table, int i) throws Exception {
    Result result = table.get(new Get(row(i)));
    assertArrayEquals("row " + i, value(i), result.getValue(FAMILY, QUALIFIER));
    assertEquals(1, result.size());
  }

  /** Flips a bit of each block that is stored at this moment. */
  private int flipBits(Random random) throws Exception {
    int flipped = 0;
    try (RandomAccessFile out = new RandomAccessFile(file, "rw")) {
      for (BucketEntry entry : tier().backingMap.values()) {
        long place = entry.offset() + random.nextInt(entry.getLength());
        out.seek(place);
        int value = out.read();
        out.seek(place);
        out.write(value ^ 1 << random.nextInt(Byte.SIZE));
        flipped++;
      }
    }
    return flipped;
  }

  @Test
  public void testEveryRowIsRightWhileBitsFlip() throws Exception {
    try (Table table = util.createTable(TableDescriptorBuilder.newBuilder(TABLE)
      .setColumnFamily(ColumnFamilyDescriptorBuilder.newBuilder(FAMILY)
        .setBloomFilterType(BloomType.ROW).setBlocksize(4096).build())
      .build(), null)) {
      List<Put> puts = new ArrayList<>();
      for (int i = 0; i < ROWS; i++) {
        puts.add(new Put(row(i)).addColumn(FAMILY, QUALIFIER, value(i)));
      }
      table.put(puts);
      util.flush(TABLE);
      for (int i = 0; i < ROWS; i++) {
        get(table, i);
      }
      assertTrue(tier().getDataBlockCount() > 0);

      AtomicInteger gets = new AtomicInteger();
      ExecutorService clients = Executors.newFixedThreadPool(CLIENTS);
      int flipped = 0;
      try {
        List<Future<Void>> reads = new ArrayList<>();
        for (int c = 0; c < CLIENTS; c++) {
          int client = c;
          reads.add(clients.submit(() -> {
            Random random = new Random(client);
            try (Table own = util.getConnection().getTable(TABLE)) {
              for (int n = 0; n < ROWS; n++) {
                get(own, random.nextInt(ROWS));
                gets.incrementAndGet();
              }
            }
            return null;
          }));
        }
        Random random = new Random(99);
        while (gets.get() < CLIENTS * ROWS && reads.stream().noneMatch(Future::isDone)) {
          flipped += flipBits(random);
          Thread.sleep(20);
        }
        for (Future<Void> read : reads) {
          read.get();
        }
      } finally {
        clients.shutdownNow();
      }
      assertTrue(flipped + " flips", flipped > 100);
      assertTrue(tier().getChecksumFailureCount() + " found of " + flipped,
        tier().getChecksumFailureCount() > 100);
      assertEquals(0, tier().getIoErrorCount());

      flipBits(new Random(100));
      int count = 0;
      try (ResultScanner scanner = table.getScanner(new Scan())) {
        for (Result result : scanner) {
          assertArrayEquals(value(count), result.getValue(FAMILY, QUALIFIER));
          count++;
        }
      }
      assertEquals(ROWS, count);
    }
  }
}
