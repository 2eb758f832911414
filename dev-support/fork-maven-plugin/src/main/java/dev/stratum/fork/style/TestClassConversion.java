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

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.eclipse.jdt.core.dom.ASTNode;
import org.eclipse.jdt.core.dom.ASTVisitor;
import org.eclipse.jdt.core.dom.Annotation;
import org.eclipse.jdt.core.dom.ArrayInitializer;
import org.eclipse.jdt.core.dom.BodyDeclaration;
import org.eclipse.jdt.core.dom.CompilationUnit;
import org.eclipse.jdt.core.dom.Expression;
import org.eclipse.jdt.core.dom.FieldDeclaration;
import org.eclipse.jdt.core.dom.ImportDeclaration;
import org.eclipse.jdt.core.dom.MarkerAnnotation;
import org.eclipse.jdt.core.dom.MemberValuePair;
import org.eclipse.jdt.core.dom.MethodDeclaration;
import org.eclipse.jdt.core.dom.MethodInvocation;
import org.eclipse.jdt.core.dom.Modifier;
import org.eclipse.jdt.core.dom.Name;
import org.eclipse.jdt.core.dom.NormalAnnotation;
import org.eclipse.jdt.core.dom.SimpleName;
import org.eclipse.jdt.core.dom.SingleMemberAnnotation;
import org.eclipse.jdt.core.dom.TypeDeclaration;
import org.eclipse.jdt.core.dom.TypeLiteral;

/** Converts one test class, see {@link JUnitConversion}. */
final class TestClassConversion extends ASTVisitor {
  private static final String API = "org.junit.jupiter.api.";
  private static final String TEMPLATE = "HBaseParameterizedTestTemplate";
  private static final Map<String, String> LIFECYCLE = Map.of("Before", "BeforeEach", "After",
    "AfterEach", "BeforeClass", "BeforeAll", "AfterClass", "AfterAll");
  /** What is converted of JUnit 4; anything else is a reason to leave a class. */
  private static final Set<String> KNOWN = Set.of("org.junit.Test", "org.junit.Before",
    "org.junit.After", "org.junit.BeforeClass", "org.junit.AfterClass",
    "org.junit.Rule", "org.junit.ClassRule", "org.junit.Assert", "org.junit.Assume",
    "org.junit.experimental.categories.Category", "org.junit.runner.RunWith",
    "org.junit.runners.Parameterized", "org.junit.runners.Parameterized.Parameters",
    "org.junit.runners.Parameterized.Parameter", "org.junit.rules.TemporaryFolder",
    "org.junit.rules.TestName", "org.junit.function.ThrowingRunnable");
  private static final String OTEL = "io.opentelemetry.sdk.testing.junit";
  /** Rules that HBase and OpenTelemetry have as extensions as well. */
  private static final Map<String, String> RULES = Map.of(
    "org.apache.hadoop.hbase.TableNameTestRule", "org.apache.hadoop.hbase.TableNameTestExtension",
    OTEL + "4.OpenTelemetryRule", OTEL + "5.OpenTelemetryExtension");
  private static final String CLASS_RULE = "org.apache.hadoop.hbase.HBaseClassTestRule";

  private final JUnitConversion tests;
  private final String original;
  private final Set<String> reasons = new LinkedHashSet<>();
  private final Set<ImportLines.Import> needed = new TreeSet<>();
  private final TextEdits edits = new TextEdits();
  private final Map<String, String> imported = new HashMap<>();
  private final Set<String> folders = new HashSet<>();
  private final Set<String> methodNames = new HashSet<>();
  private final Set<MethodDeclaration> withInfo = new HashSet<>();
  private final Map<Integer, FieldDeclaration> parameterFields = new TreeMap<>();
  private String text;
  private CompilationUnit unit;
  private TypeDeclaration type;
  private String template;
  private MethodDeclaration parameterMethod;

