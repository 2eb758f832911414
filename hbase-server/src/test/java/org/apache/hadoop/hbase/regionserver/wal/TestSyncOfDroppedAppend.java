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
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.util.Arrays;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.wal.RegionsInHdfs.FailingWriter;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.wal.FSHLogProvider;
import org.apache.hadoop.hbase.wal.WALEdit;
import org.apache.hadoop.hbase.wal.WALFactory;
import org.apache.hadoop.hbase.wal.WALKeyImpl;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** A sync up to an append that FSHLog has dropped fails, whatever was synced after it. */
@Category({ RegionServerTests.class, MediumTests.class })
public class TestSyncOfDroppedAppend {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestSyncOfDroppedAppend.class);

  @ClassRule
  public static final RegionsInHdfs.Hdfs HDFS = new RegionsInHdfs.Hdfs();

  private final RegionsInHdfs regions = new RegionsInHdfs();
  private final DroppedAppends ranges = new DroppedAppends();
  private HRegion region;
  private AbstractFSWAL<?> wal;

  @Before
  public void open() throws Exception {
    Configuration conf = HDFS.configuration();
    conf.set(WALFactory.WAL_PROVIDER, "filesystem");
    conf.setClass(FSHLogProvider.WRITER_IMPL, FailingWriter.class, FSHLogProvider.Writer.class);
    region = regions.open(conf, TableName.valueOf("sync"), Durability.USE_DEFAULT);
    wal = regions.wal();
  }

  @After
  public void close() throws Exception {
    FailingWriter.failure = FailingWriter.NONE;
    regions.close();
  }

  /** Appends a row as a region does, without a sync. Returns its txid. */
  private long append(int row) throws IOException {
    RegionInfo info = region.getRegionInfo();
    byte[] family = RegionsInHdfs.FAMILY;
    WALKeyImpl key = new WALKeyImpl(info.getEncodedNameAsBytes(), info.getTable(), 1,
      region.getMVCC());
    long txid = wal.appendData(info, key,
      new WALEdit().add(new KeyValue(Bytes.toBytes(row), family, family, 1, family)));
    region.getMVCC().complete(key.getWriteEntry());
    return txid;
  }

  private void put(int row) throws IOException {
    region.put(RegionsInHdfs.put(row, Durability.SYNC_WAL, 10));
  }

  @Test
  public void testSyncAfterTheRollAndTheSyncOfALaterAppend() throws Exception {
    put(0);
    FailingWriter.fail();
    long dropped = append(1);
    assertThrows("Dropped by now", IOException.class, () -> put(2));
    FailingWriter.failure = FailingWriter.NONE;
    wal.rollWriter(true);
    long kept = append(3);
    wal.sync(kept);
    assertThrows(IOException.class, () -> wal.sync(dropped));
    assertThrows(IOException.class, () -> wal.sync(dropped, true));
    wal.sync(kept);
    put(4);
    assertEquals(Arrays.asList(0, 3, 4), regions.rowsInAllFiles());
  }

  /** Nothing was appended after the roll: the sync itself runs, and succeeds, in the next file. */
  @Test
  public void testSyncAfterTheRoll() throws Exception {
    put(0);
    FailingWriter.fail();
    long dropped = append(1);
    assertThrows(IOException.class, () -> put(2));
    FailingWriter.failure = FailingWriter.NONE;
    wal.rollWriter(true);
    assertThrows(IOException.class, () -> wal.sync(dropped));
    assertEquals(Arrays.asList(0), regions.rowsInAllFiles());
  }

  @Test
  public void testWhatIsBetweenTwoDropsWithoutARollIsDropped() throws IOException {
    ranges.check(5);
    ranges.add(5);
    ranges.add(7);
    ranges.endRange();
    ranges.add(20);
    for (long txid : new long[] { 5, 6, 7, 20 }) {
      assertThrows("" + txid, IOException.class, () -> ranges.check(txid));
    }
    for (long txid : new long[] { 4, 8, 19, 21 }) {
      ranges.check(txid);
    }
  }

  @Test
  public void testWhatWasDroppedInManyRollsTakesBoundedMemory() {
    int rolls = 3 * DroppedAppends.MAX_RANGES;
    for (int roll = 1; roll <= rolls; roll++) {
      ranges.add(10 * roll);
      ranges.add(10 * roll + 2);
      ranges.endRange();
    }
    for (int roll = 1; roll <= rolls; roll++) {
      for (int i = 0; i <= 2; i++) {
        assertTrue(ranges.contains(10 * roll + i));
      }
      assertEquals("behind " + roll, roll <= rolls - DroppedAppends.MAX_RANGES,
        ranges.contains(10 * roll + 3));
    }
    assertFalse(ranges.contains(9));
    assertFalse(new DroppedAppends().contains(0));
  }
}
