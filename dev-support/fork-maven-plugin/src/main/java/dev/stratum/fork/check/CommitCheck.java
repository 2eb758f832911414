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

import dev.stratum.fork.diff.FileChange;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.stream.Collectors;

/**
 * Looks at one commit of several: whether it compiles on those before it, and whether the tests
 * that it adds pass on it, without the commits behind it.
 */
public final class CommitCheck {

  /**
   * What was found.
   * @param shown    the outcome for people: compiles, does not compile, green or red
   * @param tests    how many test classes were run
   * @param problems what the compiler said, or what failed in each test class; none if all is well
   */
  public record Verdict(String shown, int tests, List<String> problems) {
  }

  private final StateCheck check;
  private final SortedMap<String, byte[]> standIns;

  /**
   * @param check    compiles the files, and runs tests if it is one that does
   * @param standIns files that are there beside those of the commit
   */
  public CommitCheck(StateCheck check, SortedMap<String, byte[]> standIns) {
    this.check = check;
    this.standIns = standIns;
  }

  /**
   * Looks at a commit.
   * @param before the files without it
   * @param after  the files with it
   * @param run    whether to run the tests that it adds or changes, or to compile only
   */
  public Verdict of(SortedMap<String, byte[]> before, SortedMap<String, byte[]> after, boolean run)
    throws IOException {
    List<String> tests = run
      ? StateCompiler.tests(FileChange.between(before, after, Map.of()).stream()
        .map(FileChange::newPath).filter(path -> path != null).toList())
      : List.of();
    StateCheck.Verdict verdict = check.check(StateCheck.with(after, standIns), tests);
    if (!verdict.errors().isEmpty()) {
      return new Verdict("does not compile", 0, verdict.errors());
    }
    if (tests.isEmpty()) {
      return new Verdict(run ? "compiles, adds no tests" : "compiles", 0, List.of());
    }
    List<String> problems = new ArrayList<>();
    verdict.failures()
      .forEach((test, failure) -> problems.add(RedGreen.simple(test) + ": " + failure));
    return new Verdict(shown(tests, verdict.failures()), tests.size(), problems);
  }

  private static String shown(List<String> tests, SortedMap<String, String> failures) {
    String passed = names(tests.stream().filter(test -> !failures.containsKey(test)).toList());
    if (failures.isEmpty()) {
      return "green (" + passed + ")";
    }
    List<String> parts = new ArrayList<>();
    for (boolean tells : new boolean[] { true, false }) {
      String failed = failures.entrySet().stream()
        .filter(entry -> RedGreen.tells(entry.getValue()) == tells)
        .map(entry -> RedGreen.method(entry.getKey(), entry.getValue()))
        .collect(Collectors.joining(", "));
      if (!failed.isEmpty()) {
        parts.add((tells ? "failed: " : "cannot be run: ") + failed);
      }
    }
    if (!passed.isEmpty()) {
      parts.add("passed: " + passed);
    }
    return "red (" + String.join("; ", parts) + ")";
  }

  private static String names(Collection<String> tests) {
    return tests.stream().map(RedGreen::simple).collect(Collectors.joining(", "));
  }
}
