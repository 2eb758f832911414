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

/** The settings of groups of puts and deletes. Immutable. */
@InterfaceAudience.Private
public final class WriteGroupSettings {

  /** Whether concurrent puts and deletes share appends and syncs; <code>false</code> by default. */
  public static final String ENABLED_KEY = "hbase.regionserver.write.groups.enabled";

  private final boolean enabled;

  private WriteGroupSettings(boolean enabled) {
    this.enabled = enabled;
  }

  /**
   * Reads the settings.
   * @throws IllegalArgumentException naming the key, its value and what to do
   */
  public static WriteGroupSettings of(Configuration conf) {
    return new WriteGroupSettings(SettingsReader.of(conf).flag(ENABLED_KEY, false));
  }

  public boolean isEnabled() {
    return enabled;
  }
}
