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
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import dev.stratum.fork.Repo;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.TemporaryFolder;

/** Tests of a patch on both sides of it, compiled and run by the real compiler and JUnit. */
@Category(LargeTests.class)
public class TestRedGreen {
  private static final String TEST = Repo.TESTS + "TestFix.java";
  private static final String FIXED = Repo.JAVA + "Count.java";
  private static final String ADDED = Repo.JAVA + "Added.java";
  private static final String NAME = "org.x.TestFix";

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();
  private final SortedMap<String, byte[]> before = new TreeMap<>();
  private final SortedMap<String, byte[]> after = new TreeMap<>();

  @Before
  public void setUp() {
    before.put(FIXED, count("2"));
    after.put(FIXED, count("1"));
    after.put(TEST, Repo.test("TestFix", "Count.one()"));
  }

  private static byte[] count(String value) {
    return Repo.bytes("package org.x; class Count { static int one() { return " + value + "; } }");
  }

  private RedGreen.Verdict verdict(boolean each, String... tests) throws Exception {
    List<Path> jars = Repo.junit();
    Path work = folder.newFolder().toPath();
    try (StateCheck check = new StateCheck(new TreeMap<>(), work, jars, StateCheck.RELEASE,
      new TestProcess(jars, List.of("-Xmx64m"), work))) {
      return new RedGreen(check).of(before, after, List.of(tests), each);
    }
  }

  @Test
  public void testFixIsRedWithoutAndGreenWithItsEdits() throws Exception {
    assertEquals(new RedGreen.Verdict(true, "red (failed: TestFix.testOne)", true, "green"),
      verdict(true, NAME));
  }

  @Test
  public void testTestThatPassesWithoutThePatchIsNotRed() throws Exception {
    before.put(FIXED, count("1"));
    assertEquals(new RedGreen.Verdict(false, "not red (passes without the patch: TestFix)", true,
      "green"), verdict(true, NAME));
  }

  @Test
  public void testEachNamedTestHasToBeRed() throws Exception {
    after.put(Repo.TESTS + "TestOther.java", Repo.test("TestOther", "1"));
    RedGreen.Verdict verdict = verdict(true, NAME, "org.x.TestOther");
    assertFalse(verdict.red());
    assertEquals("not red (failed: TestFix.testOne; passes without the patch: TestOther)",
      verdict.before());
    verdict = verdict(false, NAME, "org.x.TestOther");
    assertTrue(verdict.red());
    assertEquals("red (failed: TestFix.testOne; passes without the patch: TestOther)",
      verdict.before());
  }

  @Test
  public void testFixThatDoesNotFixIsNotGreen() throws Exception {
    after.put(FIXED, count("3"));
    RedGreen.Verdict verdict = verdict(true, NAME);
    assertTrue(verdict.red());
    assertFalse(verdict.green());
    assertTrue(verdict.after(), verdict.after().startsWith("not green (TestFix: 1) testOne(")
      && verdict.after().contains("expected:<1> but was:<3>"));
  }

  /** A class path with several versions causes such a failure. */
  @Test
  public void testFailureThatThePatchDoesNotChangeIsNotRed() throws Exception {
    before.put(FIXED, count("3"));
    after.put(FIXED, count("3"));
    RedGreen.Verdict verdict = verdict(true, NAME);
    assertFalse(verdict.red() || verdict.green());
    assertTrue(verdict.before(),
      verdict.before().startsWith("not red (cannot be run: TestFix: 1) testOne("));
  }

  /** A class path that lacks fixtures of the test causes such a failure. */
  @Test
  public void testTestThatCannotBeCompiledIsNotRed() throws Exception {
    after.put(TEST, Repo.test("TestFix", "Missing.one()"));
    RedGreen.Verdict verdict = verdict(true, NAME);
    assertFalse(verdict.red() || verdict.green());
    assertTrue(verdict.before(), verdict.before().startsWith("not red (cannot be compiled: "));
  }

  /** The failure is that of the defect, although the test needs a class that the patch adds. */
  @Test
  public void testAddedClassesAreThereWithoutTheEdits() throws Exception {
    after.put(ADDED, Repo.bytes("package org.x; class Added { static final int ZERO = 0; }"));
    after.put(TEST, Repo.test("TestFix", "Count.one() + Added.ZERO"));
    assertEquals("red (failed: TestFix.testOne)", verdict(true, NAME).before());
  }

  @Test
  public void testAddedClassesThatNeedTheEditsAreLeftOut() throws Exception {
    before.put(FIXED, Repo.bytes("package org.x; class Count { static int one() { return 2; } }"));
    after.put(FIXED, Repo.bytes("package org.x; class Count { static final int ONE = 1; "
      + "static int one() { return Added.one(); } }"));
    after.put(ADDED, Repo.bytes("package org.x; class Added { static int one() { return Count.ONE; "
      + "} }"));
    assertEquals(new RedGreen.Verdict(true, "red (failed: TestFix.testOne)", true, "green"),
      verdict(true, NAME));
  }

  @Test
  public void testTestThatDoesNotCompileIsToldAsSuch() throws Exception {
    after.put(FIXED, Repo.bytes("package org.x; class Count { static int one() { return 1; } "
      + "static int zero() { return 0; } }"));
    after.put(TEST, Repo.test("TestFix", "Count.one() + Count.zero()"));
    RedGreen.Verdict verdict = verdict(true, NAME);
    assertTrue(verdict.red() && verdict.green());
    assertTrue(verdict.before(), verdict.before()
      .startsWith("red (does not compile: " + TEST + ":1: cannot find symbol symbol: method zero"));
  }

  @Test
  public void testClassThatTheClassPathLacksIsNoDefect() throws Exception {
    before.put(FIXED, Repo.bytes("package org.x; class Count { static int one() { throw new "
      + "NoClassDefFoundError(\"org/x/Gone\"); } }"));
    after.put(FIXED, before.get(FIXED));
    RedGreen.Verdict verdict = verdict(true, NAME);
    assertFalse(verdict.red() || verdict.green());
    assertTrue(verdict.before(),
      verdict.before().startsWith("not red (cannot be run: TestFix: 1) testOne("));
    assertTrue(verdict.after(),
      verdict.after().startsWith("not green (cannot be run: TestFix: 1) testOne("));
  }

  @Test
  public void testPatchWithoutTestsIsNotRed() throws Exception {
    assertEquals(new RedGreen.Verdict(false, "no tests", false, "no tests"), verdict(true));
  }

  @Test
  public void testFailedMethodIsRead() throws Exception {
    Path output = folder.newFile().toPath();
    Files.writeString(output, "log\n1) testTwo[3](org.x.TestFix)\njava.lang.AssertionError: no\n");
    assertEquals("testTwo", TestProcess.method(TestProcess.failure(output)));
    Files.writeString(output, "Error: the JVM was killed\n");
    assertNull(TestProcess.method(TestProcess.failure(output)));
  }
}
