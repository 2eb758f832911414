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

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.PrefetchExecutor;
import org.apache.yetus.audience.InterfaceAudience;

/** Requests prefetches of open files. They are dropped if a file's blocks cannot be located. */
@InterfaceAudience.Private
public final class PrefetchRequests {
  private PrefetchRequests() {
  }

  /**
   * Prefetches what a file has, within its {@link PrefetchLimit}.
   * @param reader    of a file whose load-on-open section has been read
   * @param cacheConf with a block cache
   * @param conf      of the store
   */
  public static void request(HFile.Reader reader, CacheConfig cacheConf, Configuration conf) {
    request(reader, FilePrefetch.of(reader, cacheConf, conf));
  }

  /**
   * Prefetches the index and the hot blocks of an open file; if the whole file is to be prefetched,
   * those are the first of its data blocks.
   * @param cacheConf with a block cache
   * @param conf      of the store
   */
  public static void request(HFile.Reader reader, CacheConfig cacheConf, Configuration conf,
    HotBlockMap hot) {
    FilePrefetch whole = PrefetchScheduler.get().progress().of(reader.getPath());
    if (whole != null) {
      whole.setFirst(hot);
      return;
    }
    request(reader, FilePrefetch.ofHotBlocks(reader, cacheConf, conf, hot));
  }

  private static void request(HFile.Reader reader, FilePrefetch prefetch) {
    if (prefetch != null) {
      PrefetchExecutor.request(reader.getPath(), prefetch);
    }
  }
}
