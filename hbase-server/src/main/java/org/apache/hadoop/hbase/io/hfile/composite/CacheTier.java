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

import java.util.function.Consumer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.metrics.MetricKind;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * A tier of {@link CompositeBucketCache}. Any engine can be one; nothing here says how or where
 * blocks are stored.
 * <p>
 * All methods are thread-safe, none of them counts a hit or a miss, and none of them hands out a
 * reference to a block.
 */
@InterfaceAudience.Private
public interface CacheTier extends BlockCache, HotBlockCache {

  /**
   * Returns whether the tier holds a copy under exactly this key, one that still waits to be
   * written included. The answer may be out of date when it arrives.
   */
  boolean containsBlock(BlockCacheKey key);

  /** Returns whether, by all the tier knows now, it can hold the block without an eviction. */
  boolean hasSpaceFor(Cacheable block);

  /**
   * Returns whether insertions evict nothing for a while, as there is space that was never used, or
   * that evicted files have left. False of a full tier, also just after an eviction. Takes a short
   * lock at most.
   */
  boolean hasSpareSpace();

  /**
   * Waits like {@link #awaitInsertion}, for a block that another tier evicts, and which is inserted
   * by {@link #cacheBlock(BlockCacheKey, Cacheable)}.
   */
  boolean awaitVictimInsertion(BlockCacheKey key, long timeoutNanos) throws InterruptedException;

  /**
   * Visits the key of each block held for a file, those that still wait to be written included. A
   * key may be visited twice, and a block that is inserted or evicted meanwhile may be missed.
   */
  void forEachBlockOf(String hfileName, Consumer<BlockCacheKey> visitor);

  /** Returns how many readers hold the block under this key, 0 if the tier does not have it. */
  int getRpcRefCount(BlockCacheKey key);

  /** Returns the number of index, bloom and other meta blocks stored. */
  long getMetaBlockCount();

  /** Returns the bytes of index, bloom and other meta blocks stored. */
  long getMetaBlockSize();

  /**
   * Passes each metric to the visitor, with its name without the tier's. Reading a value is cheap,
   * whatever the tier holds.
   */
  void forEachMetric(MetricKind.Visitor visitor);

  /** Returns whether a read costs no more than memory does. */
  boolean isInMemory();

  /**
   * Checks the settings that may change at runtime, and changes nothing.
   * @param conf as {@link #onConfigurationChange} receives it
   * @throws IllegalArgumentException if the tier would refuse a value
   */
  void checkConfiguration(Configuration conf);

  /** Applies settings that {@link #checkConfiguration} accepts; refuses others as a whole. */
  @Override
  void onConfigurationChange(Configuration conf);

  /** Returns the storage behind this tier, in words for an operator. */
  String getIoEngine();
}
