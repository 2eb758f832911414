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
package org.apache.hadoop.hbase.io.hfile.segment.store;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;
import static org.junit.Assert.fail;

import java.io.IOException;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.io.hfile.segment.device.Location;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** What a store does while a device of it fails, and when it works again. */
@Category({ IOTests.class, MediumTests.class })
public class TestSegmentDeviceOutage {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestSegmentDeviceOutage.class);

  @Rule
  public final RefCntLeakRule leakRule = new RefCntLeakRule();

  private final SimulatedDevices devices = new SimulatedDevices();
  private StoredBlocksFixture blocks;
  private long end;

  @Before
  public void setUp() throws IOException {
    blocks = open().start();
    fill(2 * 2 * StoredBlocksFixture.SEGMENTS);
  }

  private StoredBlocksFixture open() throws IOException {
    return new StoredBlocksFixture(devices, StoredBlocksFixture
      .settings(StoredBlocksFixture.paths("good", "failing"), 0.25, 0));
  }

  @After
  public void tearDown() {
    blocks.close();
    assertEquals("Buffers that were not given back", blocks.allocator.getUsedBufferCount(),
      blocks.allocator.getFreeBufferCount());
  }

  /** Inserts until so many segments more have been written. */
  private void fill(long segments) {
    long target = blocks.store.metrics().segmentsWritten.sum() + segments;
    while (blocks.store.metrics().segmentsWritten.sum() < target) {
      blocks.insert("f", end++);
    }
    blocks.awaitQuiet();
  }

  private boolean isOnFailing(long location) {
    return Location.segment(location) >= StoredBlocksFixture.SEGMENTS;
  }

  private long countOnFailing() {
    return blocks.directory.all().values().stream().filter(this::isOnFailing).count();
  }

  private void awaitReturn() {
    CachedBlockFixture.await(() -> blocks.store.metrics().returns.sum() == 1);
  }

  private void assertOthersReadable() {
    blocks.directory.all().forEach((key, location) -> {
      if (!isOnFailing(location)) {
        blocks.assertReadable(key.file, key.offset);
      }
    });
  }

  private void assertUsedAgain() {
    assertEquals(0, blocks.store.bypassedDevices());
    fill(2 * 2 * StoredBlocksFixture.SEGMENTS);
    assertTrue(countOnFailing() > 20);
    assertEquals(blocks.directory.all().size(), blocks.readAll());
    assertEquals(blocks.directory.bytes(), blocks.store.table().liveBytes());
  }

  @Test
  public void testDeviceThatFailsToReadIsBypassedAndTakenBackEmpty() {
    devices.medium("failing").failReads(true);
    blocks.readAll();
    assertEquals(1, blocks.store.bypassedDevices());
    // One device is bypassed after failures in three segments.
    assertTrue(blocks.store.metrics().readErrors.sum() >= 3);
    assertEquals(1, blocks.store.metrics().outages.sum());
    CachedBlockFixture.await(() -> countOnFailing() == 0);
    assertOthersReadable();
    fill(StoredBlocksFixture.SEGMENTS);
    assertOthersReadable();

    devices.medium("failing").failReads(false);
    awaitReturn();
    assertEquals(0, countOnFailing());
    assertUsedAgain();
  }

  @Test
  public void testDeviceThatCannotBeWrittenIsReadOnlyAndLosesNothing() {
    blocks.store.devices().get(1).retiresFor(1);
    long before = countOnFailing();
    devices.medium("failing").failWrites(true);
    while (blocks.store.readOnlyDevices() == 0) {
      blocks.insert("f", end++);
    }
    fill(StoredBlocksFixture.SEGMENTS);
    assertEquals(0, blocks.store.bypassedDevices());
    long lost = blocks.store.metrics().segmentsNotWritten.sum();
    assertTrue(lost + " segments lost", lost >= 3 && lost < StoredBlocksFixture.SEGMENTS / 2);
    assertTrue("blocks on it", countOnFailing() > before / 4);
    assertEquals(blocks.directory.all().size(), blocks.readAll());

    devices.medium("failing").failWrites(false);
    awaitReturn();
    assertUsedAgain();
  }

  /** Its segments had failed because it had, and are not unused for their pause. */
  @Test
  public void testDeviceThatCouldNotBeWrittenEitherIsTakenBackWhole() {
    devices.medium("failing").failWrites(true);
    while (blocks.store.readOnlyDevices() == 0) {
      blocks.insert("f", end++);
    }
    devices.medium("failing").failReads(true);
    blocks.readAll();
    assertEquals(1, blocks.store.bypassedDevices());
    devices.medium("failing").failReads(false);
    devices.medium("failing").failWrites(false);
    awaitReturn();
    assertEquals(0, blocks.store.table().retiredCount());
    assertUsedAgain();
  }

  @Test
  public void testFewerFailuresInARowAreOnlyMisses() {
    Set<Integer> onDevice = blocks.store.table().inState(SegmentTable.SEALED).stream()
      .map(sealed -> sealed.segment).collect(Collectors.toSet());
    ModelDirectory.Key[] there = blocks.directory.all().entrySet().stream()
      .filter(e -> isOnFailing(e.getValue()))
      .filter(e -> onDevice.contains(Location.segment(e.getValue()))).map(Map.Entry::getKey)
      .toArray(ModelDirectory.Key[]::new);
    for (int round = 0; round < 5; round++) {
      devices.medium("failing").failReads(true);
      assertFalse(blocks.isReadable(there[3 * round].file, there[3 * round].offset));
      assertFalse(blocks.isReadable(there[3 * round + 1].file, there[3 * round + 1].offset));
      devices.medium("failing").failReads(false);
      blocks.assertReadable(there[3 * round + 2].file, there[3 * round + 2].offset);
    }
    assertEquals(0, blocks.store.bypassedDevices());
    assertEquals(10, blocks.store.metrics().readErrors.sum());
    assertEquals(10, blocks.store.metrics().unreadableEntries.sum());
  }

  @Test
  public void testDeviceThatCannotBeOpenedAtTheStartIsUsedLater() throws IOException {
    blocks.close();
    devices.medium("failing").failToOpen(true);
    blocks = open().recover();
    assertEquals(1, blocks.store.bypassedDevices());
    assertTrue(blocks.readAll() > 20);
    assertEquals(0, countOnFailing());
    devices.medium("failing").failToOpen(false);
    awaitReturn();
    assertUsedAgain();
  }

  /** The mount is gone, or another device is mounted there. */
  @Test
  public void testAnotherDeviceAtThePathIsNotTakenBack() {
    SimulatedDevices.Medium medium = devices.medium("failing");
    medium.failReads(true);
    blocks.readAll();
    assertEquals(1, blocks.store.bypassedDevices());
    byte[] before = medium.bytes().clone();
    byte[] other = new byte[before.length];
    System.arraycopy(other, 0, medium.bytes(), 0, other.length);
    medium.failReads(false);
    int opened = medium.timesOpened();
    CachedBlockFixture.await(() -> medium.timesOpened() >= opened + 3);
    assertEquals(1, blocks.store.bypassedDevices());
    assertArrayEquals("nothing is written to it", other, medium.bytes());
    System.arraycopy(before, 0, medium.bytes(), 0, before.length);
    awaitReturn();
    assertUsedAgain();
  }

  @Test
  public void testWriterGoesOnWhateverIsThrown() {
    blocks.store.devices().forEach(device -> device.retiresFor(1));
    blocks.directory.failRegionOf(true);
    long lost = blocks.store.metrics().segmentsNotWritten.sum();
    while (blocks.store.metrics().segmentsNotWritten.sum() < lost + 2) {
      blocks.insert("f", end++);
    }
    blocks.directory.failRegionOf(false);
    assertEquals(0, blocks.store.bypassedDevices());
    assertUsedAgain();
  }

  @Test
  public void testNobodyWaitsForDevicesThatStall() {
    devices.medium("good").blockWrites(true);
    devices.medium("failing").blockWrites(true);
    ModelDirectory.Key[] there =
      blocks.directory.all().keySet().toArray(new ModelDirectory.Key[0]);
    long first = end;
    while (blocks.offer("f", end, InsertSource.WRITE)) {
      end++;
    }
    // None of these would return, for the devices stay blocked
    for (InsertSource kind : InsertSource.values()) {
      assertFalse(blocks.offer("f", end, kind));
    }
    int readable = 0;
    for (ModelDirectory.Key key : there) {
      readable += blocks.isReadable(key.file, key.offset) ? 1 : 0;
    }
    // The blocks of segments that were reclaimed for the new ones are gone.
    assertTrue(readable > there.length / 2);
    assertEquals(0, blocks.store.metrics().readErrors.sum());
    for (long offset = first; offset < end; offset++) {
      blocks.assertReadable("f", offset);
    }
    assertEquals(0, blocks.store.bypassedDevices());
    devices.medium("good").blockWrites(false);
    devices.medium("failing").blockWrites(false);
    blocks.awaitQuiet();
    assertTrue(blocks.offer("f", end, InsertSource.READ));
    blocks.awaitQuiet();
    assertEquals(blocks.directory.all().size(), blocks.readAll());
  }

  @Test
  public void testDeviceThatStallsDoesNotStopTheOthers() {
    devices.medium("failing").blockWrites(true);
    long written = blocks.store.metrics().segmentsWritten.sum();
    while (
      blocks.store.metrics().segmentsWritten.sum() < written + 2 * StoredBlocksFixture.SEGMENTS
    ) {
      blocks.insert("f", end++);
    }
    // What waits for it does not keep blocks from the device that gets on
    CachedBlockFixture.await(() -> blocks.offer("f", end++, InsertSource.READ));
    blocks.assertReadable("f", end - 1);
    devices.medium("failing").blockWrites(false);
    assertUsedAgain();
  }

  @Test
  public void testStoreWithoutADeviceIsNotOpened() throws IOException {
    SimulatedDevices none = new SimulatedDevices();
    none.medium("first").failToOpen(true);
    try {
      new StoredBlocksFixture(none);
      fail("Opened without a device");
    } catch (IOException e) {
      assertEquals("Cannot be opened, as was asked for", e.getMessage());
    }
  }

  @Test
  public void testNothingIsTakenWhileAllDevicesFailAndAllIsWellAfterwards() {
    devices.medium("good").failWrites(true);
    devices.medium("failing").failWrites(true);
    while (blocks.store.readOnlyDevices() < 2) {
      blocks.insert("f", end++, InsertSource.WRITE, 1_000_000);
    }
    CachedBlockFixture.await(() -> blocks.store.pending() == 0);
    assertFalse(blocks.insert("f", end++, InsertSource.WRITE, 0));
    assertEquals(blocks.directory.all().size(), blocks.readAll());
    devices.medium("good").failWrites(false);
    devices.medium("failing").failWrites(false);
    CachedBlockFixture.await(() -> blocks.store.metrics().returns.sum() == 2);
    blocks.awaitQuiet();
    assertUsedAgain();
  }
}
