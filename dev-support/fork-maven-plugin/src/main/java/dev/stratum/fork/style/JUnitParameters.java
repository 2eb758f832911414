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
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.eclipse.jdt.core.dom.ASTNode;
import org.eclipse.jdt.core.dom.ASTVisitor;
import org.eclipse.jdt.core.dom.ArrayCreation;
import org.eclipse.jdt.core.dom.ArrayInitializer;
import org.eclipse.jdt.core.dom.ArrayType;
import org.eclipse.jdt.core.dom.BooleanLiteral;
import org.eclipse.jdt.core.dom.CompilationUnit;
import org.eclipse.jdt.core.dom.Expression;
import org.eclipse.jdt.core.dom.FieldDeclaration;
import org.eclipse.jdt.core.dom.MethodDeclaration;
import org.eclipse.jdt.core.dom.MethodInvocation;
import org.eclipse.jdt.core.dom.Modifier;
import org.eclipse.jdt.core.dom.NumberLiteral;
import org.eclipse.jdt.core.dom.ReturnStatement;
import org.eclipse.jdt.core.dom.StringLiteral;
import org.eclipse.jdt.core.dom.TypeDeclaration;
import org.eclipse.jdt.core.dom.VariableDeclarationFragment;

/**
 * Writes the parameters of a JUnit 4 test as HBase's template for parameterized tests takes them: a
 * constructor, and a method {@code parameters} that returns a stream of arguments.
 */
final class JUnitParameters {

  /**
   * One parameter of a test.
   * @param type the type as written
   * @param name the field's name
   */
  record Parameter(String type, String name) {
  }

  private final String text;
  private final CompilationUnit unit;
  private final TypeDeclaration type;
  private final TextEdits edits;
  private final Set<ImportLines.Import> needed;

  JUnitParameters(String text, CompilationUnit unit, TypeDeclaration type, TextEdits edits,
    Set<ImportLines.Import> needed) {
    this.text = text;
    this.unit = unit;
    this.type = type;
    this.edits = edits;
    this.needed = needed;
  }

  /** Returns the parameters that are set into fields, in order. */
  static List<Parameter> inFields(Map<Integer, FieldDeclaration> fields) {
    List<Parameter> parameters = new ArrayList<>();
    for (FieldDeclaration field : new TreeMap<>(fields).values()) {
      String name =
        ((VariableDeclarationFragment) field.fragments().get(0)).getName().getIdentifier();
      parameters.add(new Parameter(field.getType().toString(), name));
    }
    return parameters;
  }

  boolean hasConstructor() {
    for (MethodDeclaration method : type.getMethods()) {
      if (method.isConstructor()) {
        return true;
      }
    }
    return false;
  }

  /** Adds a constructor that has an inherited class's parameters before its own. */
  void addConstructor(List<Parameter> inherited, List<Parameter> own) {
    StringBuilder code = new StringBuilder(
      Modifier.isAbstract(type.getModifiers()) ? "protected " : "public ");
    code.append(type.getName().getIdentifier()).append('(');
    List<Parameter> all = new ArrayList<>(inherited);
    all.addAll(own);
    code.append(String.join(", ",
      all.stream().map(one -> one.type() + " " + one.name()).toList())).append(") {\n");
    if (!inherited.isEmpty()) {
      code.append("    super(")
        .append(String.join(", ", inherited.stream().map(Parameter::name).toList()))
        .append(");\n");
    }
    for (Parameter one : own) {
      code.append("    this.").append(one.name()).append(" = ").append(one.name()).append(";\n");
    }
    code.append("  }\n\n  ");
    edits.insert(place(), code.toString());
  }

  private int place() {
    return Arrays.stream(type.getMethods())
      .map(method -> unit.getExtendedStartPosition(method))
      .min(Comparator.naturalOrder()).orElse(TextEdits.end(type) - 1);
  }

  /**
   * Writes the method that lists the parameters; the caller removes its annotation.
   * @param method the method
   * @param called whether the test calls it, so that it has to stay as well
   */
  void convert(MethodDeclaration method, boolean called) {
    needed.add(ImportLines.Import.of("java.util.stream.Stream"));
    needed.add(ImportLines.Import.of("org.junit.jupiter.params.provider.Arguments"));
    MethodInvocation list = called ? null : listOfLiterals(method);
    if (list != null) {
      edits.replace(method.getReturnType2(), "Stream<Arguments>");
      edits.replace(method.getName(), "parameters");
      edits.replace(list.getStartPosition(), TextEdits.end(list.getName()), "Stream.of");
      for (Object argument : list.arguments()) {
        toArguments((Expression) argument);
      }
      return;
    }
    String name = method.getName().getIdentifier();
    if (name.equals("parameters")) {
      name = "parameterList";
      edits.replace(method.getName(), name);
    }
    for (Object modifier : method.modifiers()) {
      if (modifier instanceof Modifier one && one.isPublic()) {
        edits.replace(one, "private");
      }
    }
    edits.insert(TextEdits.end(method), "\n\n  public static Stream<Arguments> parameters() {\n"
      + "    return " + stream(method, name + "()") + ".map(Arguments::of);\n  }");
  }

  private String stream(MethodDeclaration method, String call) {
    String returned = method.getReturnType2().toString();
    if (method.getReturnType2() instanceof ArrayType) {
      needed.add(ImportLines.Import.of("java.util.Arrays"));
      return "Arrays.stream(" + call + ")";
    }
    if (returned.startsWith("Iterable<")) {
      needed.add(ImportLines.Import.of("java.util.stream.StreamSupport"));
      return "StreamSupport.stream(" + call + ".spliterator(), false)";
    }
    return call + ".stream()";
  }

  /** Returns {@code Arrays.asList} if that is all the method has, and if its elements are plain. */
  private static MethodInvocation listOfLiterals(MethodDeclaration method) {
    List<?> statements = method.getBody().statements();
    if (
      statements.size() != 1 || !(statements.get(0) instanceof ReturnStatement returned)
        || !(returned.getExpression() instanceof MethodInvocation list)
        || !list.getName().getIdentifier().equals("asList")
    ) {
      return null;
    }
    for (Object argument : list.arguments()) {
      boolean plain = argument instanceof StringLiteral || argument instanceof NumberLiteral
        || argument instanceof BooleanLiteral;
      boolean array = argument instanceof ArrayCreation creation
        && creation.getInitializer() != null && creation.getType().toString().equals("Object[]");
      if (!plain && !array) {
        return null;
      }
    }
    return list;
  }

  private void toArguments(Expression element) {
    if (element instanceof ArrayCreation creation) {
      ArrayInitializer values = creation.getInitializer();
      edits.replace(element.getStartPosition(), values.getStartPosition() + 1, "Arguments.of(");
      int close = text.lastIndexOf('}', TextEdits.end(element) - 1);
      edits.replace(close, close + 1, ")");
    } else {
      edits.insert(element.getStartPosition(), "Arguments.of(");
      edits.insert(TextEdits.end(element), ")");
    }
  }

  /** Returns how often each method is called in a file. */
  static Map<String, Integer> calls(ASTNode root) {
    Map<String, Integer> calls = new HashMap<>();
    root.accept(new ASTVisitor() {
      @Override
      public boolean visit(MethodInvocation node) {
        calls.merge(node.getName().getIdentifier(), 1, Integer::sum);
        return true;
      }
    });
    return calls;
  }
}