  TestClassConversion(String text, JUnitConversion tests) {
    this.original = text;
    this.tests = tests;
  }

  JUnitConversion.Outcome run(TestShape parent, boolean parentStays, boolean foreignParent) {
    text = original;
    unit = JavaText.parse(text);
    for (ImportLines.Import one : ImportLines.of(unit)) {
      imported.put(one.simple(), one.name());
    }
    if (!isJUnit4() && parent == TestShape.NONE) {
      return new JUnitConversion.Outcome(original, Set.of(), TestShape.NONE);
    }
    if (parentStays) {
      reasons.add("its superclass stays JUnit 4");
    }
    if (foreignParent) {
      reasons.add("its superclass is a test of HBase's that may be JUnit 4");
    }
    text = JUnitAssertions.moveMessages(text, reasons);
    unit = JavaText.parse(text);
    type = JUnitConversion.mainType(unit);
    folders.addAll(parent.folders());
    methodNames.addAll(parent.methodNames());
    template = parent.template();
    collect();
    unit.accept(this);
    List<JUnitParameters.Parameter> own = parameters(parent);
    String result = null;
    try {
      result = ImportLines.add(edits.apply(text), needed);
    } catch (IllegalStateException e) {
      reasons.add(e.getMessage());
    }
    if (!reasons.isEmpty()) {
      return new JUnitConversion.Outcome(original, Set.copyOf(reasons), TestShape.NONE);
    }
    List<JUnitParameters.Parameter> all = new ArrayList<>(parent.parameters());
    all.addAll(own);
    List<ImportLines.Import> imports = new ArrayList<>(parent.imports());
    own.stream().map(one -> imported.get(one.type())).filter(name -> name != null)
      .map(ImportLines.Import::of).forEach(imports::add);
    return new JUnitConversion.Outcome(result, Set.of(),
      new TestShape(template, all, imports, folders, methodNames));
  }

  private boolean isJUnit4() {
    return imported.values().stream().anyMatch(name -> name.startsWith("org.junit.")
      && !name.startsWith("org.junit.jupiter.") && !name.startsWith("org.junit.platform."));
  }

  /** Finds what the conversion of expressions depends on. */
  private void collect() {
    unit.accept(new ASTVisitor() {
      @Override
      public boolean visit(FieldDeclaration node) {
        String shown = node.getType().toString();
        if (shown.equals("TemporaryFolder") || shown.equals("TestName")) {
          String name = node.fragments().get(0).toString().split("=")[0].strip();
          (shown.equals("TestName") ? methodNames : folders).add(name);
        }
        return true;
      }

      @Override
      public boolean visit(MethodDeclaration node) {
        Annotation parameters = annotation(node, "Parameters");
        if (parameters != null) {
          parameterMethod = node;
          template = "@" + TEMPLATE;
          if (parameters instanceof NormalAnnotation normal) {
            template += "(" + normal.values().get(0) + ")";
          }
        }
        return true;
      }
    });
  }

  private List<JUnitParameters.Parameter> parameters(TestShape parent) {
    JUnitParameters writer = new JUnitParameters(text, unit, type, edits, needed);
    List<JUnitParameters.Parameter> own = JUnitParameters.inFields(parameterFields);
    if (parameterMethod != null) {
      String name = parameterMethod.getName().getIdentifier();
      boolean called = JUnitParameters.calls(unit).containsKey(name);
      if (called && name.equals("parameters")) {
        reasons.add("it calls parameters()");
      }
      writer.convert(parameterMethod, called);
    }
    if (template != null && !Modifier.isAbstract(type.getModifiers())) {
      needed.add(ImportLines.Import.of("org.apache.hadoop.hbase." + TEMPLATE));
      edits.insert(declarationStart(), template + "\n");
    }
    if (!own.isEmpty() || !parent.parameters().isEmpty()) {
      if (!own.isEmpty() && writer.hasConstructor()) {
        reasons.add("it has a constructor and fields for parameters");
      } else if (!writer.hasConstructor()) {
        writer.addConstructor(parent.parameters(), own);
        String home = TypeIndex.packageOf(unit) + ".";
        parent.imports().stream().filter(one -> !imported.containsValue(one.name())
          && !one.name().equals(home + one.simple())).forEach(needed::add);
      }
    }
    return own;
  }

