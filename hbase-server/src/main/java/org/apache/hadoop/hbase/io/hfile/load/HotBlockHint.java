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
package org.apache.hadoop.hbase.io.hfile.load;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.zip.CRC32;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.composite.HotBlockCache;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The hot blocks of a region's files. The server that closes the region writes them to a file; the
 * one that opens it reads and deletes the file. A slow server may still write while others do
 * either. Not thread-safe.
 * <p>
 * Invariant: whatever others do, {@link #readAndDelete} returns one whole hint or none, and
 * {@link #write} does not create the directory of a region that was deleted.
 * <p>
 * The bytes, all numbers big-endian, are: magic and version, the sequence id, the number of files;
 * for each its name, the binary logarithm of the bytes that a bit stands for, the bits' length in
 * bytes and the bits; a CRC32 of all that.
 */
@InterfaceAudience.Private
public final class HotBlockHint {
  /** The most bytes that a hint has. */
  public static final int MAX_BYTES = 64 << 10;

  private static final int MAGIC = 0x48424831;
  private static final int FIXED_BYTES = Integer.BYTES + Long.BYTES + Integer.BYTES + Long.BYTES;
  /** The bytes of a file in the hint, without the characters of its name and the bits. */
  private static final int FILE_BYTES = Short.BYTES + Byte.BYTES + Integer.BYTES + Long.BYTES;

  private final long sequenceId;
  private final Map<String, HotBlockMap> files = new LinkedHashMap<>();

  /** @param sequenceId of the last write that the region has seen */
  public HotBlockHint(long sequenceId) {
    this.sequenceId = sequenceId;
  }

  /**
   * Adds what is hot of some files. Reads nothing from a device.
   * @param readers of the files
   * @param range   of the region
   * @param cache   that has their blocks
   * @param shift   what {@link #shiftFor} returned for all files of the region
   */
  public void add(Collection<HFile.Reader> readers, RegionKeyRange range, HotBlockCache cache,
    int shift) {
    for (HFile.Reader reader : readers) {
      HotBlockMap hot = new InputFile(reader, range, cache).hotBlocks(shift);
      if (hot.count() > 0) {
        files.put(reader.getName(), hot);
      }
    }
  }

  /**
   * Returns for how many bytes of a file one bit stands, so that a hint of all files of a region is
   * small enough.
   * @return the binary logarithm; -1 if there are too many files
   */
  public static int shiftFor(Collection<HFile.Reader> readers) {
    long names = FIXED_BYTES;
    for (HFile.Reader reader : readers) {
      names += FILE_BYTES + reader.getName().length();
    }
    for (int shift = HotBlockMap.MIN_SHIFT; names < MAX_BYTES && shift < Integer.SIZE; shift++) {
      long bytes = names;
      for (HFile.Reader reader : readers) {
        bytes += (reader.length() >>> shift) / Byte.SIZE + 1;
      }
      if (bytes <= MAX_BYTES) {
        return shift;
      }
    }
    return -1;
  }

  /** Returns the sequence id of the last write that the region had seen. */
  public long sequenceId() {
    return sequenceId;
  }

  public boolean isEmpty() {
    return files.isEmpty();
  }

  /** Returns the hot blocks of a file; null if there are none. */
  public HotBlockMap of(String file) {
    return files.get(file);
  }

  /** Returns this hint as bytes, {@value #MAX_BYTES} at most. */
  public byte[] toBytes() throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    DataOutputStream out = new DataOutputStream(bytes);
    out.writeInt(MAGIC);
    out.writeLong(sequenceId);
    out.writeInt(files.size());
    for (Map.Entry<String, HotBlockMap> file : files.entrySet()) {
      byte[] bits = file.getValue().toBytes();
      out.writeUTF(file.getKey());
      out.writeByte(file.getValue().shift());
      out.writeInt(bits.length);
      out.write(bits);
    }
    out.writeLong(checksum(bytes.toByteArray(), bytes.size()));
    return bytes.toByteArray();
  }

  /**
   * Parses a hint.
   * @throws IOException if the bytes are no hint, or not a whole one
   */
  public static HotBlockHint parse(byte[] bytes) throws IOException {
    int length = bytes.length - Long.BYTES;
    DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes));
    if (length < FIXED_BYTES - Long.BYTES || in.readInt() != MAGIC) {
      throw new IOException("No hint of hot blocks, " + bytes.length + " bytes");
    }
    DataInputStream end =
      new DataInputStream(new ByteArrayInputStream(bytes, length, Long.BYTES));
    if (end.readLong() != checksum(bytes, length)) {
      throw new IOException("A hint of hot blocks with a wrong checksum");
    }
    HotBlockHint hint = new HotBlockHint(in.readLong());
    for (int files = in.readInt(); files > 0; files--) {
      String name = in.readUTF();
      int shift = in.readByte();
      byte[] bits = new byte[in.readInt()];
      in.readFully(bits);
      hint.files.put(name, HotBlockMap.of(shift, bits));
    }
    return hint;
  }

  /**
   * Writes this hint, in place of what is there.
   * @throws IOException if that fails, or if another server replaced or deleted the file meanwhile
   */
  public void write(FileSystem fileSystem, Path path) throws IOException {
    // Parents are not created: the directory of a region that was deleted must not come back.
    try (FSDataOutputStream out = fileSystem.createFile(path).overwrite(true).build()) {
      out.write(toBytes());
    }
  }

  /**
   * Reads a hint and deletes the file, readable or not.
   * @return null if there is none
   * @throws IOException if the file cannot be read or deleted, or has no whole hint
   */
  public static HotBlockHint readAndDelete(FileSystem fileSystem, Path path) throws IOException {
    byte[] bytes = new byte[MAX_BYTES + 1];
    int length = 0;
    try (FSDataInputStream in = fileSystem.open(path)) {
      for (int read = 0; read >= 0 && length < bytes.length; length += Math.max(0, read)) {
        read = in.read(bytes, length, bytes.length - length);
      }
    } catch (FileNotFoundException e) {
      return null;
    }
    fileSystem.delete(path, false);
    return parse(Arrays.copyOf(bytes, length));
  }

  private static long checksum(byte[] bytes, int length) {
    CRC32 crc = new CRC32();
    crc.update(bytes, 0, length);
    return crc.getValue();
  }
}
