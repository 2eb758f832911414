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

import org.apache.hbase.thirdparty.io.netty.channel.ChannelPipeline;

/**
 * Sends the requests of a client that share a connection and are ready at about the same time with
 * one write to its socket, as {@link ConsolidatedFlushes} says. The server has less to read and
 * fewer wake-ups by it, too.
 * <p>
 * Immutable.
 */
@InterfaceAudience.Private
final class RequestConsolidation {
  /** Whether the requests of a connection that are ready together leave with one write. */
  static final String ENABLED_KEY = "hbase.client.netty.flush.consolidation.enabled";

  private final boolean enabled;

  private RequestConsolidation(boolean enabled) {
    this.enabled = enabled;
  }

  /** @throws IllegalArgumentException if {@value #ENABLED_KEY} is neither true nor false */
  static RequestConsolidation of(Configuration conf) {
    return new RequestConsolidation(SettingsReader.of(conf).flag(ENABLED_KEY, false));
  }

  /**
   * Consolidates the requests of a connection, if that is enabled. Called after the handlers that
   * encrypt were added to the pipeline, and before the one that writes requests.
   */
  void addTo(ChannelPipeline pipeline) {
    if (enabled) {
      pipeline.addBefore(BufferCallBeforeInitHandler.NAME, null, new ConsolidatedFlushes());
    }
  }
}
