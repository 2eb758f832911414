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

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.load.HandoverSettings;
import org.apache.hadoop.hbase.io.hfile.load.HotBlockHandover;
import org.apache.hadoop.hbase.io.hfile.load.RegionKeyRange;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the hand-over of hot blocks when a compaction or a flush of a store begins, is committed
 * and ends. No method throws: neither fails because of the cache. In this package, since
 * {@code io.hfile.load} uses no class of the server.
 */
@InterfaceAudience.Private
final class StoreCacheHandover {
  private static final Logger LOG = LoggerFactory.getLogger(StoreCacheHandover.class);

  private StoreCacheHandover() {
  }

  /**
   * This thread begins to compact files.
   * @param conf of the store
   */
  static void begin(HStore store, Configuration conf, Collection<HStoreFile> files) {
    try {
      HotBlockHandover.begin(conf, store.getCacheConfig(), readers(files),
        rangeOf(store.getHRegion()), 0);
    } catch (RuntimeException e) {
      LOG.warn("{} is compacted without a hand-over of hot blocks", store, e);
    }
  }

  /**
   * This thread begins to flush a memstore.
   * @param bytes of its data
   */
  static void beginFlush(HStore store, Configuration conf, long bytes) {
    try {
      HotBlockHandover.begin(conf, store.getCacheConfig(), readers(store.getStorefiles()),
        rangeOf(store.getHRegion()), Math.max(1, bytes));
    } catch (RuntimeException e) {
      LOG.warn("{} is flushed without a hand-over of hot blocks", store, e);
    }
  }

  /** The files of the flush are complete; others of it have failed. */
  static void flushed(Collection<Path> files) {
    try {
      List<String> names = new ArrayList<>(files.size());
      files.forEach(file -> names.add(file.getName()));
      HotBlockHandover.flushed(names);
    } catch (RuntimeException e) {
      LOG.warn("Blocks of a failed flush may be left in the cache", e);
    }
  }

  /** The new files are in use, in place of the compacted ones. */
  static void committed(HStore store, Collection<HStoreFile> newFiles) {
    try {
      HotBlockHandover.committed(readers(newFiles), file -> isReplaced(file, newFiles),
        () -> !store.areWritesEnabled());
    } catch (RuntimeException e) {
      LOG.warn("Hot blocks of {} are not cached", newFiles, e);
    }
  }

  /** Returns whether another compaction has replaced a new file. */
  private static boolean isReplaced(HFile.Reader reader, Collection<HStoreFile> newFiles) {
    for (HStoreFile file : newFiles) {
      if (file.getPath().getName().equals(reader.getName())) {
        return file.isCompactedAway();
      }
    }
    return false;
  }

  /** Compaction or flush has ended, in one way or the other. */
  static void end() {
    try {
      HotBlockHandover.end();
    } catch (RuntimeException e) {
      LOG.warn("Blocks of a compaction's output may be left in the cache", e);
    }
  }

  /**
   * Evicts the blocks of files that compactions had not committed when the server was killed,
   * before a region that is being opened deletes them.
   */
  static void evictUncommitted(HRegion region) {
    try {
      if (region.getBlockCache() != null && isEnabled(region)) {
        HRegionFileSystem files = region.getRegionFileSystem();
        for (FileStatus family : list(files, files.getTempDir())) {
          for (FileStatus file : list(files, family.getPath())) {
            region.getBlockCache().evictBlocksByHfileName(file.getPath().getName());
          }
        }
      }
    } catch (IOException | RuntimeException e) {
      LOG.warn("Blocks of files that {} never had may be left in the cache", region, e);
    }
  }

  /**
   * Evicts the blocks of such files if they were not written to a temporary directory, after the
   * region has opened its files and before it serves: what is in the directory of a store, and is
   * no file of the store, was not committed, or is compacted and will be archived.
   */
  static void evictUntracked(HRegion region) {
    try {
      for (HStore store : region.getStores()) {
        if (!store.storeEngine.requireWritingToTmpDirFirst()) {
          Set<String> own = new HashSet<>();
          store.getStorefiles().forEach(file -> own.add(file.getPath().getName()));
          HRegionFileSystem files = region.getRegionFileSystem();
          for (FileStatus file : list(files, files.getStoreDir(store.getColumnFamilyName()))) {
            if (file.isFile() && !own.contains(file.getPath().getName())) {
              region.getBlockCache().evictBlocksByHfileName(file.getPath().getName());
            }
          }
        }
      }
    } catch (IOException | RuntimeException e) {
      LOG.warn("Blocks of files that {} never had may be left in the cache", region, e);
    }
  }

  private static boolean isEnabled(HRegion region) {
    for (ColumnFamilyDescriptor family : region.getTableDescriptor().getColumnFamilies()) {
      Configuration conf =
        StoreUtils.createStoreConfiguration(region.conf, region.getTableDescriptor(), family);
      if (HandoverSettings.of(conf).isEnabled()) {
        return true;
      }
    }
    return false;
  }

  private static FileStatus[] list(HRegionFileSystem files, Path folder) throws IOException {
    try {
      return files.getFileSystem().listStatus(folder);
    } catch (FileNotFoundException e) {
      return new FileStatus[0];
    }
  }

  static RegionKeyRange rangeOf(HRegion region) {
    RegionInfo info = region.getRegionInfo();
    return new RegionKeyRange(info.getStartKey(), info.getEndKey());
  }

  static List<HFile.Reader> readers(Collection<HStoreFile> files) {
    List<HFile.Reader> readers = new ArrayList<>(files.size());
    for (HStoreFile file : files) {
      StoreFileReader reader = file.getReader();
      if (reader != null) {
        readers.add(reader.getHFileReader());
      }
    }
    return readers;
  }
}
