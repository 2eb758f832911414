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

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Something else than a bucket cache to keep L2's blocks on devices: what
 * {@link CompositeBucketCacheFactory} builds when {@code hbase.bucketcache.l2.ioengine} begins with
 * the engine's {@link #prefix()}. It keeps its blocks over a restart whether or not
 * {@code hbase.bucketcache.l2.persistent.path} is set. Implementations are public, have a public
 * constructor without arguments, and no state.
 */
@InterfaceAudience.Private
public interface DeviceTierEngine {

  /** Settings that were checked: what {@link #open} opens can be built. */
  @InterfaceAudience.Private
  interface Settings {
    /**
     * Opens the tier.
     * @param tierName short name for logs and threads, as L2
     * @param conf     the configuration as the tier is to see it, its own keys over the common ones
     * @param online   what the regions of the server read; null where no regions are
     * @throws IOException if no device can be used
     */
    CacheTier open(String tierName, Configuration conf, OnlineFiles online) throws IOException;

    /**
     * Adds the direct memory that the tier uses.
     * @param conf what the settings were read from
     */
    void addDirectMemory(DirectMemoryDemand demand, Configuration conf);
  }

  /** Returns what the engine's setting begins with, up to the colon, in front of paths. */
  String prefix();

  /**
   * Reads and checks the settings.
   * @param ioEngine       as it is configured: the prefix, and paths with commas between
   * @param sizeKey        the key of the capacity, for what is said of it
   * @param capacity       bytes of all paths together
   * @param persistentPath where to keep what a restart needs; null for a place of the engine's own
   * @param conf           where the engine's own keys are
   * @throws IllegalArgumentException if they cannot work; its message is for the operator:
   *                                  the key, its value, the range, the remedy
   */
  Settings check(String ioEngine, String sizeKey, long capacity, String persistentPath,
    Configuration conf);

  /** Returns the engine of a setting, null if it is none of these or is not in this build. */
  static DeviceTierEngine of(String ioEngine) {
    for (DeviceTierEngine engine : Known.ENGINES) {
      if (ioEngine != null && ioEngine.startsWith(engine.prefix())) {
        return engine;
      }
    }
    return null;
  }

  /** Returns the class with the constants of the engine's keys. */
  Class<?> settingsClass();

  /** Returns the classes with the constants of the keys of the engines in this build. */
  static List<Class<?>> settingsClasses() {
    List<Class<?>> classes = new ArrayList<>();
    Known.ENGINES.forEach(engine -> classes.add(engine.settingsClass()));
    return classes;
  }

  /** Returns the prefixes of the engines in this build. */
  static List<String> prefixes() {
    List<String> prefixes = new ArrayList<>();
    Known.ENGINES.forEach(engine -> prefixes.add(engine.prefix()));
    return prefixes;
  }

  /** The engines that there are; by name, since a build without one of them is one, too. */
  @InterfaceAudience.Private
  final class Known {
    private static final String[] NAMES =
      { "org.apache.hadoop.hbase.io.hfile.segment.SegmentTierEngine" };
    private static final List<DeviceTierEngine> ENGINES = load(NAMES);

    private Known() {
    }

    /** Returns those of the classes of these names that are there. */
    static List<DeviceTierEngine> load(String... names) {
      List<DeviceTierEngine> engines = new ArrayList<>();
      for (String name : names) {
        try {
          engines.add(Class.forName(name, true, DeviceTierEngine.class.getClassLoader())
            .asSubclass(DeviceTierEngine.class).getDeclaredConstructor().newInstance());
        } catch (ClassNotFoundException e) {
          // This build lacks the engine; its prefix is none of an engine then.
          continue;
        } catch (ReflectiveOperationException e) {
          throw new IllegalStateException(name + " is no engine of a tier", e);
        }
      }
      return Collections.unmodifiableList(engines);
    }
  }
}
