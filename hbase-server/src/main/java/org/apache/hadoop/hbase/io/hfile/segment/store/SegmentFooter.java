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

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.zip.Checksum;
import org.apache.hadoop.hbase.io.hfile.block.Crc32c;
import org.apache.hadoop.hbase.io.hfile.segment.device.Location;
import org.apache.hadoop.hbase.io.hfile.segment.device.Superblock;
import org.apache.hadoop.hbase.io.hfile.segment.index.CompleteFile;
import org.apache.hadoop.hbase.io.hfile.segment.index.IndexKey;
import org.apache.hadoop.hbase.io.hfile.segment.index.SegmentDirectory;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The table of contents of a segment, at its end: the names of the files, the entries in the order
 * of their offsets, the files that were complete, and a trailer of {@value #TRAILER_SIZE} bytes by
 * which the rest is found.
 *
 * <pre>
 *  name: length 2, UTF-8 bytes; length 2, the region's name in UTF-8 or nothing
 *  entry: file 4 | category 1, unused 3 | block's offset 8 | position 4 | length 4
 *  complete file: file 4 | data blocks 4 | size 8
 *  trailer:
 *   0 magic           8      48 position of the footer    4
 *   8 version         4      52 number of files        4
 *  12 segment size    4      56 number of entries      4
 *  16 id of device   16      60 end of the entries     4
 *  32 segment         4      64 CRC32C of the footer   4
 *  36 complete files  4     124 CRC32C of the trailer  4
 *  40 sequence        8
 * </pre>
 *
 * Positions are bytes from the beginning of the segment. Not thread-safe.
 */
@InterfaceAudience.Private
final class SegmentFooter {
  static final int TRAILER_SIZE = 128;
  /** Maximum length of a file's name in characters, each of which takes up to three bytes. */
  static final int MAX_NAME_LENGTH = 1024;
  /** Maximum size in bytes of the footer for one entry, with name and trailer. */
  static final int MAX_BYTES_FOR_ONE = 24 + 3 * MAX_NAME_LENGTH + 2 * Short.BYTES + 32 + 128;

  private static final int ENTRY_SIZE = 24;
  private static final int COMPLETE_SIZE = 16;
  /** Maximum length of a recorded region name; an encoded name has 32 letters or 10 digits. */
  private static final int MAX_REGION_LENGTH = 32;
  private static final long MAGIC = 0x5345474d464f4f54L;
  private static final int VERSION = 2;
  private static final int TRAILER_SUM = TRAILER_SIZE - Integer.BYTES;
  private static final int FIRST_ENTRIES = 64;

  private String[] names = new String[8];
  /** Regions by file number; only of a footer that was read. */
  private String[] regions = new String[0];
  private int nameCount;
  private final Map<String, Integer> numbers = new HashMap<>();
  private int nameBytes;
  private String lastName;
  private int lastNumber;

  private int count;
  private int[] files = new int[FIRST_ENTRIES];
  private long[] offsets = new long[FIRST_ENTRIES];
  private int[] positions = new int[FIRST_ENTRIES];
  private int[] lengths = new int[FIRST_ENTRIES];
  private byte[] categories = new byte[FIRST_ENTRIES];
  private int dataEnd;
  /** Sequence number of the segment; only of a footer that was read. */
  private long sequence;
  private final Map<Integer, CompleteFile> complete = new LinkedHashMap<>();

  /** Looks up the regions of files. */
  @InterfaceAudience.Private
  interface Regions {
    /** Returns the encoded name of the region that a file belongs to, null if it is not known. */
    String regionOf(String fileName);
  }

  /** The content of a trailer. */
  @InterfaceAudience.Private
  static final class Trailer {
    private final int completeCount;
    private final long sequence;
    private final int start;
    private final int nameCount;
    private final int entryCount;
    private final int dataEnd;
    private final int sum;

    private Trailer(ByteBuffer from) {
      completeCount = from.getInt(36);
      sequence = from.getLong(40);
      start = from.getInt(48);
      nameCount = from.getInt(52);
      entryCount = from.getInt(56);
      dataEnd = from.getInt(60);
      sum = from.getInt(64);
    }

    long sequence() {
      return sequence;
    }

    /** Returns offset of the footer, in bytes from the beginning of the segment. */
    int start() {
      return start;
    }
  }

  /** Returns the size of footer and trailer with one more entry, in bytes. */
  int sizeWith(String name) {
    return size(name, count + 1, complete.size());
  }

  private int size(String name, int entries, int completeFiles) {
    int size =
      nameBytes + entries * ENTRY_SIZE + completeFiles * COMPLETE_SIZE + TRAILER_SIZE;
    return name == lastName || name.equals(lastName) || numbers.containsKey(name)
      ? size
      : size + bytesOf(name);
  }

  /** Returns the size of a name in bytes, assuming the longest region name. */
  private static int bytesOf(String name) {
    return 2 * Short.BYTES + MAX_REGION_LENGTH + name.getBytes(StandardCharsets.UTF_8).length;
  }

  /** Returns the size of footer and trailer with one more complete file, in bytes. */
  int sizeWith(CompleteFile file) {
    return size(file.name(), count, complete.size() + 1);
  }

  /** Adds a complete file, or replaces its record. */
  void add(CompleteFile file) {
    complete.put(numberOf(file.name()), file);
  }

  /** Returns the files that were complete when the footer was written. */
  Collection<CompleteFile> completeFiles() {
    return complete.values();
  }

  /** Appends an entry. Returns its number. */
  int add(String name, long blockOffset, int length, int category) {
    if (count == offsets.length) {
      int size = 2 * count;
      files = Arrays.copyOf(files, size);
      offsets = Arrays.copyOf(offsets, size);
      positions = Arrays.copyOf(positions, size);
      lengths = Arrays.copyOf(lengths, size);
      categories = Arrays.copyOf(categories, size);
    }
    files[count] = numberOf(name);
    offsets[count] = blockOffset;
    positions[count] = dataEnd;
    lengths[count] = length;
    categories[count] = (byte) category;
    dataEnd += length;
    return count++;
  }

  private int numberOf(String name) {
    if (name == lastName || name.equals(lastName)) {
      return lastNumber;
    }
    Integer number = numbers.get(name);
    if (number == null) {
      number = nameCount;
      numbers.put(name, number);
      addName(name);
      nameBytes += bytesOf(name);
    }
    lastName = name;
    lastNumber = number;
    return number;
  }

  private void addName(String name) {
    if (nameCount == names.length) {
      names = Arrays.copyOf(names, 2 * nameCount);
    }
    names[nameCount++] = name;
  }

  /** Discards an entry: its space stays unused. */
  void drop(int number) {
    lengths[number] = 0;
  }

  int count() {
    return count;
  }

  /** Returns the sequence number of the segment; only of a footer that was read. */
  long sequence() {
    return sequence;
  }

  /** Returns the end of the entries, in bytes from the beginning of the segment. */
  int dataEnd() {
    return dataEnd;
  }

  /** Returns the number of the file of an entry, from 0 to {@link #fileCount} - 1. */
  int file(int number) {
    return files[number];
  }

  String name(int number) {
    return names[files[number]];
  }

  long blockOffset(int number) {
    return offsets[number];
  }

  int position(int number) {
    return positions[number];
  }

  /** Returns whether an entry is of a block of an in-memory family. */
  boolean isInMemory(int number) {
    return (categories[number] & Location.IN_MEMORY) != 0;
  }

  /** Returns the size of an entry in bytes; 0 if it was discarded. */
  int length(int number) {
    return lengths[number];
  }

  int category(int number) {
    return categories[number];
  }

  /** Returns the number of files; names and regions are numbered from 0. */
  int fileCount() {
    return nameCount;
  }

  String fileName(int file) {
    return names[file];
  }

  /** Returns the region of a file, null if it was not known; only of a footer that was read. */
  String region(int file) {
    return regions[file];
  }

  /** Returns the location of an entry, with an access count of 0. */
  long location(int segment, int number) {
    return Location.of(segment, positions[number], lengths[number], 0, categories[number]);
  }

  /**
   * Removes all entries of a segment from a directory, see {@link SegmentDirectory#removed}.
   * @return the number of entries that were the current locations of their blocks
   */
  int removeFrom(SegmentDirectory directory, int segment) {
    int removed = 0;
    for (int i = 0; i < count; i++) {
      int accesses = lengths[i] > 0
        ? directory.removed(name(i), offsets[i], location(segment, i))
        : SegmentDirectory.NOT_HERE;
      removed += accesses == SegmentDirectory.NOT_HERE ? 0 : 1;
    }
    return removed;
  }

  /**
   * Writes footer and trailer to the end of a segment.
   * @param segment         the whole segment; position and limit change
   * @param segmentOfDevice the number of the segment on its device
   * @return the offset of the footer
   */
  int write(ByteBuffer segment, Superblock device, int segmentOfDevice, long sequence,
    Regions regionsOf) {
    int trailer = segment.capacity() - TRAILER_SIZE;
    int entries = 0;
    for (int i = 0; i < count; i++) {
      entries += lengths[i] == 0 ? 0 : 1;
    }
    ByteBuffer nameTable = nameTable(regionsOf);
    int start =
      trailer - nameTable.remaining() - entries * ENTRY_SIZE - complete.size() * COMPLETE_SIZE;
    segment.clear();
    segment.position(start);
    segment.put(nameTable);
    for (int i = 0; i < count; i++) {
      if (lengths[i] != 0) {
        segment.putInt(files[i]).putInt(categories[i] << 24).putLong(offsets[i])
          .putInt(positions[i]).putInt(lengths[i]);
      }
    }
    complete.forEach((file, told) -> segment.putInt(file).putInt(told.dataBlocks())
      .putLong(told.size()));
    int sum = sum(segment, start, trailer);
    segment.clear();
    segment.position(trailer);
    segment.putLong(MAGIC).putInt(VERSION).putInt(segment.capacity()).putLong(device.idHigh())
      .putLong(device.idLow()).putInt(segmentOfDevice).putInt(complete.size()).putLong(sequence)
      .putInt(start).putInt(nameCount).putInt(entries).putInt(dataEnd).putInt(sum);
    while (segment.position() < trailer + TRAILER_SUM) {
      segment.putInt(0);
    }
    segment.putInt(sum(segment, trailer, trailer + TRAILER_SUM));
    segment.clear();
    return start;
  }

  private ByteBuffer nameTable(Regions regionsOf) {
    ByteBuffer table = ByteBuffer.allocate(nameBytes);
    for (int i = 0; i < nameCount; i++) {
      put(table, names[i].getBytes(StandardCharsets.UTF_8));
      String region = regionsOf.regionOf(names[i]);
      byte[] bytes = (region == null ? "" : region).getBytes(StandardCharsets.UTF_8);
      put(table, bytes.length <= MAX_REGION_LENGTH ? bytes : new byte[0]);
    }
    table.flip();
    return table;
  }

  private static void put(ByteBuffer table, byte[] string) {
    table.putShort((short) string.length).put(string);
  }

  private static String getString(ByteBuffer table) {
    byte[] bytes = new byte[table.getShort() & 0xFFFF];
    table.get(bytes);
    return new String(bytes, StandardCharsets.UTF_8);
  }

  /**
   * Reads a trailer.
   * @param bytes {@value #TRAILER_SIZE} bytes
   * @return null if this is not the trailer of this segment of this device
   */
  static Trailer trailer(ByteBuffer bytes, Superblock device, int segmentOfDevice) {
    bytes.clear();
    if (
      bytes.getLong(0) != MAGIC || bytes.getInt(8) != VERSION
        || bytes.getInt(12) != device.segmentSize()
        || bytes.getLong(16) != device.idHigh() || bytes.getLong(24) != device.idLow()
        || bytes.getInt(32) != segmentOfDevice
        || bytes.getInt(TRAILER_SUM) != sum(bytes, 0, TRAILER_SUM)
    ) {
      return null;
    }
    Trailer trailer = new Trailer(bytes);
    int end = device.segmentSize() - TRAILER_SIZE;
    return trailer.sequence > 0 && trailer.start >= 0 && trailer.start <= end
      && trailer.dataEnd >= 0 && trailer.dataEnd <= trailer.start && trailer.nameCount >= 0
      && trailer.nameCount <= (end - trailer.start) / Short.BYTES && trailer.entryCount >= 0
      && trailer.entryCount <= (end - trailer.start) / ENTRY_SIZE && trailer.completeCount >= 0
      && trailer.completeCount <= (end - trailer.start) / COMPLETE_SIZE ? trailer : null;
  }

  /**
   * Reads a footer.
   * @param bytes all of it, without the trailer
   * @return null if the checksum does not match, or the content is invalid
   */
  static SegmentFooter read(ByteBuffer bytes, Trailer trailer) {
    bytes.clear();
    if (sum(bytes, 0, bytes.capacity()) != trailer.sum) {
      return null;
    }
    bytes.clear();
    SegmentFooter footer = new SegmentFooter();
    footer.sequence = trailer.sequence;
    try {
      footer.regions = new String[trailer.nameCount];
      for (int i = 0; i < trailer.nameCount; i++) {
        footer.addName(getString(bytes));
        String region = getString(bytes);
        footer.regions[i] = region.isEmpty() ? null : region;
      }
      int size = trailer.entryCount;
      footer.files = new int[size];
      footer.offsets = new long[size];
      footer.positions = new int[size];
      footer.lengths = new int[size];
      footer.categories = new byte[size];
      for (int i = 0; i < size; i++) {
        if (!footer.readEntry(bytes, trailer)) {
          return null;
        }
      }
      for (int i = 0; i < trailer.completeCount; i++) {
        if (!footer.readComplete(bytes)) {
          return null;
        }
      }
    } catch (BufferUnderflowException e) {
      return null;
    }
    return bytes.hasRemaining() ? null : footer;
  }

  private boolean readEntry(ByteBuffer bytes, Trailer trailer) {
    int file = bytes.getInt();
    int category = bytes.getInt() >>> 24;
    long offset = bytes.getLong();
    int position = bytes.getInt();
    int length = bytes.getInt();
    if (
      file < 0 || file >= nameCount || category > Location.MAX_KIND || offset < 0
        || offset > IndexKey.MAX_OFFSET || position < dataEnd || length <= 0
        || length > Location.MAX_ENTRY_BYTES || length > trailer.dataEnd - position
        || (position | length) % Location.UNIT != 0
    ) {
      return false;
    }
    files[count] = file;
    offsets[count] = offset;
    positions[count] = position;
    lengths[count] = length;
    categories[count] = (byte) category;
    dataEnd = position + length;
    count++;
    return true;
  }

  private boolean readComplete(ByteBuffer bytes) {
    int file = bytes.getInt();
    int dataBlocks = bytes.getInt();
    long size = bytes.getLong();
    if (file < 0 || file >= nameCount || dataBlocks < 0 || size < 0) {
      return false;
    }
    complete.put(file, new CompleteFile(names[file], dataBlocks, size));
    return true;
  }

  private static int sum(ByteBuffer bytes, int from, int to) {
    Checksum sum = Crc32c.create();
    int position = bytes.position();
    bytes.limit(to);
    bytes.position(from);
    Crc32c.update(sum, bytes);
    bytes.limit(bytes.capacity());
    bytes.position(position);
    return (int) sum.getValue();
  }
}
