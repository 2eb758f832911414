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
package org.apache.hadoop.hbase.io.hfile.block;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableSet;
import java.util.Random;
import java.util.TreeSet;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.ArrayBackedTag;
import org.apache.hadoop.hbase.ByteBufferKeyValue;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellComparator;
import org.apache.hadoop.hbase.CellComparatorImpl;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.InnerStoreCellComparator;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.KeyValueUtil;
import org.apache.hadoop.hbase.MetaCellComparator;
import org.apache.hadoop.hbase.PrivateCellUtil;
import org.apache.hadoop.hbase.Tag;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.HFileContext;
import org.apache.hadoop.hbase.io.hfile.HFileContextBuilder;
import org.apache.hadoop.hbase.io.hfile.HFileScanner;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.io.hfile.SharedBlockView;
import org.apache.hadoop.hbase.io.hfile.StoreFileFixture;
import org.apache.hadoop.hbase.nio.ByteBuff;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.ObjectIntPair;
import org.apache.hadoop.io.WritableUtils;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;

/** Tests that seeks find what a sorted set finds, for all kinds of cells, keys and buffers. */
@Category({ IOTests.class, LargeTests.class })
@RunWith(Parameterized.class)
public class TestInBlockSeek {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestInBlockSeek.class);

  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final int CELLS = 2000;
  private static final int BLOCK_SIZE = 8192;
  private static final int SEEKS = 500;
  /** A cell of the first block, and one on the way to it. */
  private static final int KEY = 24;
  private static final int PASSED = 12;

  @Rule
  public final StoreFileFixture files = new StoreFileFixture();
  @Rule
  public final RefCntLeakRule leakRule = new RefCntLeakRule();

  @Parameterized.Parameter
  public boolean hasTags;
  @Parameterized.Parameter(1)
  public boolean hasSequenceIds;
  /** The size of the pool's buffers, in bytes; 0 for blocks on the heap. */
  @Parameterized.Parameter(2)
  public int bufferSize;
  @Parameterized.Parameter(3)
  public CellComparator comparator;

  private final Random random = new Random(23);

  @Parameterized.Parameters(name = "tags: {0}, sequence ids: {1}, buffers: {2}, {3}")
  public static List<Object[]> parameters() {
    List<Object[]> all = new ArrayList<>();
    for (CellComparator order : Arrays.asList(CellComparatorImpl.COMPARATOR,
      InnerStoreCellComparator.INNER_STORE_COMPARATOR, MetaCellComparator.META_COMPARATOR)) {
      all.add(new Object[] { false, false, 4 * BLOCK_SIZE, order });
      all.add(new Object[] { true, true, 4 * BLOCK_SIZE, order });
      all.add(new Object[] { true, true, 0, order });
      all.add(new Object[] { true, true, 1024, order });
    }
    all.add(new Object[] { false, true, 4 * BLOCK_SIZE, CellComparatorImpl.COMPARATOR });
    all.add(new Object[] { true, false, 4 * BLOCK_SIZE, CellComparatorImpl.COMPARATOR });
    return all;
  }

  /** Returns a file system without checksums, which would detect a corrupt block first. */
  private FileSystem fileSystem() throws IOException {
    return FileSystem.getLocal(files.conf()).getRaw();
  }

  /** Rows that are each other's beginning, or differ in the first byte or the last. */
  private byte[] row() {
    if (comparator instanceof MetaCellComparator) {
      // This order differs from that of bytes: a comma is less than a letter, and more than '!'.
      String table = random.nextBoolean() ? "t" : random.nextBoolean() ? "t!" : "tt";
      return Bytes.toBytes(table + "," + (char) ('!' + random.nextInt(60)) + random.nextInt(20)
        + "," + random.nextInt(9) + random.nextInt(9));
    }
    byte[] row = new byte[1 + random.nextInt(12)];
    for (int i = 0; i < row.length; i++) {
      row[i] = (byte) (random.nextInt(5) > 0 ? 'm' : random.nextInt(256));
    }
    return row;
  }

  private KeyValue cell() {
    byte[] qualifier = new byte[random.nextInt(4)];
    Arrays.fill(qualifier, (byte) ('a' + random.nextInt(2)));
    byte[] value = new byte[random.nextInt(4) == 0 ? 0 : random.nextInt(60)];
    KeyValue.Type type = random.nextInt(5) == 0 ? KeyValue.Type.Delete : KeyValue.Type.Put;
    List<Tag> tags = new ArrayList<>();
    for (int i = hasTags ? random.nextInt(3) : 0; i > 0; i--) {
      tags.add(new ArrayBackedTag((byte) 1, new byte[random.nextInt(300)]));
    }
    KeyValue cell = new KeyValue(row(), FAMILY, qualifier, random.nextInt(5), type, value, tags);
    if (hasSequenceIds) {
      // The sequence ids have all lengths, one byte to nine.
      cell.setSequenceId(random.nextLong() >>> 1 + random.nextInt(63));
    }
    return cell;
  }

  private NavigableSet<Cell> cells() {
    NavigableSet<Cell> cells = new TreeSet<>((a, b) -> comparator.compare(a, b, true));
    while (cells.size() < CELLS) {
      cells.add(cell());
    }
    return cells;
  }

  private Path write(Iterable<Cell> cells) throws IOException {
    return write(cells, BLOCK_SIZE);
  }

  private Path write(Iterable<Cell> cells, int blockSize) throws IOException {
    HFileContext context = new HFileContextBuilder().withBlockSize(blockSize)
      .withHBaseCheckSum(false).withIncludesTags(hasTags).withIncludesMvcc(hasSequenceIds)
      .withCellComparator(comparator).build();
    Path path = files.newFile();
    try (HFile.Writer writer = HFile.getWriterFactoryNoCache(files.conf())
      .withPath(fileSystem(), path).withFileContext(context).create()) {
      for (Cell cell : cells) {
        writer.append(cell);
      }
    }
    return path;
  }

  private HFile.Reader open(Path path) throws IOException {
    ByteBuffAllocator allocator = ByteBuffAllocator.HEAP;
    if (bufferSize > 0) {
      files.conf().setInt(ByteBuffAllocator.BUFFER_SIZE_KEY, bufferSize);
      files.conf().setInt(ByteBuffAllocator.MAX_BUFFER_COUNT_KEY, 1000);
      files.conf().setInt(ByteBuffAllocator.MIN_ALLOCATE_SIZE_KEY, 1);
      allocator = ByteBuffAllocator.create(files.conf(), true);
    }
    return HFile.createReader(fileSystem(), path,
      new CacheConfig(files.conf(), null, null, allocator), true, files.conf());
  }

  /** Returns a key that is there, or one like them, in a buffer or in an array. */
  private Cell key(List<Cell> cells) throws IOException {
    KeyValue like = KeyValueUtil
      .copyToNewKeyValue(random.nextBoolean() ? cells.get(random.nextInt(cells.size())) : cell());
    // With a sequence id, the key would be before its equal in the index.
    like.setSequenceId(0);
    switch (random.nextInt(4)) {
      case 0:
        return PrivateCellUtil.createFirstOnRow(like);
      case 1:
        return PrivateCellUtil.createLastOnRow(like);
      case 2:
        byte[] bytes = like.getBuffer();
        ByteBuffer buffer = ByteBuffer.allocateDirect(bytes.length);
        buffer.put(bytes);
        return new ByteBufferKeyValue(buffer, 0, bytes.length);
      default:
        return like;
    }
  }

  private void assertIsAt(Cell expected, HFileScanner scanner) {
    Cell cell = scanner.getCell();
    assertEquals(expected + " and " + cell, 0, comparator.compare(expected, cell, true));
    assertTrue(CellUtil.matchingValue(expected, cell));
    assertEquals(hasSequenceIds ? expected.getSequenceId() : 0, cell.getSequenceId());
  }

  private void assertFound(NavigableSet<Cell> cells, Cell key, int result, HFileScanner scanner) {
    Cell floor = cells.floor(key);
    if (floor == null) {
      assertTrue(result == -1 || result == HConstants.INDEX_KEY_MAGIC);
    } else if (comparator.compare(floor, key, true) == 0) {
      assertEquals(0, result);
      assertIsAt(floor, scanner);
    } else if (result == HConstants.INDEX_KEY_MAGIC) {
      // It lies between two blocks.
      assertIsAt(cells.ceiling(key), scanner);
    } else {
      assertEquals(1, result);
      assertIsAt(floor, scanner);
    }
  }

  @Test
  public void testSeeksFindWhatASortedSetFinds() throws IOException {
    NavigableSet<Cell> cells = cells();
    List<Cell> list = new ArrayList<>(cells);
    try (HFile.Reader reader = open(write(cells))) {
      HFileScanner scanner = reader.getScanner(files.conf(), false, true, false);
      seek(cells, list, scanner);
      seekBefore(cells, list, scanner);
      reseekAndStep(cells, list, scanner);
      scanner.close();
    }
  }

  private void seek(NavigableSet<Cell> cells, List<Cell> list, HFileScanner scanner)
    throws IOException {
    for (int i = 0; i < SEEKS; i++) {
      Cell key = key(list);
      assertFound(cells, key, scanner.seekTo(key), scanner);
      scanner.shipped();
    }
  }

  private void seekBefore(NavigableSet<Cell> cells, List<Cell> list, HFileScanner scanner)
    throws IOException {
    for (int i = 0; i < SEEKS; i++) {
      Cell key = key(list);
      Cell lower = cells.lower(key);
      assertEquals(lower != null, scanner.seekBefore(key));
      if (lower != null) {
        assertIsAt(lower, scanner);
      }
      scanner.shipped();
    }
  }

  private void reseekAndStep(NavigableSet<Cell> cells, List<Cell> list, HFileScanner scanner)
    throws IOException {
    NavigableSet<Cell> keys = new TreeSet<>(cells.comparator());
    for (int i = 0; i < SEEKS; i++) {
      keys.add(key(list));
    }
    assertTrue(scanner.seekTo());
    for (Cell key : keys) {
      Cell before = KeyValueUtil.copyToNewKeyValue(scanner.getCell());
      if (comparator.compare(key, before, true) <= 0) {
        assertTrue(scanner.reseekTo(key) <= 0);
        assertIsAt(cells.floor(before), scanner);
      } else {
        assertFound(cells, key, scanner.reseekTo(key), scanner);
      }
      Cell at = KeyValueUtil.copyToNewKeyValue(scanner.getCell());
      if (random.nextInt(3) == 0) {
        Cell next = cells.higher(at);
        assertEquals(next != null, scanner.next());
        if (next == null) {
          break;
        }
        assertIsAt(next, scanner);
      }
      scanner.shipped();
    }
  }

  @Test
  public void testPassesOverSmallerRowsAtOnce() throws IOException {
    NavigableSet<Cell> cells = cells();
    List<Cell> list = new ArrayList<>(cells);
    try (HFile.Reader reader = open(write(cells))) {
      HFileBlock block = reader.readBlock(0, -1, false, true, false, true, BlockType.DATA, null);
      ByteBuff bytes = block.getBufferWithoutHeader();
      Cell key = list.get(KEY);
      int passed =
        InBlockSeek.bytesToLastSmallerRow(block, bytes, key, reader, new ObjectIntPair<>());
      assertEquals(0, bytes.position());
      if (bufferSize == 1024 || comparator instanceof MetaCellComparator) {
        assertEquals(0, passed);
      } else {
        int smaller = 0;
        while (comparator.compareRows(list.get(smaller + 1), key) < 0) {
          smaller++;
        }
        assertTrue(smaller > 0);
        assertEquals(offset(list, smaller), passed);
      }
      block.release();
    }
  }

  /** Seeks from each cell of blocks with no sample, with one, and with many. */
  @Test
  public void testSamplesChangeNoResult() throws IOException {
    for (int blockSize : new int[] { 500, BLOCK_SIZE, 4 * BLOCK_SIZE - 1000 }) {
      NavigableSet<Cell> cells = cells();
      List<Cell> list = new ArrayList<>(cells);
      try (HFile.Reader reader = open(write(cells, blockSize))) {
        HFileBlock block = reader.readBlock(0, -1, false, true, false, true, BlockType.DATA, null);
        HFileBlock sampled = new SharedBlockView(block).newBlock();
        ByteBuff bytes = block.getBufferWithoutHeader();
        int inBlock = 0;
        while (offset(list, inBlock) < bytes.limit()) {
          inBlock++;
        }
        for (int i = 0; i < SEEKS; i++) {
          // The keys are those of the block, and some beyond its end.
          Cell key = key(list.subList(0, Math.min(list.size(), inBlock + inBlock / 4)));
          int cell = i % 4 == 0 ? random.nextInt(inBlock) : 0;
          bytes.position(offset(list, cell));
          assertEquals("from cell " + cell + " to " + key,
            InBlockSeek.bytesToLastSmallerRow(block, bytes, key, reader, new ObjectIntPair<>()),
            InBlockSeek.bytesToLastSmallerRow(sampled, bytes, key, reader, new ObjectIntPair<>()));
        }
        RowSamples samples = ((SampledBlock) sampled).rowSamples();
        if (bufferSize == 1024 && blockSize > 1024 || comparator instanceof MetaCellComparator) {
          assertNull(samples);
        } else {
          int expected = bytes.limit() / 4096;
          assertTrue(samples.count() + " for " + bytes.limit(),
            samples.count() <= expected && samples.count() >= expected - 1);
        }
        block.release();
      }
    }
  }

  /** Returns the offset of a cell of the first block. */
  private int offset(List<Cell> cells, int index) {
    int offset = 0;
    for (Cell cell : cells.subList(0, index)) {
      offset += ((KeyValue) cell).getKeyLength() + cell.getValueLength() + 2 * Integer.BYTES;
      offset += hasTags ? Short.BYTES + cell.getTagsLength() : 0;
      offset += hasSequenceIds ? WritableUtils.getVIntSize(cell.getSequenceId()) : 0;
    }
    return offset;
  }

  @Test
  public void testLengthsThatCannotBeAreReported() throws IOException {
    NavigableSet<Cell> cells = cells();
    List<Cell> list = new ArrayList<>(cells);
    for (int field : new int[] { 0, Integer.BYTES }) {
      for (int length : new int[] { -1, Integer.MAX_VALUE, BLOCK_SIZE * 2 }) {
        Path path = write(cells);
        try (RandomAccessFile file =
          new RandomAccessFile(new File(path.toUri().getPath()), "rw")) {
          file.seek(HConstants.HFILEBLOCK_HEADER_SIZE + offset(list, PASSED) + field);
          file.writeInt(length);
        }
        files.conf().setBoolean(HConstants.HBASE_CHECKSUM_VERIFICATION, false);
        try (HFile.Reader reader = open(path)) {
          HFileScanner scanner = reader.getScanner(files.conf(), false, true, false);
          String message =
            assertThrows(IllegalStateException.class, () -> scanner.seekTo(list.get(KEY)))
              .getMessage();
          assertTrue(message, message.startsWith("Invalid klen "));
          scanner.close();
        }
      }
    }
  }
}
