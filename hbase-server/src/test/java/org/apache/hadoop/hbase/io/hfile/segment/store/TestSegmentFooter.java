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
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Random;
import java.util.zip.Checksum;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.io.hfile.block.Crc32c;
import org.apache.hadoop.hbase.io.hfile.segment.device.EntryTrailer;
import org.apache.hadoop.hbase.io.hfile.segment.device.Location;
import org.apache.hadoop.hbase.io.hfile.segment.device.SegmentDevice;
import org.apache.hadoop.hbase.io.hfile.segment.device.Superblock;
import org.apache.hadoop.hbase.io.hfile.segment.index.CompleteFile;
import org.apache.hadoop.hbase.nio.ByteBuff;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** What is written of a segment, of an entry and of a device is read as it was, or not at all. */
@Category({ IOTests.class, SmallTests.class })
public class TestSegmentFooter {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestSegmentFooter.class);

  private static final int SEGMENT = 64 * 1024;
  private static final long SEQUENCE = 5L << 32 | 9;

  private final Superblock superblock = Superblock.anew(SEGMENT, 5);
  private final ByteBuffer segment = ByteBuffer.allocateDirect(SEGMENT);

  private SegmentFooter footer(int entries, int files) {
    SegmentFooter footer = new SegmentFooter();
    Random random = new Random(entries);
    for (int i = 0; i < entries; i++) {
      String name = "\u00e4 file " + random.nextInt(files);
      footer.add(name, random.nextLong() >>> 24, Location.UNIT * (1 + i % 2), i % 4);
    }
    return footer;
  }

  private SegmentFooter.Trailer trailer() {
    return SegmentFooter.trailer(slice(SEGMENT - SegmentFooter.TRAILER_SIZE, SEGMENT), superblock,
      3);
  }

  private ByteBuffer slice(int from, int to) {
    ByteBuffer slice = segment.duplicate();
    slice.limit(to);
    slice.position(from);
    return slice.slice();
  }

  private SegmentFooter read(SegmentFooter.Trailer trailer) {
    return SegmentFooter.read(slice(trailer.start(), SEGMENT - SegmentFooter.TRAILER_SIZE),
      trailer);
  }

  /** That of every second file is not known. */
  private String regionOf(String fileName) {
    return fileName.hashCode() % 2 == 0 ? null : "588e5bd2ea85dae76b7d0cdcd2b4ba9f";
  }

  @Test
  public void testFooterIsReadAsItWasWritten() {
    for (int entries : new int[] { 1, 2, 64, 65, 300 }) {
      SegmentFooter written = footer(entries, 10);
      int dropped = entries > 2 ? entries / 2 : entries;
      if (dropped < entries) {
        written.drop(dropped);
      }
      CompleteFile last = new CompleteFile(written.name(entries - 1), entries, 1L << 40);
      CompleteFile other = new CompleteFile("without an entry", 5, 0);
      for (CompleteFile complete : new CompleteFile[] { last, last, other }) {
        int room = written.sizeWith(complete);
        written.add(complete);
        assertTrue(written.sizeWith(complete) - 16 <= room);
      }
      assertEquals("The room that was counted on",
        SEGMENT - written.write(segment, superblock, 3, SEQUENCE,
          name -> "588e5bd2ea85dae76b7d0cdcd2b4ba9f") + (dropped < entries ? 24 : 0),
        written.sizeWith(written.name(0)) - 24);
      written.write(segment, superblock, 3, SEQUENCE, this::regionOf);
      SegmentFooter.Trailer trailer = trailer();
      assertEquals(SEQUENCE, trailer.sequence());
      SegmentFooter read = read(trailer);
      assertEquals(written.count() - (dropped < entries ? 1 : 0), read.count());
      for (int i = 0, j = 0; i < entries; i++) {
        if (i != dropped) {
          assertEquals(written.name(i), read.name(j));
          assertEquals(written.blockOffset(i), read.blockOffset(j));
          assertEquals(written.location(7, i), read.location(7, j));
          j++;
        }
      }
      assertEquals(written.fileCount(), read.fileCount());
      for (int file = 0; file < read.fileCount(); file++) {
        assertEquals(regionOf(read.fileName(file)), read.region(file));
      }
      assertEquals(2, read.completeFiles().size());
      for (CompleteFile complete : read.completeFiles()) {
        CompleteFile expected = complete.name().equals(other.name()) ? other : last;
        assertEquals(expected.name(), complete.name());
        assertEquals(expected.dataBlocks(), complete.dataBlocks());
        assertEquals(expected.size(), complete.size());
      }
    }
  }

  @Test
  public void testRegionThatDoesNotFitIntoTheFooterIsLeftOut() {
    SegmentFooter written = new SegmentFooter();
    written.add("f", 1, Location.UNIT, 0);
    written.write(segment, superblock, 3, SEQUENCE, name -> "a region with a far too long name ?");
    SegmentFooter read = read(trailer());
    assertNull(read.region(0));
  }

  @Test
  public void testFooterIsRefusedWhicheverBitIsFlipped() {
    SegmentFooter footer = footer(40, 5);
    footer.add(new CompleteFile(footer.name(0), 3, 4));
    int start = footer.write(segment, superblock, 3, SEQUENCE, this::regionOf);
    for (int bit = start * Byte.SIZE; bit < SEGMENT * Byte.SIZE; bit++) {
      flip(bit);
      SegmentFooter.Trailer trailer = trailer();
      assertTrue("Bit " + (bit - start * Byte.SIZE), trailer == null || read(trailer) == null);
      flip(bit);
    }
    assertNotNull(read(trailer()));
  }

  private void flip(int bit) {
    segment.put(bit / Byte.SIZE, (byte) (segment.get(bit / Byte.SIZE) ^ 1 << bit % Byte.SIZE));
  }

  /** Version 1 had no regions, no sizes on disk and no complete files. */
  @Test
  public void testFooterOfAnotherVersionIsRefusedWithAValidSum() {
    footer(3, 1).write(segment, superblock, 3, SEQUENCE, this::regionOf);
    int trailer = SEGMENT - SegmentFooter.TRAILER_SIZE;
    for (int version = 0; version < 5; version++) {
      segment.putInt(trailer + 8, version);
      Checksum sum = Crc32c.create();
      Crc32c.update(sum, slice(trailer, SEGMENT - Integer.BYTES));
      segment.putInt(SEGMENT - Integer.BYTES, (int) sum.getValue());
      assertEquals("version " + version, version == 2, trailer() != null);
    }
  }

  @Test
  public void testFooterOfAnotherPlaceOrDeviceIsRefused() {
    footer(3, 1).write(segment, superblock, 3, SEQUENCE, this::regionOf);
    ByteBuffer trailer = slice(SEGMENT - SegmentFooter.TRAILER_SIZE, SEGMENT);
    assertNotNull(SegmentFooter.trailer(trailer, superblock, 3));
    assertNotNull(SegmentFooter.trailer(trailer, superblock.withEpoch(9), 3));
    assertNull(SegmentFooter.trailer(trailer, superblock, 2));
    assertNull(SegmentFooter.trailer(trailer, Superblock.anew(SEGMENT, 5), 3));
    assertNull(SegmentFooter.trailer(trailer,
      new Superblock(2 * SEGMENT, superblock.idHigh(), superblock.idLow(), 5), 3));
  }

  @Test
  public void testEntryIsRefusedWhicheverBitOfItIsFlipped() {
    int data = 150;
    int length = EntryTrailer.entryLength(data);
    byte[] bytes = new byte[length];
    new Random(1).nextBytes(bytes);
    ByteBuffer entry = ByteBuffer.wrap(bytes);
    EntryTrailer tag = EntryTrailer.local();
    tag.write(entry, SEQUENCE, 1, 2, 3, 0, data);
    for (int bit = 0; bit < length * Byte.SIZE; bit++) {
      bytes[bit / Byte.SIZE] ^= 1 << bit % Byte.SIZE;
      boolean unused = bit >= data * Byte.SIZE && bit < (length - EntryTrailer.SIZE) * Byte.SIZE;
      assertEquals(unused, tag.check(single(bytes), 1, 2, 3));
      assertEquals(unused, tag.check(several(bytes), 1, 2, 3));
      assertEquals(unused, tag.check(entry, 3));
      bytes[bit / Byte.SIZE] ^= 1 << bit % Byte.SIZE;
    }
    assertFalse(tag.check(single(bytes), 0, 2, 3));
    assertFalse(tag.check(single(bytes), 1, 0, 3));
    assertFalse(tag.check(single(bytes), 1, 2, 0));
    tag.rewrite(entry, SEQUENCE + 1);
    ByteBuff checked = several(bytes);
    assertTrue(tag.check(checked, 1, 2, 3));
    assertEquals(data, checked.limit());
    assertEquals(0, checked.position());
    assertEquals(SEQUENCE + 1, tag.sequence());
  }

  private static ByteBuff single(byte[] bytes) {
    return ByteBuff.wrap(ByteBuffer.wrap(bytes));
  }

  /** Returns the segment in three buffers, the last of which holds part of the tag. */
  private static ByteBuff several(byte[] bytes) {
    ByteBuffer[] parts = { ByteBuffer.wrap(bytes, 0, 100).slice(),
      ByteBuffer.wrap(bytes, 100, bytes.length - 130).slice(),
      ByteBuffer.wrap(bytes, bytes.length - 30, 30).slice() };
    return ByteBuff.wrap(parts);
  }

  @Test
  public void testNewerOfTheTwoSuperblocksThatIsWholeIsRead() throws IOException {
    SimulatedDevices devices = new SimulatedDevices();
    SegmentDevice device = devices.open("a", Superblock.HEADER_SIZE);
    assertNull(Superblock.read(device));
    superblock.write(device);
    assertEquals(5, Superblock.read(device).epoch());
    superblock.withEpoch(6).write(device);
    assertEquals(6, Superblock.read(device).epoch());
    assertEquals(superblock.idHigh(), Superblock.read(device).idHigh());
    assertEquals(superblock.idLow(), Superblock.read(device).idLow());
    for (int bit = 0; bit < 52 * Byte.SIZE; bit++) {
      devices.medium("a").flipBit(bit);
      assertEquals(5, Superblock.read(device).epoch());
      devices.medium("a").flipBit(bit);
    }
    assertEquals(6, Superblock.read(device).epoch());
  }
}
