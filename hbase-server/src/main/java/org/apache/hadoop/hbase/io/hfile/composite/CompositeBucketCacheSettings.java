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
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
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
 * A setting that cannot work is refused with an {@link IllegalArgumentException} whose message is
 * one sentence: the key, its value, the remedy.
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

  /** ms between two probes of a disabled device, from 0 on; 0 for no probes. Default: 60000. */
  public static final String RETRY_INTERVAL = "retry.interval.ms";

  private static final long DEFAULT_RETRY_INTERVAL_MS = 60_000;

  private static final String EXTERNAL_KEY = "hbase.blockcache.use.external";

  private static final String OFFHEAP = "offheap";

  /** As BucketAllocator has them, which keeps them to itself. */
  private static final int DEFAULT_BUCKET_SIZE_COUNT = 14;
  private static final int DEFAULT_MAX_BUCKET_SIZE = 513 * 1024;
  private static final int MIN_ITEMS_IN_BUCKET = 4;

  private static final long MB = 1024 * 1024;

  /** One tier's share of the settings. Immutable. */
  @InterfaceAudience.Private
  public static final class Tier {
    private final String prefix;
    private final Configuration conf;
    private final String ioEngine;
    private final long capacity;
    private final int[] bucketSizes;
    private final int writerThreads;
    private final int writerQueueLength;
    private final String persistentPath;
    private final boolean checksumEnabled;
    private final long retryIntervalMs;
    private final DeviceTierEngine.Settings deviceTier;

    private Tier(Configuration all, String prefix, String defaultEngine, List<String> engines) {
      this.prefix = prefix;
      this.conf = ofTier(all, prefix);
      this.ioEngine = engine(all, prefix + IOENGINE, defaultEngine, engines);
      this.capacity = capacity(all, prefix + SIZE);
      this.bucketSizes = bucketSizes(all, keyInUse(all, prefix, BUCKET_SIZES));
      this.writerThreads = atLeastOne(all, keyInUse(all, prefix, WRITER_THREADS),
        BlockCacheFactory.DEFAULT_BUCKET_CACHE_WRITER_THREADS);
      this.writerQueueLength = atLeastOne(all, keyInUse(all, prefix, WRITER_QUEUE),
        BlockCacheFactory.DEFAULT_BUCKET_CACHE_WRITER_QUEUE);
      this.persistentPath = value(all, prefix + PERSISTENT_PATH);
      this.checksumEnabled = trueOrFalse(all, keyInUse(all, prefix, CHECKSUM), true);
      this.retryIntervalMs =
        atLeastZero(all, keyInUse(all, prefix, RETRY_INTERVAL), DEFAULT_RETRY_INTERVAL_MS);
      DeviceTierEngine engine = DeviceTierEngine.of(ioEngine);
      if (engine != null) {
        deviceTier = engine.check(ioEngine, prefix + SIZE, capacity, persistentPath, all);
        return;
      }
      deviceTier = null;
      int blockSize =
        all.getInt(BlockCacheFactory.BLOCKCACHE_BLOCKSIZE_KEY, HConstants.DEFAULT_BLOCKSIZE);
      if (capacity / blockSize >= Integer.MAX_VALUE) {
        throw bad(prefix + SIZE, value(all, prefix + SIZE),
          "is more than a tier can address; lower it below 32 TB or raise "
            + BlockCacheFactory.BLOCKCACHE_BLOCKSIZE_KEY);
      }
      int count = bucketSizes == null ? DEFAULT_BUCKET_SIZE_COUNT : bucketSizes.length;
      long bucket = MIN_ITEMS_IN_BUCKET * (long) (bucketSizes == null
        ? DEFAULT_MAX_BUCKET_SIZE
        : bucketSizes[bucketSizes.length - 1]);
      if (capacity / bucket < count) {
        throw bad(prefix + SIZE, value(all, prefix + SIZE),
          "is too small for the " + count + " bucket sizes of "
            + keyInUse(all, prefix, BUCKET_SIZES) + ", which need "
            + mb(count * bucket + MB - 1) + " MB; raise it, or list fewer or smaller sizes");
      }
    }

    /** Returns what the tier's own keys begin with. */
    public String getPrefix() {
      return prefix;
    }

    /** Returns the configuration as the tier is to see it: its own keys over the common ones. */
    public Configuration getConfiguration() {
      return conf;
    }

    /** Returns the engine with its path, as the bucket cache takes it. */
    public String getIoEngine() {
      return ioEngine;
    }

    /** Returns the capacity in bytes. */
    public long getCapacity() {
      return capacity;
    }

    /** Returns a copy of the bucket sizes in bytes, ascending; null for the built-in ones. */
    public int[] getBucketSizes() {
      return bucketSizes == null ? null : bucketSizes.clone();
    }

    public int getWriterThreads() {
      return writerThreads;
    }

    /** Returns how many blocks may wait for each writer thread. */
    public int getWriterQueueLength() {
      return writerQueueLength;
    }

    /** Returns where the tier's map outlives a restart, or null if it does not. */
    public String getPersistentPath() {
      return persistentPath;
    }

    /** Whether blocks carry checksums if the engine is a device. */
    public boolean isChecksumEnabled() {
      return checksumEnabled;
    }

    /** Returns the ms between two probes of a disabled device, 0 if there are to be none. */
    public long getRetryIntervalMs() {
      return retryIntervalMs;
    }

    /** Returns what opens a tier that is not a bucket cache, null if it is one. */
    public DeviceTierEngine.Settings getDeviceTier() {
      return deviceTier;
    }

    boolean isDirect() {
      return ioEngine.equals(OFFHEAP);
    }

    private boolean isFile() {
      return ioEngine.startsWith("file") || deviceTier != null;
    }

    private List<File> files() {
      if (isDirect()) {
        return Collections.emptyList();
      }
      List<File> files = new ArrayList<>();
      String paths = ioEngine.substring(ioEngine.indexOf(':') + 1);
      for (String path : isFile() ? paths.split(",") : new String[] { paths }) {
        files.add(new File(path));
      }
      return files;
    }
  }

  private final Tier first;
  private final Tier second;
  private final double promotedShare;
  private final long metaIdleMs;
  /** Null if there is none. */
  private final String warning;
  private final boolean secondMissOnly;

  private CompositeBucketCacheSettings(Configuration conf) {
    if (conf.getBoolean(EXTERNAL_KEY, false)) {
      throw bad(EXTERNAL_KEY, "true", "cannot be combined with " + ENABLED_KEY
        + "=true; set one of the two to false");
    }
    first = new Tier(conf, L1_PREFIX, OFFHEAP, Arrays.asList(OFFHEAP, "mmap:", "pmem:"));
    List<String> engines = new ArrayList<>(Arrays.asList("file:", "files:"));
    engines.addAll(DeviceTierEngine.prefixes());
    engines.addAll(Arrays.asList("mmap:", "pmem:", OFFHEAP));
    second = new Tier(conf, L2_PREFIX, null, engines);
    if (first.persistentPath != null) {
      throw bad(L1_PREFIX + PERSISTENT_PATH, first.persistentPath,
        "is not possible for L1; remove it, only L2 is persisted");
    }
    if (second.persistentPath != null && !second.isFile()) {
      throw bad(L2_PREFIX + PERSISTENT_PATH, second.persistentPath,
        "needs " + persistentEngines() + ", but " + L2_PREFIX + IOENGINE + "="
          + second.ioEngine + "; change one of the two");
    }
    promotedShare = promotedShare(conf);
    metaIdleMs = metaIdleMs(conf);
    secondMissOnly = isSecondMissOnly(conf);
    checkPaths();
    warning = checkDirectMemory(conf);
    for (String key : new String[] { HConstants.BUCKET_CACHE_IOENGINE_KEY,
      HConstants.BUCKET_CACHE_SIZE_KEY, HConstants.BUCKET_CACHE_PERSISTENT_PATH_KEY }) {
      if (value(conf, key) != null) {
        LOG.warn("{}={} is ignored, because {} is true: the tiers have keys of their own", key,
          value(conf, key), ENABLED_KEY);
      }
    }
  }

  /** Whether the composite is to be used at all. */
  public static boolean isEnabled(Configuration conf) {
    return conf.getBoolean(ENABLED_KEY, false);
  }

  /** Whether there is a composite whose L2 outlives a restart. */
  public static boolean isPersistent(Configuration conf) {
    return isEnabled(conf) && (value(conf, L2_PREFIX + PERSISTENT_PATH) != null
      || DeviceTierEngine.of(value(conf, L2_PREFIX + IOENGINE)) != null);
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
   * Returns the warnings about settings that a server starts with, one sentence each.
   * @return an empty list if there are none, or if the settings are refused
   */
  public static List<String> warnings(Configuration conf) {
    String found;
    try {
      found = of(conf).warning;
    } catch (IllegalArgumentException e) {
      // A refusal is reported by who calls of().
      return Collections.emptyList();
    }
    return found == null ? Collections.emptyList() : Collections.singletonList(found);
  }

  public Tier first() {
    return first;
  }

  public Tier second() {
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
    String promotion = value(conf, PROMOTION_KEY);
    if (promotion != null && !promotion.equals(FREQUENCY) && !promotion.equals(NONE)) {
      throw bad(PROMOTION_KEY, promotion,
        "is no way to promote blocks; set it to " + FREQUENCY + " or " + NONE);
    }
    String max = value(conf, L1_DATA_MAX_KEY);
    double share = 1;
    if (max != null) {
      try {
        share = Double.parseDouble(max);
      } catch (NumberFormatException e) {
        share = Double.NaN;
      }
      if (!(share >= 0 && share <= 1)) {
        throw bad(L1_DATA_MAX_KEY, max, "is not a fraction; set it to the share of the first tier "
          + "that data blocks may take, 0 to 1");
      }
    }
    return NONE.equals(promotion) ? 0 : share;
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
    long ms = atLeastZero(conf, L1_META_IDLE_KEY, DEFAULT_META_IDLE_MS);
    if (ms > 0 && ms < MIN_META_IDLE_MS) {
      throw bad(L1_META_IDLE_KEY, value(conf, L1_META_IDLE_KEY),
        "is too short to tell what is idle; set it to " + MIN_META_IDLE_MS
          + " or more, or to 0 to keep meta blocks for good");
    }
    return ms;
  }

  /** Whether a block that a read has missed is inserted only if it was missed before. */
  public boolean isSecondMissOnly() {
    return secondMissOnly;
  }

  /**
   * Reads and checks whether a block that a read has missed is inserted into L2 only
   * if it was missed before.
   * @throws IllegalArgumentException if the setting cannot work; its message is for the operator
   */
  static boolean isSecondMissOnly(Configuration conf) {
    String admission = value(conf, L2_ADMISSION_KEY);
    if (admission != null && !admission.equals(ALL) && !admission.equals(SECOND_MISS)) {
      throw bad(L2_ADMISSION_KEY, admission,
        "is no way to admit blocks; set it to " + ALL + " or " + SECOND_MISS);
    }
    return SECOND_MISS.equals(admission);
  }

  /**
   * Returns the configuration as the tier with this prefix is to see it: a copy in which its own
   * keys stand under the common names, or the same object if it has none.
   */
  static Configuration ofTier(Configuration conf, String prefix) {
    Map<String, String> own = conf.getPropsWithPrefix(prefix);
    if (own.isEmpty()) {
      return conf;
    }
    Configuration tier = new Configuration(conf);
    own.forEach((name, value) -> tier.set(COMMON_PREFIX + name, value));
    return tier;
  }

  private void checkPaths() {
    List<File> seen = new ArrayList<>();
    List<String> names = new ArrayList<>();
    for (Tier tier : new Tier[] { first, second }) {
      for (File file : tier.files()) {
        checkPath(tier.prefix + IOENGINE, tier.ioEngine, file, seen, names);
      }
    }
    if (second.persistentPath != null) {
      checkPath(L2_PREFIX + PERSISTENT_PATH, second.persistentPath,
        new File(second.persistentPath), seen, names);
    }
  }

  /** Each path is for one use, and in a directory that is there. */
  private static void checkPath(String key, String value, File file, List<File> seen,
    List<String> names) {
    for (int i = 0; i < seen.size(); i++) {
      if (isSame(file, seen.get(i))) {
        throw bad(key, value, "names " + file + ", which is in use by " + names.get(i)
          + "; give each its own path");
      }
    }
    File directory = file.getAbsoluteFile().getParentFile();
    if (directory == null || !directory.isDirectory() || !directory.canWrite()) {
      throw bad(key, value, "needs the directory " + directory
        + " to exist and be writable by this process; create it, or name another path");
    }
    if (file.isDirectory() || file.exists() && !file.canWrite()) {
      throw bad(key, value, "names " + file + ", which is not a file this process may write; "
        + "remove it, or name another path");
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
   * Compares the direct memory of all components with the limit of the process. What the start
   * allocates must fit. The rest is allocated on demand, and a server may run for long without
   * needing all of it, so a sum beyond the limit is a warning.
   * @return the warning, null if there is none
   */
  private String checkDirectMemory(Configuration conf) {
    long limit = DirectMemoryUtils.getDirectMemorySize();
    long wanted = 0;
    DirectMemoryDemand demand = new DirectMemoryDemand();
    for (Tier tier : new Tier[] { first, second }) {
      if (!tier.isDirect()) {
        continue;
      }
      wanted += tier.capacity;
      if (wanted > limit) {
        String both = wanted > tier.capacity ? "with " + L1_PREFIX + SIZE + "=" + value(conf,
          L1_PREFIX + SIZE) + " makes " + mb(wanted) + " MB, which " : "";
        throw bad(tier.prefix + SIZE, value(conf, tier.prefix + SIZE), both + "exceeds the "
          + mb(limit) + " MB of direct memory of this process; lower it, or raise "
          + "-XX:MaxDirectMemorySize");
      }
      demand.addAtStart(tier.prefix + SIZE + "=" + value(conf, tier.prefix + SIZE), tier.capacity);
    }
    if (second.deviceTier != null) {
      second.deviceTier.addDirectMemory(demand, conf);
    }
    String refusal = demand.refusal(limit);
    if (refusal != null) {
      throw new IllegalArgumentException(refusal);
    }
    try {
      addOthers(demand, conf);
    } catch (RuntimeException e) {
      // The memstore and the RPC server report bad values of their keys themselves.
      LOG.debug("Settings of the memstore or of the RPC buffer pool cannot be read", e);
    }
    String exceeded = demand.warning(limit);
    if (exceeded != null) {
      LOG.warn(exceeded);
    }
    return exceeded;
  }

  private static void addOthers(DirectMemoryDemand demand, Configuration conf) {
    long memstoreMb = Math.max(0, conf.getLong(MemorySizeUtil.OFFHEAP_MEMSTORE_SIZE_KEY, 0));
    demand.addLater(MemorySizeUtil.OFFHEAP_MEMSTORE_SIZE_KEY + "=" + memstoreMb, memstoreMb * MB);
    if (conf.getBoolean(ByteBuffAllocator.ALLOCATOR_POOL_ENABLED_KEY, true)) {
      // As the server's own; without a buffer yet.
      ByteBuffAllocator pool = ByteBuffAllocator.create(conf, true);
      int count = pool.getTotalBufferCount();
      demand.addLater(ByteBuffAllocator.MAX_BUFFER_COUNT_KEY + "=" + count + " of "
        + ByteBuffAllocator.BUFFER_SIZE_KEY + "=" + pool.getBufferSize(),
        (long) count * pool.getBufferSize());
    }
  }

  private static String engine(Configuration conf, String key, String defaultEngine,
    List<String> engines) {
    String engine = value(conf, key);
    if (engine == null) {
      engine = defaultEngine;
    }
    String choice = String.join(", ", engines).replace(":", ":PATH");
    if (engine == null) {
      throw new IllegalArgumentException(key + " is missing; set it to one of " + choice + ".");
    }
    for (String known : engines) {
      if (engine.equals(known) && known.equals(OFFHEAP)
        || engine.startsWith(known) && engine.length() > known.length() && known.endsWith(":")) {
        return engine;
      }
    }
    throw bad(key, engine, "is not an engine of this tier; set it to one of " + choice);
  }

  private static long capacity(Configuration conf, String key) {
    String remedy = "set it to the tier's size in MB, or to a fraction below 1 of heap and direct "
      + "memory together";
    String value = value(conf, key);
    if (value == null) {
      throw new IllegalArgumentException(key + " is missing; " + remedy + ".");
    }
    double size;
    try {
      size = Double.parseDouble(value);
    } catch (NumberFormatException e) {
      throw bad(key, value, "is not a number; " + remedy);
    }
    if (!(size > 0) || size > Long.MAX_VALUE / MB) {
      throw bad(key, value, "is not a size; " + remedy);
    }
    return (long) (size < 1
      ? size * (Runtime.getRuntime().maxMemory() + DirectMemoryUtils.getDirectMemorySize())
      : size * MB);
  }

  private static int[] bucketSizes(Configuration conf, String key) {
    String value = value(conf, key);
    if (value == null) {
      return null;
    }
    String[] items = value.split(",", -1);
    int[] sizes = new int[items.length];
    for (int i = 0; i < items.length; i++) {
      try {
        sizes[i] = Integer.parseInt(items[i].trim());
      } catch (NumberFormatException e) {
        sizes[i] = 0;
      }
      // A block's place is kept in units of 256 bytes.
      if (sizes[i] <= 0 || sizes[i] % 256 != 0) {
        throw bad(key, value, "has '" + items[i].trim()
          + "' where a number of bytes belongs; list positive multiples of 256 between commas");
      }
    }
    Arrays.sort(sizes);
    return sizes;
  }

  private static int atLeastOne(Configuration conf, String key, int defaultValue) {
    String value = value(conf, key);
    if (value == null) {
      return defaultValue;
    }
    int number;
    try {
      number = Integer.parseInt(value);
    } catch (NumberFormatException e) {
      number = 0;
    }
    if (number < 1) {
      throw bad(key, value, "is not a whole number from 1 on; the default is " + defaultValue);
    }
    return number;
  }

  private static long atLeastZero(Configuration conf, String key, long defaultValue) {
    String value = value(conf, key);
    if (value == null) {
      return defaultValue;
    }
    long number;
    try {
      number = Long.parseLong(value);
    } catch (NumberFormatException e) {
      number = -1;
    }
    if (number < 0) {
      throw bad(key, value, "is not a whole number from 0 on; the default is " + defaultValue);
    }
    return number;
  }

  private static boolean trueOrFalse(Configuration conf, String key, boolean defaultValue) {
    String value = value(conf, key);
    if (value == null) {
      return defaultValue;
    }
    if (!value.equalsIgnoreCase("true") && !value.equalsIgnoreCase("false")) {
      throw bad(key, value, "is neither; set it to true or false");
    }
    return value.equalsIgnoreCase("true");
  }

  private static String keyInUse(Configuration conf, String prefix, String name) {
    return value(conf, prefix + name) == null ? COMMON_PREFIX + name : prefix + name;
  }

  private static String value(Configuration conf, String key) {
    String value = conf.getTrimmed(key);
    return value == null || value.isEmpty() ? null : value;
  }

  private static long mb(long bytes) {
    return bytes / MB;
  }

  private static IllegalArgumentException bad(String key, String value, String what) {
    return new IllegalArgumentException(key + "=" + value + " " + what + ".");
  }
}
