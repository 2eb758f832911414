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

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.conf.SettingsReader;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Maximum size of a file whose data blocks are cached, by a prefetch when it is opened or by
 * cache-on-write; of a larger file only index and bloom blocks are cached. See HBASE-23355.
 */
@InterfaceAudience.Private
public final class PrefetchLimit {
  private static final Logger LOG = LoggerFactory.getLogger(PrefetchLimit.class);

  /**
   * Maximum size in bytes of a file that is fully cached, at least 0. May also be set per table or
   * column family. By default there is no limit.
   */
  public static final String FULL_MAX_BYTES_KEY = "hbase.rs.prefetch.full.max.bytes";

  /** Larger than any file. */
  public static final long NO_LIMIT = Long.MAX_VALUE;

  private static final String REMEDY =
    "Set a number of bytes, or remove the key to cache all files fully";

  /** Invalid values already logged, so that each is logged once and not per file. */
  private static final Set<String> REFUSED = ConcurrentHashMap.newKeySet();

  private PrefetchLimit() {
  }

  /**
   * Returns the limit in bytes. An invalid value is logged and treated as no limit, so that a
   * region opens whatever its table descriptor contains.
   * @param conf of the store
   */
  public static long of(Configuration conf) {
    SettingsReader reader = SettingsReader.of(conf);
    try {
      return reader.longIn(FULL_MAX_BYTES_KEY, NO_LIMIT, 0, Long.MAX_VALUE, REMEDY);
    } catch (IllegalArgumentException e) {
      if (REFUSED.add(reader.text(FULL_MAX_BYTES_KEY))) {
        LOG.warn("{} Until then there is no limit.", e.getMessage());
      }
      return NO_LIMIT;
    }
  }

  /**
   * Rejects a limit of the server's configuration that is invalid.
   * @throws IllegalArgumentException naming the key, its value and the remedy
   */
  public static void check(Configuration conf) {
    SettingsReader.of(conf).longIn(FULL_MAX_BYTES_KEY, NO_LIMIT, 0, Long.MAX_VALUE, REMEDY);
  }

  /**
   * Refuses a table if its descriptor, or that of a family, has an invalid limit.
   * @throws IllegalArgumentException naming the value and the remedy
   */
  public static void check(TableDescriptor table) {
    check(table.getValue(FULL_MAX_BYTES_KEY));
    for (ColumnFamilyDescriptor family : table.getColumnFamilies()) {
      check(family.getConfigurationValue(FULL_MAX_BYTES_KEY));
      byte[] value = family.getValue(Bytes.toBytes(FULL_MAX_BYTES_KEY));
      check(value == null ? null : Bytes.toString(value));
    }
  }

  private static void check(String value) {
    if (value != null) {
      SettingsReader.parseLong(FULL_MAX_BYTES_KEY, value, 0, Long.MAX_VALUE, REMEDY);
    }
  }

  /**
   * Makes the writer of a compaction cache index and bloom blocks but no data, if the compaction is
   * too large and its result would otherwise be cached now or when it is opened. The size is that
   * of the compacted files. The size of a flushed file is unknown before it is written; its writer
   * stops caching data when the file exceeds the limit.
   * @param conf           of the store
   * @param store          the cache settings of the store
   * @param writer         the cache settings of this writer, which may be changed
   * @param compactedBytes sum of the sizes of the compacted files, 0 for a flush
   */
  public static void apply(Configuration conf, CacheConfig store, CacheConfig writer,
    long compactedBytes) {
    long limit = of(conf);
    boolean tooLarge = limit != NO_LIMIT
      && compactedBytes > Math.min(limit, store.getCacheCompactedBlocksOnWriteThreshold());
    if (tooLarge && (store.shouldCacheCompactedBlocksOnWrite() || store.shouldPrefetchOnOpen())) {
      writer.enableCacheOnWrite();
      writer.setCacheDataOnWrite(false);
    }
  }
}
