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
package org.apache.hadoop.hbase.regionserver.operations;

import java.io.File;
import java.net.URI;
import java.net.URL;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import javax.xml.stream.Location;
import javax.xml.stream.XMLStreamException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.conf.SettingsReader;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.SizeClassByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.composite.CompositeBucketCacheSettings;
import org.apache.hadoop.hbase.io.hfile.composite.DeviceTierEngine;
import org.apache.hadoop.hbase.io.hfile.load.HandoverSettings;
import org.apache.hadoop.hbase.io.hfile.load.PrefetchLimit;
import org.apache.hadoop.hbase.io.hfile.load.PrefetchSettings;
import org.apache.hadoop.hbase.io.util.MemorySizeUtil;
import org.apache.hadoop.hbase.ipc.FlushConsolidationSettings;
import org.apache.hadoop.hbase.regionserver.multiget.MultigetSettings;
import org.apache.hadoop.hbase.regionserver.read.PointGetSettings;
import org.apache.hadoop.hbase.regionserver.read.cache.RowCacheSettings;
import org.apache.hadoop.hbase.regionserver.wal.AsyncWalSettings;
import org.apache.hadoop.hbase.regionserver.wal.DefaultDurability;
import org.apache.hadoop.hbase.regionserver.wal.SyncsInFlightSettings;
import org.apache.hadoop.hbase.regionserver.write.CoalescerSettings;
import org.apache.hadoop.hbase.regionserver.write.WriteGroupSettings;
import org.apache.hadoop.hbase.util.DirectMemoryUtils;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports, before a RegionServer starts, which of its settings would prevent the start or would be
 * ignored. It calls the classes that read them, so the messages are those of the server:
 *
 * <pre>
 * bin/hbase org.apache.hadoop.hbase.regionserver.operations.SettingsCheck
 * </pre>
 *
 * A line that begins with <code>refused</code> is an invalid setting, one that begins with
 * <code>misspelt</code> is a key that no code reads, and one that begins with
 * <code>without-effect</code> is a key of a feature whose enabling key is not set. One that begins
 * with <code>warning</code> is about settings with which the server starts, and one that begins
 * with <code>rollback</code> is about settings that the original HBase does not support. Must be
 * run as the server's user, with the server's memory options: the validity of settings depends on
 * both. The exit code is 0 if no setting is refused, 1 otherwise.
 */
@InterfaceAudience.Private
public final class SettingsCheck {
  private static final Logger LOG = LoggerFactory.getLogger(SettingsCheck.class);

  private static final long MB = 1 << 20;

  /** The key that enables a feature, by what the keys begin with that have no effect without it. */
  private static final Map<String, String> ENABLING = enabling();

  /** Valid values of the keys that have no default. The tier is of the smallest valid size. */
  private static final Map<String, String> VALID = valid();

  /** Reads settings, and throws an exception with a message for the operator if one is invalid. */
  private interface Check {
    void run(Configuration conf) throws Exception;
  }

  /** Each class that reads settings of its own. */
  private static final Map<Class<?>, Check> CHECKS = checks();

  private SettingsCheck() {
  }

  private static Map<Class<?>, Check> checks() {
    Map<Class<?>, Check> checks = new LinkedHashMap<>();
    checks.put(CompositeBucketCacheSettings.class, CompositeBucketCacheSettings::check);
    checks.put(PrefetchSettings.class, PrefetchSettings::of);
    checks.put(PrefetchLimit.class, PrefetchLimit::check);
    checks.put(HandoverSettings.class, HandoverSettings::of);
    checks.put(FlushConsolidationSettings.class, FlushConsolidationSettings::of);
    checks.put(WriteGroupSettings.class, WriteGroupSettings::of);
    checks.put(CoalescerSettings.class, CoalescerSettings::of);
    checks.put(MultigetSettings.class, MultigetSettings::of);
    checks.put(PointGetSettings.class, PointGetSettings::of);
    checks.put(RowCacheSettings.class, RowCacheSettings::of);
    checks.put(AsyncWalSettings.class, AsyncWalSettings::of);
    checks.put(DefaultDurability.class, DefaultDurability::check);
    checks.put(SyncsInFlightSettings.class, SyncsInFlightSettings::of);
    return Collections.unmodifiableMap(checks);
  }

  private static Map<String, String> enabling() {
    Map<String, String> enabling = new LinkedHashMap<>();
    for (String key : new String[] { CompositeBucketCacheSettings.ENABLED_KEY,
      CoalescerSettings.ENABLED_KEY, MultigetSettings.ENABLED_KEY, PointGetSettings.ENABLED_KEY }) {
      enabling.put(key.substring(0, key.lastIndexOf('.') + 1), key);
    }
    for (String prefix : new String[] { CompositeBucketCacheSettings.L1_PREFIX,
      CompositeBucketCacheSettings.L2_PREFIX, "hbase.segmentcache." }) {
      enabling.put(prefix, CompositeBucketCacheSettings.ENABLED_KEY);
    }
    enabling.put("hbase.regionserver.row.cache.", RowCacheSettings.SIZE_KEY);
    return enabling;
  }

