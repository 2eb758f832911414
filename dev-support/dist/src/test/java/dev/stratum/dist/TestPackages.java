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
package dev.stratum.dist;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.Test;

/**
 * The packages of the three jars depend on each other in one direction. A package uses classes that
 * this project has added only from the packages that {@link #USES} lists, and the packages of
 * caches, of RPC and of settings use no class of {@code regionserver}, be it of the base or added.
 * Imports and qualified names in code count, and those in the lines that patches add.
 */
public class TestPackages {
  private static final Path ROOT = Path.of(System.getProperty("stratum.root")).normalize();
  private static final String BASE = "org.apache.hadoop.hbase.";
  private static final String MAIN = "src/main/java/org/apache/hadoop/hbase/";

  /**
   * The packages that a package may use, from lowest to highest. One that is not listed uses none.
   */
  private static final Map<String, Set<String>> USES = Map.ofEntries(
    Map.entry("io", Set.of("conf", "metrics")),
    Map.entry("ipc", Set.of("conf", "metrics")),
    Map.entry("io.hfile", Set.of("io.hfile.block")),
    Map.entry("io.hfile.composite", Set.of("conf", "io", "io.hfile", "metrics")),
    Map.entry("io.hfile.bucket",
      Set.of("conf", "io", "io.hfile", "io.hfile.block", "io.hfile.composite", "metrics")),
    Map.entry("io.hfile.load",
      Set.of("conf", "io", "io.hfile", "io.hfile.bucket", "io.hfile.composite", "metrics")),
    Map.entry("io.hfile.segment.device", Set.of("io.hfile.block", "io.hfile.bucket")),
    Map.entry("io.hfile.segment.index",
      Set.of("io.hfile.composite", "io.hfile.segment.device")),
    Map.entry("io.hfile.segment.store",
      Set.of("io.hfile.block", "io.hfile.composite", "io.hfile.load", "io.hfile.segment.device",
        "io.hfile.segment.index", "metrics")),
    Map.entry("io.hfile.segment.recovery", Set.of("io.hfile.composite", "io.hfile.segment.device",
      "io.hfile.segment.index", "io.hfile.segment.store")),
    Map.entry("io.hfile.segment",
      Set.of("conf", "io", "io.hfile.bucket", "io.hfile.composite", "io.hfile.load",
        "io.hfile.segment.device", "io.hfile.segment.index", "io.hfile.segment.recovery",
        "io.hfile.segment.store", "metrics")),
    Map.entry("regionserver.multiget", Set.of("conf", "ipc", "io.hfile.load", "metrics")),
    Map.entry("regionserver.read", Set.of("conf", "coprocessor", "io.hfile", "ipc")),
    Map.entry("regionserver.read.cache",
      Set.of("conf", "coprocessor", "io.hfile.composite", "metrics", "regionserver.read")),
    Map.entry("regionserver.wal", Set.of("conf", "metrics")),
    Map.entry("regionserver.write", Set.of("conf", "coprocessor", "ipc")));

  /** These use any other one: the server itself, and what shows or checks all features. */
  private static final Set<String> TOP =
    Set.of("regionserver", "regionserver.operations");

  /** Builds the tiers, which implement the package's interfaces. */
  private static final String FACTORY = "io.hfile.composite.CompositeBucketCacheFactory";

  /** Are where package-private members of a region can be accessed. */
  private static final Set<String> ACCESS = Set.of("regionserver.GroupBatchOperation",
    "regionserver.IncrementBatch", "regionserver.RegionAccess", "regionserver.RegionLocks");

  private static final Pattern NAME =
    Pattern.compile("\\borg\\.apache\\.hadoop\\.hbase\\.((?:[a-z]\\w*\\.)+)([A-Z]\\w*)");
  /** What is no use: comments, and names in strings, as of a class that is loaded if present. */
  private static final Pattern NO_CODE =
    Pattern.compile("(?s)/\\*.*?\\*/|//[^\n]*|\"(?:\\\\.|[^\"\\\\\n])*\"");

  /** The classes that this project has added, by package and name. */
  private static Map<String, String> added() throws IOException {
    Map<String, String> added = new HashMap<>();
    for (Path module : Sources.modules(ROOT)) {
      Path main = module.resolve(MAIN);
      for (Path file : Sources.java(module, MAIN)) {
        String name = main.relativize(file).toString().replace(".java", "").replace('/', '.');
        added.put(name, Files.readString(file));
      }
    }
    return added;
  }

