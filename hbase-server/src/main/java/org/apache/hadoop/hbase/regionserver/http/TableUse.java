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
package org.apache.hadoop.hbase.regionserver.http;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.hbase.io.hfile.composite.CompositeBucketCacheMetrics;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HStore;
import org.apache.hadoop.hbase.regionserver.HStoreFile;
import org.apache.hadoop.hbase.regionserver.StoreFileInfo;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The space that one table takes in each tier of the block cache. Not thread-safe while it is
 * summed.
 */
@InterfaceAudience.Private
final class TableUse {

  private final String table;
  private final long[] files = new long[2];
  private final long[] blocks = new long[2];
  private final long[] bytes = new long[2];

  private TableUse(String table) {
    this.table = table;
  }

  /**
   * Sums the blocks of each file in the tiers by table. Costs O(files).
   * @param tableOfFile table by file; other files are summed under null
   * @return the tables, ordered by their use of L1, highest first
   */
  static List<TableUse> of(CompositeBucketCacheMetrics metrics, Map<String, String> tableOfFile) {
    Map<String, TableUse> uses = new HashMap<>();
    List<CompositeBucketCacheMetrics.Tier> tiers = metrics.getTiers();
    for (int i = 0; i < tiers.size(); i++) {
      int tier = i;
      tiers.get(i).forEachFile((file, blocks, bytes) -> {
        TableUse use = uses.computeIfAbsent(tableOfFile.get(file), TableUse::new);
        use.files[tier]++;
        use.blocks[tier] += blocks;
        use.bytes[tier] += bytes;
      });
    }
    List<TableUse> sorted = new ArrayList<>(uses.values());
    sorted.sort(Comparator.comparingLong((TableUse use) -> -use.bytes[0])
      .thenComparingLong(use -> -use.bytes[1]).thenComparing(use -> String.valueOf(use.table)));
    return sorted;
  }

  /** Returns the table of each file that a region serves, by the file name in its blocks' keys. */
  static Map<String, String> tablesOfFiles(Iterable<HRegion> regions) {
    Map<String, String> tables = new HashMap<>();
    for (HRegion region : regions) {
      String table = region.getRegionInfo().getTable().getNameAsString();
      for (HStore store : region.getStores()) {
        store.getStorefiles().forEach(file -> add(tables, file, table));
        // Older scanners still read the compacted files that are not archived yet.
        store.getCompactedFiles().forEach(file -> add(tables, file, table));
      }
    }
    return tables;
  }

  private static void add(Map<String, String> tables, HStoreFile file, String table) {
    String name = file.getPath().getName();
    tables.put(name, table);
    if (StoreFileInfo.isReference(name)) {
      // Blocks cached before the region was split have the name of the referenced file.
      tables.putIfAbsent(StoreFileInfo.getReferredToRegionAndFile(name).getSecond(), table);
    }
  }

  /** Returns the table's name, null for all files that no region serves. */
  String getTable() {
    return table;
  }

  /** @param tier 0 for L1, 1 for L2 */
  long getFiles(int tier) {
    return files[tier];
  }

  /** @param tier 0 for L1, 1 for L2 */
  long getBlocks(int tier) {
    return blocks[tier];
  }

  /** @param tier 0 for L1, 1 for L2 */
  long getBytes(int tier) {
    return bytes[tier];
  }
}
