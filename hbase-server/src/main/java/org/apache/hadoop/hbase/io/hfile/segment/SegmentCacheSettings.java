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
package org.apache.hadoop.hbase.io.hfile.segment;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.conf.SettingsReader;
import org.apache.hadoop.hbase.io.hfile.composite.CacheTier;
import org.apache.hadoop.hbase.io.hfile.composite.DeviceTierEngine;
import org.apache.hadoop.hbase.io.hfile.composite.DirectMemoryDemand;
import org.apache.hadoop.hbase.io.hfile.composite.OnlineFiles;
import org.apache.hadoop.hbase.io.hfile.segment.device.Location;
import org.apache.hadoop.hbase.io.hfile.segment.device.Superblock;
import org.apache.hadoop.hbase.io.hfile.segment.index.PagePool;
import org.apache.hadoop.hbase.io.hfile.segment.index.SegmentIndex;
import org.apache.hadoop.hbase.io.hfile.segment.store.SegmentReader;
import org.apache.hadoop.hbase.io.hfile.segment.store.SegmentStoreSettings;
import org.apache.hadoop.hbase.util.DirectMemoryUtils;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The settings of {@link SegmentCache}, read from a configuration and checked: a result of
 * {@link #of} can be used to build a cache. Immutable. An invalid setting is rejected with an
 * {@link IllegalArgumentException} whose message has the key, its value, the range and the remedy.
 */
@InterfaceAudience.Private
public final class SegmentCacheSettings implements DeviceTierEngine.Settings {
  /** Prefix of the engine's name; one or more paths follow, separated by commas. */
  public static final String ENGINE = "segments:";

  /** Size of a segment in MB, from 1 to 64. Default: 16. */
  public static final String SEGMENT_MB_KEY = "hbase.segmentcache.segment.mb";

  /**
   * Number of segments in memory: the open one, those being written, and those waiting to be
   * written. At least 3. Default: 4 plus one for each path.
   */
  public static final String BUFFERS_KEY = "hbase.segmentcache.buffers";

  /**
   * Maximum fraction of a reclaimed segment that is rewritten because it is hot, from 0 to 0.5.
   * Follows update_config. Default: 0.25.
   */
  public static final String REWRITE_SHARE_KEY = "hbase.segmentcache.rewrite.share";

  /**
   * Maximum write rate of all devices together in MB per second; 0 for no limit. Follows
   * update_config. Default: 0.
   */
  public static final String WRITE_LIMIT_KEY = "hbase.bucketcache.l2.write.limit.mb.per.sec";

  /**
   * MB written after which a device is synced, so that the kernel does not accumulate dirty pages
   * and flush them at once, which slows down reads; 0 leaves flushing to the kernel. Default: 16.
   */
  public static final String SYNC_MB_KEY = "hbase.segmentcache.sync.mb";

  /**
   * Mean size of a cached block in KB, from 1 to 16383. The index has a budget of 24 bytes of
   * direct memory for each block of this size that the tier can hold. If blocks are smaller, the
   * index is full before the devices are, and refuses blocks. Default: 32.
   */
  public static final String EXPECTED_BLOCK_KB_KEY = "hbase.segmentcache.expected.block.kb";

  /**
   * Seconds for which the blocks of a region that is not online are kept when space is needed, at
   * least 0. They are used again if the region returns. Default: 86400, a day.
   */
  public static final String ORPHAN_GRACE_KEY = "hbase.segmentcache.orphan.grace.seconds";

  /** Upstream's key for the share of in-memory families in a bucket cache. */
  private static final String MEMORY_FACTOR = "hbase.bucketcache.memory.factor";
  private static final double DEFAULT_MEMORY_FACTOR = 0.25;

  private static final int DEFAULT_SEGMENT_MB = 16;
  private static final int DEFAULT_EXPECTED_BLOCK_KB = 32;
  private static final int DEFAULT_ORPHAN_GRACE = (int) TimeUnit.DAYS.toSeconds(1);
  private static final int DEFAULT_SYNC_MB = 16;
  private static final int BUFFERS_BESIDE_PATHS = 4;
  private static final double DEFAULT_REWRITE_SHARE = 0.25;
  private static final double MAX_REWRITE_SHARE = 0.5;
  private static final long JOINED_READS_BYTES =
    (long) SegmentReader.MAX_JOINED_READS * SegmentReader.MAX_JOINED_BYTES;
  private static final long MB = 1 << 20;

  private final String ioEngine;
  private final SegmentStoreSettings store;
  private final long expectedBlocks;
  private final long orphanGraceNanos;
  private final Path snapshot;

  private SegmentCacheSettings(String engine, String sizeKey, long capacity, String snapshotPath,
    Configuration conf) {
    ioEngine = engine;
    List<String> paths = Arrays.asList(engine.substring(ENGINE.length()).split(","));
    SettingsReader reader = SettingsReader.of(conf);
    int segmentMb = reader.intIn(SEGMENT_MB_KEY, DEFAULT_SEGMENT_MB, 1,
      (int) (Location.MAX_SEGMENT_BYTES / MB));
    int segmentSize = (int) (segmentMb * MB);
    long perPath = capacity / paths.size();
    long fewest = (long) SegmentStoreSettings.MIN_SEGMENTS * segmentSize
      + Superblock.HEADER_SIZE;
    if (perPath < fewest) {
      throw SettingsReader.rejected(sizeKey, reader.text(sizeKey),
        "at least " + (fewest * paths.size() + MB - 1) / MB + " for " + paths.size()
          + " path(s) of " + SegmentStoreSettings.MIN_SEGMENTS + " segments of " + segmentMb
          + " MB",
        "Raise it, or lower " + SEGMENT_MB_KEY);
    }
    if (capacity / segmentSize > Location.MAX_SEGMENTS) {
      throw SettingsReader.rejected(sizeKey, reader.text(sizeKey),
        "at most " + Location.MAX_SEGMENTS + " segments of " + segmentMb + " MB",
        "Lower it, or raise " + SEGMENT_MB_KEY);
    }
    int buffers = reader.intIn(BUFFERS_KEY, BUFFERS_BESIDE_PATHS + paths.size(),
      SegmentStoreSettings.MIN_BUFFERS, 1024);
    if ((long) buffers * segmentSize > DirectMemoryUtils.getDirectMemorySize()) {
      throw SettingsReader.rejected(BUFFERS_KEY, buffers,
        "such that as many segments of " + segmentMb + " MB are within the "
          + DirectMemoryUtils.getDirectMemorySize() / MB + " MB of direct memory of this process",
        "Lower it or " + SEGMENT_MB_KEY + ", or raise -XX:MaxDirectMemorySize");
    }
    store = new SegmentStoreSettings(paths, capacity, segmentSize, buffers, rewriteShare(conf),
      writeLimit(conf), reader.intIn(SYNC_MB_KEY, DEFAULT_SYNC_MB, 0, Integer.MAX_VALUE) * MB);
    orphanGraceNanos = TimeUnit.SECONDS
      .toNanos(reader.intIn(ORPHAN_GRACE_KEY, DEFAULT_ORPHAN_GRACE, 0, Integer.MAX_VALUE));
    expectedBlocks = capacity / (expectedBlockKb(conf) << 10);
    File first = new File(paths.get(0));
    snapshot = snapshotPath != null
      ? new File(snapshotPath).toPath()
      // There is no default path beside a block device.
      : first.exists() && !first.isFile() ? null : new File(first.getPath() + ".index").toPath();
  }

  /**
   * Reads and checks the settings.
   * @param engine       the value of the engine's key, with the paths
   * @param sizeKey      the key of the capacity, for error messages
   * @param capacity     bytes of all paths together
   * @param snapshotPath where the index is saved while the server is stopped; null to save it
   *                     beside the first path
   * @throws IllegalArgumentException if the settings are invalid; its message is for the operator
   */
  public static SegmentCacheSettings of(String engine, String sizeKey, long capacity,
    String snapshotPath, Configuration conf) {
    return new SegmentCacheSettings(engine, sizeKey, capacity, snapshotPath, conf);
  }

  @Override
  public CacheTier open(String tierName, Configuration conf, OnlineFiles online)
    throws IOException {
    return new SegmentCache(tierName, ioEngine, this, conf, online);
  }

  SegmentStoreSettings store() {
    return store;
  }

  /** Returns the number of blocks for which the index is sized. */
  long expectedBlocks() {
    return expectedBlocks;
  }

  /**
   * Returns how long blocks of regions that are not online are kept when space is needed, in
   * nanoseconds.
   */
  long orphanGraceNanos() {
    return orphanGraceNanos;
  }

  /** Returns the maximum direct memory of the index, in bytes. */
  long maxIndexBytes() {
    return SegmentIndex.maxBytesFor(expectedBlocks);
  }

  /**
   * Returns the direct memory of a cache with default buffers and segments, in bytes, without the
   * reserve.
   * @param capacity        bytes of all paths together
   * @param paths           number of paths
   * @param expectedBlockKb mean size of a cached block in KB
   */
  public static long directMemory(long capacity, int paths, int expectedBlockKb) {
    return (BUFFERS_BESIDE_PATHS + paths) * DEFAULT_SEGMENT_MB * MB
      + SegmentIndex.maxBytesFor(capacity / ((long) expectedBlockKb << 10)) + JOINED_READS_BYTES;
  }

  /**
   * Returns the direct memory that the index leaves to others, in bytes.
   * @param limit of the process's direct memory, in bytes
   */
  public static long reserveBytes(long limit) {
    return PagePool.reserveBytes(limit);
  }

  @Override
  public void addDirectMemory(DirectMemoryDemand demand, Configuration conf) {
    demand.add(BUFFERS_KEY, store.bufferCount,
      (long) store.bufferCount * store.segmentSize);
    demand.add("index at " + EXPECTED_BLOCK_KB_KEY + "=" + expectedBlockKb(conf),
      maxIndexBytes());
    demand.add("joined reads", JOINED_READS_BYTES);
    demand.addReserve("reserve of the index for others", PagePool.reserveBytes());
  }

  /**
   * Returns the path at which the index is saved while the server is stopped; null if it is not
   * saved.
   */
  Path snapshot() {
    return snapshot;
  }

  private static long expectedBlockKb(Configuration conf) {
    return SettingsReader.of(conf).intIn(EXPECTED_BLOCK_KB_KEY, DEFAULT_EXPECTED_BLOCK_KB, 1,
      Location.MAX_ENTRY_BYTES >> 10);
  }

  /** Returns the fraction of a segment that may be rewritten when it is reclaimed, 0 to 0.5. */
  static double rewriteShare(Configuration conf) {
    return SettingsReader.of(conf).fractionIn(REWRITE_SHARE_KEY, DEFAULT_REWRITE_SHARE, 0,
      MAX_REWRITE_SHARE);
  }

  /** Returns the fraction of the tier for blocks of in-memory families, as in a bucket cache. */
  static double inMemoryShare(Configuration conf) {
    return conf.getDouble(MEMORY_FACTOR, DEFAULT_MEMORY_FACTOR);
  }

  /** Returns the maximum write rate in bytes per second, 0 for no limit. */
  static long writeLimit(Configuration conf) {
    return SettingsReader.of(conf).intIn(WRITE_LIMIT_KEY, 0, 0, Integer.MAX_VALUE) * MB;
  }
}