  private static Map<String, String> valid() {
    Map<String, String> valid = new LinkedHashMap<>();
    String size = CompositeBucketCacheSettings.SIZE;
    valid.put(CompositeBucketCacheSettings.L1_PREFIX + size, "29");
    valid.put(CompositeBucketCacheSettings.L2_PREFIX + size, "29");
    valid.put(CompositeBucketCacheSettings.L2_PREFIX + CompositeBucketCacheSettings.IOENGINE,
      "file:" + new File(System.getProperty("java.io.tmpdir"), "settings-check"));
    return valid;
  }

  public static void main(String[] args) {
    Configuration conf = null;
    try {
      conf = HBaseConfiguration.create();
    } catch (RuntimeException e) {
      String sentence = malformed(e);
      if (sentence == null) {
        throw e;
      }
      System.out.println("memory unknown");
      System.out.println("refused " + sentence);
      System.exit(1);
    }
    List<String> refused = refused(conf);
    System.out.println("memory heap " + Runtime.getRuntime().maxMemory() / MB + " MB, direct "
      + DirectMemoryUtils.getDirectMemorySize() / MB + " MB");
    refused.forEach(message -> System.out.println("refused " + message));
    misspelt(conf).forEach(sentence -> System.out.println("misspelt " + sentence));
    withoutEffect(conf).forEach(sentence -> System.out.println("without-effect " + sentence));
    warnings(conf).forEach(sentence -> System.out.println("warning " + sentence));
    rollback(conf).forEach(sentence -> System.out.println("rollback " + sentence));
    System.exit(refused.isEmpty() ? 0 : 1);
  }

  /** Returns the classes whose settings are checked. */
  static Set<Class<?>> classes() {
    return CHECKS.keySet();
  }

  /** Returns the classes whose constants are the keys of the fork. */
  static Set<Class<?>> keyClasses() {
    Set<Class<?>> classes = new LinkedHashSet<>(CHECKS.keySet());
    classes.add(SizeClassByteBuffAllocator.class);
    classes.addAll(DeviceTierEngine.settingsClasses());
    return classes;
  }

  /** Logs misspelt keys, and the warnings that no class logs when it reads its settings. */
  public static void logWarnings(Configuration conf) {
    startWarnings(conf).forEach(LOG::warn);
  }

  static List<String> startWarnings(Configuration conf) {
    List<String> warnings = new ArrayList<>(misspelt(conf));
    warnings.addAll(withoutEffect(conf));
    warnings.addAll(withoutBlockCache(conf));
    return warnings;
  }

  /** Returns one sentence per key that an operator has set and that no code reads. */
  static List<String> misspelt(Configuration conf) {
    return new MisspeltKeys(keyClasses()).in(conf);
  }

  /** Returns one message per group of invalid settings, empty if all are valid. */
  static List<String> refused(Configuration conf) {
    // A key that two classes read is reported once.
    Set<String> refused = new LinkedHashSet<>();
    run(refused, MemorySizeUtil::validateRegionServerHeapMemoryAllocation, conf);
    CHECKS.values().forEach(check -> run(refused, check, conf));
    run(refused, c -> ByteBuffAllocator.create(c, true).clean(), conf);
    return new ArrayList<>(refused);
  }

  /** Returns the warnings about settings with which a server starts, one sentence each. */
  static List<String> warnings(Configuration conf) {
    List<String> warnings = new ArrayList<>(CompositeBucketCacheSettings.warnings(conf));
    warnings.addAll(withoutEffect(conf, true));
    warnings.addAll(withoutBlockCache(conf));
    return warnings;
  }

  private static List<String> withoutBlockCache(Configuration conf) {
    return hasBlockCache(conf)
      ? Collections.emptyList()
      : Collections.singletonList(HConstants.HFILE_BLOCK_CACHE_SIZE_KEY + " is "
        + conf.get(HConstants.HFILE_BLOCK_CACHE_SIZE_KEY) + " and "
        + CompositeBucketCacheSettings.ENABLED_KEY + " is not true; this server has no block cache."
        + " Set " + HConstants.HFILE_BLOCK_CACHE_SIZE_KEY + " to " + heapShare(conf)
        + ", or enable the composite bucket cache.");
  }

  /** Returns whether there is a block cache, or settings that are refused. */
  private static boolean hasBlockCache(Configuration conf) {
    try {
      return CompositeBucketCacheSettings.isEnabled(conf)
        || MemorySizeUtil.getOnHeapCacheSize(conf) >= 0;
    } catch (IllegalArgumentException e) {
      return true;
    }
  }

