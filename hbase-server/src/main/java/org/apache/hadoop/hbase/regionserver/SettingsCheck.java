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
package org.apache.hadoop.hbase.regionserver;

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
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.SizeClassByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.composite.CompositeBucketCacheSettings;
import org.apache.hadoop.hbase.io.hfile.composite.DeviceTierEngine;
import org.apache.hadoop.hbase.io.hfile.handover.HandoverSettings;
import org.apache.hadoop.hbase.io.hfile.prefetch.PrefetchLimit;
import org.apache.hadoop.hbase.io.hfile.prefetch.PrefetchSettings;
import org.apache.hadoop.hbase.io.util.MemorySizeUtil;
import org.apache.hadoop.hbase.ipc.FlushConsolidationSettings;
import org.apache.hadoop.hbase.regionserver.counter.CoalescerSettings;
import org.apache.hadoop.hbase.regionserver.get.PointGetSettings;
import org.apache.hadoop.hbase.regionserver.multiget.MultigetSettings;
import org.apache.hadoop.hbase.regionserver.rowcache.RowCacheSettings;
import org.apache.hadoop.hbase.regionserver.wal.AsyncWalSettings;
import org.apache.hadoop.hbase.regionserver.wal.DefaultDurability;
import org.apache.hadoop.hbase.regionserver.wal.SyncsInFlightSettings;
import org.apache.hadoop.hbase.regionserver.writegroup.WriteGroupSettings;
import org.apache.hadoop.hbase.util.DirectMemoryUtils;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports, before a RegionServer starts, which of its settings would prevent the start or would be
 * ignored. It calls the classes that read them, so the messages are those of the server:
 *
 * <pre>
 * bin/hbase org.apache.hadoop.hbase.regionserver.SettingsCheck
 * </pre>
 *
 * A line that begins with <code>refused</code> is an invalid setting, one that begins with
 * <code>misspelt</code> is a key that no code reads, one that begins with <code>warning</code> is
 * about settings with which the server starts, and one that begins with <code>rollback</code> is
 * about settings that the original HBase does not support. Must be run as the server's user, with
 * the server's memory options: the validity of settings depends on both. The exit code is 0 if no
 * setting is refused, 1 otherwise.
 */
@InterfaceAudience.Private
public final class SettingsCheck {
  private static final Logger LOG = LoggerFactory.getLogger(SettingsCheck.class);

  private static final long MB = 1 << 20;

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

  public static void main(String[] args) {
    Configuration conf = HBaseConfiguration.create();
    List<String> refused = refused(conf);
    System.out.println("memory heap " + Runtime.getRuntime().maxMemory() / MB + " MB, direct "
      + DirectMemoryUtils.getDirectMemorySize() / MB + " MB");
    refused.forEach(message -> System.out.println("refused " + message));
    misspelt(conf).forEach(sentence -> System.out.println("misspelt " + sentence));
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

  /** Logs the warnings that no class logs when it reads its settings. */
  static void logWarnings(Configuration conf) {
    startWarnings(conf).forEach(LOG::warn);
  }

  static List<String> startWarnings(Configuration conf) {
    List<String> warnings = new ArrayList<>(misspelt(conf));
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
    warnings.addAll(RowCacheSettings.warnings(conf));
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
    return url.startsWith("file:") ? " in " + new File(URI.create(url)) : "";
  }

  private static void run(Set<String> refused, Check check, Configuration conf) {
    try {
      check.run(conf);
    } catch (Exception e) {
      refused.add(message(e));
    }
  }

  private static String message(Throwable e) {
    String message = e.getMessage() == null ? "" : e.getMessage().trim().replaceAll("\\s+", " ");
    // The message of an exception for the operator suffices; for others, the type is added.
    return e instanceof IllegalArgumentException && !(e instanceof NumberFormatException)
      && !message.isEmpty() ? message : e.getClass().getSimpleName() + ": " + message;
  }
}
