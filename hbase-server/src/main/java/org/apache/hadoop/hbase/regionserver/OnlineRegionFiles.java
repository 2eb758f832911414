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
package org.apache.hadoop.hbase.regionserver;

import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.io.HFileLink;
import org.apache.hadoop.hbase.io.ReferredFile;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.apache.hadoop.hbase.io.hfile.HFileInfo;
import org.apache.hadoop.hbase.io.hfile.composite.CompositeBucketCacheFactory;
import org.apache.hadoop.hbase.io.hfile.composite.CompositeBucketCacheSettings;
import org.apache.hadoop.hbase.io.hfile.composite.OnlineFiles;
import org.apache.hadoop.hbase.mob.MobUtils;
import org.apache.hadoop.hbase.util.ServerRegionReplicaUtil;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The files that a server's regions read, by the names in the keys of their cached blocks. In this
 * package, since {@code io.hfile.composite} uses no class of the server.
 */
@InterfaceAudience.Private
public final class OnlineRegionFiles implements OnlineFiles {
  private final Map<String, HRegion> onlineRegions;

  /** @param onlineRegions by encoded name, a thread-safe live view */
  public OnlineRegionFiles(Map<String, HRegion> onlineRegions) {
    this.onlineRegions = onlineRegions;
  }

  /**
   * Creates a server's block cache. Gives a composite cache access to the files of online regions.
   */
  static BlockCache createBlockCache(Configuration conf, Map<String, HRegion> onlineRegions) {
    return CompositeBucketCacheSettings.isEnabled(conf)
      ? CompositeBucketCacheFactory.create(conf, new OnlineRegionFiles(onlineRegions))
      : BlockCacheFactory.createBlockCache(conf);
  }

  @Override
  public Set<String> regions() {
    return onlineRegions.keySet();
  }

  @Override
  public Snapshot look() {
    return of(onlineRegions.values());
  }

  @Override
  public boolean isHot(HFileInfo file, Configuration conf) {
    DataTieringManager tiering = DataTieringManager.getInstance();
    return tiering == null || tiering.isHotData(file, conf);
  }

  @Override
  public boolean isHot(long maxTimestamp, Configuration conf) {
    DataTieringManager tiering = DataTieringManager.getInstance();
    return tiering == null || tiering.isHotData(maxTimestamp, conf);
  }

  /** Returns a snapshot of the files of these regions. */
  public static Snapshot of(Collection<HRegion> regions) {
    Names names = new Names();
    regions.forEach(names::add);
    return names;
  }

  /** The names of files at one moment. */
  private static final class Names implements Snapshot {
    private final Set<String> regions = new HashSet<>();
    private final Set<String> mobRegions = new HashSet<>();
    private final Set<String> files = new HashSet<>();

    private void add(HRegion region) {
      // A secondary replica reads the files in the primary's directory.
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

    /** Adds the name of a file, and the name it refers to as a reference, as a link, or as both. */
    private void addNames(String name) {
      files.add(name);
      String referred = HFileLink.isHFileLink(name)
        ? HFileLink.getReferencedHFileName(name)
        : ReferredFile.of(name);
      if (referred != null) {
        addNames(referred);
      }
    }

    @Override
    public boolean isOnline(String region) {
      return regions.contains(region);
    }

    @Override
    public boolean isRead(String fileName, String region) {
      return files.contains(fileName)
        || (region == null ? !mobRegions.isEmpty() : mobRegions.contains(region));
    }
  }
}
