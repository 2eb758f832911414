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

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import dev.stratum.fork.OutputTree;
import dev.stratum.fork.Repo;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.TemporaryFolder;

/** States of the series, compiled by the real compiler. */
@Category(LargeTests.class)
public class TestStateCheck {
  private static final String OWN = Repo.JAVA + "Own.java";
  private static final String TEST = Repo.TESTS + "TestOwn.java";
  private static final String NAME = "org.x.TestOwn";

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();
  private final SortedMap<String, byte[]> base = new TreeMap<>();
  private final SortedMap<String, byte[]> tree = new TreeMap<>();
  private final List<String> ran = new ArrayList<>();
  private String failure;

  @Before
  public void setUp() {
    // Nothing compiles this: what did not change is in the jars.
    base.put(Repo.A, Repo.bytes("package org.x; class A { Nowhere field; }"));
    tree.putAll(base);
    tree.put(OWN, Repo.bytes("package org.x; class Own { static int one() { return 1; } }"));
    test("Own.one()");
  }

  private void test(String value) {
    tree.put(TEST, Repo.test("TestOwn", value));
  }

  private StateCheck check(StateCheck.Tests tests) throws Exception {
    return new StateCheck(base, folder.getRoot().toPath(), Repo.junit(), StateCheck.RELEASE, tests);
  }

  private String fake(List<Path> classPath, String test) {
    ran.add(test);
    return failure;
  }

  private StateCheck.Verdict verdict(StateCheck.Tests tests) throws Exception {
    try (StateCheck check = check(tests)) {
      return check.check(tree, List.of(NAME));
    }
  }

  @Test
  public void testOnlyWhatChangedIsCompiledAndReplacesTheJars() throws Exception {
    assertEquals("compiles", verdict(null).shown());
    tree.put(OWN, Repo.bytes("package org.x; class Own { static int one = A.ONE; }"));
    tree.put(Repo.A, Repo.bytes("package org.x; class A { static final int ONE = 1; }"));
    test("Own.one");
    assertEquals("compiles", verdict(null).shown());
  }

  @Test
  public void testTestThatNamesALaterClassIsFound() throws Exception {
    test("Later.one()");
    StateCheck.Verdict verdict = verdict(null);
    assertFalse(verdict.good());
    assertEquals("does not compile", verdict.shown());
    assertTrue(verdict.errors().get(0),
      verdict.errors().get(0).startsWith(TEST + ":1: cannot find symbol"));
  }

  @Test
  public void testKnownStateIsNotCompiledAgain() throws Exception {
    verdict(null);
    try (StateCheck check = check(null)) {
      check.check(tree, List.of(NAME));
      assertEquals(0, check.compiled());
      tree.put(OWN, Repo.bytes("package org.x; class Own { }"));
      assertFalse(check.check(tree, List.of(NAME)).good());
      assertEquals(1, check.compiled());
    }
  }

  @Test
  public void testOnlyWhatDidNotPassIsRunAgain() throws Exception {
    verdict(null);
    failure = "expected:<1>";
    StateCheck.Verdict verdict = verdict(this::fake);
    assertEquals("0 of 1 pass", verdict.shown());
    assertEquals("expected:<1>", verdict.failures().get(NAME));
    failure = null;
    assertEquals("1 of 1 pass", verdict(this::fake).shown());
    assertEquals("1 of 1 pass", verdict(this::fake).shown());
    assertEquals(List.of(NAME, NAME), ran);
  }

  @Test
  public void testTestsOfAStateThatDoesNotCompileAreNotRun() throws Exception {
    test("Later.one()");
    assertEquals("does not compile", verdict(this::fake).shown());
    assertEquals(List.of(), ran);
  }

  private StateCheck.Tests processes() throws Exception {
    Path work = folder.newFolder("tests").toPath();
    return new TestProcess(Repo.junit(), List.of("-Xmx64m"), work);
  }

  @Test
  public void testClassIsRunInAJvmWithTheStatesClasses() throws Exception {
    assertEquals("1 of 1 pass", verdict(processes()).shown());
  }

  @Test
  public void testFailureIsToldWithMethodAndReason() throws Exception {
    tree.put(OWN, Repo.bytes("package org.x; class Own { static int one() { return 2; } }"));
    StateCheck.Verdict verdict = verdict(processes());
    String told = verdict.failures().get(NAME);
    assertTrue(told, told.startsWith("1) testOne(org.x.TestOwn)"));
    assertTrue(told, told.contains("expected:<1> but was:<2>"));
  }

  @Test
  public void testPagesAreThereAsOneFolder() throws Exception {
    String pages = Repo.RESOURCES + "hbase-webapps/";
    base.put(pages + "a.html", Repo.bytes("a"));
    tree.put(pages + "a.html", Repo.bytes("a"));
    tree.put(pages + "b.html", Repo.bytes("b"));
    try (StateCheck check = check((classPath, test) -> {
      List<String> found = new ArrayList<>();
      try {
        for (Path file : OutputTree.files(classPath.get(1).resolve("hbase-webapps"))) {
          found.add(file.getFileName().toString());
        }
      } catch (IOException e) {
        return e.toString();
      }
      return found.equals(List.of("a.html", "b.html")) ? null : found.toString();
    })) {
      assertEquals("1 of 1 pass", check.check(tree, List.of(NAME)).shown());
    }
  }
}
