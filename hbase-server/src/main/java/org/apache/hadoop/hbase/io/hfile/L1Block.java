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

import java.util.Optional;
import java.util.function.Function;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Inspects blocks held by an L1 cache. In this package, since it is to go upstream with the methods
 * of the base's interface that call it.
 */
@InterfaceAudience.Private
final class L1Block {

  private L1Block() {
  }

  /**
   * Inspects a block without counting a hit or a miss and without a lookup in the victim cache.
   * Thread-safe; the function must not keep a reference to the block.
   * @return empty if the block is not in this cache
   */
  static <T> Optional<T> look(FirstLevelBlockCache cache, BlockCacheKey key,
    Function<HFileBlock, T> question) {
    // The lookup is marked as repeated, so that the cache does not query its victim cache.
    Cacheable block = cache.getBlock(key, false, true, false);
    if (block == null) {
      return Optional.empty();
    }
    try {
      return block instanceof HFileBlock
        ? Optional.ofNullable(question.apply((HFileBlock) block))
        : Optional.empty();
    } finally {
      block.release();
    }
  }
}
