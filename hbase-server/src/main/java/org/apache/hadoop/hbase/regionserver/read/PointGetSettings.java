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
package org.apache.hadoop.hbase.regionserver.read;

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.conf.SettingsReader;
import org.apache.yetus.audience.InterfaceAudience;

/** The settings of gets without scanners, and of the threads that serve them. Immutable. */
@InterfaceAudience.Private
public final class PointGetSettings {

  /**
   * Whether a get without filter reads the row from memstore segments and store files directly;
   * <code>false</code> by default.
   */
  public static final String ENABLED_KEY = "hbase.regionserver.point.get.enabled";

  /**
   * How many gets in a row the thread of a connection answers itself, if their blocks are in
   * memory: 0, the default, to {@value #MAX_ON_CONNECTION_THREAD}; 0 for none.
   */
  public static final String ON_CONNECTION_THREAD_KEY =
    "hbase.regionserver.point.get.on.connection.thread.max";

  private static final int MAX_ON_CONNECTION_THREAD = 1000;

  private final boolean enabled;
  private final int maxOnConnectionThread;

  private PointGetSettings(boolean enabled, int maxOnConnectionThread) {
    this.enabled = enabled;
    this.maxOnConnectionThread = maxOnConnectionThread;
  }

  /** @throws IllegalArgumentException naming the key, its value and the remedy */
  public static PointGetSettings of(Configuration conf) {
    SettingsReader reader = SettingsReader.of(conf);
    boolean enabled = reader.flag(ENABLED_KEY, false);
    int max = reader.intIn(ON_CONNECTION_THREAD_KEY, 0, 0, MAX_ON_CONNECTION_THREAD);
    return new PointGetSettings(enabled, enabled ? max : 0);
  }

  public boolean isEnabled() {
    return enabled;
  }

  /** Returns how many gets in a row a connection's thread answers; 0 if none. */
  public int maxOnConnectionThread() {
    return maxOnConnectionThread;
  }
}
