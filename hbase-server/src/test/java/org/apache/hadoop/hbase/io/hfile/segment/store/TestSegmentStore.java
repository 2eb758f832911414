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
import static org.junit.Assert.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.io.hfile.segment.device.Location;
import org.apache.hadoop.hbase.io.hfile.segment.device.Superblock;
import org.apache.hadoop.hbase.io.hfile.segment.index.CachedFile;
import org.apache.hadoop.hbase.io.hfile.segment.index.IndexKey;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.junit.After;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** What a store does with blocks as long as its devices work. */
@Category({ IOTests.class, MediumTests.class })
public class TestSegmentStore {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestSegmentStore.class);

  @Rule
  public final RefCntLeakRule leakRule = new RefCntLeakRule();

  private StoredBlocksFixture blocks;

  private StoredBlocksFixture open() throws IOException {
    return open(0.25, StoredBlocksFixture.PATH);
  }

  private StoredBlocksFixture open(double rewriteShare, String... paths) throws IOException {
    blocks = new StoredBlocksFixture(new SimulatedDevices(),
      StoredBlocksFixture.settings(StoredBlocksFixture.paths(paths), rewriteShare, 0));
    return blocks.start();
  }

  @After
  public void tearDown() {
    if (blocks != null) {
      blocks.close();
      assertEquals("Buffers that were not given back", blocks.allocator.getUsedBufferCount(),
        blocks.allocator.getFreeBufferCount());
    }
  }

  /** Inserts blocks until so many segments have been written in all, and no more are full. */
  private long insertSegments(String file, long from, long segments) {
    long offset = from;
    while (blocks.store.metrics().segmentsWritten.sum() < segments) {
      blocks.insert(file, offset++);
      // The cleaner waits for a buffer no longer than 100 ms, and evicts then.
      blocks.awaitQuiet();
    }
    return offset;
  }

  @Test
  public void testBlockIsReadableBeforeAndAfterItsSegmentIsWritten() throws IOException {
    open();
    blocks.medium().blockWrites(true);
    blocks.insert("f", 0);
    blocks.assertReadable("f", 0);
    long offset = 1;
    while (blocks.store.pending() == 0) {
      blocks.insert("f", offset++);
    }
    blocks.assertReadable("f", 0);
    assertEquals(2, blocks.store.metrics().memoryReads.sum());
    blocks.medium().blockWrites(false);
    blocks.awaitQuiet();
    blocks.assertReadable("f", 0);
    assertEquals(2, blocks.store.metrics().memoryReads.sum());
    assertEquals(3, blocks.store.metrics().reads.sum());
    assertEquals(1, blocks.store.metrics().segmentsWritten.sum());
  }

  @Test
  public void testPlaceOfAnotherBlockIsMissNotTheOther() throws IOException {
    open();
    blocks.insert("f", 0);
    blocks.insert("f", 1);
    blocks.insert("g", 0);
    long location = blocks.directory.get("f", 0);
    assertFalse(blocks.isReadableAt("f", 1, location));
    assertFalse(blocks.isReadableAt("g", 0, location));
    assertEquals(2, blocks.store.metrics().staleReads.sum());
    blocks.assertReadable("f", 0);
    blocks.assertReadable("f", 1);
    blocks.assertReadable("g", 0);
  }

  @Test
  public void testBlockThatNoSegmentCouldHoldIsNotTaken() throws Exception {
    open();
    CachedFile file = blocks.files.acquire("f");
    int largest = StoredBlocksFixture.SEGMENT;
    while (!blocks.store.fits(largest)) {
      largest--;
    }
    int overhead = StoredBlocksFixture.block("f", 0).getSerializedLength()
      - StoredBlocksFixture.sizeOf("f", 0);
    HFileBlock fits = CachedBlockFixture.block(BlockType.DATA, 1, largest - overhead);
    HFileBlock tooLarge = CachedBlockFixture.block(BlockType.DATA, 1, largest - overhead + 1);
    assertTrue(blocks.store.insert(file, 0, fits, 0, InsertSource.READ, 0));
    assertFalse(blocks.store.insert(file, 1, tooLarge, 0, InsertSource.READ, 0));
    assertFalse(blocks.store.insert(file, IndexKey.MAX_OFFSET + 1,
      StoredBlocksFixture.block("f", 0), 0, InsertSource.READ, 0));
    assertTrue(blocks.store.insert(file, IndexKey.MAX_OFFSET,
      StoredBlocksFixture.block("f", 0), 0, InsertSource.READ, 0));
    assertEquals(2, blocks.store.metrics().unfit.sum());
    file.release();
  }

  @Test
  public void testChurnKeepsTheNewestAndCountsWhatLives() throws IOException {
    open(0, StoredBlocksFixture.PATH);
    long end = insertSegments("f", 0, 5 * StoredBlocksFixture.SEGMENTS);
    long newest = end - 1;
    for (; blocks.isReadable("f", newest); newest--) {
      assertTrue(newest > 0);
    }
    blocks.directory.forEach((key, location) -> assertEquals("f", key.file));
    long known = blocks.directory.all().size();
    assertEquals("All that is known is the newest", end - 1 - newest, known);
    assertEquals(blocks.directory.bytes(), blocks.store.table().liveBytes());
    // All segments but the clean ones are full, but for the ends where no block had room
    assertTrue(blocks.store.table().liveBytes() > 0.8 * blocks.store.segmentSize()
      * (StoredBlocksFixture.SEGMENTS - blocks.store.cleanSegments() - 1));
  }

  @Test
  public void testSegmentWithoutBlockThatLivesIsReclaimedBeforeOlderOnes() throws IOException {
    open(0, StoredBlocksFixture.PATH);
    long second = insertSegments("old", 0, 4);
    long third = insertSegments("gone", second, 11);
    for (long offset = second; offset < third; offset++) {
      blocks.directory.remove("gone", offset);
    }
    // There are fewer clean segments, but at least as many were made free.
    insertSegments("new", third, StoredBlocksFixture.SEGMENTS - 1);
    assertTrue(blocks.store.metrics().segmentsReclaimed.sum() > 0);
    for (long offset = 0; offset < second - 16; offset++) {
      blocks.assertReadable("old", offset);
    }
  }

  /** Segments without live blocks are always at hand, so that none is reclaimed for its age. */
  @Test
  public void testOrderOfSegmentsDoesNotGrowWhileDeadOnesAreReclaimed() throws IOException {
    open(0, StoredBlocksFixture.PATH);
    long end = 0;
    for (int i = 0; i < 10 * StoredBlocksFixture.SEGMENTS; i++) {
      long from = end;
      end = insertSegments("f", from, i + 1);
      for (long offset = from; offset < end; offset++) {
        blocks.directory.remove("f", offset);
      }
    }
    blocks.awaitQuiet();
    int ordered = blocks.store.devices().get(0).sealed.size();
    assertTrue(ordered + " segments in order", ordered <= 2 * StoredBlocksFixture.SEGMENTS);
  }

  @Test
  public void testHotBlocksSurviveWithinTheirShare() throws IOException {
    open(0.25, StoredBlocksFixture.PATH);
    int hot = 20;
    for (int i = 0; i < hot; i++) {
      blocks.insert("hot", i);
    }
    long offset = 0;
    for (int round = 1; round <= 6 * StoredBlocksFixture.SEGMENTS; round++) {
      for (int i = 0; i < hot; i++) {
        blocks.directory.setAccesses("hot", i, SegmentCleaner.HOT);
      }
      offset = insertSegments("cold", offset, round);
    }
    int survivors = 0;
    for (int i = 0; i < hot; i++) {
      survivors += blocks.isReadable("hot", i) ? 1 : 0;
    }
    SegmentStoreMetrics metrics = blocks.store.metrics();
    assertTrue("The share is spent: " + metrics.bytesRewritten.sum(),
      survivors > 0 && metrics.blocksRewritten.sum() >= survivors);
    assertTrue(metrics.bytesRewritten.sum()
      <= 0.25 * StoredBlocksFixture.SEGMENT * metrics.segmentsReclaimed.sum());
    assertEquals(blocks.directory.bytes(), blocks.store.table().liveBytes());
  }

  @Test
  public void testBlockOnlyInsertedIsNotRewritten() throws IOException {
    open(0.5, StoredBlocksFixture.PATH);
    long offset = 0;
    while (blocks.store.metrics().segmentsWritten.sum() < 3 * StoredBlocksFixture.SEGMENTS) {
      blocks.insert("f", offset++, InsertSource.READ, TimeUnit.MINUTES.toNanos(1));
    }
    assertEquals(0, blocks.store.metrics().blocksRewritten.sum());
    assertEquals(1, Location.access(blocks.directory.get("f", offset - 1)));
    blocks.insert("f", offset);
    assertEquals(0, Location.access(blocks.directory.get("f", offset)));
  }

  @Test
  public void testInMemoryBlocksStayThoughNobodyAsksForThem() throws IOException {
    open(0, StoredBlocksFixture.PATH);
    blocks.store.setInMemoryShare(0.25);
    for (int i = 0; i < 20; i++) {
      blocks.insertInMemory("m", i);
    }
    insertSegments("f", 0, 5 * StoredBlocksFixture.SEGMENTS);
    for (int i = 0; i < 20; i++) {
      blocks.assertReadable("m", i);
      assertTrue(Location.isInMemory(blocks.directory.get("m", i)));
    }
    assertFalse("is of another family", blocks.isReadable("f", 0));
    assertEquals(blocks.directory.bytes(), blocks.store.table().liveBytes());
  }

  @Test
  public void testInMemoryBlocksBeyondTheirShareGoLikeOthers() throws IOException {
    open(0, StoredBlocksFixture.PATH);
    blocks.store.setInMemoryShare(0.25);
    long tier = (long) StoredBlocksFixture.SEGMENTS * StoredBlocksFixture.SEGMENT;
    for (int i = 0; blocks.directory.inMemoryBytes() < tier / 2; i++) {
      blocks.insertInMemory("m", i);
    }
    insertSegments("f", 0, 6 * StoredBlocksFixture.SEGMENTS);
    long left = blocks.directory.inMemoryBytes();
    assertTrue(left + " of " + tier, left > tier / 8 && left <= tier / 4);
    assertEquals(blocks.directory.all().size(), blocks.readAll());
  }

  @Test
  public void testInsertionsAreRefusedInTheOrderOfTheirKinds() throws IOException {
    open();
    blocks.medium().blockWrites(true);
    long offset = 0;
    for (InsertSource kind : InsertSource.values()) {
      long taken = 0;
      while (blocks.offer("f", offset, kind)) {
        offset++;
        taken++;
      }
      assertTrue(kind + " should be taken where others are refused", taken > 0);
      assertEquals(1, blocks.store.metrics().refusals(kind).sum());
      for (InsertSource refused : InsertSource.values()) {
        assertEquals(refused != InsertSource.WRITE && refused.ordinal() > kind.ordinal(),
          refused != InsertSource.WRITE && blocks.store.hasSpace(refused));
      }
    }
    for (long i = 0; i < offset; i++) {
      blocks.assertReadable("f", i);
    }
    AtomicInteger waited = new AtomicInteger();
    Thread waiting = new Thread(() -> {
      blocks.insert("f", 1_000_000);
      waited.incrementAndGet();
    });
    waiting.start();
    CachedBlockFixture.await(() -> waiting.getState() == Thread.State.TIMED_WAITING);
    assertEquals(0, waited.get());
    blocks.medium().blockWrites(false);
    CachedBlockFixture.await(() -> waited.get() == 1);
    blocks.assertReadable("f", 1_000_000);
    CachedBlockFixture.await(() -> blocks.store.hasSpace(InsertSource.READ));
    assertTrue(blocks.offer("f", 1_000_001, InsertSource.READ));
  }

  @Test
  public void testAllDevicesTakeTheirShare() throws IOException {
    open(0.25, "a", "b", "c");
    insertSegments("f", 0, 4 * 3 * StoredBlocksFixture.SEGMENTS);
    int[] perDevice = new int[3];
    blocks.directory.forEach((key, location) -> perDevice[Location.segment(location)
      / StoredBlocksFixture.SEGMENTS]++);
    for (int count : perDevice) {
      assertTrue(count > blocks.directory.all().size() / 6);
    }
    assertEquals(blocks.directory.all().size(), blocks.readAll());
  }

  @Test
  public void testEntryIsAsItWasOrIsMissedWhicheverBitIsFlipped() throws IOException {
    open();
    insertSegments("f", 0, 6);
    Random random = new Random(1);
    int lost = 0;
    for (int i = 0; i < 600; i++) {
      blocks.medium().flipBit((long) (random.nextDouble() * Byte.SIZE
        * (Superblock.HEADER_SIZE + 6L * StoredBlocksFixture.SEGMENT)));
      if (i % 20 == 0) {
        int known = blocks.directory.all().size();
        lost += known - blocks.readAll();
      }
    }
    assertEquals(lost, blocks.store.metrics().badEntries.sum());
    assertTrue(lost > 0);
    assertEquals(0, blocks.store.metrics().staleReads.sum());
    assertEquals(blocks.directory.bytes(), blocks.store.table().liveBytes());
  }

  @Test
  public void testStopKeepsAllAndASnapshotBringsItBackAtOnce() throws IOException {
    open(0.25, "a", "b");
    insertSegments("f", 0, 3 * StoredBlocksFixture.SEGMENTS);
    blocks.insert("last", 0);
    int known = blocks.directory.all().size();
    byte[] snapshot = stopWithSnapshot();
    assertEquals("What is stored can be read until it is closed", known, blocks.readAll());
    SimulatedDevices devices = blocks.devices;
    StoredBlocksFixture former = blocks;
    former.store.close();

    blocks = new StoredBlocksFixture(devices, StoredBlocksFixture
      .settings(StoredBlocksFixture.paths("a", "b"), 0.25, 0));
    assertTrue(blocks.store.restore(in(snapshot)));
    former.directory.forEach((key, location) -> blocks.directory.recovered(key.file, key.offset,
      location));
    assertEquals(known, blocks.readAll());
    blocks.recover();
    assertEquals(0, blocks.store.metrics().segmentsFound.sum());
    assertEquals(blocks.directory.bytes(), blocks.store.table().liveBytes());
    insertSegments("g", 0, 3 * StoredBlocksFixture.SEGMENTS);
    assertEquals(blocks.directory.all().size(), blocks.readAll());

    // It has been written since, so the snapshot is of the past
    blocks.close();
    blocks = new StoredBlocksFixture(devices, StoredBlocksFixture
      .settings(StoredBlocksFixture.paths("a", "b"), 0.25, 0));
    assertFalse(blocks.store.restore(in(snapshot)));
  }

  private byte[] stopWithSnapshot() throws IOException {
    blocks.store.stop();
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    blocks.store.writeTo(new DataOutputStream(bytes));
    return bytes.toByteArray();
  }

  private static DataInputStream in(byte[] bytes) {
    return new DataInputStream(new ByteArrayInputStream(bytes));
  }

  @Test
  public void testInsertionsAfterTheStopAreRefused() throws IOException {
    open();
    blocks.insert("f", 0);
    blocks.store.stop();
    assertFalse(blocks.offer("f", 1, InsertSource.WRITE));
    assertFalse(blocks.insert("f", 1, InsertSource.WRITE, TimeUnit.MINUTES.toNanos(1)));
    blocks.assertReadable("f", 0);
  }
}
