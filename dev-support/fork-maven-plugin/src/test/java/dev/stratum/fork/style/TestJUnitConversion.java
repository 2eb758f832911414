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
package dev.stratum.fork.style;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** JUnit 4 tests written for JUnit 5, and the reasons to leave them. */
@Category(LargeTests.class)
public class TestJUnitConversion {
  private static final String FOLDER = "hbase-server/src/test/java/org/apache/hadoop/hbase/x/";
  private static final String PACKAGE = "package org.apache.hadoop.hbase.x;\n\n";

  private final SortedMap<String, byte[]> tree = new TreeMap<>();

  private JUnitConversion.Outcome convert(String text) {
    tree.put(FOLDER + "TestA.java", JavaText.bytes(PACKAGE + text));
    return new JUnitConversion(tree).convert(FOLDER + "TestA.java");
  }

  /** Returns the converted class, with its imports and without the package. */
  private String converted(String text) {
    JUnitConversion.Outcome outcome = convert(text);
    assertEquals(Set.of(), outcome.reasons());
    return new UpstreamFormatter().format(outcome.text()).substring(PACKAGE.length());
  }

  @Test
  public void testCategoriesLifecycleAndClassRule() {
    assertEquals(
      "import org.apache.hadoop.hbase.testclassification.IOTests;\n"
        + "import org.apache.hadoop.hbase.testclassification.SmallTests;\n"
        + "import org.junit.jupiter.api.AfterAll;\nimport org.junit.jupiter.api.BeforeEach;\n"
        + "import org.junit.jupiter.api.Tag;\n"
        + "import org.junit.jupiter.api.Test;\n\n/** Why. */\n@Tag(IOTests.TAG)\n"
        + "@Tag(SmallTests.TAG)\npublic class TestA {\n\n"
        + "  @BeforeEach\n  public void a() {\n  }\n\n"
        + "  @AfterAll\n  public static void b() {\n  }\n\n  @Test\n"
        + "  public void testC() {\n  }\n}\n",
      converted("import org.apache.hadoop.hbase.HBaseClassTestRule;\n"
        + "import org.apache.hadoop.hbase.testclassification.IOTests;\n"
        + "import org.apache.hadoop.hbase.testclassification.SmallTests;\n"
        + "import org.junit.AfterClass;\nimport org.junit.Before;\nimport org.junit.ClassRule;\n"
        + "import org.junit.Test;\n"
        + "import org.junit.experimental.categories.Category;\n\n/** Why. */\n"
        + "@Category({ IOTests.class, SmallTests.class })\npublic class TestA {\n\n  @ClassRule\n"
        + "  public static final HBaseClassTestRule CLASS_RULE =\n"
        + "    HBaseClassTestRule.forClass(TestA.class);\n\n  @Before\n  public void a() {\n  }\n\n"
        + "  @AfterClass\n  public static void b() {\n  }\n\n  @Test\n"
        + "  public void testC() {\n  }\n}\n"));
  }

  @Test
  public void testTagOfHBase() {
    assertEquals("import org.apache.hadoop.hbase.Tag;\n"
      + "import org.apache.hadoop.hbase.testclassification.IOTests;\n\n"
      + "@org.junit.jupiter.api.Tag(IOTests.TAG)\npublic class TestA {\n  Tag tag;\n}\n",
      converted("import org.apache.hadoop.hbase.Tag;\n"
        + "import org.apache.hadoop.hbase.testclassification.IOTests;\n"
        + "import org.junit.experimental.categories.Category;\n\n@Category(IOTests.class)\n"
        + "public class TestA {\n  Tag tag;\n}\n"));
  }

  private String body(String imports, String fields, String code) {
    String text = converted(imports + "import org.junit.Test;\n\npublic class TestA {\n" + fields
      + "\n  @Test\n  public void testA() throws Exception {\n" + code + "  }\n}\n");
    return text.substring(text.indexOf("class TestA {\n") + "class TestA {\n".length());
  }

  private void checkAssertion(String before, String after) {
    String head = "  double d;\n  String s;\n  Object o;\n\n  @Test\n"
      + "  public void testA() throws Exception {\n    ";
    assertEquals(head + after + ";\n  }\n}\n",
      body("import static org.junit.Assert.assertEquals;\n"
        + "import static org.junit.Assert.assertArrayEquals;\n"
        + "import static org.junit.Assert.assertThrows;\n"
        + "import static org.junit.Assert.assertTrue;\nimport static org.junit.Assume.assumeTrue;\n"
        + "import org.junit.Assert;\n", "  double d;\n  String s;\n  Object o;\n",
        "    " + before + ";\n"));
  }

