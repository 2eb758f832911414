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

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.Test;

/** Which qualified names become imports, and which stay. */
public class TestQualifiedNames {
  private static final String PATH = "hbase-server/src/main/java/org/apache/hadoop/hbase/x/A.java";

  private final SortedMap<String, byte[]> before = new TreeMap<>();
  private final SortedMap<String, byte[]> after = new TreeMap<>();
  private final UpstreamStyle style = new UpstreamStyle(false);

  private String styled(String text) {
    after.put(PATH, text.getBytes(StandardCharsets.UTF_8));
    return new String(style.apply(before, after).get(PATH), StandardCharsets.UTF_8);
  }

  private void file(String path, String text) {
    before.put(path, text.getBytes(StandardCharsets.UTF_8));
    after.put(path, text.getBytes(StandardCharsets.UTF_8));
  }

  private List<String> notes() {
    return style.notes().stream().map(note -> note.line() + ": " + note.text()).toList();
  }

  @Test
  public void testFileWithoutImports() {
    assertEquals("package org.apache.hadoop.hbase.x;\n\nimport java.util.List;\n\n"
      + "class A {\n  List<String> a;\n}\n",
      styled("package org.apache.hadoop.hbase.x;\n\nclass A {\n  java.util.List<String> a;\n}\n"));
  }

  @Test
  public void testEachGroupOfImports() {
    String head = "package org.apache.hadoop.hbase.x;\n\n";
    String code = "class A {\n  %sTables a;\n  %sList<%sMap> b;\n"
      + "  %sRpc c;\n  %sString d;\n  %sB e;\n}\n";
    assertEquals(
      head + "import java.util.List;\nimport java.util.Map;\n\n"
        + "import org.apache.hbase.thirdparty.com.google.Tables;\n\n"
        + "import org.apache.hadoop.hbase.shaded.Rpc;\n\n"
        + code.replace("%s", ""),
      styled(head + String.format(code, "org.apache.hbase.thirdparty.com.google.", "java.util.",
        "java.util.", "org.apache.hadoop.hbase.shaded.", "java.lang.",
        "org.apache.hadoop.hbase.x.")));
  }

  @Test
  public void testInsertsBetweenSortedImports() {
    String code = "package org.apache.hadoop.hbase.x;\n\nimport static java.util.Map.entry;\n\n"
      + "import java.util.Arrays;\nimport java.util.Map;\n\n"
      + "import org.apache.hbase.thirdparty.B;\n\n"
      + "class A {\n  Arrays a;\n  Map m = entry();\n  B b;\n";
    file(PATH, code + "}\n");
    assertEquals(code.replace("import java.util.Map;\n", "import java.util.List;\n"
      + "import java.util.Map;\nimport org.apache.hadoop.C;\n") + "  List l;\n  C c;\n}\n",
      styled(code + "  java.util.List l;\n  org.apache.hadoop.C c;\n}\n"));
  }

  @Test
  public void testStaticCallConstantMethodReferenceAnnotationAndClassLiteral() {
    assertEquals("package org.apache.hadoop.hbase.x;\n\nimport org.apache.q.Foo;\n"
      + "import org.apache.q.Mark;\n\n@Mark(Foo.class)\nclass A {\n"
      + "  Object a = Foo.bar(Foo.MAX, Foo::baz);\n  Object b = new Foo<Foo.In>();\n}\n",
      styled("package org.apache.hadoop.hbase.x;\n\n@org.apache.q.Mark(org.apache.q.Foo.class)\n"
        + "class A {\n  Object a = org.apache.q.Foo.bar(org.apache.q.Foo.MAX, "
        + "org.apache.q.Foo::baz);\n"
        + "  Object b = new org.apache.q.Foo<org.apache.q.Foo.In>();\n}\n"));
  }

  @Test
  public void testNestedTypeThatIsImported() {
    String head = "package org.apache.hadoop.hbase.x;\n\nimport org.apache.q.Foo.In;\n";
    assertEquals(head + "\nclass A {\n  In a;\n}\n",
      styled(head + "\nclass A {\n  org.apache.q.Foo.In a;\n}\n"));
  }

