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

import java.util.concurrent.atomic.AtomicReferenceArray;
import org.apache.hadoop.hbase.nio.ByteBuff;
import org.apache.hadoop.hbase.util.ChecksumType;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The contexts of blocks that are made of what a cache holds. A cache does not keep the context of
 * a block's file, so that such a block has one that says no more than its header does: whether
 * there are checksums, of which type, and over how many bytes each. Blocks whose headers agree
 * share one.
 * <p>
 * Thread-safe; two threads that race make two that are equal.
 */
@InterfaceAudience.Private
final class SharedBlockContexts {
  private static final int NO_CHECKSUM = ChecksumType.values().length;

  /** The last one for each type of checksum, since all files of a server agree on the rest. */
  private static final AtomicReferenceArray<HFileContext> LAST =
    new AtomicReferenceArray<>(NO_CHECKSUM + 1);

  private SharedBlockContexts() {
  }

  /**
   * Returns the context of a block from a cache, which is not to be changed.
   * @param usesHBaseChecksum whether the header has the fields on checksums
   * @param block             begins with the header; its position does not matter and stays
   */
  static HFileContext ofCachedBlock(boolean usesHBaseChecksum, ByteBuff block) {
    ChecksumType type = ChecksumType.NULL;
    int bytesPerChecksum = 0;
    int index = NO_CHECKSUM;
    if (usesHBaseChecksum) {
      type = ChecksumType.codeToType(block.get(HFileBlock.Header.CHECKSUM_TYPE_INDEX));
      bytesPerChecksum = block.getInt(HFileBlock.Header.BYTES_PER_CHECKSUM_INDEX);
      index = type.ordinal();
    }
    HFileContext context = LAST.get(index);
    if (context == null || context.getBytesPerChecksum() != bytesPerChecksum) {
      context = new HFileContextBuilder().withHBaseCheckSum(usesHBaseChecksum)
        .withChecksumType(type).withBytesPerCheckSum(bytesPerChecksum).build();
      LAST.set(index, context);
    }
    return context;
  }
}