  /** Returns where a class's annotations and modifiers begin, below its Javadoc. */
  private int declarationStart() {
    return type.modifiers().isEmpty()
      ? type.getName().getStartPosition()
      : ((ASTNode) type.modifiers().get(0)).getStartPosition();
  }

  @Override
  public boolean visit(ImportDeclaration node) {
    String name = node.getName().getFullyQualifiedName();
    String member = name.substring(name.lastIndexOf('.') + 1);
    if (node.isStatic() && name.startsWith("org.junit.As")) {
      boolean known = !node.isOnDemand()
        && (JUnitAssertions.isKnown(member) || member.startsWith("assume"));
      if (!known || Set.of("assumeNotNull", "assumeThat", "assumeNoException").contains(member)) {
        reasons.add("it uses " + name);
      }
      edits.deleteLines(text, node.getStartPosition(), TextEdits.end(node) - 1);
      needed.add(ImportLines.Import.ofStatic(
        API + (name.startsWith("org.junit.Assume.") ? "Assumptions." : "Assertions.") + member));
    } else if (name.startsWith("org.junit.") && !name.startsWith("org.junit.jupiter.")) {
      if (!KNOWN.contains(name)) {
        reasons.add("it uses " + name);
      }
      edits.deleteLines(text, node.getStartPosition(), TextEdits.end(node) - 1);
    } else if (name.equals(CLASS_RULE) || RULES.containsKey(name)) {
      edits.deleteLines(text, node.getStartPosition(), TextEdits.end(node) - 1);
    }
    return false;
  }

  @Override
  public boolean visit(MarkerAnnotation node) {
    return annotation(node);
  }

  @Override
  public boolean visit(SingleMemberAnnotation node) {
    return annotation(node);
  }

  @Override
  public boolean visit(NormalAnnotation node) {
    return annotation(node);
  }

  private boolean annotation(Annotation node) {
    String name = simple(node.getTypeName());
    if (LIFECYCLE.containsKey(name) && isJUnit(name)) {
      edits.replace(node.getTypeName(), LIFECYCLE.get(name));
      needed.add(ImportLines.Import.of(API + LIFECYCLE.get(name)));
    } else if (name.equals("Test") && isJUnit(name)) {
      test(node);
    } else if (name.equals("Category")) {
      edits.replace(node, tags((SingleMemberAnnotation) node));
    } else if (name.equals("RunWith")) {
      if (!((SingleMemberAnnotation) node).getValue().toString().equals("Parameterized.class")) {
        reasons.add("it has the runner " + ((SingleMemberAnnotation) node).getValue());
      }
      remove(node);
    } else if (name.equals("Parameters") && node.getParent() instanceof MethodDeclaration) {
      remove(node);
    } else if (name.equals("Parameter") && node.getParent() instanceof FieldDeclaration field) {
      int at = node instanceof SingleMemberAnnotation member
        ? Integer.parseInt(member.getValue().toString())
        : 0;
      parameterFields.put(at, field);
      remove(node);
    }
    return false;
  }

  /** Removes an annotation with the space behind it. */
  private void remove(Annotation node) {
    int end = TextEdits.end(node);
    while (Character.isWhitespace(text.charAt(end))) {
      end++;
    }
    edits.replace(node.getStartPosition(), end, "");
  }

  private boolean isJUnit(String simple) {
    return ("org.junit." + simple).equals(imported.get(simple));
  }