  @Test
  public void testMessageIsTheLastArgument() {
    checkAssertion("assertTrue(\"m\", d > 1)", "assertTrue(d > 1, \"m\")");
    checkAssertion("assertTrue(d > 1)", "assertTrue(d > 1)");
    checkAssertion("assertEquals(\"m\" + d, 1, 2)", "assertEquals(1, 2, \"m\" + d)");
    checkAssertion("assertEquals(s, 1, 2)", "assertEquals(1, 2, s)");
    checkAssertion("assertEquals(String.format(\"%s\", d), 1, 2)",
      "assertEquals(1, 2, String.format(\"%s\", d))");
    checkAssertion("assertEquals(d, 1, 2)", "assertEquals(d, 1, 2)");
    checkAssertion("assertEquals(-1, x(), 0)", "assertEquals(-1, x(), 0)");
    checkAssertion("assertEquals(x(), y(), 1e-9)", "assertEquals(x(), y(), 1e-9)");
    checkAssertion("assertEquals(x(), y(), o)", "assertEquals(y(), o, x())");
    checkAssertion("assertEquals(x(), 1, 2, 0.1)", "assertEquals(1, 2, 0.1, x())");
    checkAssertion("assertArrayEquals(s, x(), y())", "assertArrayEquals(x(), y(), s)");
    checkAssertion("assumeTrue(s, x())", "assumeTrue(x(), s)");
    checkAssertion("Assert.assertEquals(s, 1, 2)", "Assertions.assertEquals(1, 2, s)");
    checkAssertion("assertThrows(s, X.class, () -> assertTrue(\"in\", x()))",
      "assertThrows(X.class, () -> assertTrue(x(), \"in\"), s)");
  }

  @Test
  public void testMessageOrToleranceIsNotGuessed() {
    String text = "import static org.junit.Assert.assertEquals;\n\nimport org.junit.Test;\n\n"
      + "public class TestA {\n  @Test\n  public void testA() {\n"
      + "    assertEquals(x(), y(), z());\n  }\n}\n";
    JUnitConversion.Outcome outcome = convert(text);
    assertEquals(Set.of("line 10: is the first argument of assertEquals a message?"),
      outcome.reasons());
    assertEquals(PACKAGE + text, outcome.text());
  }

  @Test
  public void testExpectedExceptionAndTimeout() {
    String text = converted("import org.junit.Test;\n\npublic class TestA {\n"
      + "  @Test(timeout = 60_000, expected = Error.class)\n"
      + "  public void testA() {\n    a();\n  }\n\n"
      + "  @Test(timeout = LIMIT)\n  public void testB() {\n  }\n}\n");
    assertEquals("  @Test\n  @Timeout(60)\n  public void testA() {\n"
      + "    assertThrows(Error.class, () -> {\n      a();\n    });\n  }\n\n"
      + "  @Test\n  @Timeout(value = LIMIT, unit = TimeUnit.MILLISECONDS)\n"
      + "  public void testB() {\n  }\n}\n", text.substring(text.indexOf("  @Test")));
  }

  @Test
  public void testTemporaryFolder() {
    assertEquals("  @TempDir\n  public File folder;\n\n  @Test\n"
      + "  public void testA() throws Exception {\n    a(folder.toString());\n"
      + "    a(Files.createTempDirectory(folder.toPath(), \"junit\").toFile());\n"
      + "    a(Files.createDirectories(folder.toPath().resolve(\"a\").resolve(\"b\")).toFile());\n"
      + "    a(Files.createFile(folder.toPath().resolve(\"c\")).toFile());\n"
      + "    a(File.createTempFile(\"junit\", null, folder));\n  }\n}\n",
      body("import org.junit.Rule;\nimport org.junit.rules.TemporaryFolder;\n",
        "  @Rule\n  public final TemporaryFolder folder = new TemporaryFolder();\n",
        "    a(folder.getRoot().toString());\n    a(folder.newFolder());\n"
          + "    a(folder.newFolder(\"a\", \"b\"));\n    a(folder.newFile(\"c\"));\n"
          + "    a(folder.newFile());\n"));
  }

  @Test
  public void testMethodName() {
    assertEquals("  @Test\n  public void testA(TestInfo testInfo) throws Exception {\n"
      + "    a(testInfo.getTestMethod().get().getName());\n  }\n}\n",
      body("import org.junit.Rule;\nimport org.junit.rules.TestName;\n",
        "  @Rule\n  public final TestName name = new TestName();\n",
        "    a(name.getMethodName());\n"));
  }

  private static final String PARAMETERIZED = "import org.junit.Test;\n"
    + "import org.junit.runner.RunWith;\nimport org.junit.runners.Parameterized;\n"
    + "import org.junit.runners.Parameterized.Parameter;\n"
    + "import org.junit.runners.Parameterized.Parameters;\n\n@RunWith(Parameterized.class)\n";

