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
package org.apache.hadoop.hbase.io.hfile.bucket;

import java.util.Collection;
import java.util.Iterator;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.function.BiConsumer;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;

/**
 * Makes a tier whose blocks cannot be walked any more: looking one up works, going through them
 * fails. It is for looking only, nothing is to come or go afterwards.
 */
public final class WalklessTier {

  private WalklessTier() {
  }

  /** Makes walks over the tier's blocks fail from now on. */
  public static void forbidWalks(BucketCacheTier tier) {
    tier.backingMap = new WalklessMap(tier.backingMap);
    tier.blocksByHFile = new WalklessSet(tier.blocksByHFile);
  }

  private static AssertionError walked() {
    return new AssertionError("A walk over all blocks");
  }

  private static final class WalklessMap extends ConcurrentHashMap<BlockCacheKey, BucketEntry> {
    private static final long serialVersionUID = 1L;

    WalklessMap(Map<BlockCacheKey, BucketEntry> blocks) {
      super(blocks);
    }

    @Override
    public Set<Map.Entry<BlockCacheKey, BucketEntry>> entrySet() {
      throw walked();
    }

    @Override
    public KeySetView<BlockCacheKey, BucketEntry> keySet() {
      throw walked();
    }

    @Override
    public Collection<BucketEntry> values() {
      throw walked();
    }

    @Override
    public void forEach(BiConsumer<? super BlockCacheKey, ? super BucketEntry> action) {
      throw walked();
    }
  }

  private static final class WalklessSet extends ConcurrentSkipListSet<BlockCacheKey> {
    private static final long serialVersionUID = 1L;

    WalklessSet(NavigableSet<BlockCacheKey> keys) {
      super(((ConcurrentSkipListSet<BlockCacheKey>) keys).comparator());
    }

    @Override
    public Iterator<BlockCacheKey> iterator() {
      throw walked();
    }

    @Override
    public int size() {
      // A skip list counts by walking.
      throw walked();
    }
  }
}
