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

import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.block.RowSamples;
import org.apache.hadoop.hbase.nio.ByteBuff;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * An off-heap block that is unpacked once and handed out many times: the content of its header and
 * a view of its bytes. Each reader gets its own block over the one view, and with it a reference
 * count that all of them share; the caller takes the reader's reference.
 * <p>
 * Each reader needs its own block because a scanner determines by identity whether a block is the
 * one that it holds already (<code>HFileReaderImpl.releaseIfNotCurBlock</code>): given the same
 * object twice, it would release it once. The view can be shared because no reader moves its
 * position: each reads from a duplicate, as the on-heap cache, which shares its blocks between all
 * readers, has always required.
 * <p>
 * Thread-safe: all but the samples of rows, which the first seek adds, is immutable. Takes about
 * 170 bytes of heap, including the view, and that of the samples. In this package, since most of a
 * block's header is package-private.
 */
@InterfaceAudience.Private
public final class SharedBlockView {

  /**
   * Nearly all blocks of a server have equal checksum settings, the only content of the context.
   */
  private static volatile HFileContext lastContext;

  private final BlockType type;
  private final int onDiskSizeWithoutHeader;
  private final int uncompressedSizeWithoutHeader;
  private final int onDiskDataSizeWithHeader;
  private final int nextBlockOnDiskSize;
  private final long prevBlockOffset;
  private final long offset;
  private final HFileContext context;
  private final ByteBuffAllocator allocator;
  private final ByteBuff view;
  /** The samples of all blocks made from this view; null before the first seek in one. */
  volatile RowSamples rowSamples;

  /** @param block as its deserializer created it, over its location in memory */
  public SharedBlockView(HFileBlock block) {
    type = block.getBlockType();
    onDiskSizeWithoutHeader = block.getOnDiskSizeWithoutHeader();
    uncompressedSizeWithoutHeader = block.getUncompressedSizeWithoutHeader();
    onDiskDataSizeWithHeader = block.getOnDiskDataSizeWithHeader();
    nextBlockOnDiskSize = block.getNextBlockOnDiskSize();
    prevBlockOffset = block.getPrevBlockOffset();
    offset = block.getOffset();
    context = shared(block.getHFileContext());
    allocator = block.getByteBuffAllocator();
    view = block.getBufferReadOnly();
  }

  /** Returns a block for one reader, which must hold a reference already. */
  public HFileBlock newBlock() {
    return new SharedViewBlock(this, type, onDiskSizeWithoutHeader, uncompressedSizeWithoutHeader,
      prevBlockOffset, view, offset, nextBlockOnDiskSize, onDiskDataSizeWithHeader, context,
      allocator);
  }

  /**
   * Returns a shared context: those of deserialized blocks differ only in these three attributes.
   */
  private static HFileContext shared(HFileContext context) {
    HFileContext last = lastContext;
    if (
      last != null && last.isUseHBaseChecksum() == context.isUseHBaseChecksum()
        && last.getBytesPerChecksum() == context.getBytesPerChecksum()
        && last.getChecksumType() == context.getChecksumType()
    ) {
      return last;
    }
    lastContext = context;
    return context;
  }
}
