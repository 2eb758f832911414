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
import static org.junit.Assert.assertNotEquals;
import static org.junit.Assert.assertTrue;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.hbase.coprocessor.BulkLoadObserver;
import org.apache.hadoop.hbase.coprocessor.EndpointObserver;
import org.apache.hadoop.hbase.coprocessor.HookKind;
import org.apache.hadoop.hbase.coprocessor.HookOverrides;
import org.apache.hadoop.hbase.coprocessor.MasterObserver;
import org.apache.hadoop.hbase.coprocessor.RegionObserver;
import org.apache.hadoop.hbase.coprocessor.RegionServerObserver;
import org.apache.hadoop.hbase.coprocessor.WALObserver;
import org.apache.hadoop.hbase.regionserver.write.WriteObservers;
import org.junit.Test;

/**
 * The page docs/coprocessors.md has each hook of the base's interfaces and no other, and says of
 * each feature what its code declares.
 */
public class TestHookTable {
  private static final Path PAGE =
    Path.of(System.getProperty("stratum.root")).resolve("docs/coprocessors.md");
  private static final Pattern CODE = Pattern.compile("`([^`]*)`");
  private static final String STOCK = "stock";
  private static final String CALLED = "called";
  private static final String UNAFFECTED = "unaffected";

  /** The kinds of hooks that the operations of each feature call, as far as it serves them. */
  private static final Map<String, Set<HookKind>> CALLS = Map.of(
    "point gets", EnumSet.of(HookKind.GETS, HookKind.READERS),
    "row cache", EnumSet.of(HookKind.GETS),
    "connection threads", EnumSet.noneOf(HookKind.class),
    "multiget",
    EnumSet.of(HookKind.GETS, HookKind.OPERATIONS, HookKind.SELECTION, HookKind.READERS),
    "write groups", EnumSet.noneOf(HookKind.class),
    "counters", EnumSet.of(HookKind.READERS),
    "others", EnumSet.of(HookKind.READERS, HookKind.REWRITES, HookKind.MAINTENANCE,
      HookKind.MUTATIONS));

  /** Returns the kinds that a feature declares to serve; all if it does not look at hooks. */
  private static Set<HookKind> served(String feature) throws ReflectiveOperationException {
    return switch (feature) {
      case "point gets" -> of("read.PointGets", "READ");
      case "row cache" -> of("read.cache.RegionRows", "CACHED");
      case "connection threads" -> of("read.PointGets", "PREPARED");
      case "write groups" -> WriteObservers.OF_MUTATIONS.served();
      case "counters" -> WriteObservers.OF_INCREMENTS.served();
      default -> EnumSet.allOf(HookKind.class);
    };
  }

  private static Set<HookKind> of(String type, String name) throws ReflectiveOperationException {
    Field field =
      Class.forName("org.apache.hadoop.hbase.regionserver." + type).getDeclaredField(name);
    field.setAccessible(true);
    return ((HookOverrides) field.get(null)).served();
  }

  /** Returns the lines of the table below a heading. */
  private static List<String> table(String heading) throws Exception {
    List<String> lines = new ArrayList<>();
    boolean below = false;
    for (String line : Files.readAllLines(PAGE)) {
      if (line.startsWith("#")) {
        below = line.replaceFirst("#+ ", "").equals(heading);
      } else if (below && (line.startsWith("| hook") || line.startsWith("| `"))) {
        lines.add(line);
      }
    }
    assertTrue(heading, lines.size() > 1);
    return lines;
  }

  private static List<String> cells(String line) {
    return Arrays.stream(line.substring(1).split("\\|")).map(String::strip).toList();
  }

  private static List<String> names(String cell) {
    List<String> names = new ArrayList<>();
    Matcher code = CODE.matcher(cell);
    while (code.find()) {
      names.add(code.group(1));
    }
    return names;
  }

  /** Returns the word of a cell, without the number of a note. */
  private static String word(String cell) {
    return cell.split("[ ,]")[0];
  }

  @Test
  public void testEachHookOfARegionHasAKind() {
    Set<String> unknown = new TreeSet<>();
    for (Method hook : RegionObserver.class.getMethods()) {
      if (HookKind.of(hook) == HookKind.UNKNOWN) {
        unknown.add(hook.toString());
      }
    }
    assertEquals("name them in HookKind, and what each feature does in docs/coprocessors.md",
      Set.of(), unknown);
  }

  @Test
  public void testTableOfARegionIsWhatTheFeaturesDeclare() throws Exception {
    List<String> lines = table("Hooks of a region");
    List<String> features = cells(lines.remove(0));
    assertEquals(CALLS.keySet(), Set.copyOf(features.subList(1, features.size())));
    Map<String, List<String>> rows = new TreeMap<>();
    for (String line : lines) {
      List<String> cells = cells(line);
      for (String name : names(cells.get(0))) {
        assertEquals(name + " is there twice", null, rows.put(name, cells));
      }
    }
    Set<String> left = new TreeSet<>(rows.keySet());
    for (Method hook : RegionObserver.class.getMethods()) {
      String numbered = hook.getName() + "/" + hook.getParameterCount();
      String name = rows.containsKey(numbered) ? numbered : hook.getName();
      List<String> row = rows.get(name);
      assertNotEquals(hook + " is missing in docs/coprocessors.md", null, row);
      left.remove(name);
      for (int column = 1; column < features.size(); column++) {
        String feature = features.get(column);
        HookKind kind = HookKind.of(hook);
        String declared = !served(feature).contains(kind)
          ? STOCK
          : CALLS.get(feature).contains(kind) ? CALLED : UNAFFECTED;
        assertEquals(name + " of " + feature, declared, word(row.get(column)));
      }
    }
    assertEquals("not hooks", Set.of(), left);
  }

  @Test
  public void testOtherTablesHaveEachHook() throws Exception {
    for (Class<?> observer : List.of(RegionServerObserver.class, WALObserver.class,
      BulkLoadObserver.class, EndpointObserver.class, MasterObserver.class)) {
      boolean master = observer == MasterObserver.class;
      Set<String> hooks = new TreeSet<>();
      for (Method hook : observer.getMethods()) {
        hooks.add(hook.getName());
      }
      Set<String> documented = new TreeSet<>();
      for (String line : table(master ? "Hooks of the master" : observer.getSimpleName())) {
        List<String> cells = cells(line);
        for (String name : names(cells.get(0))) {
          assertTrue(name + " is there twice", documented.add(name));
          // No feature looks at them.
          assertTrue(line, List.of(CALLED, UNAFFECTED).contains(word(cells.get(1))));
        }
      }
      assertEquals(observer.getSimpleName(), hooks, documented);
    }
  }
}
