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
package org.apache.hadoop.hbase.io.hfile.segment.device;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.io.hfile.segment.store.SimulatedDevices;
import org.apache.hadoop.hbase.io.hfile.segment.store.StoredBlocksFixture;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category({ IOTests.class, SmallTests.class })
public class TestTombstoneLog {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestTombstoneLog.class);

  private final SimulatedDevices devices = new SimulatedDevices();
  private final Superblock superblock = Superblock.anew(StoredBlocksFixture.SEGMENT, 1);
  private SegmentDevice device;

  @Before
  public void setUp() throws IOException {
    device = devices.open("device", Superblock.HEADER_SIZE);
  }

  private static List<Tombstone> tombstones(int from, int to) {
    List<Tombstone> tombstones = new ArrayList<>();
    for (int i = from; i < to; i++) {
      Tombstone tombstone = new Tombstone(1_000_000L + i);
      tombstone.complete(10L + i, i + 1);
      tombstones.add(tombstone);
    }
    return tombstones;
  }

  private TombstoneLog open(Map<Long, Long> found) throws IOException {
    TombstoneLog log = new TombstoneLog(superblock);
    assertFalse(log.isOpen());
    log.read(device, found::put);
    assertTrue(log.isOpen());
    return log;
  }

  private void assertFound(int from, int to) throws IOException {
    Map<Long, Long> expected = new TreeMap<>();
    tombstones(from, to).forEach(t -> expected.put(t.nameHash(), t.sequence()));
    Map<Long, Long> found = new TreeMap<>();
    open(found);
    assertEquals(expected, found);
  }

  @Test
  public void testEachLifeGoesOnWhereTheLastOneEnded() throws IOException {
    assertFound(0, 0);
    for (int life = 0; life < 5; life++) {
      open(new TreeMap<>()).append(device, tombstones(3 * life, 3 * life + 3));
      assertFound(0, 3 * life + 3);
    }
  }

  @Test
  public void testFullLogOverwritesTheOldest() throws IOException {
    TombstoneLog log = open(new TreeMap<>());
    log.append(device, tombstones(0, TombstoneLog.SLOTS - 1));
    assertFound(0, TombstoneLog.SLOTS - 1);
    log.append(device, tombstones(TombstoneLog.SLOTS - 1, TombstoneLog.SLOTS + 4));
    assertFound(4, TombstoneLog.SLOTS + 4);
    open(new TreeMap<>()).append(device,
      tombstones(TombstoneLog.SLOTS + 4, TombstoneLog.SLOTS + 5));
    assertFound(5, TombstoneLog.SLOTS + 5);
  }

  @Test
  public void testDamagedRecordIsNoneAndTheOthersAre() throws IOException {
    open(new TreeMap<>()).append(device, tombstones(0, 4));
    for (int bit = 0; bit < TombstoneLog.RECORD * Byte.SIZE; bit++) {
      long at = (Superblock.LOG_START + 2L * TombstoneLog.RECORD) * Byte.SIZE + bit;
      devices.medium("device").flipBit(at);
      Map<Long, Long> found = new TreeMap<>();
      open(found);
      // Four bytes are not used, and are covered by the checksum nevertheless.
      assertEquals("bit " + bit, 3, found.size());
      devices.medium("device").flipBit(at);
    }
    assertFound(0, 4);
  }

  @Test
  public void testTombstonesOfAnotherDeviceAreForeign() throws IOException {
    TombstoneLog other = new TombstoneLog(Superblock.anew(StoredBlocksFixture.SEGMENT, 1));
    other.begin();
    other.append(device, tombstones(0, 10));
    assertFound(0, 0);
  }

  @Test
  public void testFailedAppendIsRepeated() throws IOException {
    TombstoneLog log = open(new TreeMap<>());
    log.append(device, tombstones(0, 2));
    devices.medium("device").failWrites(true);
    assertThrows(IOException.class, () -> log.append(device, tombstones(2, 4)));
    devices.medium("device").failWrites(false);
    log.append(device, tombstones(2, 5));
    assertFound(0, 5);
  }

  @Test
  public void testLogThatCannotBeReadBeginsAnew() throws IOException {
    open(new TreeMap<>()).append(device, tombstones(0, 2));
    devices.medium("device").failReads(true);
    TombstoneLog log = new TombstoneLog(superblock);
    assertThrows(IOException.class, () -> log.read(device, (hash, sequence) -> {
    }));
    devices.medium("device").failReads(false);
    assertTrue(log.isOpen());
    log.append(device, tombstones(2, 3));
    assertFound(1, 3);
  }
}
