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

import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Tells the files of a published source artifact that upstream's repository does not have: classes
 * made from Jamon templates and JSPs, the class with the version, and what Maven adds to a jar.
 */
public final class GeneratedSources {
  private static final String JAMON = "/hbase/tmpl/";
  private static final String JSP = "/hbase/generated/";
  private static final String VERSION = "/org/apache/hadoop/hbase/Version.java";
  private static final String META = "/src/main/resources/META-INF/";

  private GeneratedSources() {
  }

  /** Returns whether upstream's build makes {@code path} from a template or a page. */
  public static boolean isPage(String path) {
    return path.contains(JAMON) || path.contains(JSP);
  }

  /** Returns whether {@code path} is in a published artifact and not in upstream's repository. */
  public static boolean contain(String path) {
    return isPage(path) || path.endsWith(VERSION) || path.contains(META);
  }

  /** Returns the files that upstream's repository has too. */
  public static SortedMap<String, byte[]> without(Map<String, byte[]> tree) {
    SortedMap<String, byte[]> left = new TreeMap<>(tree);
    left.keySet().removeIf(GeneratedSources::contain);
    return left;
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