  /** Returns the default share of a block cache on the heap, or what the memstore leaves of it. */
  private static String heapShare(Configuration conf) {
    float left = 1 - MemorySizeUtil.getRegionServerMinFreeHeapFraction(conf)
      - MemorySizeUtil.getGlobalMemStoreHeapPercent(conf, false);
    return String.format(Locale.ROOT, "%.2f",
      Math.max(0, Math.min(HConstants.HFILE_BLOCK_CACHE_SIZE_DEFAULT, left)));
  }

  /**
   * Returns what has to be corrected before the original HBase runs with these settings, which
   * ignores the tiers: settings with which it would have no block cache, or would not start.
   */
  static List<String> rollback(Configuration conf) {
    Configuration stock = new Configuration(conf);
    stock.unset(CompositeBucketCacheSettings.ENABLED_KEY);
    Set<String> found = new LinkedHashSet<>();
    run(found, MemorySizeUtil::validateRegionServerHeapMemoryAllocation, stock);
    if (!hasBlockCache(stock)) {
      String share = heapShare(stock);
      found.add(HConstants.HFILE_BLOCK_CACHE_SIZE_KEY + " is "
        + conf.get(HConstants.HFILE_BLOCK_CACHE_SIZE_KEY)
        + origin(conf, HConstants.HFILE_BLOCK_CACHE_SIZE_KEY) + "; without the tiers of "
        + CompositeBucketCacheSettings.ENABLED_KEY + ", a server has no block cache with it. Set it"
        + " to " + share + ", or to less.");
    }
    return new ArrayList<>(found);
  }

  /** Returns the file that a value is from, after a word; empty if it is not from a file. */
  private static String origin(Configuration conf, String key) {
    String[] sources = conf.getPropertySources(key);
    if (sources == null || sources.length == 0) {
      return "";
    }
    String source = sources[sources.length - 1];
    URL resource = conf.getResource(source);
    String url = resource == null ? source : resource.toString();
    return url.startsWith("file:") ? " in " + file(url) : "";
  }

  /** Runs a check again without the value that it has rejected, until it rejects none. */
  private static void run(Set<String> refused, Check check, Configuration conf) {
    Configuration rest = new Configuration(conf);
    Set<String> keys = new LinkedHashSet<>();
    while (true) {
      try {
        check.run(rest);
        return;
      } catch (Exception e) {
        String message = message(e);
        // The first word of a message for the operator.
        String key = message.split(" ", 2)[0];
        if (!keys.add(key)) {
          return;
        }
        refused.add(message);
        if (VALID.containsKey(key)) {
          rest.set(key, VALID.get(key));
        } else if (rest.get(key) != null) {
          rest.unset(key);
        } else {
          return;
        }
      }
    }
  }

  /**
   * Returns one sentence per key that an operator has set of a feature whose enabling key is not
   * set.
   */
  static List<String> withoutEffect(Configuration conf) {
    return withoutEffect(conf, false);
  }

  /** @param disabled whether only features are meant that are disabled explicitly */
  private static List<String> withoutEffect(Configuration conf, boolean disabled) {
    Map<String, String> found = new TreeMap<>();
    ENABLING.forEach((prefix, enabling) -> {
      boolean size = enabling.equals(RowCacheSettings.SIZE_KEY);
      String value = MisspeltKeys.isSetByOperator(enabling, conf)
        ? SettingsReader.of(conf).text(enabling)
        : null;
      if (disabled ? !(size ? "0" : "false").equalsIgnoreCase(value) : value != null) {
        return;
      }
      conf.getPropsWithPrefix(prefix).forEach((name, ineffective) -> {
        String key = prefix + name;
        if (
          !key.equals(enabling) && !ineffective.trim().isEmpty()
            && MisspeltKeys.isSetByOperator(key, conf)
        ) {
          found.put(key, key + " is " + ineffective + "; it has no effect, as " + enabling
            + " is not " + (size ? "above 0. Set that to a size in MB" : "true. Set that to true")
            + ", or remove this key.");
        }
      });
    });
    return new ArrayList<>(found.values());
  }

  /** Returns the sentence about a file that is not well-formed, null if that is not the cause. */
  static String malformed(RuntimeException e) {
    Throwable cause = e;
    while (cause != null && !(cause instanceof XMLStreamException)) {
      cause = cause.getCause();
    }
    if (cause == null || ((XMLStreamException) cause).getLocation() == null) {
      return null;
    }
    Location location = ((XMLStreamException) cause).getLocation();
    return file(String.valueOf(location.getSystemId())) + ", line " + location.getLineNumber()
      + ": " + cause.getMessage().split("\n", 2)[0].trim() + " Correct the file.";
  }

  private static String file(String url) {
    return url.startsWith("file:") ? new File(URI.create(url)).toString() : url;
  }

  private static String message(Throwable e) {
    String message = e.getMessage() == null ? "" : e.getMessage().trim().replaceAll("\\s+", " ");
    // The message of an exception for the operator suffices; for others, the type is added.
    return e instanceof IllegalArgumentException && !(e instanceof NumberFormatException)
      && !message.isEmpty() ? message : e.getClass().getSimpleName() + ": " + message;
  }
}
