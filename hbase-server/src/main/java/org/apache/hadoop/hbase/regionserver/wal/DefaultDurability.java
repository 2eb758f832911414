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
package org.apache.hadoop.hbase.regionserver.wal;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.conf.SettingsReader;
import org.apache.hadoop.hbase.master.region.MasterRegionFactory;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The durability of tables whose descriptor specifies none. */
@InterfaceAudience.Private
public final class DefaultDurability {
  private static final Logger LOG = LoggerFactory.getLogger(DefaultDurability.class);

  /**
   * Durability of tables whose descriptor specifies none: SYNC_WAL, FSYNC_WAL or ASYNC_WAL. If not
   * set, FSYNC_WAL if hbase.wal.hsync is set, otherwise SYNC_WAL.
   */
  public static final String DEFAULT_DURABILITY_KEY = "hbase.regionserver.default.durability";

  private DefaultDurability() {
  }

  /**
   * Validates the setting when a server starts.
   * @throws IllegalArgumentException naming the key, its value and the remedy
   */
  public static void check(Configuration conf) {
    if (
      of(conf, Durability.SYNC_WAL) == Durability.ASYNC_WAL
        && AsyncWalSettings.of(conf).intervalNanos() == Long.MAX_VALUE
    ) {
      LOG.warn("{} is ASYNC_WAL and {} is not set: the age of acknowledged writes that a "
        + "crash loses is not limited.", DEFAULT_DURABILITY_KEY, AsyncWalSettings.INTERVAL_KEY);
    }
  }

  /**
   * Returns the durability of a table whose descriptor specifies none: the configured one, or
   * HBase's own default ({@code otherwise}). System tables and the master's store always have
   * HBase's default, because the state of the cluster depends on them.
   * @throws IllegalArgumentException naming the key, its value and the remedy
   */
  public static Durability of(Configuration conf, TableName table, Durability otherwise) {
    return table.isSystemTable() || table.equals(MasterRegionFactory.TABLE_NAME)
      ? otherwise
      : of(conf, otherwise);
  }

  private static Durability of(Configuration conf, Durability otherwise) {
    String name =
      SettingsReader.of(conf).oneOf(DEFAULT_DURABILITY_KEY, null, Durability.SYNC_WAL.name(),
        Durability.FSYNC_WAL.name(), Durability.ASYNC_WAL.name());
    return name == null ? otherwise : Durability.valueOf(name);
  }
}
