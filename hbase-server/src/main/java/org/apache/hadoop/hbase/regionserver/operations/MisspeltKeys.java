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

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.crypto.tls.X509Util;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.bucket.BucketCache;
import org.apache.hadoop.hbase.io.hfile.composite.CompositeBucketCacheSettings;
import org.apache.hadoop.hbase.ipc.NettyRpcServer;
import org.apache.hadoop.hbase.regionserver.wal.AsyncFSWAL;
import org.apache.hadoop.hbase.wal.AsyncFSWALProvider;
import org.apache.hadoop.hbase.wal.NettyAsyncFSWALConfigHelper;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Finds keys that an operator has set and that no code reads: those with the prefix of a feature of
 * the fork, and those that differ from a key of the fork by a typing error. The keys of the fork
 * are the constants of the classes that read settings. Immutable.
 */
@InterfaceAudience.Private
final class MisspeltKeys {
  /** Classes of stock whose keys are similar to keys of the fork. */
  private static final List<Class<?>> STOCK = Arrays.asList(HConstants.class, BucketCache.class,
    BlockCacheFactory.class, CacheConfig.class, ByteBuffAllocator.class, AsyncFSWAL.class,
    AsyncFSWALProvider.class, NettyAsyncFSWALConfigHelper.class, NettyRpcServer.class,
    X509Util.class);

  private static final String KEY_SUFFIX = "_KEY";

  /** Maximum number of typing errors, each a missing, added, replaced or transposed character. */
  private static final int MAX_ERRORS = 2;

  /** Keys of the fork, and keys of stock that the fork's tiers read under their own prefixes. */
  private final Set<String> own = new TreeSet<>();

  private final Set<String> known = new TreeSet<>();

  /** What the keys of a feature begin with and no key of stock does. */
  private final Set<String> prefixes = new TreeSet<>();

  /** @param settings classes with a public constant for each key of the fork, named ..._KEY */
  MisspeltKeys(Collection<Class<?>> settings) {
    for (Class<?> type : settings) {
      for (Field field : type.getDeclaredFields()) {
        if (Modifier.isPublic(field.getModifiers()) && field.getName().endsWith(KEY_SUFFIX)) {
          own.add(constant(field));
        }
      }
    }
    Set<String> stock = new TreeSet<>();
    Configuration defaults = new Configuration(false);
    defaults.addResource("hbase-default.xml");
    defaults.forEach(entry -> stock.add(entry.getKey()));
    // The file has the keys of the fork, too.
    stock.removeIf(
      key -> own.contains(key) || key.startsWith(CompositeBucketCacheSettings.L1_PREFIX)
        || key.startsWith(CompositeBucketCacheSettings.L2_PREFIX));
    for (Class<?> type : STOCK) {
      for (Field field : type.getDeclaredFields()) {
        String key = constant(field);
        if (key != null && key.startsWith("hbase.") && !key.endsWith(".")) {
          stock.add(key);
        }
      }
    }
    addTierKeys(stock);
    known.addAll(stock);
    known.addAll(own);
    for (String key : own) {
      if (!stock.contains(key)) {
        addPrefix(key, stock);
      }
    }
  }

  /** Returns the value of a constant, null if the field is none or not a string. */
  private static String constant(Field field) {
    if (!Modifier.isStatic(field.getModifiers()) || field.getType() != String.class) {
      return null;
    }
    try {
      field.setAccessible(true);
      return (String) field.get(null);
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Each name under the common prefix is also a key of each tier. */
  private void addTierKeys(Set<String> stock) {
    Set<String> names = new TreeSet<>();
    for (Field field : CompositeBucketCacheSettings.class.getFields()) {
      String value = constant(field);
      if (value != null && !value.startsWith("hbase.")) {
        names.add(value);
      }
    }
    String common = CompositeBucketCacheSettings.COMMON_PREFIX;
    for (String key : stock) {
      if (key.startsWith(common)) {
        names.add(key.substring(common.length()));
      }
    }
    for (String name : names) {
      own.add(common + name);
      own.add(CompositeBucketCacheSettings.L1_PREFIX + name);
      own.add(CompositeBucketCacheSettings.L2_PREFIX + name);
    }
  }

  private void addPrefix(String key, Set<String> stock) {
    int dot = key.indexOf('.');
    while ((dot = key.indexOf('.', dot + 1)) > 0) {
      String prefix = key.substring(0, dot + 1);
      if (stock.stream().noneMatch(other -> other.startsWith(prefix))) {
        prefixes.add(prefix);
        return;
      }
    }
  }

  /** Returns whether a key of the fork, or a similar one of stock, has this name. */
  boolean isKnown(String key) {
    return known.contains(key);
  }

  /** Returns one sentence for each misspelt key that is set, in the order of the keys. */
  List<String> in(Configuration conf) {
    Map<String, String> found = new TreeMap<>();
    for (Map.Entry<String, String> entry : conf) {
      String key = entry.getKey();
      if (!isKnown(key) && isSetByOperator(key, conf)) {
        String sentence = sentence(key, entry.getValue());
        if (sentence != null) {
          found.put(key, sentence);
        }
      }
    }
    return new ArrayList<>(found.values());
  }

  static boolean isSetByOperator(String key, Configuration conf) {
    String[] sources = conf.getPropertySources(key);
    return sources == null || sources.length == 0
      || !sources[sources.length - 1].endsWith("-default.xml");
  }

  /** Returns null if the key is not similar to the fork's. */
  private String sentence(String key, String value) {
    String prefix = prefixes.stream().filter(key::startsWith).findFirst().orElse(null);
    // Within a feature, more of the name may be wrong.
    int most = prefix == null
      ? MAX_ERRORS
      : Math.max(MAX_ERRORS, (key.length() - prefix.length()) / 2);
    String nearest = null;
    for (String candidate : own) {
      int errors = errors(key, candidate, most);
      if (errors <= most) {
        nearest = candidate;
        most = errors - 1;
      }
    }
    if (prefix == null && nearest == null) {
      return null;
    }
    return key + " is " + value + "; no key has this name, so the value is ignored. "
      + (nearest == null
        ? "Correct the name, or remove the key."
        : "Did you mean " + nearest + "?");
  }

  /**
   * Returns the number of missing, added, replaced and transposed characters; more than the limit
   * if there are more than that.
   */
  static int errors(String a, String b, int limit) {
    if (Math.abs(a.length() - b.length()) > limit) {
      return limit + 1;
    }
    int[][] errors = new int[a.length() + 1][b.length() + 1];
    for (int i = 0; i <= a.length(); i++) {
      for (int j = 0; j <= b.length(); j++) {
        if (i == 0 || j == 0) {
          errors[i][j] = i + j;
          continue;
        }
        boolean same = a.charAt(i - 1) == b.charAt(j - 1);
        errors[i][j] = Math.min(errors[i - 1][j - 1] + (same ? 0 : 1),
          Math.min(errors[i - 1][j], errors[i][j - 1]) + 1);
        if (
          i > 1 && j > 1 && a.charAt(i - 1) == b.charAt(j - 2)
            && a.charAt(i - 2) == b.charAt(j - 1)
        ) {
          errors[i][j] = Math.min(errors[i][j], errors[i - 2][j - 2] + 1);
        }
      }
    }
    return errors[a.length()][b.length()];
  }
}
