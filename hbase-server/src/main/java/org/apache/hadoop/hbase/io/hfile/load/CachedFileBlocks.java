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

import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.io.HFileLink;
import org.apache.hadoop.hbase.io.ReferredFile;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.yetus.audience.InterfaceAudience;

/** The blocks of one file in the block cache. Thread-safe. */
@InterfaceAudience.Private
final class CachedFileBlocks {

  private final BlockCache cache;
  private final Path path;
  private final boolean primary;
  private final boolean inMemory;
  /**
   * The name under which blocks of the referenced file are cached; null if this is not a reference.
   */
  private final String referredTo;

  /**
   * @param reader   of the file
   * @param inMemory whether its blocks are cached with in-memory priority
   */
  CachedFileBlocks(BlockCache cache, HFile.Reader reader, boolean inMemory) {
    this.cache = cache;
    this.path = reader.getPath();
    this.primary = reader.isPrimaryReplicaReader();
    this.inMemory = inMemory;
    this.referredTo = referredTo(path.getName());
  }

  private static String referredTo(String name) {
    String file = ReferredFile.of(name);
    return file != null && HFileLink.isHFileLink(file)
      ? HFileLink.getReferencedHFileName(file)
      : file;
  }

  private BlockCacheKey key(long offset, BlockType type) {
    return new BlockCacheKey(path, offset, primary, type);
  }

  /** Returns whether a block is cached or in a writer queue. */
  boolean contains(long offset, BlockType type) {
    return cache.isAlreadyCached(key(offset, type)).orElse(false);
  }

  /**
   * Inserts a cached block of the referenced file, for caches that do not resolve references.
   * @return whether there was one; the cache may not have accepted it
   */
  boolean insertReferenced(long offset, BlockType type) {
    if (referredTo == null) {
      return false;
    }
    Cacheable block =
      cache.getBlock(new BlockCacheKey(referredTo, offset, primary, type), true, true, false);
    if (block == null) {
      return false;
    }
    try {
      cache.cacheBlock(key(offset, type), block, inMemory);
    } finally {
      block.release();
    }
    return true;
  }

  void evict(long offset, BlockType type) {
    cache.evictBlock(key(offset, type));
  }

  /**
   * Returns whether the cache has all blocks of the file.
   * @param ifUnknown the result for a cache that cannot determine it
   */
  boolean isFullyCached(boolean ifUnknown) {
    return cache.getFullyCachedFiles().map(files -> files.containsKey(path.getName()))
      .orElse(ifUnknown);
  }
}
