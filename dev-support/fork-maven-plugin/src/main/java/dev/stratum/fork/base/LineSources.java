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
package dev.stratum.fork.base;

import dev.stratum.fork.ForkException;
import dev.stratum.fork.series.Modules;
import java.io.IOException;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * The published sources of one version of HBase. Not every version has all modules.
 * @param version  the version, as it is published
 * @param modules  the modules that are published, and whose files are in {@code tree}
 * @param tree     content by repository path
 */
public record LineSources(String version, Set<String> modules, SortedMap<String, byte[]> tree) {
  private static final int JAVA_OF_LINE_3 = 17;
  private static final int JAVA_BEFORE = 8;
  private static final String BEFORE_LINE_3 = "3.0.0-beta-1";

  /**
   * Reads what is published.
   * @param warn is told of each module that is not
   * @throws ForkException if none is
   */
  public static LineSources resolve(BaseResolver resolver, String version, Consumer<String> warn)
    throws IOException {
    SortedMap<String, byte[]> tree = new TreeMap<>();
    Set<String> modules = new TreeSet<>();
    for (String name : Modules.ALL) {
      try {
        tree.putAll(resolver.resolve(name, version).readTree());
        modules.add(name);
      } catch (ForkException e) {
        warn.accept(version + " without " + name + ": " + e.getMessage());
      }
    }
    if (modules.isEmpty()) {
      throw new ForkException("None of the modules %s has a version %s; correct the version.",
        String.join(", ", Modules.ALL), version);
    }
    return new LineSources(version, Collections.unmodifiableSet(modules),
      Collections.unmodifiableSortedMap(tree));
  }

  /** Returns {@code version} without the Hadoop that its binaries are for. */
  public static String release(String version) {
    return version.replaceFirst("-hadoop\\d+$", "");
  }

  /** Returns the Java that the line is compiled for. */
  public int release() {
    return isLine3() ? JAVA_OF_LINE_3 : JAVA_BEFORE;
  }

  /** Returns the versions whose jars can replace what is not published of this one. */
  public List<String> substitutes() {
    return isLine3() ? List.of(BEFORE_LINE_3) : List.of();
  }

  private boolean isLine3() {
    return Integer.parseInt(version.replaceFirst("\\D.*", "")) >= 3;
  }

  /** Returns the files, with those of the base for a module that is not published. */
  public SortedMap<String, byte[]> filled(SortedMap<String, byte[]> base) {
    SortedMap<String, byte[]> all = new TreeMap<>(tree);
    for (Map.Entry<String, byte[]> file : base.entrySet()) {
      if (!modules.contains(Modules.of(file.getKey()))) {
        all.put(file.getKey(), file.getValue());
      }
    }
    return all;
  }

  /**
   * Returns the files as upstream's repository has them, without those that its build generates.
   * @param base the base's files, which stand in for a module that is not published
   */
  public SortedMap<String, byte[]> repository(SortedMap<String, byte[]> base) {
    return GeneratedSources.without(filled(base));
  }
}
