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
package dev.stratum.jmh;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;

/**
 * The benchmarks to run, and their parameter values. Errors are {@link IllegalArgumentException}s
 * of one sentence that names the option and the remedy.
 */
final class Selection {
  private final List<BenchmarkEntry> entries;

  Selection(List<BenchmarkEntry> entries) {
    this.entries = entries;
  }

  /**
   * The benchmarks to run, in the order of the listing.
   * @param include the value of <code>jmh.include</code>, a regular expression to be found in the
   *                full name, or null for the headline set
   * @param params  the value of <code>jmh.params</code>, or null
   * @throws IllegalArgumentException if the expression is none or matches nothing, or a parameter
   *                                  is not one of the benchmarks that it leaves
   */
  List<Trial> choose(String include, String params) {
    Map<String, List<String>> wanted =
      params == null ? Map.of() : parseParams("jmh.params", params);
    List<BenchmarkEntry> included = include == null ? headline() : matching(include);
    for (String name : wanted.keySet()) {
      if (included.stream().noneMatch(e -> e.params().containsKey(name))) {
        Set<String> known = new TreeSet<>();
        included.forEach(e -> known.addAll(e.params().keySet()));
        throw new IllegalArgumentException("jmh.params=" + params + " sets '" + name
          + "', which none of the chosen benchmarks has: use one of " + known);
      }
    }
    Set<Trial> trials = new LinkedHashSet<>();
    for (BenchmarkEntry entry : included) {
      if (include != null) {
        trials.addAll(combinations(entry, with(entry, wanted), null));
      } else if (entry.headline().choices().isEmpty()) {
        trials.addAll(combinations(entry, with(entry, wanted), entry.headline()));
      } else {
        for (String choice : entry.headline().choices()) {
          Map<String, List<String>> chosen =
            parseParams("@Headline of " + entry.shortName(), choice);
          if (!entry.params().keySet().containsAll(chosen.keySet())) {
            // The method is inherited, and the choice is for another class.
            continue;
          }
          Map<String, List<String>> values = with(entry, chosen);
          // In the headline set an option narrows what is there, so that it stays short.
          values.replaceAll((name, all) -> !wanted.containsKey(name)
            ? all
            : all.stream().filter(wanted.get(name)::contains).toList());
          trials.addAll(combinations(entry, values, entry.headline()));
        }
      }
    }
    if (trials.isEmpty()) {
      throw new IllegalArgumentException("jmh.params=" + params + " leaves nothing of the headline"
        + " set: add -Djmh.include=REGEX to run other parameter values than the set's");
    }
    return List.copyOf(trials);
  }

  private List<BenchmarkEntry> headline() {
    List<BenchmarkEntry> headline = entries.stream().filter(e -> e.headline() != null)
      .sorted(Comparator.comparing(e -> e.headline().feature())).toList();
    if (headline.isEmpty()) {
      throw new IllegalArgumentException("No benchmark here is in the headline set: choose with"
        + " -Djmh.include=REGEX among those that -Djmh.list prints");
    }
    return headline;
  }

  private List<BenchmarkEntry> matching(String include) {
    Pattern pattern;
    try {
      pattern = Pattern.compile(include);
    } catch (PatternSyntaxException e) {
      throw new IllegalArgumentException("jmh.include=" + include
        + " is not a regular expression (" + e.getDescription() + "): correct it");
    }
    List<BenchmarkEntry> matching =
      entries.stream().filter(e -> pattern.matcher(e.name()).find()).toList();
    if (matching.isEmpty()) {
      throw new IllegalArgumentException("jmh.include=" + include + " matches none of the "
        + entries.size() + " benchmarks: -Djmh.list prints their names");
    }
    return matching;
  }

  /** Returns the benchmark's parameters with the given values in place of its own. */
  private static Map<String, List<String>> with(BenchmarkEntry entry,
    Map<String, List<String>> wanted) {
    Map<String, List<String>> values = new LinkedHashMap<>(entry.params());
    values.replaceAll(wanted::getOrDefault);
    return values;
  }

  private static List<Trial> combinations(BenchmarkEntry entry, Map<String, List<String>> values,
    BenchmarkEntry.Headline headline) {
    List<Map<String, String>> combinations = List.of(Map.of());
    for (Map.Entry<String, List<String>> param : values.entrySet()) {
      List<Map<String, String>> longer = new ArrayList<>();
      for (Map<String, String> combination : combinations) {
        for (String value : param.getValue()) {
          Map<String, String> one = new LinkedHashMap<>(combination);
          one.put(param.getKey(), value);
          longer.add(one);
        }
      }
      combinations = longer;
    }
    return combinations.stream().map(params -> new Trial(entry.name(), entry.mode(), params,
      entry.forkOnly(), entry.forks(), entry.millis(), headline)).toList();
  }

  /**
   * Parses <code>engine=offheap,file,size=32768</code>: a piece without <code>=</code> is one more
   * value of the parameter before it.
   * @param where what the text is the value of, for the error
   */
  static Map<String, List<String>> parseParams(String where, String text) {
    Map<String, List<String>> params = new LinkedHashMap<>();
    List<String> values = null;
    for (String piece : text.split(",")) {
      int equals = piece.indexOf('=');
      if (equals > 0) {
        values = params.computeIfAbsent(piece.substring(0, equals).trim(), k -> new ArrayList<>());
      }
      String value = piece.substring(equals + 1).trim();
      if (values == null || equals == 0 || value.isEmpty()) {
        throw new IllegalArgumentException(where + "=" + text
          + " is not a list of parameters: write NAME=VALUE[,VALUE…][,NAME=VALUE…]");
      }
      values.add(value);
    }
    return params;
  }
}
