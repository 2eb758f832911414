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

import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.conf.SettingsReader;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Bounds of the acknowledged writes that may be lost. Read when a server starts. Immutable. See
 * HBASE-16689.
 */
@InterfaceAudience.Private
public final class AsyncWalSettings {
  /**
   * Age in milliseconds at which the oldest acknowledged and unsynced write is synced;
   * <code>0</code>, the default, for no limit.
   */
  public static final String INTERVAL_KEY = "hbase.wal.async.sync.interval.ms";

  /**
   * Number of acknowledged and unsynced bytes at which a WAL is synced; <code>0</code>, the
   * default, for no limit.
   */
  public static final String BYTES_KEY = "hbase.wal.async.sync.bytes";

  /**
   * Maximum number of acknowledged and unsynced bytes of a WAL; a write that would exceed it waits.
   * <code>0</code>, the default, for no limit.
   */
  public static final String MAX_UNSYNCED_KEY = "hbase.wal.async.max.unsynced.bytes";

  private static final long MAX_INTERVAL_MS = TimeUnit.HOURS.toMillis(1);

  private final long intervalMs;
  private final long bytes;
  private final long maxUnsynced;

  private AsyncWalSettings(long intervalMs, long bytes, long maxUnsynced) {
    this.intervalMs = intervalMs;
    this.bytes = bytes;
    this.maxUnsynced = maxUnsynced;
  }

  /**
   * Reads and validates the settings.
   * @throws IllegalArgumentException naming the key, its value and the remedy
   */
  public static AsyncWalSettings of(Configuration conf) {
    SettingsReader reader = SettingsReader.of(conf);
    AsyncWalSettings settings =
      new AsyncWalSettings(reader.longIn(INTERVAL_KEY, 0, 0, MAX_INTERVAL_MS),
        reader.longIn(BYTES_KEY, 0, 0, Long.MAX_VALUE),
        reader.longIn(MAX_UNSYNCED_KEY, 0, 0, Long.MAX_VALUE));
    if (settings.maxUnsynced > 0 && settings.maxUnsynced < settings.bytes) {
      throw SettingsReader.rejected(MAX_UNSYNCED_KEY, settings.maxUnsynced,
        "0 or at least the " + settings.bytes + " of " + BYTES_KEY,
        "Set it to twice that, or remove the key");
    }
    return settings;
  }

  /** Returns whether any bound is configured. */
  public boolean isEnabled() {
    return intervalMs > 0 || bytes > 0 || maxUnsynced > 0;
  }

  /**
   * Returns the age in nanoseconds at which a write is synced; {@link Long#MAX_VALUE} for never.
   */
  public long intervalNanos() {
    return intervalMs == 0 ? Long.MAX_VALUE : TimeUnit.MILLISECONDS.toNanos(intervalMs);
  }

  /**
   * Returns the number of unsynced bytes at which a WAL is synced; {@link Long#MAX_VALUE} for
   * never.
   */
  public long bytes() {
    return bytes == 0 ? Long.MAX_VALUE : bytes;
  }

  /** Returns the maximum number of unsynced bytes; {@link Long#MAX_VALUE} for no limit. */
  public long maxUnsynced() {
    return maxUnsynced == 0 ? Long.MAX_VALUE : maxUnsynced;
  }

  @Override
  public String toString() {
    return INTERVAL_KEY + "=" + intervalMs + ", " + BYTES_KEY + "=" + bytes + ", "
      + MAX_UNSYNCED_KEY + "=" + maxUnsynced;
  }
}
