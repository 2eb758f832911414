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

import dev.stratum.fork.diff.ContextApplier;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.eclipse.jdt.core.dom.AbstractTypeDeclaration;
import org.eclipse.jdt.core.dom.CompilationUnit;
import org.eclipse.jdt.core.dom.SimpleType;
import org.eclipse.jdt.core.dom.Type;
import org.eclipse.jdt.core.dom.TypeDeclaration;

/**
 * Converts the JUnit 4 tests of a tree to JUnit 5 as HBase's lines from 3.0.0 on have them. A class
 * is converted as a whole or not at all: if something of it, of its superclass in the tree or of
 * its rules cannot be converted, it stays as it is, and the reasons say why.
 */
final class JUnitConversion {
  private static final String FIXTURES = "junit5.patch";

  /**
   * What became of a file.
   * @param text    the file, as it was if there are reasons
   * @param reasons why it stays JUnit 4, none if it is converted or had nothing of JUnit 4
   * @param shape   what subclasses need to know
   */
  record Outcome(String text, Set<String> reasons, TestShape shape) {
    boolean converted() {
      return reasons.isEmpty();
    }
  }

  private final SortedMap<String, byte[]> tree;
  private final TypeIndex index;
  private final Map<String, Outcome> outcomes = new HashMap<>();
  private final Set<String> extensions = new HashSet<>();

  /**
   * @param tree the tree that has the tests, and the fixtures that they use
   */
  JUnitConversion(SortedMap<String, byte[]> tree) {
    this.tree = new TreeMap<>(tree);
    index = new TypeIndex(tree);
    convertFixtures();
  }

  private void convertFixtures() {
    for (String edit : fixtureEdits()) {
      SortedMap<String, byte[]> changed = new TreeMap<>(tree);
      if (ContextApplier.apply(FIXTURES, JavaText.bytes(edit), changed) == null) {
        for (Map.Entry<String, byte[]> file : changed.entrySet()) {
          byte[] before = tree.put(file.getKey(), file.getValue());
          if (!Arrays.equals(before, file.getValue())) {
            extensions.add(file.getKey());
          }
        }
      }
    }
  }

  /** Returns the hand-written edits of fixtures, one for each file. */
  static List<String> fixtureEdits() {
    try (InputStream in = JUnitConversion.class.getResourceAsStream(FIXTURES)) {
      String all = JavaText.text(in.readAllBytes());
      return Arrays.stream(all.split("(?m)^(?=diff --git )")).filter(
        edit -> edit.startsWith("diff ")).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e); // The file is in the jar.
    }
  }

  /** Returns the files of the tree that hand-written edits converted. */
  Set<String> fixtures() {
    return Set.copyOf(extensions);
  }

  /** Converts one file. */
  Outcome convert(String path) {
    Outcome known = outcomes.get(path);
    if (known == null) {
      String text = JavaText.text(tree.get(path));
      // A class that a cycle leads back to is broken code, which the compiler reports.
      outcomes.put(path, new Outcome(text, Set.of(), TestShape.NONE));
      known = convertText(text);
      outcomes.put(path, known);
    }
    return known;
  }

  private Outcome convertText(String text) {
    CompilationUnit unit = JavaText.parse(text);
    TypeDeclaration main = mainType(unit);
    if (main == null) {
      return new Outcome(text, Set.of(), TestShape.NONE);
    }
    TestClassConversion conversion = new TestClassConversion(text, this);
    String parent = parentPath(main, unit);
    Outcome inherited = parent == null ? null : convert(parent);
    return conversion.run(inherited == null ? TestShape.NONE : inherited.shape(),
      inherited != null && !inherited.converted(), isForeign(main, unit));
  }

  /** Returns whether a name in a file is that of a rule that is an extension now. */
  boolean isExtension(String simple, CompilationUnit unit) {
    String path = path(simple, unit);
    return path != null && (extensions.contains(path)
      || JavaText.text(tree.get(path)).contains("org.junit.jupiter.api.extension."));
  }

  static TypeDeclaration mainType(CompilationUnit unit) {
    for (Object type : unit.types()) {
      if ((AbstractTypeDeclaration) type instanceof TypeDeclaration declaration) {
        return declaration;
      }
    }
    return null;
  }

  private static String superName(TypeDeclaration type) {
    Type parent = type.getSuperclassType();
    return parent instanceof SimpleType simple ? simple.getName().getFullyQualifiedName() : null;
  }

  private String parentPath(TypeDeclaration type, CompilationUnit unit) {
    String name = superName(type);
    String path = name == null ? null : path(name, unit);
    return path != null && path.contains("/src/test/") ? path : null;
  }

  /** Returns whether a class extends a test that the tree does not have. */
  private boolean isForeign(TypeDeclaration type, CompilationUnit unit) {
    String name = superName(type);
    return name != null && path(name, unit) == null && name.startsWith("Test");
  }

  private String path(String simple, CompilationUnit unit) {
    String name = simple.contains(".") ? simple.substring(0, simple.indexOf('.')) : simple;
    for (ImportLines.Import one : ImportLines.of(unit)) {
      if (!one.isStatic() && one.simple().equals(name)) {
        return index.path(one.name());
      }
    }
    return index.path(TypeIndex.packageOf(unit) + "." + name);
  }
}
