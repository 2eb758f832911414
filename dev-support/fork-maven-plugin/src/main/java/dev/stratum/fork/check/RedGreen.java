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
package dev.stratum.fork.check;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Shows that tests fail without the edits of a patch and pass with them. Without the edits, the
 * tests are first compiled with the classes that the patch adds, so that they fail where the
 * defect is, and without those if they do not compile. What does not compile with the patch either
 * says nothing of a defect.
 */
public final class RedGreen {

  /**
   * What was found.
   * @param red    whether the tests fail without the edits
   * @param before the outcome without the edits, for people
   * @param green  whether the tests pass with the edits
   * @param after  the outcome with the edits, for people
   */
  public record Verdict(boolean red, String before, boolean green, String after) {
  }

  /** What a class fails with if the class path lacks something, which says nothing of a defect. */
  private static final Pattern LINKAGE = Pattern.compile("java\\.lang\\.(?:NoClassDefFoundError|"
    + "ClassNotFoundException|NoSuch(?:Method|Field)Error|AbstractMethodError|"
    + "IncompatibleClassChangeError|ExceptionInInitializerError|UnsupportedClassVersionError)");

  private final StateCheck check;

  /** Shows it with the classes and tests of {@code check}. */
  public RedGreen(StateCheck check) {
    this.check = check;
  }

  /**
   * Runs the tests on both sides of a patch.
   * @param tests  the test classes, with their packages
   * @param each   whether every one has to fail without the patch, or only some of them
   */
  public Verdict of(SortedMap<String, byte[]> before, SortedMap<String, byte[]> after,
    List<String> tests, boolean each) throws IOException {
    if (tests.isEmpty()) {
      return new Verdict(false, "no tests", false, "no tests");
    }
    StateCheck.Verdict without = check.check(withoutEdits(before, after, true), tests);
    if (!without.errors().isEmpty()) {
      without = check.check(withoutEdits(before, after, false), tests);
    }
    StateCheck.Verdict with = check.check(after, tests);
    // What fails alike on both sides is not the defect.
    Map<String, String> failed = new TreeMap<>(without.failures());
    failed.entrySet().removeIf(entry -> !tells(entry.getValue())
      || reason(entry.getValue()).equals(reason(with.failures().get(entry.getKey()))));
    boolean red = without.errors().isEmpty()
      ? each ? failed.size() == tests.size() : !failed.isEmpty()
      : with.errors().isEmpty();
    return new Verdict(red, before(without, failed, tests, red), with.good(), after(with));
  }

  /** Returns a failure without the path of its log. */
  private static String reason(String failure) {
    return failure == null ? "" : failure.replaceFirst(" \\([^()]*\\)$", "");
  }

  /** Returns whether a failure is one of the code, and not of a class path that lacks a class. */
  static boolean tells(String failure) {
    return !LINKAGE.matcher(failure).find();
  }

  private static SortedMap<String, byte[]> withoutEdits(SortedMap<String, byte[]> before,
    SortedMap<String, byte[]> after, boolean added) {
    SortedMap<String, byte[]> tree = new TreeMap<>(before);
    after.forEach((path, content) -> {
      if (path.contains("/src/test/") || added && !before.containsKey(path)) {
        tree.put(path, content);
      }
    });
    return tree;
  }

  /** @param telling the failures that the patch ends, by test */
  private static String before(StateCheck.Verdict verdict, Map<String, String> telling,
    List<String> tests, boolean red) {
    if (!verdict.errors().isEmpty()) {
      return (red ? "red (does not compile: " : "not red (cannot be compiled: ")
        + verdict.errors().get(0) + ")";
    }
    Map<String, List<String>> parts = new LinkedHashMap<>();
    verdict.failures().forEach((test, failure) -> {
      boolean tells = telling.containsKey(test);
      parts.computeIfAbsent(tells ? "failed: " : "cannot be run: ", part -> new ArrayList<>())
        .add(tells ? method(test, failure) : simple(test) + ": " + failure);
    });
    tests.stream().filter(test -> !verdict.failures().containsKey(test)).forEach(test -> parts
      .computeIfAbsent("passes without the patch: ", part -> new ArrayList<>())
      .add(simple(test)));
    return parts.entrySet().stream()
      .map(part -> part.getKey() + String.join(", ", part.getValue()))
      .collect(Collectors.joining("; ", red ? "red (" : "not red (", ")"));
  }

  private static String after(StateCheck.Verdict verdict) {
    if (verdict.good()) {
      return "green";
    }
    if (!verdict.errors().isEmpty()) {
      return "not green (does not compile: " + verdict.errors().get(0) + ")";
    }
    String test = verdict.failures().firstKey();
    String failure = verdict.failures().get(test);
    return "not green (" + (tells(failure) ? "" : "cannot be run: ") + simple(test) + ": "
      + failure + ")";
  }

  /** Returns the method that failed if that is known, or what is known, with its class. */
  static String method(String test, String failure) {
    String method = TestProcess.method(failure);
    return simple(test) + (method == null ? ": " + failure : "." + method);
  }

  /** Returns the name of a test class without its package. */
  public static String simple(String test) {
    return test.substring(test.lastIndexOf('.') + 1);
  }
}