  private String tags(SingleMemberAnnotation category) {
    // HBase has a Tag as well.
    boolean clash = imported.containsKey("Tag");
    if (!clash) {
      needed.add(ImportLines.Import.of(API + "Tag"));
    }
    List<Object> values = new ArrayList<>();
    if (category.getValue() instanceof ArrayInitializer several) {
      values.addAll(several.expressions());
    } else {
      values.add(category.getValue());
    }
    StringBuilder tags = new StringBuilder();
    for (Object value : values) {
      tags.append(tags.length() == 0 ? "" : "\n").append(clash ? "@" + API + "Tag(" : "@Tag(")
        .append(((TypeLiteral) value).getType()).append(".TAG)");
    }
    return tags.toString();
  }

  private void test(Annotation node) {
    String name = template == null ? "Test" : "TestTemplate";
    needed.add(ImportLines.Import.of(API + name));
    StringBuilder annotations = new StringBuilder("@" + name);
    if (node instanceof NormalAnnotation normal) {
      for (Object one : normal.values()) {
        MemberValuePair pair = (MemberValuePair) one;
        if (pair.getName().getIdentifier().equals("timeout")) {
          annotations.append("\n  ").append(timeout(pair.getValue()));
        } else {
          expected((MethodDeclaration) node.getParent(), pair.getValue().toString());
        }
      }
    }
    edits.replace(node, annotations.toString());
  }

  private String timeout(Expression value) {
    needed.add(ImportLines.Import.of(API + "Timeout"));
    String literal = value.toString().replace("_", "");
    if (literal.matches("\\d{1,9}000")) {
      return "@Timeout(" + literal.substring(0, literal.length() - 3) + ")";
    }
    needed.add(ImportLines.Import.of("java.util.concurrent.TimeUnit"));
    return "@Timeout(value = " + value + ", unit = TimeUnit.MILLISECONDS)";
  }

  private void expected(MethodDeclaration method, String exception) {
    needed.add(ImportLines.Import.ofStatic(API + "Assertions.assertThrows"));
    edits.insert(method.getBody().getStartPosition() + 1,
      "\n    assertThrows(" + exception + ", () -> {");
    edits.insert(TextEdits.end(method.getBody()) - 1, "});\n  ");
  }

  @Override
  public boolean visit(FieldDeclaration node) {
    Annotation rule = annotation(node, "Rule");
    if (rule == null) {
      rule = annotation(node, "ClassRule");
    }
    if (rule == null) {
      return true;
    }
    String shown = node.getType().toString();
    String name = imported.getOrDefault(shown, TypeIndex.packageOf(unit) + "." + shown);
    if (name.equals(CLASS_RULE) || shown.equals("TestName")) {
      removeField(node);
      return false;
    }
    if (shown.equals("TemporaryFolder")) {
      temporaryFolder(node, rule);
      return false;
    }
    if (RULES.containsKey(name)) {
      needed.add(ImportLines.Import.of(RULES.get(name)));
      edits.replace(node.getStartPosition() + javadoc(node), TextEdits.end(node),
        text.substring(node.getStartPosition() + javadoc(node), TextEdits.end(node))
          .replaceFirst("@(Class)?Rule\\b", "@RegisterExtension").replace(shown,
            RULES.get(name).substring(RULES.get(name).lastIndexOf('.') + 1)));
      needed.add(ImportLines.Import.of(API + "extension.RegisterExtension"));
      return false;
    }
    if (!tests.isExtension(shown, unit)) {
      reasons.add("its rule " + shown + " is no extension");
    }
    edits.replace(rule, "@RegisterExtension");
    needed.add(ImportLines.Import.of(API + "extension.RegisterExtension"));
    return true;
  }

  private static int javadoc(BodyDeclaration node) {
    return node.getJavadoc() == null
      ? 0
      : TextEdits.end(node.getJavadoc()) - node.getStartPosition();
  }