  private static String packageOf(String name) {
    return name.substring(0, Math.max(0, name.lastIndexOf('.')));
  }

  private static boolean isBelowTheServer(String user) {
    return (user + ".").startsWith("io.") || user.equals("ipc") || user.equals("conf");
  }

  /** Returns each use of a class that the rules do not allow. */
  private static List<String> violations(String user, String code, Set<String> added) {
    List<String> violations = new ArrayList<>();
    String from = packageOf(user);
    Matcher name = NAME.matcher(NO_CODE.matcher(code).replaceAll(" "));
    while (name.find()) {
      String to = name.group(1).substring(0, name.group(1).length() - 1);
      String used = to + "." + name.group(2);
      boolean server = (to + ".").startsWith("regionserver.");
      // The base defines what the name of a reference looks like in a class of the server's.
      boolean ofTheBase =
        user.equals("io.ReferredFile") && used.equals("regionserver.StoreFileInfo");
      boolean listed = to.equals(from) || TOP.contains(from) || !added.contains(used)
        || USES.getOrDefault(from, Set.of()).contains(to)
        || user.equals(FACTORY) && to.equals("io.hfile.bucket")
        || from.startsWith("regionserver.") && ACCESS.contains(used);
      if (!listed || server && isBelowTheServer(from) && !ofTheBase) {
        violations.add(user + " uses " + used);
      }
    }
    return violations;
  }

  @Test
  public void testPackagesUseOnlyThoseBelow() throws Exception {
    Map<String, String> added = added();
    List<String> violations = new ArrayList<>();
    for (Map.Entry<String, String> one : added.entrySet()) {
      violations.addAll(violations(one.getKey(), one.getValue(), added.keySet()));
    }
    assertEquals("", String.join("\n", new TreeSet<>(violations)));
    assertTrue(added.size() > 150);
  }

  /** Returns what a patch adds to a file of the base, by the name of the class. */
  private static Map<String, String> hooks(String patch) {
    Map<String, String> hooks = new HashMap<>();
    String user = null;
    for (String line : patch.split("\n")) {
      if (line.startsWith("+++ b/")) {
        int main = line.indexOf(MAIN);
        user = main < 0 ? null
          : line.substring(main + MAIN.length()).replace(".java", "").replace('/', '.');
      } else if (line.startsWith("+") && user != null) {
        hooks.merge(user, line.substring(1) + "\n", String::concat);
      }
    }
    return hooks;
  }

  @Test
  public void testHooksUseNoClassOfTheServerFromBelow() throws Exception {
    List<String> violations = new ArrayList<>();
    for (Path patch : Sources.patches(ROOT)) {
      hooks(Files.readString(patch))
        .forEach((user, code) -> violations.addAll(violations(user, code, Set.of())));
    }
    assertEquals("", String.join("\n", new TreeSet<>(violations)));
  }

  @Test
  public void testASeededUseIsFound() {
    Set<String> added = Set.of("regionserver.write.A", "io.hfile.segment.B", "ipc.C");
    String counter = "import " + BASE + "regionserver.write.A;\n";
    assertEquals(List.of("ipc.C uses regionserver.write.A"),
      violations("ipc.C", counter, added));
    assertEquals(List.of("io.hfile.segment.B uses regionserver.HStore"),
      violations("io.hfile.segment.B", "x = " + BASE + "regionserver.HStore.y();", added));
    assertEquals(List.of("regionserver.wal.D uses regionserver.write.A"),
      violations("regionserver.wal.D", counter, added));
    assertEquals(List.of("io.hfile.composite.E uses io.hfile.segment.B"),
      violations("io.hfile.composite.E", "import " + BASE + "io.hfile.segment.B;", added));
    assertEquals(List.of(), violations("ipc.C", "/* " + counter + "*/ // " + counter, added));
    assertEquals(List.of(), violations("ipc.C", "a(\"" + counter.trim() + "\");", added));
    assertEquals(List.of(), violations("regionserver.operations.F", counter, added));
    assertEquals(List.of(),
      violations("regionserver.write.G", "import " + BASE + "ipc.C;", added));
    assertEquals(Map.of("ipc.Server", "a\n"), hooks("--- a/hbase-server/" + MAIN
      + "ipc/Server.java\n+++ b/hbase-server/" + MAIN + "ipc/Server.java\n@@ -1,0 +2 @@\n+a\n"));
  }
}
