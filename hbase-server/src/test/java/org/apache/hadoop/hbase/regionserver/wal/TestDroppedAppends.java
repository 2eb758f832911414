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

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.util.Arrays;
import java.util.Collections;
import java.util.concurrent.CompletableFuture;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.Waiter;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.wal.RegionsInHdfs.FailingWriter;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.wal.FSHLogProvider;
import org.apache.hadoop.hbase.wal.WALFactory;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category({ RegionServerTests.class, MediumTests.class })
public class TestDroppedAppends {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestDroppedAppends.class);

  @ClassRule
  public static final RegionsInHdfs.Hdfs HDFS = new RegionsInHdfs.Hdfs();

  private final RegionsInHdfs regions = new RegionsInHdfs();
  private Configuration conf;
  private AbstractFSWAL<?> wal;
  private int rows;

  @Before
  public void prepare() throws Exception {
    conf = HDFS.configuration();
    conf.set(WALFactory.WAL_PROVIDER, "filesystem");
    conf.setClass(FSHLogProvider.WRITER_IMPL, FailingWriter.class, FSHLogProvider.Writer.class);
  }

  @After
  public void cleanUp() throws Exception {
    FailingWriter.failure = FailingWriter.NONE;
    regions.close();
  }

  private HRegion open(String name) throws IOException {
    HRegion region = regions.open(conf, TableName.valueOf(name), Durability.USE_DEFAULT);
    wal = regions.wal();
    return region;
  }

  private void put(HRegion region, Durability durability) throws IOException {
    region.put(RegionsInHdfs.put(rows++, durability, 100));
  }

  private void await(Waiter.Predicate<Exception> condition) {
    Waiter.waitFor(conf, 120_000, 5, condition);
  }

  @Test
  public void testNothingIsWrittenAfterAnAcknowledgedWriteWasDropped() throws Exception {
    conf.set(AsyncWalSettings.INTERVAL_KEY, "3600000");
    HRegion region = open("lost");
    put(region, Durability.SYNC_WAL);
    FailingWriter.failure = new CompletableFuture<>();
    put(region, Durability.ASYNC_WAL);
    // It was acknowledged, and fails behind its writer's back.
    FailingWriter.failure.complete(new IOException("Disk on fire"));
    await(() -> !GuardedAsyncWalBound.mayAppendAgain(wal.asyncBound));
    FailingWriter.failure = FailingWriter.NONE;
    assertThrows(IOException.class, () -> put(region, Durability.ASYNC_WAL));
    assertThrows(IOException.class, () -> put(region, Durability.SYNC_WAL));
    assertThrows("The roller stops the server", FailedLogCloseException.class,
      () -> wal.rollWriter(true));
    assertThrows(IOException.class, () -> put(region, Durability.SYNC_WAL));
    assertEquals(Collections.singletonList(0), regions.rowsInAllFiles());
  }

  @Test
  public void testADroppedWriteThatWasNotAcknowledgedChangesNothing() throws Exception {
    conf.set(AsyncWalSettings.INTERVAL_KEY, "1");
    HRegion region = open("dropped");
    put(region, Durability.SYNC_WAL);
    FailingWriter.fail();
    assertThrows(IOException.class, () -> put(region, Durability.SYNC_WAL));
    FailingWriter.failure = FailingWriter.NONE;
    wal.rollWriter(true);
    put(region, Durability.ASYNC_WAL);
    await(() -> wal.asyncBound.unsyncedBytes() == 0);
    assertEquals(Arrays.asList(0, 2), regions.rowsInAllFiles());
  }

  /** HDFS fails once, the WAL rolls, and HDFS fails once more. */
  @Test
  public void testWritesBetweenTwoDropsAreAcknowledged() throws Exception {
    conf.set(AsyncWalSettings.INTERVAL_KEY, "3600000");
    HRegion region = open("twice");
    long between = 0;
    for (int roll = 0; roll < 2; roll++) {
      put(region, Durability.SYNC_WAL);
      between = wal.highestUnsyncedTxid;
      FailingWriter.fail();
      assertThrows(IOException.class, () -> put(region, Durability.SYNC_WAL));
      FailingWriter.failure = FailingWriter.NONE;
      wal.rollWriter(true);
    }
    assertTrue(GuardedAsyncWalBound.mayAppendAgain(wal.asyncBound));
    // The thread of this write was delayed until now.
    wal.asyncBound.acknowledge(between, 1);
    put(region, Durability.SYNC_WAL);
    assertEquals(Arrays.asList(0, 2, 4), regions.rowsInAllFiles());
  }
}
