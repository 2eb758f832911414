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
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.conf.SettingsReader;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.apache.hadoop.hbase.util.DirectMemoryUtils;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The settings of one tier of {@link CompositeBucketCache}, which describes the keys in its
 * {@link CompositeBucketCacheSettings}. Read and checked on their own, without those of the other
 * tier. Immutable.
 */
@InterfaceAudience.Private
public final class TierSettings {
  static final String OFFHEAP = "offheap";

  /** These are the defaults of BucketAllocator, where they are private. */
  private static final int DEFAULT_BUCKET_SIZE_COUNT = 14;
  private static final int DEFAULT_MAX_BUCKET_SIZE = 513 * 1024;
  private static final int MIN_ITEMS_IN_BUCKET = 4;

  private static final long MB = 1024 * 1024;

  private final String prefix;
  private final Configuration conf;
  private final String ioEngine;
  private final long capacity;
  private final int[] bucketSizes;
  private final int writerThreads;
  private final int writerQueueLength;
  private final String persistentPath;
  private final boolean checksumEnabled;
  private final DeviceTierEngine.Settings deviceTier;

  /**
   * Reads and checks the settings.
   * @param all           the server's configuration
   * @param prefix        of the tier's own keys
   * @param defaultEngine null if the engine has to be set
   * @param engines       each name, with a colon if paths follow
   * @throws IllegalArgumentException with key, value, range and remedy
   */
  TierSettings(Configuration all, String prefix, String defaultEngine, List<String> engines) {
    SettingsReader reader = SettingsReader.of(all);
    this.prefix = prefix;
    this.conf = ofTier(all, prefix);
    this.ioEngine = engine(reader, defaultEngine, engines);
    this.capacity = capacity(reader);
    String bucketSizesKey = keyInUse(reader, CompositeBucketCacheSettings.BUCKET_SIZES);
    this.bucketSizes = bucketSizes(reader, bucketSizesKey);
    this.writerThreads =
      reader.intIn(keyInUse(reader, CompositeBucketCacheSettings.WRITER_THREADS),
        BlockCacheFactory.DEFAULT_BUCKET_CACHE_WRITER_THREADS, 1, Integer.MAX_VALUE);
    this.writerQueueLength =
      reader.intIn(keyInUse(reader, CompositeBucketCacheSettings.WRITER_QUEUE),
        BlockCacheFactory.DEFAULT_BUCKET_CACHE_WRITER_QUEUE, 1, Integer.MAX_VALUE);
    this.persistentPath = reader.text(prefix + CompositeBucketCacheSettings.PERSISTENT_PATH);
    this.checksumEnabled =
      reader.flag(keyInUse(reader, CompositeBucketCacheSettings.CHECKSUM), true);
    DeviceTierEngine engine = DeviceTierEngine.of(ioEngine);
    if (engine == null) {
      deviceTier = null;
      checkCapacity(reader, bucketSizesKey);
    } else {
      deviceTier = engine.check(ioEngine, sizeKey(), capacity, persistentPath, all);
    }
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
    own.forEach(
      (name, value) -> tier.set(CompositeBucketCacheSettings.COMMON_PREFIX + name, value));
    return tier;
  }

  private String keyInUse(SettingsReader reader, String name) {
    return reader.text(prefix + name) == null
      ? CompositeBucketCacheSettings.COMMON_PREFIX + name
      : prefix + name;
  }

  private String engine(SettingsReader reader, String defaultEngine, List<String> engines) {
    String key = engineKey();
    String engine = reader.text(key);
    if (engine == null) {
      engine = defaultEngine;
    }
    for (String known : engines) {
      if (
        known.equals(engine) && known.equals(OFFHEAP)
          || engine != null && engine.startsWith(known) && engine.length() > known.length()
            && known.endsWith(":")
      ) {
        return engine;
      }
    }
    throw SettingsReader.rejected(key, engine,
      "one of " + String.join(", ", engines).replace(":", ":PATH"),
      defaultEngine == null
        ? "Set one of these"
        : "Set one of these, or remove the key for the default of " + defaultEngine);
  }

  private long capacity(SettingsReader reader) {
    String value = reader.text(sizeKey());
    double size = Double.NaN;
    try {
      size = value == null ? size : Double.parseDouble(value);
    } catch (NumberFormatException e) {
      // The check below rejects the value.
    }
    if (!(size > 0) || size > Long.MAX_VALUE / MB) {
      throw SettingsReader.rejected(sizeKey(), value, "a number above 0",
        "Set the tier's size in MB, or a fraction below 1 of heap and direct memory together");
    }
    return (long) (size < 1
      ? size * (Runtime.getRuntime().maxMemory() + DirectMemoryUtils.getDirectMemorySize())
      : size * MB);
  }

  private static int[] bucketSizes(SettingsReader reader, String key) {
    String value = reader.text(key);
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
        throw SettingsReader.rejected(key, value,
          "positive multiples of 256 bytes with commas between, unlike '" + items[i].trim() + "'",
          "Correct the list, or remove the key");
      }
    }
    Arrays.sort(sizes);
    return sizes;
  }

  private void checkCapacity(SettingsReader reader, String bucketSizesKey) {
    String value = reader.text(sizeKey());
    int blockSize =
      conf.getInt(BlockCacheFactory.BLOCKCACHE_BLOCKSIZE_KEY, HConstants.DEFAULT_BLOCKSIZE);
    if (capacity / blockSize >= Integer.MAX_VALUE) {
      throw SettingsReader.rejected(sizeKey(), value,
        "below " + Integer.MAX_VALUE + " blocks of the " + blockSize + " bytes of "
          + BlockCacheFactory.BLOCKCACHE_BLOCKSIZE_KEY,
        "Lower it below 32 TB, or raise " + BlockCacheFactory.BLOCKCACHE_BLOCKSIZE_KEY);
    }
    BucketMapHeap.check(sizeKey(), value, capacity, conf);
    int count = bucketSizes == null ? DEFAULT_BUCKET_SIZE_COUNT : bucketSizes.length;
    long bucket = MIN_ITEMS_IN_BUCKET * (long) (bucketSizes == null
      ? DEFAULT_MAX_BUCKET_SIZE
      : bucketSizes[bucketSizes.length - 1]);
    if (capacity / bucket < count) {
      throw SettingsReader.rejected(sizeKey(), value,
        "at least the " + (count * bucket + MB - 1) / MB + " MB that the " + count
          + " bucket sizes of " + bucketSizesKey + " need",
        "Raise it, or list fewer or smaller sizes");
    }
  }

  String engineKey() {
    return prefix + CompositeBucketCacheSettings.IOENGINE;
  }

  String sizeKey() {
    return prefix + CompositeBucketCacheSettings.SIZE;
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

  /** Returns whether blocks carry checksums if the engine is a device. */
  public boolean isChecksumEnabled() {
    return checksumEnabled;
  }

  /** Returns what opens a tier that is not a bucket cache, null if it is one. */
  public DeviceTierEngine.Settings getDeviceTier() {
    return deviceTier;
  }

  boolean isDirect() {
    return ioEngine.equals(OFFHEAP);
  }

  /** Returns whether the tier's blocks can be persisted. */
  boolean isFile() {
    return ioEngine.startsWith("file") || deviceTier != null;
  }

  /** Returns the files of the engine, none if it has no path. */
  List<File> files() {
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