  private void removeField(FieldDeclaration node) {
    int end = text.indexOf('\n', TextEdits.end(node));
    boolean blank = text.startsWith("\n\n", end);
    edits.deleteLines(text, unit.getExtendedStartPosition(node), blank ? end + 1 : end);
  }

  private void temporaryFolder(FieldDeclaration node, Annotation rule) {
    needed.add(ImportLines.Import.of(API + "io.TempDir"));
    needed.add(ImportLines.Import.of("java.io.File"));
    edits.replace(rule, "@TempDir");
    for (Object one : node.modifiers()) {
      if (one instanceof Modifier modifier && (modifier.isFinal() || modifier.isPrivate())) {
        edits.replace(modifier.getStartPosition(), TextEdits.end(modifier) + 1, "");
      }
    }
    edits.replace(node.getType().getStartPosition(), TextEdits.end(node),
      "File " + node.fragments().get(0).toString().split("=")[0].strip() + ";");
  }

  private static Annotation annotation(BodyDeclaration node, String name) {
    for (Object modifier : node.modifiers()) {
      if (modifier instanceof Annotation one && simple(one.getTypeName()).equals(name)) {
        return one;
      }
    }
    return null;
  }

  private static String simple(Name name) {
    String full = name.getFullyQualifiedName();
    return full.substring(full.lastIndexOf('.') + 1);
  }

  @Override
  public boolean visit(MethodInvocation node) {
    String on = node.getExpression() == null ? "" : node.getExpression().toString();
    String name = node.getName().getIdentifier();
    if (folders.contains(on)) {
      TestFolderCalls.replace(node, on, text, imported, edits, needed, reasons);
      for (Object argument : node.arguments()) {
        ((ASTNode) argument).accept(this);
      }
      return false;
    }
    if (methodNames.contains(on) && name.equals("getMethodName")) {
      methodName(node);
      return false;
    }
    if (on.equals("Assert") || on.equals("Assume")) {
      String converted = on.equals("Assert") ? "Assertions" : "Assumptions";
      if (!JUnitAssertions.isKnown(name)) {
        reasons.add("it uses " + on + "." + name);
      }
      edits.replace(node.getExpression(), converted);
      needed.add(ImportLines.Import.of(API + converted));
      node.arguments().forEach(argument -> ((ASTNode) argument).accept(this));
      return false;
    }
    return true;
  }

  /** The method that wants to know the test's name gets it as a parameter. */
  private void methodName(MethodInvocation node) {
    ASTNode at = node;
    while (at != null && !(at instanceof MethodDeclaration)) {
      at = at.getParent();
    }
    MethodDeclaration method = (MethodDeclaration) at;
    boolean injected = method != null && method.parameters().isEmpty()
      && (annotation(method, "Before") != null || annotation(method, "Test") != null);
    if (!injected || JUnitParameters.calls(unit).containsKey(method.getName().getIdentifier())) {
      reasons.add("the test's name is used outside of a test or its set-up");
      return;
    }
    if (withInfo.add(method)) {
      edits.insert(text.indexOf('(', TextEdits.end(method.getName())) + 1, "TestInfo testInfo");
      needed.add(ImportLines.Import.of(API + "TestInfo"));
    }
    edits.replace(node, "testInfo.getTestMethod().get().getName()");
  }

  @Override
  public boolean visit(SimpleName node) {
    String name = node.getIdentifier();
    boolean declared = node.getParent().getParent() instanceof FieldDeclaration;
    if (folders.contains(name) && !declared) {
      reasons.add("the folder " + name + " is used as a whole");
    } else if (methodNames.contains(name) && !declared) {
      reasons.add("the rule " + name + " is used as a whole");
    } else if (name.equals("TemporaryFolder") || name.equals("TestName")) {
      reasons.add("it makes a " + name);
    } else if (name.equals("ThrowingRunnable") && imported.containsKey(name)) {
      edits.replace(node, "Executable");
      needed.add(ImportLines.Import.of(API + "function.Executable"));
    }
    return true;
  }
}
