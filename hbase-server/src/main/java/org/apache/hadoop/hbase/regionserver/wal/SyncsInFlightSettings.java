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
package org.apache.hadoop.hbase.regionserver.wal;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.conf.SettingsReader;
import org.apache.yetus.audience.InterfaceAudience;

/** The limit of the syncs that an AsyncFSWAL has in flight. Read when it is opened. Immutable. */
@InterfaceAudience.Private
public final class SyncsInFlightSettings {
  /**
   * Maximum number of syncs in flight that an AsyncFSWAL starts for waiting writers;
   * <code>0</code>, the default, for no limit.
   */
  public static final String MAX_KEY = "hbase.wal.async.max.syncs.in.flight";

  private static final String REMEDY = "Set a number in this range, or remove the key for the "
    + "default of 0";

  private final int max;

  private SyncsInFlightSettings(int max) {
    this.max = max;
  }

  /** @throws IllegalArgumentException naming the key, its value and the remedy */
  public static SyncsInFlightSettings of(Configuration conf) {
    return new SyncsInFlightSettings(
      SettingsReader.of(conf).intIn(MAX_KEY, 0, 0, Integer.MAX_VALUE, REMEDY));
  }

  /** Returns the maximum number, 1 at least; {@link Integer#MAX_VALUE} for no limit. */
  int max() {
    return max == 0 ? Integer.MAX_VALUE : max;
  }
}
