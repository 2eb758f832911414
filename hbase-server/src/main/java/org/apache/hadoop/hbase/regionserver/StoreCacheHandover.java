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

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.handover.HotBlockHandover;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the hand-over of hot blocks when a compaction of a store begins, is committed and ends. No
 * method throws: a compaction does not fail because of the cache.
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
      HotBlockHandover.begin(conf, store.getCacheConfig(), readers(files));
    } catch (RuntimeException e) {
      LOG.warn("{} is compacted without a hand-over of hot blocks", store, e);
    }
  }

  /** The new files are in use, in place of the compacted ones. */
  static void committed(HStore store, Collection<HStoreFile> newFiles) {
    try {
      HotBlockHandover.committed(readers(newFiles), () -> !store.areWritesEnabled());
    } catch (RuntimeException e) {
      LOG.warn("Hot blocks of {} are not cached", newFiles, e);
    }
  }

  /** The compaction has ended, in one way or the other. */
  static void end() {
    try {
      HotBlockHandover.end();
    } catch (RuntimeException e) {
      LOG.warn("Blocks of a compaction's output may be left in the cache", e);
    }
  }

  private static List<HFile.Reader> readers(Collection<HStoreFile> files) {
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
