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

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.conf.SettingsReader;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Checks the settings of a {@link BucketCache} that may change at runtime before any of them is
 * applied; the cache itself applies them first and checks them then.
 */
@InterfaceAudience.Private
final class EvictionFactors {
  private static final String REMEDY = "Correct the value, or remove the key for its default";

  private EvictionFactors() {
  }

  /**
   * @param conf as the cache is to see it
   * @throws IllegalArgumentException if the cache would refuse a value
   */
  static void check(Configuration conf) {
    float accept = fraction(conf, BucketCache.ACCEPT_FACTOR_CONFIG_NAME,
      BucketCache.DEFAULT_ACCEPT_FACTOR);
    float min =
      fraction(conf, BucketCache.MIN_FACTOR_CONFIG_NAME, BucketCache.DEFAULT_MIN_FACTOR);
    if (min > accept) {
      throw SettingsReader.rejected(BucketCache.MIN_FACTOR_CONFIG_NAME, min,
        "at most the " + accept + " of " + BucketCache.ACCEPT_FACTOR_CONFIG_NAME, REMEDY);
    }
    float extraFree = conf.getFloat(BucketCache.EXTRA_FREE_FACTOR_CONFIG_NAME,
      BucketCache.DEFAULT_EXTRA_FREE_FACTOR);
    if (!(extraFree >= 0)) {
      throw SettingsReader.rejected(BucketCache.EXTRA_FREE_FACTOR_CONFIG_NAME, extraFree,
        "at least 0", REMEDY);
    }
    float single =
      fraction(conf, BucketCache.SINGLE_FACTOR_CONFIG_NAME, BucketCache.DEFAULT_SINGLE_FACTOR);
    float multi =
      fraction(conf, BucketCache.MULTI_FACTOR_CONFIG_NAME, BucketCache.DEFAULT_MULTI_FACTOR);
    float memory =
      fraction(conf, BucketCache.MEMORY_FACTOR_CONFIG_NAME, BucketCache.DEFAULT_MEMORY_FACTOR);
    // The order of the sum is that of BucketCache, since rounding depends on it.
    if (single + multi + memory != 1) {
      throw SettingsReader.rejected(BucketCache.SINGLE_FACTOR_CONFIG_NAME, single,
        "1 together with " + BucketCache.MULTI_FACTOR_CONFIG_NAME + " and "
          + BucketCache.MEMORY_FACTOR_CONFIG_NAME, REMEDY);
    }
    // These fail if they are no numbers.
    conf.getLong(BucketCache.QUEUE_ADDITION_WAIT_TIME, 0);
    conf.getLong(CacheConfig.BUCKETCACHE_PERSIST_INTERVAL_KEY, 0);
    conf.getLong(BucketCache.BACKING_MAP_PERSISTENCE_CHUNK_SIZE, 0);
  }

  private static float fraction(Configuration conf, String key, float defaultValue) {
    float value = conf.getFloat(key, defaultValue);
    if (!(value >= 0 && value <= 1)) {
      throw SettingsReader.rejected(key, value, "0 to 1", REMEDY);
    }
    return value;
  }
}
