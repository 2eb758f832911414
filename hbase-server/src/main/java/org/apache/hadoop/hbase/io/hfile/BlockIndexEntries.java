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

import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.nio.ByteBuff;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The entries of one block of a file's block index: of the root, or of a block below it. Each has
 * the offset of a block, and a key that is not after the first key of that block and after all keys
 * of the block before it.
 * <p>
 * Immutable and thread-safe. Holds no buffer of the file's or of a cache's. In this package, since
 * the base's readers of a block index are package-private.
 */
@InterfaceAudience.Private
public abstract class BlockIndexEntries {

  /** The entries of the root, which an open file has on the heap. */
  private static final class Root extends BlockIndexEntries {
    private final NoOpIndexBlockEncoder.NoOpEncodedSeeker root;

    Root(NoOpIndexBlockEncoder.NoOpEncodedSeeker root) {
      this.root = root;
    }

    @Override
    public int count() {
      return root.getRootBlockCount();
    }

    @Override
    public Cell key(int i) {
      return root.getRootBlockKey(i);
    }

    @Override
    public long offset(int i) {
      return root.blockOffsets[i];
    }
  }

  /**
   * A copy of a block below the root: the number of entries, their offsets relative to the end of
   * this table, the end of the last, and the entries: offset, size, key.
   */
  private static final class Below extends BlockIndexEntries {
    private static final int KEY_OFFSET = Long.BYTES + Integer.BYTES;

    private final ByteBuffer bytes;
    private final int count;

    Below(ByteBuff content) {
      bytes = ByteBuffer.wrap(content.toBytes(0, content.limit()));
      count = bytes.getInt(0);
    }

    @Override
    public int count() {
      return count;
    }

    private int entry(int i) {
      return Integer.BYTES * (count + 2) + bytes.getInt(Integer.BYTES * (i + 1));
    }

    @Override
    public Cell key(int i) {
      int start = entry(i) + KEY_OFFSET;
      return new KeyValue.KeyOnlyKeyValue(bytes.array(), start, entry(i + 1) - start);
    }

    @Override
    public long offset(int i) {
      return bytes.getLong(entry(i));
    }
  }

  /**
   * Returns the entries of the root.
   * @param reader of a file whose load-on-open section has been read
   * @return null if the encoding of the block index is unknown
   */
  public static BlockIndexEntries root(HFile.Reader reader) {
    HFileBlockIndex.CellBasedKeyBlockIndexReader index =
      reader.getHFileInfo().getDataBlockIndexReader();
    HFileIndexBlockEncoder.EncodedSeeker seeker =
      index instanceof HFileBlockIndex.CellBasedKeyBlockIndexReaderV2
        ? ((HFileBlockIndex.CellBasedKeyBlockIndexReaderV2) index).seeker
        : null;
    return seeker instanceof NoOpIndexBlockEncoder.NoOpEncodedSeeker
      ? new Root((NoOpIndexBlockEncoder.NoOpEncodedSeeker) seeker)
      : null;
  }

  /**
   * Returns the entries of an index block that is not the root.
   * @param block unpacked; it is neither retained nor released
   * @throws IOException if this is not such a block
   */
  public static BlockIndexEntries below(HFileBlock block) throws IOException {
    BlockType type = block.getBlockType();
    if (type != BlockType.LEAF_INDEX && type != BlockType.INTERMEDIATE_INDEX) {
      throw new IOException("Expected an index block below the root, but got " + block);
    }
    return new Below(block.getBufferWithoutHeader());
  }

  /** Returns the number of entries. */
  public abstract int count();

  /** Returns the key of an entry, without a sequence id. */
  public abstract Cell key(int i);

  /** Returns the offset of the block of an entry. */
  public abstract long offset(int i);
}
