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
package org.apache.hadoop.hbase.io.hfile.composite;

import java.util.Collections;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.LongAdder;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Counts the blocks that a tier stores, and their bytes, by type and by file. The tier reports a
 * block before it can be evicted, and reports its removal afterwards, with equal file, category and
 * length; so the figures are exact while there is no insertion or eviction, and never below zero.
 * Reading them costs O(1) by category and O(files) by file. Thread-safe; no thread waits for a
 * reader.
 */
@InterfaceAudience.Private
public final class TierBlockCounts {
  private static final BlockType.BlockCategory[] CATEGORIES = BlockType.BlockCategory.values();

  private final LongAdder[] counts = adders();
  private final LongAdder[] bytes = adders();
  private final ConcurrentMap<String, FileUse> files = new ConcurrentHashMap<>();

  private static final class FileUse {
    private final long blocks;
    private final long bytes;

    FileUse(long blocks, long bytes) {
      this.blocks = blocks;
      this.bytes = bytes;
    }
  }

  private static LongAdder[] adders() {
    LongAdder[] adders = new LongAdder[CATEGORIES.length];
    for (int i = 0; i < adders.length; i++) {
      adders[i] = new LongAdder();
    }
    return adders;
  }

  /** Returns what a block counts as; without a type it is data, as for the composite. */
  public static BlockType.BlockCategory categoryOf(BlockType type) {
    return type == null ? BlockType.BlockCategory.DATA : type.getCategory();
  }

  /** A block is about to be stored. */
  public void add(String hfileName, BlockType.BlockCategory category, long length) {
    change(hfileName, category, 1, length);
  }

  /** A block is not stored any more. */
  public void remove(String hfileName, BlockType.BlockCategory category, long length) {
    change(hfileName, category, -1, -length);
  }

  private void change(String hfileName, BlockType.BlockCategory category, long blocks,
    long length) {
    counts[category.ordinal()].add(blocks);
    bytes[category.ordinal()].add(length);
    files.compute(hfileName, (name, use) -> {
      long nowBlocks = blocks + (use == null ? 0 : use.blocks);
      // A file without blocks is forgotten, so that there are no more files than blocks.
      return nowBlocks == 0
        ? null
        : new FileUse(nowBlocks, length + (use == null ? 0 : use.bytes));
    });
  }

  /** Returns the number of blocks of a category. */
  public long getCount(BlockType.BlockCategory category) {
    return counts[category.ordinal()].sum();
  }

  /** Returns the bytes of the blocks of a category. */
  public long getBytes(BlockType.BlockCategory category) {
    return bytes[category.ordinal()].sum();
  }

  /** Returns the bytes of the blocks of a file. */
  public long getBytes(String hfileName) {
    FileUse use = files.get(hfileName);
    return use == null ? 0 : use.bytes;
  }

  /** Returns the number of all blocks that are not data. */
  public long getMetaCount() {
    return sumOfMeta(counts);
  }

  /** Returns the bytes of all blocks that are not data. */
  public long getMetaBytes() {
    return sumOfMeta(bytes);
  }

  private static long sumOfMeta(LongAdder[] adders) {
    long sum = 0;
    for (BlockType.BlockCategory category : CATEGORIES) {
      if (category != BlockType.BlockCategory.DATA) {
        sum += adders[category.ordinal()].sum();
      }
    }
    return sum;
  }

  /** Returns the names of the files with stored blocks, as a live view. */
  public Set<String> files() {
    return Collections.unmodifiableSet(files.keySet());
  }
}