  @Test
  public void testParametersInFields() {
    String text = converted(PARAMETERIZED + "public class TestA {\n"
      + "  @Parameter(1)\n  public int b;\n"
      + "  @Parameter\n  public String a;\n\n  @Parameters(name = \"{0}\")\n"
      + "  public static List<Object[]> all() {\n"
      + "    return Arrays.asList(new Object[] { \"x\", 1 }, new Object[] { \"y\", 2 });\n  }\n\n"
      + "  @Test\n  public void testA() {\n  }\n}\n");
    assertEquals("@HBaseParameterizedTestTemplate(name = \"{0}\")\npublic class TestA {\n"
      + "  public int b;\n  public String a;\n\n"
      + "  public TestA(String a, int b) {\n    this.a = a;\n    this.b = b;\n  }\n\n"
      + "  public static Stream<Arguments> parameters() {\n"
      + "    return Stream.of(Arguments.of(\"x\", 1), Arguments.of(\"y\", 2));\n  }\n\n"
      + "  @TestTemplate\n  public void testA() {\n  }\n}\n",
      text.substring(text.indexOf("@HBaseParameterizedTestTemplate")));
  }

  @Test
  public void testParametersOfASuperclass() {
    tree.put(FOLDER + "Fixture.java", JavaText.bytes(PACKAGE + "import java.io.File;\n"
      + PARAMETERIZED
      + "public abstract class Fixture {\n  @Parameter\n  public File a;\n\n  @Parameters\n"
      + "  public static File[] parameters() {\n    return File.listRoots();\n  }\n}\n"));
    assertEquals("import java.io.File;\n"
      + "import org.apache.hadoop.hbase.HBaseParameterizedTestTemplate;"
      + "\nimport org.junit.jupiter.api.TestTemplate;\n\n@HBaseParameterizedTestTemplate\n"
      + "public class TestA extends Fixture {\n  public TestA(File a) {\n    super(a);\n  }\n\n"
      + "  @TestTemplate\n  public void testA() {\n  }\n}\n",
      converted("import org.junit.Test;\n\npublic class TestA extends Fixture {\n"
        + "  @Test\n  public void testA() {\n  }\n}\n"));
    String fixture = new JUnitConversion(tree).convert(FOLDER + "Fixture.java").text();
    assertTrue(fixture, fixture.contains("protected Fixture(File a) {"));
    assertTrue(fixture, fixture.contains("private static File[] parameterList() {"));
    assertTrue(fixture, fixture.contains("Arrays.stream(parameterList()).map(Arguments::of)"));
  }

  @Test
  public void testWhatHasNoCounterpartStays() {
    String text = "import org.junit.Rule;\nimport org.junit.Test;\n"
      + "import org.junit.rules.ErrorCollector;\n\npublic class TestA extends TestB {\n"
      + "  @Rule\n  public ErrorCollector errors = new ErrorCollector();\n}\n";
    JUnitConversion.Outcome outcome = convert(text);
    assertEquals(Set.of("its superclass is a test of HBase's that may be JUnit 4",
      "it uses org.junit.rules.ErrorCollector", "its rule ErrorCollector is no extension"),
      outcome.reasons());
    assertEquals(PACKAGE + text, outcome.text());
  }

  private static SortedMap<String, byte[]> ownTests() throws IOException {
    Path root = Path.of("../..").toRealPath();
    SortedMap<String, byte[]> files = new TreeMap<>();
    for (String module : List.of("hbase-client", "hbase-common", "hbase-server")) {
      try (Stream<Path> all = Files.walk(root.resolve(module + "/src/test"))) {
        for (Path file : (Iterable<Path>) all.filter(Files::isRegularFile)::iterator) {
          files.put(root.relativize(file).toString(), Files.readAllBytes(file));
        }
      }
    }
    return files;
  }

  @Test
  public void testTestsOfThisRepository() throws IOException {
    SortedMap<String, byte[]> own = ownTests();
    JUnitConversion tests = new JUnitConversion(own);
    assertEquals(JUnitConversion.fixtureEdits().size(), tests.fixtures().size());
    int converted = 0;
    int left = 0;
    for (String path : own.keySet()) {
      if (path.matches(".*/Test\\w+\\.java")) {
        JUnitConversion.Outcome outcome = tests.convert(path);
        assertEquals(path, List.of(), JavaText.errors(JavaText.parse(outcome.text())));
        boolean junit4 =
          outcome.text().matches("(?s).*\nimport (static )?org\\.junit\\.(?!jupiter).*");
        assertEquals(path, junit4, !outcome.converted());
        converted += outcome.converted() ? 1 : 0;
        left += outcome.converted() ? 0 : 1;
      }
    }
    assertTrue(converted + " converted, " + left + " left", left * 20 < converted);
  }
}
