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
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Whether and by how many threads the gets of one multi are served. All of it may change while the
 * server runs. Immutable. See HBASE-23063.
 */
@InterfaceAudience.Private
public final class MultigetSettings {

  /** Whether several threads may serve the gets of one multi; <code>false</code> by default. */
  public static final String ENABLED_KEY = "hbase.regionserver.parallel.get.enabled";

  /**
   * How many threads there are, beside the handlers, for all multis together, from 1 on. By default
   * as many as the machine has cores.
   */
  public static final String THREADS_KEY = "hbase.regionserver.parallel.get.threads";

  /**
   * How many gets of a region a multi has to have, at least, for other threads to help with them,
   * from 1 on.
   */
  public static final String MIN_BATCH_KEY = "hbase.regionserver.parallel.get.min.batch";

  /** The default of {@value #MIN_BATCH_KEY}. */
  public static final int DEFAULT_MIN_BATCH = 10;

  /**
   * How many threads may serve one multi at the same time, its handler among them, from 1 on. By
   * default as many as there are.
   */
  public static final String MAX_TASKS_KEY =
    "hbase.regionserver.parallel.get.max.tasks.per.request";

  /**
   * Whether threads come to help even if the processors have no room for them, that is, without
   * regard to what the JVM does beside; <code>false</code> by default.
   */
  public static final String WHEN_BUSY_KEY = "hbase.regionserver.parallel.get.when.busy";

  private static final int MAX = 10_000;

  private final boolean enabled;
  private final int threads;
  private final int minBatch;
  private final int maxTasks;
  private final boolean whenBusy;

  private MultigetSettings(boolean enabled, int threads, int minBatch, int maxTasks,
    boolean whenBusy) {
    this.enabled = enabled;
    this.threads = threads;
    this.minBatch = minBatch;
    this.maxTasks = maxTasks;
    this.whenBusy = whenBusy;
  }

  /**
   * @throws IllegalArgumentException naming the key, its value and what to do
   */
  public static MultigetSettings of(Configuration conf) {
    int threads = number(conf, THREADS_KEY, Runtime.getRuntime().availableProcessors());
    return new MultigetSettings(flag(conf, ENABLED_KEY), threads,
      number(conf, MIN_BATCH_KEY, DEFAULT_MIN_BATCH), number(conf, MAX_TASKS_KEY, threads + 1),
      flag(conf, WHEN_BUSY_KEY));
  }

  private static boolean flag(Configuration conf, String key) {
    String value = conf.getTrimmed(key, "false");
    if (value.equalsIgnoreCase("true") || value.equalsIgnoreCase("false")) {
      return Boolean.parseBoolean(value);
    }
    throw new IllegalArgumentException(key + " is '" + value + "'; set it to true or false.");
  }

  private static int number(Configuration conf, String key, int missing) {
    String value = conf.getTrimmed(key);
    if (value == null) {
      return missing;
    }
    try {
      int number = Integer.parseInt(value);
      if (number >= 1 && number <= MAX) {
        return number;
      }
    } catch (NumberFormatException e) {
      // Said below.
    }
    throw new IllegalArgumentException(key + " is '" + value + "'; set it to a number from 1 to "
      + MAX + ", or remove it for the default of " + missing + ".");
  }

  public boolean isEnabled() {
    return enabled;
  }

  /** Returns how many threads there are beside the handlers. */
  public int threads() {
    return threads;
  }

  /** Returns how many gets there have to be, at least. */
  public int minBatch() {
    return minBatch;
  }

  /** Returns how many threads may serve one request at a time, its handler among them. */
  public int maxTasks() {
    return maxTasks;
  }

  /** Returns whether threads come to help even if the processors have no room for them. */
  public boolean isHelpedWhenBusy() {
    return whenBusy;
  }

  @Override
  public String toString() {
    return ENABLED_KEY + "=" + enabled + ", " + THREADS_KEY + "=" + threads + ", " + MIN_BATCH_KEY
      + "=" + minBatch + ", " + MAX_TASKS_KEY + "=" + maxTasks + ", " + WHEN_BUSY_KEY + "="
      + whenBusy;
  }
}
