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
package org.apache.hadoop.hbase.regionserver.read.cache;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.conf.SettingsReader;
import org.apache.hadoop.hbase.master.region.MasterRegionFactory;
import org.apache.hadoop.hbase.regionserver.read.PointGetSettings;
import org.apache.yetus.audience.InterfaceAudience;

/** The size of the row cache, and which rows it takes. Immutable. */
@InterfaceAudience.Private
public final class RowCacheSettings {

  /** Memory of the row cache off the heap, in MB; 0, the default, for none. */
  public static final String SIZE_KEY = "hbase.regionserver.row.cache.size.mb";

  /** Bytes of a row's cells above which it is not cached; 16384 by default. */
  public static final String MAX_ROW_KEY = "hbase.regionserver.row.cache.row.max.bytes";

  /** Value of a table's descriptor: <code>true</code> if its rows are cached. */
  public static final String TABLE_ATTRIBUTE = "ROW_CACHE_ENABLED";

  /**
   * Whether rows are cached of tables too whose descriptors have no {@link #TABLE_ATTRIBUTE}, but
   * for HBase's own; false by default.
   */
  public static final String ALL_TABLES_KEY = "hbase.regionserver.row.cache.all.tables";

  private static final int MAX_MB = 1 << 20;
  private static final int MAX_ROW = 64 << 10;
  private static final int DEFAULT_MAX_ROW = 16 << 10;

  private final long bytes;
  private final int maxRow;
  private final boolean allTables;

  private RowCacheSettings(long bytes, int maxRow, boolean allTables) {
    this.bytes = bytes;
    this.maxRow = maxRow;
    this.allTables = allTables;
  }

  /** @throws IllegalArgumentException naming the key, its value and the remedy */
  public static RowCacheSettings of(Configuration conf) {
    SettingsReader reader = SettingsReader.of(conf);
    int mb = reader.intIn(SIZE_KEY, 0, 0, MAX_MB);
    if (mb > 0 && !reader.flag(PointGetSettings.ENABLED_KEY, false)) {
      throw SettingsReader.rejected(SIZE_KEY, mb,
        "0 while " + PointGetSettings.ENABLED_KEY + " is false",
        "Set that to true, as the row cache is asked by point gets only, or remove this key");
    }
    return new RowCacheSettings((long) mb << 20,
      reader.intIn(MAX_ROW_KEY, DEFAULT_MAX_ROW, 1, MAX_ROW), reader.flag(ALL_TABLES_KEY, false));
  }

  /** Returns whether a table's rows are to be cached. */
  public boolean isEnabled(TableDescriptor table) {
    String value = table.getValue(TABLE_ATTRIBUTE);
    return value == null
      ? allTables && !table.getTableName().isSystemTable()
        && !table.getTableName().equals(MasterRegionFactory.TABLE_NAME)
      : Boolean.parseBoolean(value);
  }

  /** Returns the memory in bytes; 0 if there is no row cache. */
  public long bytes() {
    return bytes;
  }

  /** Returns the largest size of a row's cells that is cached, in bytes. */
  public int maxRow() {
    return maxRow;
  }
}
