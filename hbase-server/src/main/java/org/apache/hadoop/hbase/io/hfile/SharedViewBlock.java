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
import org.apache.hadoop.hbase.io.hfile.block.SampledBlock;
import org.apache.hadoop.hbase.nio.ByteBuff;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * One reader's block of a {@link SharedBlockView}. In this package, since the constructor of
 * {@link SharedMemHFileBlock} is package-private.
 */
@InterfaceAudience.Private
final class SharedViewBlock extends SharedMemHFileBlock implements SampledBlock {

  private final SharedBlockView view;

  SharedViewBlock(SharedBlockView view, BlockType type, int onDiskSizeWithoutHeader,
    int uncompressedSizeWithoutHeader, long prevBlockOffset, ByteBuff bytes, long offset,
    int nextBlockOnDiskSize, int onDiskDataSizeWithHeader, HFileContext context,
    ByteBuffAllocator allocator) {
    super(type, onDiskSizeWithoutHeader, uncompressedSizeWithoutHeader, prevBlockOffset, bytes,
      HFileBlock.DONT_FILL_HEADER, offset, nextBlockOnDiskSize, onDiskDataSizeWithHeader, context,
      allocator);
    this.view = view;
  }

  @Override
  public RowSamples rowSamples() {
    return view.rowSamples;
  }

  @Override
  public void setRowSamples(RowSamples samples) {
    view.rowSamples = samples;
  }
}
