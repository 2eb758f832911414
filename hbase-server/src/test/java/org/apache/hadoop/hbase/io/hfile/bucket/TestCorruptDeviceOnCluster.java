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
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.io.hfile.composite.ClusterWithTiers;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * Clients read from a RegionServer while bits flip in the file of its L2, and every row is
 * right. The same on a stock server returned wrong bytes, no row or an error for half of the gets.
 */
@Category({ IOTests.class, LargeTests.class })
public class TestCorruptDeviceOnCluster {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestCorruptDeviceOnCluster.class);

  private static final int ROWS = 2000;
  private static final int CLIENTS = 3;

  private ClusterWithTiers cluster;
  private String file;

  @Before
  public void setUp() throws Exception {
    cluster = new ClusterWithTiers("corrupt");
    file = cluster.folder() + "/l2";
    // All data stays where the bits flip.
    cluster.conf().set("hbase.bucketcache.composite.promotion", "none");
    cluster.conf().set("hbase.bucketcache.l2.ioengine", "file:" + file);
    cluster.start();
  }

  @After
  public void tearDown() throws Exception {
    cluster.stop();
  }

  private BucketCacheTier tier() {
    return ClusterWithTiers.second(cluster.server());
  }

  /** Flips a bit of each block that is stored at this moment. */
  private int flipBits(Random random) throws Exception {
    int flipped = 0;
    try (RandomAccessFile out = new RandomAccessFile(file, "rw")) {
      for (BucketEntry entry : tier().backingMap.values()) {
        long position = entry.offset() + random.nextInt(entry.getLength());
        out.seek(position);
        int value = out.read();
        out.seek(position);
        out.write(value ^ 1 << random.nextInt(Byte.SIZE));
        flipped++;
      }
    }
    return flipped;
  }

  @Test
  public void testEveryRowIsRightWhileBitsFlip() throws Exception {
    try (Table table = cluster.createTable()) {
      cluster.load(table, 0, ROWS);
      for (int i = 0; i < ROWS; i++) {
        ClusterWithTiers.get(table, i);
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
            try (Table own = cluster.util().getConnection().getTable(cluster.table())) {
              for (int n = 0; n < ROWS; n++) {
                ClusterWithTiers.get(own, random.nextInt(ROWS));
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
      assertTrue(tier().device().checksumFailures.sum() + " found of " + flipped,
        tier().device().checksumFailures.sum() > 100);
      assertEquals(0, tier().device().ioErrors.get());

      flipBits(new Random(100));
      ClusterWithTiers.scan(table, ROWS);
    }
  }
}
