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
package org.apache.hadoop.hbase.io.hfile.composite;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.conf.SettingsReader;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.util.MemorySizeUtil;
import org.apache.hadoop.hbase.util.DirectMemoryUtils;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The settings of {@link CompositeBucketCache}, read from a configuration and checked as a whole:
 * what {@link #of} returns can be built. Immutable.
 * <p>
 * Each tier has the keys of the plain bucket cache under a prefix of its own,
 * {@value #L1_PREFIX} and {@value #L2_PREFIX}. Size, engine and persistence are the tier's alone;
 * every other key, set or not, falls back to the same name under {@value #COMMON_PREFIX}.
 * <p>
 * A setting that cannot work is rejected with an {@link IllegalArgumentException} whose message has
 * the key, its value, the range and the remedy.
 */
@InterfaceAudience.Private
public final class CompositeBucketCacheSettings {
  private static final Logger LOG = LoggerFactory.getLogger(CompositeBucketCacheSettings.class);

  /** Two tiers of bucket cache in place of on-heap cache and bucket cache. Default: false. */
  public static final String ENABLED_KEY = "hbase.bucketcache.composite.enabled";

  /**
   * Which data blocks of L2 are copied into L1: frequency (those accessed more
   * often than what they displace) or none. Follows update_config. Default: frequency.
   */
  public static final String PROMOTION_KEY = "hbase.bucketcache.composite.promotion";

  /**
   * The most that data blocks may take of L1, as a fraction of its capacity. Follows
   * update_config. Default: 1, what meta blocks leave.
   */
  public static final String L1_DATA_MAX_KEY = "hbase.bucketcache.composite.l1.data.max";

  /**
   * Idle time in ms after which a meta block in L1 may be evicted for
   * data that wants its place, from 1000 on; 0 for never. Follows update_config. Default: 300000.
   */
  public static final String L1_META_IDLE_KEY = "hbase.bucketcache.composite.l1.meta.idle.ms";

  /**
   * Which data blocks that a read has missed are inserted into L2: all, or second-miss
   * (those that were missed before, within about as many other missed blocks as the tier holds).
   * Prefetch, cache-on-write, meta blocks and families in memory are not filtered. Follows
   * update_config. Default: all.
   */
  public static final String L2_ADMISSION_KEY = "hbase.bucketcache.composite.l2.admission";

  /** Gray and Putzolu's rule: what is accessed less often is not worth memory. */
  private static final long DEFAULT_META_IDLE_MS = 300_000;
  private static final long MIN_META_IDLE_MS = 1000;

  private static final String FREQUENCY = "frequency";
  private static final String NONE = "none";
  private static final String ALL = "all";
  private static final String SECOND_MISS = "second-miss";

  public static final String COMMON_PREFIX = "hbase.bucketcache.";
  public static final String L1_PREFIX = COMMON_PREFIX + "l1.";
  public static final String L2_PREFIX = COMMON_PREFIX + "l2.";

  /**
   * What a tier is built on: offheap, mmap:PATH or pmem:PATH, and for L2 also
   * file:PATH, files:PATH,PATH or what a {@link DeviceTierEngine} begins with. Default: offheap for
   * L1, none for L2.
   */
  public static final String IOENGINE = "ioengine";

  /** MB from 1 on, or below that a fraction of maximum heap plus direct memory. Required. */
  public static final String SIZE = "size";

  /** Threads that write blocks into the tier, from 1 on. Default: the common key's value. */
  public static final String WRITER_THREADS = "writer.threads";

  /** Blocks that may wait for each writer thread, from 1 on. Default: the common key's value. */
  public static final String WRITER_QUEUE = "writer.queuelength";

  /** Bytes of each bucket size, multiples of 256. Default: the common key's value. */
  public static final String BUCKET_SIZES = "bucket.sizes";

  /**
   * Where L2's map is kept over a restart; needs file:, files: or a
   * {@link DeviceTierEngine}, which has a default of its own. Default: none.
   */
  public static final String PERSISTENT_PATH = "persistent.path";

  /** Whether blocks on a device carry checksums, checked on each read. Default: true. */
  public static final String CHECKSUM = "checksum.enabled";

  private static final String EXTERNAL_KEY = "hbase.blockcache.use.external";

  /** The key for the size of the row cache, whose memory is separate from the tiers. */
  private static final String ROW_CACHE_SIZE_KEY = "hbase.regionserver.row.cache.size.mb";
  private static final long MB = 1024 * 1024;

  private final TierSettings first;
  private final TierSettings second;
  private final double promotedShare;
  private final long metaIdleMs;
  private final List<String> warnings;
  private final boolean secondMissOnly;

  private CompositeBucketCacheSettings(Configuration conf) {
    if (conf.getBoolean(EXTERNAL_KEY, false)) {
      throw SettingsReader.rejected(EXTERNAL_KEY, true, "false if " + ENABLED_KEY + " is true",
        "Set one of the two to false");
    }
    first = new TierSettings(conf, L1_PREFIX, TierSettings.OFFHEAP,
      Arrays.asList(TierSettings.OFFHEAP, "mmap:", "pmem:"));
    List<String> engines = new ArrayList<>(Arrays.asList("file:", "files:"));
    engines.addAll(DeviceTierEngine.prefixes());
    engines.addAll(Arrays.asList("mmap:", "pmem:", TierSettings.OFFHEAP));
    second = new TierSettings(conf, L2_PREFIX, null, engines);
    if (first.getPersistentPath() != null) {
      throw SettingsReader.rejected(L1_PREFIX + PERSISTENT_PATH, first.getPersistentPath(),
        "unset, as only L2 is persisted", "Remove the key");
    }
    if (second.getPersistentPath() != null && !second.isFile()) {
      throw SettingsReader.rejected(L2_PREFIX + PERSISTENT_PATH, second.getPersistentPath(),
        "unset, as " + second.engineKey() + " is " + second.getIoEngine() + " and not "
          + persistentEngines(),
        "Change one of the two");
    }
    SettingsReader reader = SettingsReader.of(conf);
    promotedShare = promotedShare(conf);
    metaIdleMs = metaIdleMs(conf);
    secondMissOnly = isSecondMissOnly(conf);
    checkPaths();
    warnings = warnings(DiskSpaceDemand.check(reader, first, second), checkDirectMemory(conf));
    warnings.forEach(LOG::warn);
    for (String key : new String[] { HConstants.BUCKET_CACHE_IOENGINE_KEY,
      HConstants.BUCKET_CACHE_SIZE_KEY, HConstants.BUCKET_CACHE_PERSISTENT_PATH_KEY }) {
      if (reader.text(key) != null) {
        LOG.warn("{}={} is ignored, because {} is true: the tiers have keys of their own", key,
          reader.text(key), ENABLED_KEY);
      }
    }
  }

  /**
   * Returns whether the composite is to be used at all.
   * @throws IllegalArgumentException if the key is neither true nor false
   */
  public static boolean isEnabled(Configuration conf) {
    return SettingsReader.of(conf).flag(ENABLED_KEY, false);
  }

  /** Returns whether there is a composite whose L2 outlives a restart. */
  public static boolean isPersistent(Configuration conf) {
    SettingsReader reader = SettingsReader.of(conf);
    return isEnabled(conf) && (reader.text(L2_PREFIX + PERSISTENT_PATH) != null
      || DeviceTierEngine.of(reader.text(L2_PREFIX + IOENGINE)) != null);
  }

  private static String persistentEngines() {
    List<String> engines = new ArrayList<>(Arrays.asList("file:", "files:"));
    engines.addAll(DeviceTierEngine.prefixes());
    int last = engines.size() - 1;
    return "a " + String.join(", ", engines.subList(0, last)) + " or " + engines.get(last)
      + " engine";
  }

  /**
   * Reads and checks the settings.
   * @throws IllegalArgumentException if they cannot work; its message is for the operator
   */
  public static CompositeBucketCacheSettings of(Configuration conf) {
    return new CompositeBucketCacheSettings(conf);
  }

  /**
   * Checks the settings if the composite is to be used.
   * @throws IllegalArgumentException if they cannot work; its message is for the operator
   */
  public static void check(Configuration conf) {
    if (isEnabled(conf)) {
      of(conf);
    }
  }

  /**
   * Returns the warnings about settings that a server starts with, one sentence each.
   * @return an empty list if there are none, if the settings are rejected, or if the composite is
   *         not to be used
   */
  public static List<String> warnings(Configuration conf) {
    try {
      return isEnabled(conf) ? of(conf).warnings : Collections.emptyList();
    } catch (IllegalArgumentException e) {
      // The caller of of() reports that they are rejected.
      return Collections.emptyList();
    }
  }

  private static List<String> warnings(List<String> some, String another) {
    List<String> all = new ArrayList<>(some);
    if (another != null) {
      all.add(another);
    }
    return Collections.unmodifiableList(all);
  }

  public TierSettings first() {
    return first;
  }

  public TierSettings second() {
    return second;
  }

  /** Returns the share of L1 that data blocks may take, 0 to 1; 0 if none may. */
  public double promotedShare() {
    return promotedShare;
  }

  /**
   * Reads and checks the share of L1 that data blocks may take.
   * @return 0 to 1; 0 if none may
   * @throws IllegalArgumentException if a setting cannot work; its message is for the operator
   */
  static double promotedShare(Configuration conf) {
    SettingsReader reader = SettingsReader.of(conf);
    String promotion = reader.oneOf(PROMOTION_KEY, FREQUENCY, FREQUENCY, NONE);
    double share = reader.fractionIn(L1_DATA_MAX_KEY, 1, 0, 1);
    return promotion.equals(NONE) ? 0 : share;
  }

  /** Returns the idle time after which a meta block may be evicted for data, in ms; 0: never. */
  public long metaIdleMs() {
    return metaIdleMs;
  }

  /**
   * Reads and checks how long a meta block in L1 may be idle.
   * @return ms; 0 for as long as it likes
   * @throws IllegalArgumentException if the setting cannot work; its message is for the operator
   */
  static long metaIdleMs(Configuration conf) {
    SettingsReader reader = SettingsReader.of(conf);
    String remedy = "Set ms, or 0 to keep meta blocks for good";
    long ms = reader.longIn(L1_META_IDLE_KEY, DEFAULT_META_IDLE_MS, 0, Long.MAX_VALUE, remedy);
    if (ms > 0 && ms < MIN_META_IDLE_MS) {
      // A shorter time does not tell what is idle.
      throw SettingsReader.rejected(L1_META_IDLE_KEY, ms, "0 or at least " + MIN_META_IDLE_MS,
        remedy);
    }
    return ms;
  }

  /** Returns whether a block that a read has missed is inserted only if it was missed before. */
  public boolean isSecondMissOnly() {
    return secondMissOnly;
  }

  /**
   * Reads and checks whether a block that a read has missed is inserted into L2 only
   * if it was missed before.
   * @throws IllegalArgumentException if the setting cannot work; its message is for the operator
   */
  static boolean isSecondMissOnly(Configuration conf) {
    return SettingsReader.of(conf).oneOf(L2_ADMISSION_KEY, ALL, ALL, SECOND_MISS)
      .equals(SECOND_MISS);
  }

  private void checkPaths() {
    List<File> seen = new ArrayList<>();
    List<String> names = new ArrayList<>();
    for (TierSettings tier : new TierSettings[] { first, second }) {
      for (File file : tier.files()) {
        checkPath(tier.engineKey(), tier.getIoEngine(), file, seen, names);
      }
    }
    String persistentPath = second.getPersistentPath();
    if (persistentPath != null) {
      checkPath(L2_PREFIX + PERSISTENT_PATH, persistentPath, new File(persistentPath), seen,
        names);
    }
  }

  /** Each path is for one use, and in a directory that is there. */
  private static void checkPath(String key, String value, File file, List<File> seen,
    List<String> names) {
    for (int i = 0; i < seen.size(); i++) {
      if (isSame(file, seen.get(i))) {
        throw SettingsReader.rejected(key, value,
          "a path that nothing else uses, and " + names.get(i) + " uses " + file,
          "Give each its own path");
      }
    }
    File directory = file.getAbsoluteFile().getParentFile();
    if (directory == null || !directory.isDirectory() || !directory.canWrite()) {
      throw SettingsReader.rejected(key, value,
        "in a directory that exists and that this process may write, unlike " + directory,
        "Create it, or set another path");
    }
    if (file.isDirectory() || file.exists() && !file.canWrite()) {
      throw SettingsReader.rejected(key, value,
        "a file that this process may write, unlike " + file, "Remove it, or set another path");
    }
    seen.add(file);
    names.add(key);
  }

  private static boolean isSame(File a, File b) {
    try {
      return a.getCanonicalFile().equals(b.getCanonicalFile())
        || a.exists() && b.exists() && Files.isSameFile(a.toPath(), b.toPath());
    } catch (IOException e) {
      return a.getAbsoluteFile().equals(b.getAbsoluteFile());
    }
  }

  /**
   * Compares the direct memory of all components with the limit of the process. A component that
   * allocates on demand counts with its maximum, so that a server does not fail under load.
   * @return the warning if only what is reserved for others does not fit, null if there is none
   */
  private String checkDirectMemory(Configuration conf) {
    SettingsReader reader = SettingsReader.of(conf);
    DirectMemoryDemand demand = new DirectMemoryDemand();
    for (TierSettings tier : new TierSettings[] { first, second }) {
      if (tier.isDirect()) {
        demand.add(tier.sizeKey(), reader.text(tier.sizeKey()), tier.getCapacity());
      }
    }
    if (second.getDeviceTier() != null) {
      second.getDeviceTier().addDirectMemory(demand, conf);
    }
    try {
      addOthers(demand, conf);
    } catch (RuntimeException e) {
      // The memstore and the RPC server report bad values of their keys themselves.
      LOG.debug("Settings of the memstore or of the RPC buffer pool cannot be read", e);
    }
    long limit = DirectMemoryUtils.getDirectMemorySize();
    if (first.isDirect() || second.isDirect() || second.getDeviceTier() != null) {
      demand.check(limit);
    }
    return demand.warning(limit);
  }

  private static void addOthers(DirectMemoryDemand demand, Configuration conf) {
    long memstoreMb = Math.max(0, conf.getLong(MemorySizeUtil.OFFHEAP_MEMSTORE_SIZE_KEY, 0));
    demand.add(MemorySizeUtil.OFFHEAP_MEMSTORE_SIZE_KEY, memstoreMb, memstoreMb * MB);
    long rowCacheMb = Math.max(0, conf.getLong(ROW_CACHE_SIZE_KEY, 0));
    demand.add(ROW_CACHE_SIZE_KEY, rowCacheMb, rowCacheMb * MB);
    if (conf.getBoolean(ByteBuffAllocator.ALLOCATOR_POOL_ENABLED_KEY, true)) {
      // This pool has the same size as that of the server, and has not allocated a buffer yet.
      ByteBuffAllocator pool = ByteBuffAllocator.create(conf, true);
      int count = pool.getTotalBufferCount();
      demand.add(ByteBuffAllocator.MAX_BUFFER_COUNT_KEY + "=" + count + " of "
        + ByteBuffAllocator.BUFFER_SIZE_KEY + "=" + pool.getBufferSize(),
        (long) count * pool.getBufferSize());
    }
  }
}
