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

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
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
 * <code>misspelt</code> is a key that no code reads, and one that begins with <code>warning</code>
 * is about settings with which the server starts. Must be run as the server's user, with the
 * server's memory options: the validity of settings depends on both. The exit code is 0 if no
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

  /** Logs a warning for each key that an operator has set and that no code reads. */
  static void logMisspelt(Configuration conf) {
    misspelt(conf).forEach(LOG::warn);
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
    return warnings;
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
