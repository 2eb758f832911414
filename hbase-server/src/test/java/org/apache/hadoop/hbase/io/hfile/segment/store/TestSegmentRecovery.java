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
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.zip.Checksum;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.io.hfile.block.Crc32c;
import org.apache.hadoop.hbase.io.hfile.segment.device.Location;
import org.apache.hadoop.hbase.io.hfile.segment.device.Superblock;
import org.apache.hadoop.hbase.io.hfile.segment.index.CompleteFile;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** The blocks recovered after a kill of the process or a power failure. */
@Category({ IOTests.class, MediumTests.class })
public class TestSegmentRecovery {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestSegmentRecovery.class);

  @Rule
  public final RefCntLeakRule leakRule = new RefCntLeakRule();

  private static final int SEGMENT = StoredBlocksFixture.SEGMENT;
  /** What a write has left of the beginning of a segment: a block of the largest size and more. */
  private static final byte[] TEMPORARY = new byte[9_000];
  private static final int SEGMENTS = StoredBlocksFixture.SEGMENTS;

  private static SegmentStoreSettings settings(int segments, int segmentSize, String... paths) {
    return new SegmentStoreSettings(Arrays.asList(paths),
      paths.length * (Superblock.HEADER_SIZE + (long) segments * segmentSize), segmentSize,
      StoredBlocksFixture.BUFFERS, 0.25, 0, 0);
  }

  /** Returns a store that was used until all of its segments were reclaimed. */
  private static StoredBlocksFixture used(String... paths) throws IOException {
    StoredBlocksFixture used =
      new StoredBlocksFixture(new SimulatedDevices(), settings(SEGMENTS, SEGMENT, paths)).start();
    long offset = 0;
    while (
      used.store.metrics().segmentsWritten.sum() < 2L * SEGMENTS * paths.length
    ) {
      used.insert("f" + offset % 5, offset++);
      used.directory.remove("f" + (offset - 20) % 5, offset % 3 == 0 ? offset - 20 : -1);
    }
    used.awaitQuiet();
    return used;
  }

  private static boolean isSealed(StoredBlocksFixture of, long location) {
    return of.store.table().inState(SegmentTable.SEALED).stream()
      .anyMatch(sealed -> sealed.segment == Location.segment(location));
  }

  private static StoredBlocksFixture afterKill(StoredBlocksFixture killed,
    SegmentStoreSettings settings) throws IOException {
    SimulatedDevices devices = killed.devices.afterKill();
    return new StoredBlocksFixture(devices, settings);
  }

  @Test
  public void testAllThatWasWrittenComesBackAfterKill() throws IOException {
    StoredBlocksFixture killed = used("a", "b");
    StoredBlocksFixture after =
      afterKill(killed, settings(SEGMENTS, SEGMENT, "a", "b")).recover();
    int expected = 0;
    for (Map.Entry<ModelDirectory.Key, Long> entry : killed.directory.all().entrySet()) {
      if (isSealed(killed, entry.getValue())) {
        ModelDirectory.Key key = entry.getKey();
        after.assertReadable(key.file, key.offset);
        assertTrue(Location.isSame(entry.getValue(),
          after.directory.get(key.file, key.offset)));
        expected++;
      }
    }
    assertTrue(expected > 100);
    assertEquals(after.directory.all().size(), after.readAll());
    assertEquals(after.directory.bytes(), after.store.table().liveBytes());
    assertEquals(0, after.store.metrics().badSegments.sum());
    after.close();
    killed.close();
  }

  @Test
  public void testNewestOfTwoEntriesOfABlockIsTheOneThatIsFound() throws IOException {
    StoredBlocksFixture killed = new StoredBlocksFixture(new SimulatedDevices(),
      settings(SEGMENTS, SEGMENT, "a")).start();
    for (int round = 0; round < 6; round++) {
      for (int i = 0; i < 30; i++) {
        killed.insert("f", i);
      }
    }
    killed.awaitQuiet();
    StoredBlocksFixture after = afterKill(killed, settings(SEGMENTS, SEGMENT, "a")).recover();
    for (int i = 0; i < 30; i++) {
      long location = killed.directory.get("f", i);
      if (isSealed(killed, location)) {
        assertTrue(Location.isSame(location, after.directory.get("f", i)));
      }
    }
    after.close();
    killed.close();
  }

  @Test
  public void testWhatIsKnownOfFilesOutlivesKillsAndTheSegmentsItWasKeptIn() throws IOException {
    StoredBlocksFixture killed = new StoredBlocksFixture(new SimulatedDevices(),
      settings(SEGMENTS, SEGMENT, "a"));
    killed.directory.regions.put("f", "region");
    CompleteFile complete = new CompleteFile("f", 30, 4000);
    killed.directory.complete.put("f", complete);
    killed.directory.complete.put("g", complete);
    // One is kept before there is an open segment, one with it.
    killed.store.keep(new CompleteFile("f", 29, 4000));
    killed.start();
    killed.insert("f", 0);
    killed.store.keep(complete);
    killed.store.keep(new CompleteFile("g", 7, 70));
    killed.store.keep(new CompleteFile("not any more", 1, 1));
    // All segments are reclaimed more than once.
    long offset = 0;
    while (killed.store.metrics().segmentsReclaimed.sum() < 3 * SEGMENTS) {
      killed.insert("f", offset++);
    }
    for (int life = 0; life < 2; life++) {
      killed.awaitQuiet();
      while (!killed.store.keepsAll()) {
        killed.insert("f", offset++);
        killed.awaitQuiet();
      }
      // What is open is lost with a kill.
      killed.store.stop();
      StoredBlocksFixture after =
        afterKill(killed, settings(SEGMENTS, SEGMENT, "a")).recover();
      assertEquals("region", after.directory.regions.get("f"));
      assertNull(after.directory.regions.get("g"));
      assertEquals(30, after.directory.complete.get("f").dataBlocks());
      assertEquals(4000, after.directory.complete.get("f").size());
      assertEquals(7, after.directory.complete.get("g").dataBlocks());
      assertFalse(after.directory.complete.containsKey("not any more"));
      killed.close();
      killed = after;
    }
    killed.close();
  }

  /** The process was killed when it had begun to write a segment: its old footer is whole. */
  @Test
  public void testSegmentThatWasBeingOverwrittenIsNotRecovered() throws IOException {
    StoredBlocksFixture killed = used("a");
    int segment = killed.store.table().inState(SegmentTable.SEALED).get(0).segment;
    SimulatedDevices devices = killed.devices.afterKill();
    // The damage is so small that entries behind it are whole.
    byte[] bytes = devices.medium("a").bytes();
    new Random(1).nextBytes(TEMPORARY);
    System.arraycopy(TEMPORARY, 0, bytes, (int) Superblock.positionOf(segment, SEGMENT),
      TEMPORARY.length);
    StoredBlocksFixture after =
      new StoredBlocksFixture(devices, settings(SEGMENTS, SEGMENT, "a")).recover();
    after.directory.forEach((key, location) -> assertFalse(key + " is in it",
      Location.segment(location) == segment));
    assertEquals(1, after.store.metrics().badSegments.sum());
    assertEquals(after.directory.all().size(), after.readAll());
    after.close();
    killed.close();
  }

  /**
   * The recovery of a former process's blocks ends with an error when it reads the newest segment;
   * the tier is used as any other afterwards.
   * @param fromEnd the bytes between the end of the segment and that which cannot be read
   */
  private static void endsWithErrorAt(int fromEnd) throws IOException {
    StoredBlocksFixture killed = used("a");
    StoreDevice.Sealed newest = killed.store.table().inState(SegmentTable.SEALED).stream()
      .max(Comparator.comparingLong(sealed -> sealed.sequence)).get();
    long position = Superblock.positionOf(newest.segment + 1, SEGMENT) - fromEnd;
    SimulatedDevices devices = killed.devices.afterKill();
    devices.medium("a").throwErrorAt(position, position + 1);
    StoredBlocksFixture after =
      new StoredBlocksFixture(devices, settings(SEGMENTS, SEGMENT, "a")).start();
    CachedBlockFixture.await(() -> after.store.isRecovered());
    assertTrue(devices.medium("a").hasThrownError());
    assertTrue(after.store.table().inState(SegmentTable.UNKNOWN).isEmpty());
    long inserted = 0;
    while (after.store.metrics().segmentsWritten.sum() < 2L * SEGMENTS) {
      assertTrue("segments are reclaimed",
        after.insert("new", inserted++, InsertSource.WRITE, TimeUnit.SECONDS.toNanos(20)));
    }
    after.awaitQuiet();
    assertTrue(after.store.table().inState(SegmentTable.FOUND).isEmpty());
    assertTrue(after.store.table().inState(SegmentTable.BUSY).isEmpty());
    assertEquals(after.directory.all().size(), after.readAll());
    after.directory.forEach((key, location) -> assertEquals("new", key.file));
    after.close();
    killed.close();
  }

  @Test
  public void testErrorInATrailerLeavesAllSegmentsInUse() throws IOException {
    endsWithErrorAt(1);
  }

  /** The footer is ahead of the trailer, and is read after all trailers. */
  @Test
  public void testErrorInAFooterLeavesAllSegmentsInUse() throws IOException {
    endsWithErrorAt(SegmentFooter.TRAILER_SIZE + 1);
  }

  @Test
  public void testInsertionsDuringTheRecoveryWin() throws IOException {
    StoredBlocksFixture killed = used("a");
    StoredBlocksFixture after = afterKill(killed, settings(SEGMENTS, SEGMENT, "a")).start();
    long epoch = after.store.devices().get(0).superblock().epoch();
    int inserted = 0;
    for (ModelDirectory.Key key : killed.directory.all().keySet()) {
      if (inserted++ < 40) {
        after.insert(key.file, key.offset);
      }
    }
    CachedBlockFixture.await(() -> after.store.isRecovered());
    after.awaitQuiet();
    inserted = 0;
    for (ModelDirectory.Key key : killed.directory.all().keySet()) {
      if (inserted++ < 40) {
        after.assertReadable(key.file, key.offset);
        int segment = Location.segment(after.directory.get(key.file, key.offset));
        assertTrue(after.store.table().sequence(segment) >>> 32 == epoch);
      }
    }
    assertEquals(after.directory.all().size(), after.readAll());
    after.close();
    killed.close();
  }

  /**
   * The process or the machine ends at each write, one a run, which is torn; what was not synced is
   * lost in part. The recovered tier is used until the next end.
   */
  @Test
  public void testNoByteIsWrongWhicheverWriteIsTheLast() throws IOException {
    for (int boundary = 1; boundary <= 48; boundary++) {
      Random random = new Random(boundary);
      SimulatedDevices devices = new SimulatedDevices();
      int known = 0;
      for (int life = 0; life < 3; life++) {
        devices.haltAtWrite(life == 0 ? boundary : 1 + random.nextInt(50));
        SimulatedDevices next = live(devices, random, boundary > 24);
        devices = next;
      }
      StoredBlocksFixture last =
        new StoredBlocksFixture(devices, settings(SEGMENTS, SEGMENT, "a", "b")).recover();
      last.readAll();
      known = last.directory.all().size();
      assertEquals("What was wrong has been forgotten", known, last.readAll());
      assertEquals(last.directory.bytes(), last.store.table().liveBytes());
      last.close();
    }
  }

  /** Uses what is on devices until they halt. Returns what is left then. */
  private static SimulatedDevices live(SimulatedDevices devices, Random random, boolean reclaims)
    throws IOException {
    StoredBlocksFixture blocks;
    try {
      blocks = new StoredBlocksFixture(devices, settings(SEGMENTS / 2, SEGMENT, "a", "b"));
    } catch (IOException e) {
      assertTrue(devices.isHalted());
      return devices.afterPowerLoss(random);
    }
    blocks.start();
    int size = reclaims ? 3000 : 300;
    while (!devices.isHalted()) {
      String file = "f" + random.nextInt(3);
      int offset = random.nextInt(size);
      int operation = random.nextInt(10);
      if (operation == 0) {
        blocks.directory.remove(file, offset);
      } else if (operation < 3) {
        blocks.isReadable(file, offset);
      } else {
        blocks.insert(file, offset, InsertSource.WRITE, 1_000_000);
        blocks.directory.setAccesses(file, offset, random.nextInt(4));
      }
    }
    SimulatedDevices left =
      random.nextBoolean() ? devices.afterKill() : devices.afterPowerLoss(random);
    blocks.close();
    return left;
  }

  @Test
  public void testSmallerOrLargerDevicesKeepTheSegmentsThatFit() throws IOException {
    StoredBlocksFixture killed = used("a");
    for (int segments : new int[] { SEGMENTS / 2, SEGMENTS + 8 }) {
      StoredBlocksFixture after = afterKill(killed, settings(segments, SEGMENT, "a")).recover();
      for (Map.Entry<ModelDirectory.Key, Long> entry : killed.directory.all().entrySet()) {
        if (
          isSealed(killed, entry.getValue()) && Location.segment(entry.getValue()) < segments
        ) {
          after.assertReadable(entry.getKey().file, entry.getKey().offset);
        }
      }
      assertTrue(after.directory.all().size() > 20);
      after.close();
    }
    killed.close();
  }

  @Test
  public void testOtherOrderAndNumberOfPathsKeepWhatIsOnThem() throws IOException {
    StoredBlocksFixture killed = used("a", "b", "c");
    StoredBlocksFixture after =
      afterKill(killed, settings(SEGMENTS, SEGMENT, "d", "c", "a")).recover();
    int expected = 0;
    for (Map.Entry<ModelDirectory.Key, Long> entry : killed.directory.all().entrySet()) {
      int device = Location.segment(entry.getValue()) / SEGMENTS;
      if (isSealed(killed, entry.getValue()) && device != 1) {
        after.assertReadable(entry.getKey().file, entry.getKey().offset);
        assertEquals(device == 0 ? 2 : 1,
          Location.segment(after.directory.get(entry.getKey().file, entry.getKey().offset))
            / SEGMENTS);
        expected++;
      }
    }
    assertTrue(expected > 100);
    after.close();
    killed.close();
  }

  @Test
  public void testOtherSegmentSizeBeginsEmpty() throws IOException {
    StoredBlocksFixture killed = used("a");
    StoredBlocksFixture after =
      afterKill(killed, settings(SEGMENTS / 2, 2 * SEGMENT, "a")).recover();
    assertEquals(0, after.directory.all().size());
    after.insert("f", 0);
    after.assertReadable("f", 0);
    after.close();
    killed.close();
  }

  /** The header of version 1 has its fields and its sum where this version has them. */
  @Test
  public void testHeaderOfAnotherVersionBeginsEmpty() throws IOException {
    StoredBlocksFixture killed = used("a");
    for (int version : new int[] { 1, 3 }) {
      SimulatedDevices devices = killed.devices.afterKill();
      ByteBuffer bytes = ByteBuffer.wrap(devices.medium("a").bytes());
      for (int copy = 0; copy < Superblock.LOG_START; copy += Superblock.LOG_START / 2) {
        bytes.putInt(copy + 8, version);
        bytes.putInt(copy + 48, sum(bytes, copy, copy + 48));
      }
      StoredBlocksFixture after =
        new StoredBlocksFixture(devices, settings(SEGMENTS, SEGMENT, "a")).recover();
      assertEquals(0, after.directory.all().size());
      after.insert("f", 0);
      after.assertReadable("f", 0);
      after.close();
    }
    killed.close();
  }

  @Test
  public void testDamagedSegmentCostsItselfOnly() throws IOException {
    StoredBlocksFixture killed = used("a");
    Random random = new Random(7);
    for (StoreDevice.Sealed victim : killed.store.table().inState(SegmentTable.SEALED)) {
      SimulatedDevices devices = killed.devices.afterKill();
      byte[] bytes = devices.medium("a").bytes();
      int start = (int) Superblock.positionOf(victim.segment, SEGMENT);
      switch (random.nextInt(4)) {
        case 0:
          // The segment is torn: the end is not there.
          Arrays.fill(bytes, start + SEGMENT - 512, start + SEGMENT, (byte) 0);
          break;
        case 1:
          // The segment of another position is misplaced here.
          int other = (victim.segment + 1) % SEGMENTS;
          System.arraycopy(bytes, (int) Superblock.positionOf(other, SEGMENT), bytes, start,
            SEGMENT);
          break;
        case 2:
          // The version in the trailer is that of another format.
          bytes[start + SEGMENT - SegmentFooter.TRAILER_SIZE + 11]++;
          break;
        default:
          bytes[start + SEGMENT - SegmentFooter.TRAILER_SIZE - 1 - random.nextInt(24)] ^= 1;
      }
      StoredBlocksFixture after =
        new StoredBlocksFixture(devices, settings(SEGMENTS, SEGMENT, "a")).recover();
      killed.directory.forEach((key, location) -> {
        if (isSealed(killed, location) && Location.segment(location) != victim.segment) {
          after.assertReadable(key.file, key.offset);
        }
      });
      assertEquals("Nothing bad is known", after.directory.all().size(), after.readAll());
      after.close();
    }
    killed.close();
  }

  @Test
  public void testNoByteIsWrongAfterAnyDamage() throws IOException {
    StoredBlocksFixture killed = used("a");
    for (int round = 0; round < 100; round++) {
      Random random = new Random(round);
      SimulatedDevices devices = killed.devices.afterKill();
      byte[] bytes = devices.medium("a").bytes();
      for (int i = random.nextInt(20); i >= 0; i--) {
        damage(bytes, random);
      }
      StoredBlocksFixture after =
        new StoredBlocksFixture(devices, settings(SEGMENTS, SEGMENT, "a")).recover();
      int known = after.directory.all().size();
      int readable = after.readAll();
      assertEquals(known - readable, after.store.metrics().badEntries.sum());
      assertEquals(readable, after.directory.all().size());
      after.insert("new", 0);
      after.assertReadable("new", 0);
      after.close();
    }
    killed.close();
  }

  /** Sums keep out what devices do; what a footer says is not trusted with them right, either. */
  @Test
  public void testNoByteIsWrongWhateverFootersSayWhoseSumsAreRight() throws IOException {
    StoredBlocksFixture killed = used("a");
    int changed = 0;
    for (int round = 0; round < 60; round++) {
      Random random = new Random(round);
      SimulatedDevices devices = killed.devices.afterKill();
      ByteBuffer bytes = ByteBuffer.wrap(devices.medium("a").bytes());
      for (StoreDevice.Sealed sealed : killed.store.table().inState(SegmentTable.SEALED)) {
        int segment = (int) Superblock.positionOf(sealed.segment, SEGMENT);
        int trailer = segment + SEGMENT - SegmentFooter.TRAILER_SIZE;
        int start = segment + bytes.getInt(trailer + 48);
        int end = trailer;
        for (int i = 1 + random.nextInt(3); i >= 0; i--) {
          // Each number of the trailer from the position of the footer on describes the footer.
          int at = random.nextInt(4) == 0
            ? trailer + 36 + random.nextInt(28)
            : start + random.nextInt(end - start);
          bytes.put(at, (byte) (random.nextBoolean()
            ? bytes.get(at) ^ 1 << random.nextInt(Byte.SIZE)
            : random.nextInt()));
        }
        int newStart = bytes.getInt(trailer + 48);
        if (newStart >= 0 && newStart <= trailer - segment) {
          bytes.putInt(trailer + 64, sum(bytes, segment + newStart, trailer));
        }
        bytes.putInt(trailer + 124, sum(bytes, trailer, trailer + 124));
        changed++;
      }
      StoredBlocksFixture after =
        new StoredBlocksFixture(devices, settings(SEGMENTS, SEGMENT, "a")).recover();
      int known = after.directory.all().size();
      int readable = after.readAll();
      assertEquals(known - readable, after.store.metrics().badEntries.sum());
      assertEquals(readable, after.directory.all().size());
      after.insert("new", 0);
      after.assertReadable("new", 0);
      after.close();
    }
    assertTrue(changed > 60);
    killed.close();
  }

  private static int sum(ByteBuffer bytes, int from, int to) {
    ByteBuffer part = bytes.duplicate();
    part.limit(to);
    part.position(from);
    Checksum sum = Crc32c.create();
    Crc32c.update(sum, part);
    return (int) sum.getValue();
  }

  private static void damage(byte[] bytes, Random random) {
    // Footers and superblocks are small, so they are aimed at
    int at = random.nextInt(bytes.length);
    if (random.nextInt(3) == 0) {
      at = Superblock.HEADER_SIZE + (1 + random.nextInt(SEGMENTS)) * SEGMENT - 1
        - random.nextInt(600);
    } else if (random.nextInt(20) == 0) {
      at = random.nextInt(60);
    }
    int length = Math.min(bytes.length - at, 1 << random.nextInt(16));
    switch (random.nextInt(4)) {
      case 0:
        bytes[at] ^= 1 << random.nextInt(8);
        break;
      case 1:
        Arrays.fill(bytes, at, at + length, (byte) random.nextInt(3));
        break;
      case 2:
        System.arraycopy(bytes, random.nextInt(bytes.length - length), bytes, at, length);
        break;
      default:
        byte[] noise = new byte[length];
        random.nextBytes(noise);
        System.arraycopy(noise, 0, bytes, at, length);
    }
  }
}
