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
import org.apache.hadoop.hbase.conf.SettingsReader;
import org.apache.yetus.audience.InterfaceAudience;

/** The setting that consolidates flushes of responses. Immutable. */
@InterfaceAudience.Private
public final class FlushConsolidationSettings {
  /** Whether the responses of a connection that are ready together are sent with one write. */
  public static final String ENABLED_KEY = "hbase.server.netty.flush.consolidation.enabled";

  /** Whether a client consolidates its requests; a server is also a client. */
  public static final String CLIENT_ENABLED_KEY = RequestConsolidation.ENABLED_KEY;

  private final boolean enabled;

  private FlushConsolidationSettings(boolean enabled) {
    this.enabled = enabled;
  }

  /**
   * @throws IllegalArgumentException if {@value #ENABLED_KEY} is neither true nor false, or if the
   *                                  key for clients is not, since a server is also a client
   */
  public static FlushConsolidationSettings of(Configuration conf) {
    RequestConsolidation.of(conf);
    return new FlushConsolidationSettings(SettingsReader.of(conf).flag(ENABLED_KEY, false));
  }

  boolean isEnabled() {
    return enabled;
  }
}
