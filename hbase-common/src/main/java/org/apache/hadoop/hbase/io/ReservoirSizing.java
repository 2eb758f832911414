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
package org.apache.hadoop.hbase.io;

import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.conf.SettingsReader;
import org.apache.yetus.audience.InterfaceAudience;

import org.apache.hbase.thirdparty.com.google.common.collect.ImmutableMap;

/**
 * Counts the threads besides the handlers that take buffers from the pool, for the default of
 * {@link ByteBuffAllocator#MAX_BUFFER_COUNT_KEY}. Upstream counts only the handlers. So that a pool
 * has its former size unless a feature that needs more is used, a thread counts only if one of the
 * keys of its feature has another value than its default.
 */
@InterfaceAudience.Private
final class ReservoirSizing {
  /**
   * The keys of prefetching with their defaults, which hbase-default.xml has; if any of them has
   * another value, prefetch threads are counted.
   */
  static final Map<String, String> PREFETCH_DEFAULTS =
    ImmutableMap.of("hbase.rs.prefetch.limit.mb.per.sec", "0", "hbase.rs.prefetch.order",
      "request", "hbase.rs.prefetch.writer.queue.max", "1");

  /** The number of prefetch threads, as in PrefetchExecutor. */
  static final String PREFETCH_THREADS_KEY = "hbase.hfile.thread.prefetch";

  private static final int PREFETCH_THREADS_DEFAULT = 4;

  /** Whether threads besides the handlers serve multigets, as in MultigetSettings. */
  static final String MULTIGET_KEY = "hbase.regionserver.parallel.get.enabled";

  /** Their number, by default the number of processors, as in MultigetSettings. */
  static final String MULTIGET_THREADS_KEY = "hbase.regionserver.parallel.get.threads";

  private static final int MULTIGET_THREADS_MAX = 10_000;

  private ReservoirSizing() {
  }

  /**
   * Returns the number of threads besides the handlers that need buffers, each about 2 MB of them:
   * a block read by a prefetch thread waits in a queue of the cache, and keeps its buffers until it
   * is written; a block read for a multiget is kept until the multiget's response is sent.
   */
  static int beyondHandlers(Configuration conf) {
    return prefetchThreads(conf) + multigetThreads(conf);
  }

  private static int prefetchThreads(Configuration conf) {
    if (
      PREFETCH_DEFAULTS.entrySet().stream()
        .allMatch(one -> conf.getTrimmed(one.getKey(), one.getValue()).equals(one.getValue()))
    ) {
      return 0;
    }
    return Math.max(0, conf.getInt(PREFETCH_THREADS_KEY, PREFETCH_THREADS_DEFAULT));
  }

  private static int multigetThreads(Configuration conf) {
    SettingsReader reader = SettingsReader.of(conf);
    try {
      return reader.flag(MULTIGET_KEY, false)
        ? reader.intIn(MULTIGET_THREADS_KEY, Runtime.getRuntime().availableProcessors(), 1,
          MULTIGET_THREADS_MAX)
        : 0;
    } catch (IllegalArgumentException e) {
      // The server does not start with this value, and reports it when it reads its settings.
      return 0;
    }
  }
}
