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

import java.lang.ref.WeakReference;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.apache.hadoop.hbase.nio.ByteBuff;
import org.apache.hadoop.hbase.util.ChecksumType;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Caches the contexts of blocks, so that many blocks share one.
 * <p>
 * A cache does not store the context of a block's file, so a block created from cached bytes has a
 * context with only what its header contains: whether there are checksums, their type, and the
 * bytes per checksum. Blocks with equal headers share one context. Blocks that are read from a file
 * share that of the file's reader, or a derived one if their headers differ; the blocks created
 * from them for a cache share another.
 * <p>
 * Thread-safe; two threads that race create two equal contexts. In this package, since the layout
 * of a block's header is package-private.
 */
@InterfaceAudience.Private
final class SharedBlockContexts {
  private static final int NO_CHECKSUM = ChecksumType.values().length;

  /** The last context for each type of checksum, since all files of a server agree on the rest. */
  private static final AtomicReferenceArray<HFileContext> LAST =
    new AtomicReferenceArray<>(NO_CHECKSUM + 1);

  /** Number of files whose contexts are cached, a power of two. */
  private static final int FILES = 1024;

  /** The last context derived from a file's context, by its identity, for blocks that are read. */
  private static final AtomicReferenceArray<Derived> AS_READ = new AtomicReferenceArray<>(FILES);

  /** The last context derived from a file's context for the blocks put into a cache. */
  private static final AtomicReferenceArray<Derived> FOR_CACHE =
    new AtomicReferenceArray<>(FILES);

  /** A derived context, and a weak reference to its source. */
  private static final class Derived {
    private final WeakReference<HFileContext> source;
    private final HFileContext context;

    Derived(HFileContext source, HFileContext context) {
      this.source = new WeakReference<>(source);
      this.context = context;
    }

    /** Compares mutable attributes, too, which a reader changes while it opens its file. */
    boolean isOf(HFileContext other) {
      return source.get() == other && context.isIncludesMvcc() == other.isIncludesMvcc()
        && context.isIncludesTags() == other.isIncludesTags()
        && context.isCompressTags() == other.isCompressTags();
    }
  }

  private SharedBlockContexts() {
  }

  /**
   * Returns the context of a block from a cache; it must not be modified.
   * @param usesHBaseChecksum whether the header has the fields on checksums
   * @param block             begins with the header; its position is ignored and unchanged
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

  /**
   * Returns the context of a block that was read from a file; it must not be modified.
   * @param file              the context of the file's reader
   * @param usesHBaseChecksum whether the header has the fields on checksums
   * @param block             begins with the header; its position is ignored and unchanged
   */
  static HFileContext ofReadBlock(HFileContext file, boolean usesHBaseChecksum, ByteBuff block) {
    ChecksumType type = ChecksumType.NULL;
    int bytesPerChecksum = 0;
    if (usesHBaseChecksum) {
      type = ChecksumType.codeToType(block.get(HFileBlock.Header.CHECKSUM_TYPE_INDEX));
      bytesPerChecksum = block.getInt(HFileBlock.Header.BYTES_PER_CHECKSUM_INDEX);
    }
    if (agree(file, usesHBaseChecksum, type, bytesPerChecksum)) {
      return file;
    }
    int index = index(file);
    Derived last = AS_READ.get(index);
    if (
      last == null || !last.isOf(file)
        || !agree(last.context, usesHBaseChecksum, type, bytesPerChecksum)
    ) {
      last = new Derived(file,
        new HFileContextBuilder(file).withHBaseCheckSum(usesHBaseChecksum).withChecksumType(type)
          .withBytesPerCheckSum(bytesPerChecksum).build());
      AS_READ.set(index, last);
    }
    return last.context;
  }

  private static boolean agree(HFileContext context, boolean usesHBaseChecksum, ChecksumType type,
    int bytesPerChecksum) {
    return context.isUseHBaseChecksum() == usesHBaseChecksum && context.getChecksumType() == type
      && context.getBytesPerChecksum() == bytesPerChecksum;
  }

  /**
   * Returns the result of {@link BlockCacheUtil#cloneContext} for the context of a block that was
   * read; it must not be modified.
   */
  static HFileContext forCache(HFileContext read) {
    int index = index(read);
    Derived last = FOR_CACHE.get(index);
    if (last == null || !last.isOf(read)) {
      last = new Derived(read, BlockCacheUtil.cloneContext(read));
      FOR_CACHE.set(index, last);
    }
    return last.context;
  }

  private static int index(HFileContext context) {
    return System.identityHashCode(context) & (FILES - 1);
  }
}
