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
package org.apache.hadoop.hbase.io.hfile.load;

import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The cache settings of a writer whose hot blocks are cached. Index and bloom blocks are cached as
 * they are written if anything of the inputs is cached.
 */
@InterfaceAudience.Private
public final class HandoverCacheConfig extends CacheConfig {
  private final HotBlockHandover handover;

  private HandoverCacheConfig(CacheConfig writer, HotBlockHandover handover) {
    super(writer);
    this.handover = handover;
    if (handover.isAnythingCached()) {
      enableCacheOnWrite();
      setCacheDataOnWrite(false);
    }
  }

  /**
   * Returns the settings of the writer of a store file.
   * @param writer the settings without a hand-over; if they cache all data, they are used
   */
  public static CacheConfig of(CacheConfig writer) {
    HotBlockHandover current = HotBlockHandover.current();
    return current == null || writer.shouldCacheDataOnWrite()
      ? writer
      : new HandoverCacheConfig(writer, current);
  }

  HotBlockHandover handover() {
    return handover;
  }
}