  @Test
  public void testNameThatIsWrapped() {
    assertEquals("package org.apache.hadoop.hbase.x;\n\nimport org.apache.q.Foo;\n\n"
      + "class A {\n  Object a = Foo.bar();\n}\n",
      styled("package org.apache.hadoop.hbase.x;\n\n"
        + "class A {\n  Object a = org.apache.q\n    .Foo.bar();\n}\n"));
  }

  @Test
  public void testFirstOfTwoTypesOfOneName() {
    assertEquals("package org.apache.hadoop.hbase.x;\n\nimport org.apache.q.Foo;\n\n"
      + "class A {\n  Foo a;\n  org.apache.r.Foo b;\n}\n",
      styled("package org.apache.hadoop.hbase.x;\n\n"
        + "class A {\n  org.apache.q.Foo a;\n  org.apache.r.Foo b;\n}\n"));
    assertEquals(List.of("5: org.apache.r.Foo stays qualified: the file imports org.apache.q.Foo"),
      notes());
  }

  @Test
  public void testTypesThatANameAlreadyMeans() {
    file("hbase-common/src/main/java/org/apache/hadoop/hbase/x/Near.java", "");
    file("hbase-common/src/main/java/org/apache/b/Base.java",
      "package org.apache.b;\n\npublic class Base {\n  public static class Member {\n  }\n}\n");
    String text = "package org.apache.hadoop.hbase.x;\n\nimport org.apache.b.Base;\n\n"
      + "class A<T> extends Base {\n  Used u;\n"
      + "  org.q.Near a;\n  org.q.Member b;\n  org.q.Used c;\n"
      + "  org.q.In d;\n  org.q.String e;\n  org.q.T f;\n\n  class In {\n  }\n}\n";
    assertEquals(text, styled(text));
    assertEquals(List.of("7: org.q.Near stays qualified: the package has a type Near",
      "8: org.q.Member stays qualified: a supertype has a member type Member",
      "9: org.q.Used stays qualified: Used means another type here",
      "10: org.q.In stays qualified: the file declares a type In",
      "11: org.q.String stays qualified: String means another type here",
      "12: org.q.T stays qualified: the file declares a type T"), notes());
  }

  @Test
  public void testCommentsFollowTheCode() {
    String text = "package org.apache.hadoop.hbase.x;\n\n"
      + "/** A {@link org.q.Foo#bar}, see {@link org.q.Only}. */\nclass A {\n  org.q.Foo a;\n}\n";
    assertEquals("package org.apache.hadoop.hbase.x;\n\nimport org.q.Foo;\n\n"
      + "/** A {@link Foo#bar}, see {@link org.q.Only}. */\nclass A {\n  Foo a;\n}\n",
      styled(text));
    assertEquals(List.of("3: org.q.Only stays qualified: only a comment names it"), notes());
  }

  @Test
  public void testUpstreamsNamesStay() {
    String text = "package org.apache.hadoop.hbase.x;\n\nclass A {\n"
      + "  org.q.Foo a = new org.q.Foo(1);\n}\n";
    file(PATH, text);
    String changed = text.replace("(1)", "(2)");
    assertEquals(changed, styled(changed));
    assertEquals(List.of(), notes());
  }

  @Test
  public void testStringsAndFieldAccessesStay() {
    String text = "package org.apache.hadoop.hbase.x;\n\nclass A {\n"
      + "  String a = \"org.q.Foo\"; // org.q.Foo\n  int b = io.net.size;\n}\n";
    assertEquals(text, styled(text));
  }

  @Test
  public void testUnusedImports() {
    String head = "package org.apache.hadoop.hbase.x;\n\nimport java.util.List;\n";
    String other = "import java.util.Map;\n\n";
    file(PATH, head + other + "class A {\n  List a;\n}\n");
    assertEquals("package org.apache.hadoop.hbase.x;\n\n" + other + "class A {\n}\n",
      styled(head + other + "class A {\n}\n"));
  }
}
