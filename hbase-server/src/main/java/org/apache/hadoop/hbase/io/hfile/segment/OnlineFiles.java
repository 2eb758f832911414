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
package org.apache.hadoop.hbase.io.hfile.segment;

import java.util.Collection;
import java.util.HashSet;
import java.util.Set;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.io.HFileLink;
import org.apache.hadoop.hbase.mob.MobUtils;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HStore;
import org.apache.hadoop.hbase.regionserver.HStoreFile;
import org.apache.hadoop.hbase.regionserver.StoreFileInfo;
import org.apache.hadoop.hbase.util.ServerRegionReplicaUtil;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * What the regions that are online at one moment read: the names under which blocks of their files
 * are cached. Immutable.
 */
@InterfaceAudience.Private
final class OnlineFiles {
  private final Set<String> regions = new HashSet<>();
  private final Set<String> mobRegions = new HashSet<>();
  private final Set<String> files = new HashSet<>();

  /** Looks at each region once; one that opens or closes meanwhile may be missed. */
  static OnlineFiles of(Collection<HRegion> online) {
    OnlineFiles result = new OnlineFiles();
    online.forEach(result::add);
    return result;
  }

  private void add(HRegion region) {
    // A secondary replica reads the files of the primary's directory.
    regions
      .add(ServerRegionReplicaUtil.getRegionInfoForFs(region.getRegionInfo()).getEncodedName());
    TableDescriptor table = region.getTableDescriptor();
    if (MobUtils.hasMobColumns(table)) {
      mobRegions.add(MobUtils.getMobRegionInfo(table.getTableName()).getEncodedName());
    }
    for (HStore store : region.getStores()) {
      addAll(store.getStorefiles());
      addAll(store.getCompactedFiles());
    }
  }

  private void addAll(Collection<HStoreFile> storeFiles) {
    if (storeFiles != null) {
      storeFiles.forEach(file -> addNames(file.getPath().getName()));
    }
  }

  /** Adds the name of a file, and of what it refers to as a reference, as a link, or as both. */
  private void addNames(String name) {
    files.add(name);
    if (HFileLink.isHFileLink(name)) {
      addNames(HFileLink.getReferencedHFileName(name));
    } else if (StoreFileInfo.isReference(name)) {
      addNames(StoreFileInfo.getReferredToRegionAndFile(name).getSecond());
    }
  }

  /**
   * Whether a region is online whose files are in the directory of this encoded name.
   * @param region may be null
   */
  boolean isOnline(String region) {
    return regions.contains(region);
  }

  /**
   * Whether somebody may read blocks that are cached under this name.
   * @param region encoded name of the region whose directory the file is in, null if unknown
   */
  boolean isRead(String fileName, String region) {
    return files.contains(fileName) || mobRegions.contains(region);
  }
}
