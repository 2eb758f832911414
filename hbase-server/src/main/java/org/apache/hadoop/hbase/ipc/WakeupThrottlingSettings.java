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
package org.apache.hadoop.hbase.ipc;

import org.apache.hadoop.conf.Configuration;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Whether handlers are woken one after the other. Immutable.
 */
@InterfaceAudience.Private
public final class WakeupThrottlingSettings {
  /** Whether calls are taken by handlers that are awake, and few others are woken at a time. */
  public static final String ENABLED_KEY = "hbase.ipc.server.wakeup.throttling.enabled";

  private final boolean enabled;

  private WakeupThrottlingSettings(boolean enabled) {
    this.enabled = enabled;
  }

  /** @throws IllegalArgumentException if {@value #ENABLED_KEY} is neither true nor false */
  public static WakeupThrottlingSettings of(Configuration conf) {
    String enabled = conf.getTrimmed(ENABLED_KEY, "false");
    if (!enabled.equalsIgnoreCase("true") && !enabled.equalsIgnoreCase("false")) {
      throw new IllegalArgumentException(
        ENABLED_KEY + " is '" + enabled + "', set it to true or false");
    }
    return new WakeupThrottlingSettings(Boolean.parseBoolean(enabled));
  }

  boolean isEnabled() {
    return enabled;
  }
}
