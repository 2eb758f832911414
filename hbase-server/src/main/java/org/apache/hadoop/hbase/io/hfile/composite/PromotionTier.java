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
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * A tier that caches copies of data blocks of a slower tier in the space that its own blocks leave.
 * The tier's own blocks have priority: a copy is evicted when its space is needed, is not moved to
 * another tier, and causes the eviction of idle blocks only. Thread-safe.
 */
@InterfaceAudience.Private
public interface PromotionTier extends CacheTier {

  /**
   * Sets how much of the tier copies may take. Those beyond it are evicted, except for copies that
   * are being read, which are evicted when their space is needed.
   * @param share of the capacity, 0 to 1; 0 if there are to be none
   * @return what decides which blocks are worth a copy; null if the share is 0
   */
  PromotionPolicy setPromotedShare(double share);

  /**
   * Sets how long one of the tier's own blocks may be idle before it may be evicted for copies
   * that want its place.
   * @param ms above 0; 0 if it never does
   */
  void setMetaIdleMs(long ms);

  /** Returns the bytes that the block would take here, or 0 if it is too large for this tier. */
  int sizeOf(Cacheable block);

  /**
   * Takes a copy of a block for which the policy's {@link PromotionPolicy#onSlowHit} has just said
   * yes, or tells the policy that it is not there. Does not wait.
   */
  void promote(BlockCacheKey key, Cacheable block);
}
