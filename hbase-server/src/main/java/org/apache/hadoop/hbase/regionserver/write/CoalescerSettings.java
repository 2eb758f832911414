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
package org.apache.hadoop.hbase.regionserver.write;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.conf.SettingsReader;
import org.apache.yetus.audience.InterfaceAudience;

/** The settings of {@link IncrementCoalescer}. Immutable. */
@InterfaceAudience.Private
public final class CoalescerSettings {

  /** Whether concurrent increments are applied together; <code>false</code> by default. */
  public static final String ENABLED_KEY = "hbase.regionserver.increment.coalesce.enabled";

  /** HBase's key of how long an increment waits for the lock of its row. */
  private static final String ROW_WAIT_KEY = "hbase.rowlock.wait.duration";
  private static final int DEFAULT_ROW_WAIT_MS = 30_000;

  private final boolean enabled;
  private final long rowWaitMs;

  private CoalescerSettings(boolean enabled, long rowWaitMs) {
    this.enabled = enabled;
    this.rowWaitMs = rowWaitMs;
  }

  /**
   * Reads the settings.
   * @throws IllegalArgumentException naming the key, its value and what to do
   */
  public static CoalescerSettings of(Configuration conf) {
    SettingsReader reader = SettingsReader.of(conf);
    return new CoalescerSettings(reader.flag(ENABLED_KEY, false),
      Math.max(1, conf.getInt(ROW_WAIT_KEY, DEFAULT_ROW_WAIT_MS)));
  }

  boolean isEnabled() {
    return enabled;
  }

  /** Returns how long an increment waits for the lock of its row, in milliseconds, 1 at least. */
  long rowWaitMs() {
    return rowWaitMs;
  }
}
