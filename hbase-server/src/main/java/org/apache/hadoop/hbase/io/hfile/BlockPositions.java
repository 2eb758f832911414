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
package org.apache.hadoop.hbase.io.hfile;

import java.io.DataInput;
import java.io.EOFException;
import java.io.IOException;
import org.apache.hadoop.hbase.nio.ByteBuff;
import org.apache.hadoop.io.WritableUtils;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The offsets of the blocks of an open file, found without reading any of them: the load-on-open
 * section has the root of the block index, the offsets of all bloom chunks and the meta index. The
 * entries below the root are in the index blocks themselves, see {@link #below}. Between offset 0
 * and the load-on-open section a file has only the blocks found that way: data, leaf and
 * intermediate index, bloom chunks, meta blocks.
 * <p>
 * Immutable and thread-safe. It holds 12 bytes for each entry and no buffer of the file's, so it
 * may be used after the file was closed. In this package, since the base's readers of a block index
 * are package-private.
 */
@InterfaceAudience.Private
public final class BlockPositions {

  /** Blocks of one kind, ordered by offset. */
  public static final class Blocks {
    private static final Blocks NONE = new Blocks(new long[0], new int[0]);

    private final long[] offsets;
    private final int[] sizes;

    private Blocks(long[] offsets, int[] sizes) {
      this.offsets = offsets;
      this.sizes = sizes;
    }

    public int count() {
      return offsets.length;
    }

    public long offset(int i) {
      return offsets[i];
    }

    /** Returns the on-disk size, including header and checksums, in bytes. */
    public int size(int i) {
      return sizes[i];
    }

    /** Returns the total on-disk size in bytes. */
    public long size() {
      long sum = 0;
      for (int size : sizes) {
        sum += size;
      }
      return sum;
    }
  }

  private final int indexLevels;
  private final Blocks root;
  private final Blocks generalBloom;
  private final Blocks deleteFamilyBloom;
  private final Blocks meta;
  private final long end;

  private BlockPositions(HFile.Reader reader, Blocks root) throws IOException {
    this.indexLevels = reader.getTrailer().getNumDataIndexLevels();
    this.root = root;
    this.generalBloom = bloomChunks(reader.getGeneralBloomFilterMetadata());
    this.deleteFamilyBloom = bloomChunks(reader.getDeleteBloomFilterMetadata());
    this.meta = metaBlocks(reader.getHFileInfo().getMetaBlockIndexReader());
    this.end = reader.getTrailer().getLoadOnOpenDataOffset();
  }

  /**
   * @param reader of a file whose load-on-open section has been read
   * @throws IOException if the encoding of the block index is unknown, or the bloom metadata cannot
   *                     be parsed
   */
  public static BlockPositions of(HFile.Reader reader) throws IOException {
    HFileBlockIndex.CellBasedKeyBlockIndexReader index =
      reader.getHFileInfo().getDataBlockIndexReader();
    HFileIndexBlockEncoder.EncodedSeeker seeker =
      index instanceof HFileBlockIndex.CellBasedKeyBlockIndexReaderV2
        ? ((HFileBlockIndex.CellBasedKeyBlockIndexReaderV2) index).seeker
        : null;
    if (!(seeker instanceof NoOpIndexBlockEncoder.NoOpEncodedSeeker)) {
      throw new IOException("A block index of an unknown kind: " + index);
    }
    NoOpIndexBlockEncoder.NoOpEncodedSeeker entries =
      (NoOpIndexBlockEncoder.NoOpEncodedSeeker) seeker;
    return new BlockPositions(reader, new Blocks(entries.blockOffsets, entries.blockDataSizes));
  }

  /**
   * Returns the entries of an index block that is not the root; these are data blocks if it is a
   * leaf.
   * @param block unpacked; it is neither retained nor released
   * @throws IOException if this is not such a block
   */
  public static Blocks below(HFileBlock block) throws IOException {
    BlockType type = block.getBlockType();
    if (type != BlockType.LEAF_INDEX && type != BlockType.INTERMEDIATE_INDEX) {
      throw new IOException("Expected an index block below the root, but got " + block);
    }
    ByteBuff content = block.getBufferWithoutHeader();
    // The number of entries, their offsets relative to the end of this table, the end of the last,
    // and the entries: offset, size, key.
    int count = content.getInt(0);
    int first = Integer.BYTES * (count + 2);
    long[] offsets = new long[count];
    int[] sizes = new int[count];
    for (int i = 0; i < count; i++) {
      int entry = first + content.getInt(Integer.BYTES * (i + 1));
      offsets[i] = content.getLong(entry);
      sizes[i] = content.getInt(entry + Long.BYTES);
    }
    return new Blocks(offsets, sizes);
  }

  private static Blocks bloomChunks(DataInput metadata) throws IOException {
    if (metadata == null) {
      return Blocks.NONE;
    }
    int version = metadata.readInt();
    if (version != CompoundBloomFilterBase.VERSION) {
      throw new IOException("Bloom filter of an unknown version " + version);
    }
    // These are the total size of the chunks, hash count and type, number of keys and its maximum.
    skip(metadata, Long.BYTES + 2 * Integer.BYTES + 2 * Long.BYTES);
    int count = metadata.readInt();
    skip(metadata, WritableUtils.readVInt(metadata));
    long[] offsets = new long[count];
    int[] sizes = new int[count];
    for (int i = 0; i < count; i++) {
      offsets[i] = metadata.readLong();
      sizes[i] = metadata.readInt();
      skip(metadata, WritableUtils.readVInt(metadata));
    }
    return new Blocks(offsets, sizes);
  }

  private static void skip(DataInput in, int bytes) throws IOException {
    for (int left = bytes; left > 0;) {
      int skipped = in.skipBytes(left);
      if (skipped <= 0) {
        throw new EOFException("Bloom filter metadata ends early");
      }
      left -= skipped;
    }
  }

  private static Blocks metaBlocks(HFileBlockIndex.BlockIndexReader index) {
    long[] offsets = new long[index.getRootBlockCount()];
    int[] sizes = new int[offsets.length];
    for (int i = 0; i < offsets.length; i++) {
      offsets[i] = index.getRootBlockOffset(i);
      sizes[i] = index.getRootBlockDataSize(i);
    }
    return new Blocks(offsets, sizes);
  }

  /** Returns 1 if the root's entries are data blocks, 2 if they are leaves, and so on. */
  public int indexLevels() {
    return indexLevels;
  }

  /** Returns the entries of the root of the block index. */
  public Blocks root() {
    return root;
  }

  public Blocks generalBloom() {
    return generalBloom;
  }

  public Blocks deleteFamilyBloom() {
    return deleteFamilyBloom;
  }

  /** Returns the named meta blocks, which store files have none of. */
  public Blocks meta() {
    return meta;
  }

  /** Returns the offset of the load-on-open section: the total size of all blocks, in bytes. */
  public long end() {
    return end;
  }
}
