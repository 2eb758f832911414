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
package org.apache.hadoop.hbase.regionserver.multiget;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.conf.SettingsReader;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The settings of threads that serve the gets of one multi. All settings may change at runtime.
 * Immutable. See HBASE-23063.
 */
@InterfaceAudience.Private
public final class MultigetSettings {

  /** Whether several threads may serve the gets of one multi; <code>false</code> by default. */
  public static final String ENABLED_KEY = "hbase.regionserver.parallel.get.enabled";

  /**
   * Number of threads for all multis together, in addition to the handlers, at least 1. Default:
   * the number of cores.
   */
  public static final String THREADS_KEY = "hbase.regionserver.parallel.get.threads";

  /**
   * Minimum number of gets of a region in a multi for which additional threads are used, at least
   * 1.
   */
  public static final String MIN_BATCH_KEY = "hbase.regionserver.parallel.get.min.batch";

  /** The default of {@value #MIN_BATCH_KEY}. */
  public static final int DEFAULT_MIN_BATCH = 10;

  /**
   * Maximum number of threads that serve one multi concurrently, including its handler, at least 1.
   * Default: the number of threads.
   */
  public static final String MAX_TASKS_KEY =
    "hbase.regionserver.parallel.get.max.tasks.per.request";

  private static final int MAX = 10_000;

  private final boolean enabled;
  private final int threads;
  private final int minBatch;
  private final int maxTasks;

  private MultigetSettings(boolean enabled, int threads, int minBatch, int maxTasks) {
    this.enabled = enabled;
    this.threads = threads;
    this.minBatch = minBatch;
    this.maxTasks = maxTasks;
  }

  /** @throws IllegalArgumentException naming the key, its value and the remedy */
  public static MultigetSettings of(Configuration conf) {
    SettingsReader reader = SettingsReader.of(conf);
    int threads = reader.intIn(THREADS_KEY, Runtime.getRuntime().availableProcessors(), 1, MAX);
    return new MultigetSettings(reader.flag(ENABLED_KEY, false), threads,
      reader.intIn(MIN_BATCH_KEY, DEFAULT_MIN_BATCH, 1, MAX),
      reader.intIn(MAX_TASKS_KEY, threads + 1, 1, MAX));
  }

  public boolean isEnabled() {
    return enabled;
  }

  /** Returns the number of threads in addition to the handlers. */
  public int threads() {
    return threads;
  }

  /** Returns the minimum number of gets. */
  public int minBatch() {
    return minBatch;
  }

  /** Returns the maximum number of threads that serve one request, including its handler. */
  public int maxTasks() {
    return maxTasks;
  }

  @Override
  public String toString() {
    return ENABLED_KEY + "=" + enabled + ", " + THREADS_KEY + "=" + threads + ", " + MIN_BATCH_KEY
      + "=" + minBatch + ", " + MAX_TASKS_KEY + "=" + maxTasks;
  }
}
