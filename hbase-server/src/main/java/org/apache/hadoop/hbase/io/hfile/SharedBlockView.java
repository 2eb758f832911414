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
import org.apache.hadoop.hbase.nio.ByteBuff;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * A block that lies in memory outside the heap, unpacked once and handed out many times: what its
 * header says and a view of its bytes. Each reader gets a block of its own over the one view, and
 * with it a reference count that all of them share; the caller takes the reader's reference.
 * <p>
 * A block of its own, since a scanner tells by identity whether a block that it was given is the
 * one that it holds already (<code>HFileReaderImpl.releaseIfNotCurBlock</code>): given the same
 * object twice, it would release it once. The view can be shared because nobody moves it: whoever
 * reads from a block reads from a duplicate, as the on-heap cache, which shares its blocks between
 * all readers, has always needed.
 * <p>
 * Immutable and thread-safe. Takes about 160 bytes of heap, the view's included.
 */
@InterfaceAudience.Private
public final class SharedBlockView {

  /** Nearly all blocks of a server say the same about checksums, which is all there is in it. */
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

  /**
   * @param block as its deserializer made it, over the place that it lies in
   */
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

  /** A block for one reader, who holds a reference already. */
  public HFileBlock newBlock() {
    return new SharedMemHFileBlock(type, onDiskSizeWithoutHeader, uncompressedSizeWithoutHeader,
      prevBlockOffset, view, HFileBlock.DONT_FILL_HEADER, offset, nextBlockOnDiskSize,
      onDiskDataSizeWithHeader, context, allocator);
  }

  /** The context of a deserialized block differs from another's in these three only. */
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
