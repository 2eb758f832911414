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
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * The published sources of one version of HBase. Not every version has all modules. Upstream's
 * repository lacks the generated ones: classes made from Jamon templates and JSPs, the class with
 * the version, and what Maven adds to a jar.
 * @param version  the version, as it is published
 * @param modules  the modules that are published, and whose files are in {@code tree}
 * @param tree     content by repository path
 */
public record LineSources(String version, Set<String> modules, SortedMap<String, byte[]> tree) {
  private static final String JAMON = "/hbase/tmpl/";
  private static final String JSP = "/hbase/generated/";
  private static final String VERSION = "/" + ForkIdentity.VERSION_CLASS;
  private static final String META = "/" + Modules.RESOURCES + "META-INF/";
  private static final String BEFORE_LINE_3 = "3.0.0-beta-1";

  /**
   * Reads what is published.
   * @param warn is told of each module that is not
   */
  public static LineSources resolve(Published published, String version, Consumer<String> warn)
    throws IOException {
    SortedMap<String, byte[]> tree = new TreeMap<>();
    Set<String> modules = new TreeSet<>();
    for (String name : Modules.ALL) {
      try {
        tree.putAll(published.module(name, version).readTree());
        modules.add(name);
      } catch (ForkException e) {
        warn.accept(version + " without " + name + ": " + e.getMessage());
      }
    }
    if (modules.isEmpty()) {
      throw new ForkException("None of the modules %s has a version %s; correct the version.",
        String.join(", ", Modules.ALL), version);
    }
    return new LineSources(version, modules, tree);
  }

  /** Returns {@code version} without the Hadoop that its binaries are for. */
  public static String release(String version) {
    return version.replaceFirst("-hadoop\\d+$", "");
  }

  /** Returns the Java that the line is compiled for. */
  public int release() {
    return isLine3() ? 17 : 8;
  }

  /** Returns this version, and those whose jars can replace what is not published of it. */
  public List<String> versions() {
    return isLine3() ? List.of(version, BEFORE_LINE_3) : List.of(version);
  }

  private boolean isLine3() {
    return Integer.parseInt(version.replaceFirst("\\D.*", "")) >= 3;
  }

  /**
   * Returns the files as upstream's repository has them, without those that its build generates.
   * @param base the base's files, which replace those of a module that is not published
   */
  public SortedMap<String, byte[]> repository(SortedMap<String, byte[]> base) {
    SortedMap<String, byte[]> all = new TreeMap<>(base);
    all.keySet().removeIf(path -> modules.contains(Modules.of(path)));
    all.putAll(tree);
    all.keySet().removeIf(LineSources::isGenerated);
    return all;
  }

  /** Returns whether {@code path} is in a published artifact and not in upstream's repository. */
  public static boolean isGenerated(String path) {
    return isPage(path) || path.endsWith(VERSION) || path.contains(META);
  }

  /** Returns whether upstream's build makes {@code path} from a template or a page. */
  public static boolean isPage(String path) {
    return path.contains(JAMON) || path.contains(JSP);
  }

  /**
   * Returns what a generated class is made from, as a person would call it.
   * @param path the path of a class for which {@link #isPage} holds
   */
  public static String origin(String path) {
    String name = path.substring(path.lastIndexOf('/') + 1).replaceFirst("\\.java$", "");
    return path.contains(JAMON)
      ? "the Jamon template " + name.replaceFirst("Impl$", "") + ".jamon"
      : "the page " + name.replaceFirst("_jsp$", "") + ".jsp";
  }
}
