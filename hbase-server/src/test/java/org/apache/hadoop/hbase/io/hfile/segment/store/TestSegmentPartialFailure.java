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

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotEquals;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.io.hfile.segment.device.Location;
import org.apache.hadoop.hbase.io.hfile.segment.device.Superblock;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.junit.After;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

import org.apache.hbase.thirdparty.com.google.common.util.concurrent.Uninterruptibles;

/** What a store loses when a part of a device fails: what was on that part. */
@Category({ IOTests.class, MediumTests.class })
public class TestSegmentPartialFailure {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestSegmentPartialFailure.class);

  @Rule
  public final RefCntLeakRule leakRule = new RefCntLeakRule();

  private final SimulatedDevices devices = new SimulatedDevices();
  private StoredBlocksFixture blocks;
  private long end;

  private void open(String... paths) throws IOException {
    blocks = new StoredBlocksFixture(devices,
      StoredBlocksFixture.settings(StoredBlocksFixture.paths(paths), 0, 0));
    blocks.start();
  }

  @After
  public void tearDown() {
    blocks.close();
    assertEquals("Buffers that were not given back", blocks.allocator.getUsedBufferCount(),
      blocks.allocator.getFreeBufferCount());
  }

  /** Inserts until so many segments more have been written, each before the next is begun. */
  private void fill(long segments) {
    long target = blocks.store.metrics().segmentsWritten.sum() + segments;
    while (blocks.store.metrics().segmentsWritten.sum() < target) {
      blocks.insert("f", end++, InsertSource.WRITE, TimeUnit.SECONDS.toNanos(10));
      CachedBlockFixture.await(() -> blocks.store.pending() == 0);
    }
    blocks.awaitQuiet();
  }

  private Set<Integer> onDevice() {
    Set<Integer> onDevice = new HashSet<>();
    blocks.store.table().inState(SegmentTable.SEALED).forEach(s -> onDevice.add(s.segment));
    return onDevice;
  }

  /** Returns the blocks that are on a device and not in memory. */
  private ModelDirectory.Key[] written() {
    Set<Integer> onDevice = onDevice();
    return blocks.directory.all().entrySet().stream()
      .filter(e -> onDevice.contains(Location.segment(e.getValue()))).map(Map.Entry::getKey)
      .toArray(ModelDirectory.Key[]::new);
  }

  private static long positionOf(int segment) {
    return Superblock.positionOf(segment % StoredBlocksFixture.SEGMENTS,
      StoredBlocksFixture.SEGMENT);
  }

  private void assertAllReadable() {
    assertEquals(blocks.directory.all().size(), blocks.readAll());
  }

  @Test
  public void testEntryThatCannotBeReadIsReadOnce() throws IOException {
    open("first");
    fill(2 * StoredBlocksFixture.SEGMENTS);
    SimulatedDevices.Medium medium = devices.medium("first");
    ModelDirectory.Key bad = written()[0];
    long location = blocks.directory.get(bad.file, bad.offset);
    long position = positionOf(Location.segment(location)) + Location.offset(location);
    medium.failReadsAt(position, position + 1);
    int before = blocks.directory.all().size();
    for (int i = 0; i < 20; i++) {
      assertFalse(blocks.isReadable(bad.file, bad.offset));
    }
    assertEquals("reads of the bad sector", 1, medium.badReads());
    assertEquals(0, blocks.store.bypassedDevices());
    assertEquals("blocks that are left", before - 1, blocks.directory.all().size());
    assertAllReadable();
    assertEquals(blocks.directory.bytes(), blocks.store.table().liveBytes());
  }

  /** Several entries of one segment are one failure. */
  @Test
  public void testSegmentThatCannotBeReadIsNoOutage() throws IOException {
    open("first");
    fill(2 * StoredBlocksFixture.SEGMENTS);
    int segment =
      Location.segment(blocks.directory.get(written()[0].file, written()[0].offset));
    devices.medium("first").failReadsAt(positionOf(segment),
      positionOf(segment) + StoredBlocksFixture.SEGMENT);
    int lost = 0;
    for (ModelDirectory.Key key : written()) {
      if (Location.segment(blocks.directory.get(key.file, key.offset)) == segment) {
        assertFalse(blocks.isReadable(key.file, key.offset));
        lost++;
      }
    }
    assertTrue(lost + " blocks of the segment", lost > 3);
    assertEquals(0, blocks.store.metrics().outages.sum());
    assertAllReadable();
    fill(StoredBlocksFixture.SEGMENTS);
    assertEquals(0, blocks.store.bypassedDevices());
    assertAllReadable();
  }

  @Test
  public void testBlocksOfABypassedDeviceAreForgotten() throws IOException {
    open("good", "failing");
    fill(2 * 2 * StoredBlocksFixture.SEGMENTS);
    devices.medium("failing").failReads(true);
    devices.medium("failing").failWrites(true);
    blocks.readAll();
    assertEquals(1, blocks.store.bypassedDevices());
    CachedBlockFixture.await(() -> blocks.directory.all().values().stream()
      .noneMatch(location -> Location.segment(location) >= StoredBlocksFixture.SEGMENTS));
    assertAllReadable();
    // The new blocks are stored on the device that works.
    fill(2 * StoredBlocksFixture.SEGMENTS);
    assertAllReadable();
    assertEquals(1, blocks.store.bypassedDevices());
  }

  /** The place that fails is the first of the device, and the first of a segment. */
  @Test
  public void testDeviceReturnsThoughAPlaceStillFails() throws IOException {
    open("good", "failing");
    fill(2 * 2 * StoredBlocksFixture.SEGMENTS);
    SimulatedDevices.Medium medium = devices.medium("failing");
    medium.failReads(true);
    blocks.readAll();
    assertEquals(1, blocks.store.bypassedDevices());
    medium.failReadsAt(Superblock.HEADER_SIZE, Superblock.HEADER_SIZE + 512);
    medium.failReads(false);
    CachedBlockFixture.await(() -> blocks.store.bypassedDevices() == 0);
    fill(2 * 2 * StoredBlocksFixture.SEGMENTS);
    assertEquals(0, blocks.store.bypassedDevices());
  }

  @Test
  public void testSegmentThatCannotBeWrittenIsRetired() throws IOException {
    open("first");
    fill(2 * StoredBlocksFixture.SEGMENTS);
    int segment =
      Location.segment(blocks.directory.get(written()[0].file, written()[0].offset));
    devices.medium("first").failWritesAt(positionOf(segment),
      positionOf(segment) + StoredBlocksFixture.SEGMENT);
    fill(4 * StoredBlocksFixture.SEGMENTS);
    assertEquals("outages", 0, blocks.store.metrics().outages.sum());
    assertEquals("segments lost", 1, blocks.store.metrics().segmentsNotWritten.sum());
    assertAllReadable();
    int segments = StoredBlocksFixture.SEGMENTS - blocks.store.table().cleanCount();
    assertTrue(onDevice().size() + " of " + segments, onDevice().size() >= segments - 2);
  }

  /** The sparse file is on a file system that has got full. */
  @Test
  public void testFullFileSystemCostsNothing() throws IOException {
    int space = StoredBlocksFixture.SEGMENTS / 2;
    devices.medium("first").setSpace((long) space * StoredBlocksFixture.SEGMENT);
    open("first");
    fill(4 * StoredBlocksFixture.SEGMENTS);
    assertEquals("outages", 0, blocks.store.metrics().outages.sum());
    assertEquals("segments lost", 0, blocks.store.metrics().segmentsNotWritten.sum());
    assertAllReadable();
    assertTrue(onDevice().size() + " segments", onDevice().size() >= 2);
    assertNotEquals(0, blocks.directory.all().size());
  }

  /** The file takes all of its file system, so that no space is left for what it has already. */
  @Test
  public void testDeviceOfAFullFileSystemReturnsWithAllThatItHas() throws IOException {
    open("first");
    fill(2 * StoredBlocksFixture.SEGMENTS);
    SimulatedDevices.Medium medium = devices.medium("first");
    medium.setSpace(StoredBlocksFixture.SEGMENT);
    medium.failReads(true);
    blocks.readAll();
    assertEquals(1, blocks.store.bypassedDevices());
    medium.failReads(false);
    CachedBlockFixture.await(() -> blocks.store.bypassedDevices() == 0);
    // One may have been on its way to the device when that failed.
    long lost = blocks.store.metrics().segmentsNotWritten.sum();
    fill(2 * StoredBlocksFixture.SEGMENTS);
    assertEquals(0, blocks.store.table().unwrittenCount());
    assertEquals("segments lost", lost, blocks.store.metrics().segmentsNotWritten.sum());
    assertAllReadable();
    int segments = StoredBlocksFixture.SEGMENTS - blocks.store.table().cleanCount();
    assertTrue(onDevice().size() + " of " + segments, onDevice().size() >= segments - 2);
  }

  /** After a restart nothing else tells which places are allocated. */
  @Test
  public void testFullFileSystemDoesNotKeepAnEmptiedFileFromBeingUsed() throws IOException {
    open("first");
    fill(2 * StoredBlocksFixture.SEGMENTS);
    blocks.close();
    SimulatedDevices.Medium medium = devices.medium("first");
    medium.setSpace(StoredBlocksFixture.SEGMENT);
    // The superblock is another one: what it has is not recovered.
    medium.fill(0, Superblock.HEADER_SIZE, 1);
    open("first");
    fill(2 * StoredBlocksFixture.SEGMENTS);
    assertEquals(0, blocks.store.table().unwrittenCount());
    assertEquals("segments lost", 0, blocks.store.metrics().segmentsNotWritten.sum());
    assertAllReadable();
  }

  /** The space is gone though the file system said that it was there. */
  @Test
  public void testSpaceThatIsTakenByOthersCostsSegmentsAndNoDevice() throws IOException {
    open("first");
    fill(StoredBlocksFixture.SEGMENTS / 2);
    int before = written().length;
    devices.medium("first").failWritesAt(
      positionOf(0) + (long) StoredBlocksFixture.SEGMENTS / 2 * StoredBlocksFixture.SEGMENT,
      Integer.MAX_VALUE);
    long lost = blocks.store.metrics().segmentsNotWritten.sum();
    for (int i = 0; i < 500; i++) {
      blocks.insert("f", end++, InsertSource.WRITE, TimeUnit.MILLISECONDS.toNanos(5));
    }
    CachedBlockFixture.await(() -> blocks.store.pending() == 0);
    assertEquals("outages", 0, blocks.store.metrics().outages.sum());
    assertTrue("segments lost", blocks.store.metrics().segmentsNotWritten.sum() > lost);
    assertTrue(written().length + " blocks of " + before, written().length > before / 2);
    assertAllReadable();
  }

  @Test
  public void testReadThatHangsHoldsUpNoOtherDevice() throws IOException {
    open("good", "hanging");
    fill(2 * 2 * StoredBlocksFixture.SEGMENTS);
    devices.medium("hanging").blockReads(true);
    try {
      // After more than two laps of the device that works, its segments are reclaimed.
      long target =
        blocks.store.metrics().segmentsWritten.sum() + 3 * StoredBlocksFixture.SEGMENTS;
      while (blocks.store.metrics().segmentsWritten.sum() < target) {
        blocks.insert("f", end++);
      }
      blocks.directory.all().forEach((key, location) -> {
        if (Location.segment(location) < StoredBlocksFixture.SEGMENTS) {
          assertTrue(key + " is there and cannot be read", blocks.isReadable(key.file, key.offset)
            || blocks.directory.get(key.file, key.offset) == Location.ABSENT);
        }
      });
    } finally {
      devices.medium("hanging").blockReads(false);
    }
    blocks.awaitQuiet();
    assertAllReadable();
  }

  /** The cleaner is in a read that does not end, and a reader finds out. */
  @Test
  public void testBlocksAreForgottenThoughTheCleanerOfTheDeviceHangs() throws IOException {
    open("good", "hanging");
    fill(2 * 2 * StoredBlocksFixture.SEGMENTS);
    blocks.store.devices().get(1).stallsAfter(TimeUnit.MILLISECONDS.toNanos(20));
    devices.medium("hanging").blockReads(true);
    try {
      // Insert until segments of both devices are reclaimed.
      long target =
        blocks.store.metrics().segmentsWritten.sum() + 2 * StoredBlocksFixture.SEGMENTS;
      while (blocks.store.metrics().segmentsWritten.sum() < target) {
        blocks.insert("f", end++);
      }
      // This comes first: before, a read of the device would hang here as well.
      CachedBlockFixture.await(() -> blocks.store.devices().get(1).isStalled());
      CachedBlockFixture.await(() -> {
        blocks.readAll();
        return blocks.store.bypassedDevices() == 1;
      });
      CachedBlockFixture.await(() -> blocks.directory.all().values().stream()
        .noneMatch(location -> Location.segment(location) >= StoredBlocksFixture.SEGMENTS));
    } finally {
      devices.medium("hanging").blockReads(false);
      // A slow machine is no stall.
      blocks.store.devices().get(1).stallsAfter(TimeUnit.HOURS.toNanos(1));
    }
    CachedBlockFixture.await(() -> blocks.store.bypassedDevices() == 0);
    fill(2 * 2 * StoredBlocksFixture.SEGMENTS);
    assertAllReadable();
  }

  /** Else the directory would change while it is written to the snapshot. */
  @Test
  public void testStopWaitsUntilABypassedDeviceIsForgotten() throws Exception {
    open("good", "failing");
    fill(2 * 2 * StoredBlocksFixture.SEGMENTS);
    CountDownLatch mayForget = new CountDownLatch(1);
    blocks.directory.beforeForgetting(() -> Uninterruptibles.awaitUninterruptibly(mayForget));
    devices.medium("failing").failReads(true);
    CachedBlockFixture.await(() -> {
      blocks.readAll();
      return blocks.store.bypassedDevices() == 1;
    });
    Thread stop = new Thread(blocks.store::stop);
    stop.start();
    stop.join(500);
    assertTrue("has not waited", stop.isAlive());
    mayForget.countDown();
    stop.join();
    assertTrue(blocks.directory.all().values().stream()
      .noneMatch(location -> Location.segment(location) >= StoredBlocksFixture.SEGMENTS));
  }

  @Test
  public void testOthersAreRecoveredWhileADeviceHangs() throws IOException {
    open("hanging", "good");
    fill(2 * 2 * StoredBlocksFixture.SEGMENTS);
    blocks.close();
    long onGood = blocks.directory.all().values().stream()
      .filter(location -> Location.segment(location) >= StoredBlocksFixture.SEGMENTS).count();
    blocks = new StoredBlocksFixture(devices,
      StoredBlocksFixture.settings(StoredBlocksFixture.paths("hanging", "good"), 0, 0));
    devices.medium("hanging").blockReads(true);
    blocks.start();
    try {
      CachedBlockFixture.await(() -> blocks.directory.all().size() == onGood);
      assertAllReadable();
    } finally {
      devices.medium("hanging").blockReads(false);
    }
    CachedBlockFixture.await(() -> blocks.directory.all().size() > onGood);
  }
}
