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

import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Decides which data blocks of a slow tier are worth a copy in a fast one, and which copies make
 * room for them. It knows blocks by key and size only: what the tiers are, and how a block gets
 * from one to the other, is the caller's.
 * <p>
 * L2 keeps its copy, so that a wrong decision costs a copy or a slow read, never a
 * block, and giving a place up writes nothing.
 * <p>
 * <b>What the caller does.</b> On a hit in L1, {@link #onHit}. On a hit in L2,
 * {@link #onSlowHit}; if that says yes, room has been made and is reserved, and the caller copies
 * the block. When L1 has lost a data block, for whatever reason (evicted at the
 * policy's or at anybody's wish, replaced, its file closed, never arrived because a queue was
 * full), {@link #onRemoved}, after the block can no longer be found there. While a key is known
 * here it is not promoted again, so the order "gone from the tier, then {@code onRemoved}" is all
 * that keeps the two in step.
 * <p>
 * Keys are compared with equals; a caller that finds blocks under several names (references,
 * links) passes the one under which L1 holds the block. Sizes are the bytes that a
 * block takes in L1.
 * <p>
 * All methods are thread-safe and none waits for a lock that is held over the eviction of a block.
 * See HBASE-23296.
 */
@InterfaceAudience.Private
public interface PromotionPolicy {

  /**
   * A data block was found in L1.
   * @param size the bytes it takes there
   */
  void onHit(BlockCacheKey key, int size);

  /**
   * A data block was found in L2. If the answer is yes, the caller is to insert it into
   * L1, or to call {@link #onRemoved} if that did not work.
   * @param size the bytes it would take in L1
   * @return whether to promote it
   */
  boolean onSlowHit(BlockCacheKey key, int size);

  /** Returns an estimate of how often a block was accessed, in L1, in L2 or in neither. */
  int frequency(BlockCacheKey key);

  /**
   * A data block is cached anew that is as hot as one that was accessed so often.
   * @param accesses as of {@link #frequency}
   */
  void onReplacement(BlockCacheKey key, int accesses);

  /**
   * Returns whether a block of {@link #onReplacement} is promoted: only if that evicts no other. If
   * the answer is yes, the caller does as after {@link #onSlowHit}.
   * @param size the bytes it would take in L1
   */
  boolean admitsReplacement(BlockCacheKey key, int size);

  /** A data block is no longer in L1. Does nothing for a key that is not known. */
  void onRemoved(BlockCacheKey key);
}
