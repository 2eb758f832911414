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
import static org.junit.Assert.assertTrue;

import dev.stratum.fork.Repo;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.hamcrest.Matcher;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.TemporaryFolder;
import org.junit.runner.JUnitCore;

/** Commits with the tests that they add, compiled and run by the real compiler and JUnit. */
@Category(LargeTests.class)
public class TestCommitCheck {
  private static final String CLASS = Repo.JAVA + "Count.java";

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();
  private final SortedMap<String, byte[]> before = new TreeMap<>();
  private final SortedMap<String, byte[]> after = new TreeMap<>();
  private final SortedMap<String, byte[]> standIns = new TreeMap<>();

  @Before
  public void setUp() {
    before.put(CLASS, Repo.bytes("package org.x; class Count { static int one() { return 1; } }"));
    addTest(before, "TestEarlier", "2");
    after.putAll(before);
    after.put(Repo.JAVA + "More.java",
      Repo.bytes("package org.x; class More { static int one() { return Count.one(); } }"));
  }

  private static void addTest(SortedMap<String, byte[]> tree, String name, String value) {
    tree.put(Repo.TESTS + name + ".java", Repo.bytes("package org.x; public class " + name
      + " { @org.junit.Test public void testOne() { org.junit.Assert.assertEquals(1, " + value
      + "); } }"));
  }

  private CommitCheck.Verdict verdict(boolean run, boolean withTests) throws Exception {
    List<Path> jars = new ArrayList<>();
    for (Class<?> one : List.of(JUnitCore.class, Matcher.class)) {
      jars.add(Paths.get(one.getProtectionDomain().getCodeSource().getLocation().toURI()));
    }
    Path work = folder.newFolder().toPath();
    try (StateCheck check = new StateCheck(new TreeMap<>(), work, jars, StateCompiler.RELEASE,
      withTests ? new TestProcess(jars, List.of("-Xmx64m"), work, false) : null)) {
      return new CommitCheck(check, standIns).of(before, after, run);
    }
  }

  /** TestEarlier would fail. */
  @Test
  public void testOnlyTestsOfTheCommitAreRun() throws Exception {
    addTest(after, "TestMore", "More.one()");
    addTest(after, "TestCount", "Count.one()");
    assertEquals(new CommitCheck.Verdict("green (TestCount, TestMore)", 2, List.of()),
      verdict(true, true));
  }

  @Test
  public void testFailureIsNamedBesideWhatPassed() throws Exception {
    addTest(after, "TestMore", "More.one() + 1");
    addTest(after, "TestCount", "Count.one()");
    CommitCheck.Verdict verdict = verdict(true, true);
    assertEquals("red (failed: TestMore.testOne; passed: TestCount)", verdict.shown());
    assertEquals(1, verdict.problems().size());
    assertTrue(verdict.problems().get(0), verdict.problems().get(0).startsWith(
      "TestMore: 1) testOne(") && verdict.problems().get(0).contains("expected:<1> but was:<2>"));
  }

  @Test
  public void testChangedTestIsRun() throws Exception {
    addTest(after, "TestEarlier", "1");
    assertEquals("green (TestEarlier)", verdict(true, true).shown());
  }

  /** As on a class path of several versions. */
  @Test
  public void testClassThatTheClassPathLacksIsTold() throws Exception {
    after.put(CLASS, Repo.bytes("package org.x; class Count { static int one() { throw new "
      + "NoClassDefFoundError(\"org/x/Gone\"); } }"));
    addTest(after, "TestMore", "More.one()");
    assertEquals("red (cannot be run: TestMore.testOne)", verdict(true, true).shown());
  }

  @Test
  public void testNoTestsAreNotGreen() throws Exception {
    assertEquals(new CommitCheck.Verdict("compiles, adds no tests", 0, List.of()),
      verdict(true, true));
    before.put(Repo.TESTS + "TestGone.java", Repo.bytes("class Gone { }"));
    assertEquals("compiles, adds no tests", verdict(true, true).shown());
  }

  @Test
  public void testTestsAreCompiledIfTheyAreNotRun() throws Exception {
    addTest(after, "TestMore", "More.one() + 1");
    assertEquals(new CommitCheck.Verdict("compiles", 0, List.of()), verdict(false, false));
    addTest(after, "TestMore", "More.two()");
    CommitCheck.Verdict verdict = verdict(true, true);
    assertEquals("does not compile", verdict.shown());
    assertTrue(verdict.problems().toString(),
      verdict.problems().get(0).startsWith(Repo.TESTS + "TestMore.java:1: cannot find symbol"));
  }

  /** Its version is that of no class. */
  @Test
  public void testDefaultsOfTheCommitAreUsedWithoutTheirVersion() throws Exception {
    String skip = "<name>hbase.defaults.for.version.skip</name>\n    <value>";
    after.put("hbase-common/src/main/resources/hbase-default.xml",
      Repo.bytes("<value>@@@VERSION@@@</value>\n" + skip + "false</value>\n"));
    addTest(after, "TestMore", "new java.util.Scanner(TestMore.class.getResourceAsStream("
      + "\"/hbase-default.xml\")).useDelimiter(\"\\\\A\").next().contains(\"skip</name>\\n    "
      + "<value>true</value>\") ? 1 : 0");
    assertEquals("green (TestMore)", verdict(true, true).shown());
  }

  @Test
  public void testStandInsAreThere() throws Exception {
    standIns.put(Repo.JAVA + "Other.java",
      Repo.bytes("package org.x; class Other { static int one() { return 1; } }"));
    addTest(after, "TestMore", "Other.one()");
    assertEquals("green (TestMore)", verdict(true, true).shown());
  }
}
