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

import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.conf.SettingsReader;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.yetus.audience.InterfaceAudience;

/** The settings of the hand-over of hot blocks by compactions. Immutable. */
@InterfaceAudience.Private
public final class HandoverSettings {

  /**
   * Whether a compaction or a flush caches the blocks of its output that cover hot blocks of its
   * input, and a region that is closed leaves its hot blocks to the next server; <code>false</code>
   * by default. May also be set per table or column family, and changes with the next of these.
   */
  public static final String ENABLED_KEY = "hbase.rs.compaction.cache.handover.enabled";

  /**
   * What the blocks of a compaction's input and output may take in L2 together until the
   * compaction is committed, unless L2 has spare space, as a multiple of what those of the input
   * take when it begins; 1 to 2, 1.2 by default. May also be set per table or column family.
   */
  public static final String PEAK_RATIO_KEY = "hbase.rs.compaction.cache.handover.peak.ratio";

  private static final double DEFAULT_PEAK_RATIO = 1.2;
  private static final double MIN_PEAK_RATIO = 1;
  private static final double MAX_PEAK_RATIO = 2;

  private final boolean enabled;
  private final double peakRatio;

  private HandoverSettings(boolean enabled, double peakRatio) {
    this.enabled = enabled;
    this.peakRatio = peakRatio;
  }

  /**
   * Reads the settings.
   * @throws IllegalArgumentException naming the key, its value and the remedy
   */
  public static HandoverSettings of(Configuration conf) {
    SettingsReader reader = SettingsReader.of(conf);
    return new HandoverSettings(reader.flag(ENABLED_KEY, false),
      reader.fractionIn(PEAK_RATIO_KEY, DEFAULT_PEAK_RATIO, MIN_PEAK_RATIO, MAX_PEAK_RATIO));
  }

  /**
   * Returns whether a store whose region is closed evicts its blocks. Whatever opens the region's
   * files next reads these blocks: the daughters of a split and the region of a merge as well, for
   * which stock has them evicted. They stay, unless <code>hbase.rs.evictblocksonclose</code> or
   * <code>hbase.rs.evictblocksonsplit</code> is set to true on this server.
   * @param conf    of the store
   * @param evicted whether they would be without a hand-over
   */
  public static boolean evictsOnClose(Configuration conf, boolean evicted) {
    try {
      return evicted && (!of(conf).isEnabled()
        || conf.getBoolean(CacheConfig.EVICT_BLOCKS_ON_CLOSE_KEY, false)
        || conf.getBoolean(CacheConfig.EVICT_BLOCKS_ON_SPLIT_KEY, false));
    } catch (IllegalArgumentException e) {
      // Another class reports the value; a region is closed in any case.
      return evicted;
    }
  }

  public boolean isEnabled() {
    return enabled;
  }

  /** Returns the maximum of input and output together, as a multiple of the input. */
  public double peakRatio() {
    return peakRatio;
  }
}
