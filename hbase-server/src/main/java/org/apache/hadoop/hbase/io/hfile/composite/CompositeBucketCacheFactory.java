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

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.conf.SettingsReader;
import org.apache.hadoop.hbase.io.hfile.bucket.BucketCacheTier;
import org.apache.hadoop.hbase.io.hfile.bucket.L1BucketCache;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Builds a {@link CompositeBucketCache} from a configuration: of two bucket caches, or of one and
 * what a {@link DeviceTierEngine} opens.
 */
@InterfaceAudience.Private
public final class CompositeBucketCacheFactory {

  private CompositeBucketCacheFactory() {
  }

  /**
   * Builds both tiers and joins them.
   * @param online what the server's regions read; may be null. Upstream's sweep of a bucket cache,
   *               which takes the files of links and of split parents for files of no region, is
   *               not used
   * @throws IllegalArgumentException if a setting cannot work; its message has the key, its
   *                                  value, the range and the remedy, and nothing is left open
   */
  public static CompositeBucketCache create(Configuration conf, OnlineFiles online) {
    CompositeBucketCacheSettings settings = CompositeBucketCacheSettings.of(conf);
    FileEvictionGuard guard = new FileEvictionGuard();
    // L2 is opened first: it is the one that can fail, and cheap to shut down again.
    CacheTier second = open(settings.second(),
      tier -> tier.getDeviceTier() == null
        ? new BucketCacheTier("L2", tier, online)
        : tier.getDeviceTier().open("L2", tier.getConfiguration(), online));
    try {
      L1BucketCache first =
        open(settings.first(), tier -> new L1BucketCache("L1", tier, guard));
      CompositeBucketCache cache = new CompositeBucketCache(first, second, guard);
      cache.setMetaIdleMs(settings.metaIdleMs());
      cache.setPromotedShare(settings.promotedShare());
      cache.setSecondMissOnly(settings.isSecondMissOnly());
      return cache;
    } catch (Throwable t) {
      second.shutdown();
      throw t;
    }
  }

  private interface Opener<T> {
    T open(TierSettings tier) throws IOException;
  }

  private static <T> T open(TierSettings tier, Opener<T> opener) {
    try {
      return opener.open(tier);
    } catch (IOException | IllegalArgumentException e) {
      throw (IllegalArgumentException) SettingsReader.rejected(tier.engineKey(),
        tier.getIoEngine(), "an engine that can be opened (" + e.getMessage() + ")",
        "Correct what is named there, or set another engine or path").initCause(e);
    }
  }
}
