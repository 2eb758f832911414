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
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiPredicate;
import java.util.regex.Pattern;
import org.eclipse.jdt.core.dom.ASTNode;
import org.eclipse.jdt.core.dom.ASTVisitor;
import org.eclipse.jdt.core.dom.AbstractTypeDeclaration;
import org.eclipse.jdt.core.dom.CompilationUnit;
import org.eclipse.jdt.core.dom.ImportDeclaration;
import org.eclipse.jdt.core.dom.Javadoc;
import org.eclipse.jdt.core.dom.Name;
import org.eclipse.jdt.core.dom.PackageDeclaration;
import org.eclipse.jdt.core.dom.QualifiedName;
import org.eclipse.jdt.core.dom.SimpleName;

/**
 * The qualified names of types in one file. Names are told from field accesses by their form: a
 * package begins with a top-level domain and is in lower case, a type begins with a capital.
 */
final class QualifiedNames {
  private static final Set<String> DOMAINS =
    Set.of("com", "edu", "io", "jakarta", "java", "javax", "net", "org");
  private static final Pattern PACKAGE = Pattern.compile("[a-z][a-z0-9_]*");
  private static final Pattern TYPE = Pattern.compile("[A-Z]\\w*");

  /**
   * A qualified name that stays.
   * @param line   the line, from 1
   * @param name   the type's qualified name
   * @param reason why it has no import
   */
  record Left(int line, String name, String reason) {
  }

  /**
   * The file after the replacement.
   * @param text the file
   * @param left the names that are still qualified
   */
  record Shortened(String text, List<Left> left) {
  }

  private record Found(int start, int length, int line, List<String> segments, int types,
    boolean inJavadoc) {
    /** Returns the name of the outermost type, or of one nested in it. */
    String type(int depth) {
      return String.join(".", segments.subList(0, types + depth + 1));
    }
  }

  private final String text;
  private final CompilationUnit unit;
  private final TypeIndex index;
  private final Map<String, String> imported = new LinkedHashMap<>();
  private final Set<String> declared;
  private final Set<String> inherited;
  private final Set<String> used = new HashSet<>();
  private final List<Found> found = new ArrayList<>();
  private final String home;

  QualifiedNames(String text, CompilationUnit unit, TypeIndex index) {
    this.text = text;
    this.unit = unit;
    this.index = index;
    home = TypeIndex.packageOf(unit);
    declared = TypeIndex.declared(unit);
    inherited = index.inherited(unit);
    for (ImportLines.Import one : ImportLines.of(unit)) {
      if (!one.isStatic()) {
        imported.put(one.simple(), one.name());
      }
    }
    unit.accept(new Collector());
  }

  /**
   * Replaces names by imports.
   * @param wanted says of a line, from 0, and a type's name whether it is to be replaced
   */
  Shortened shorten(BiPredicate<Integer, String> wanted) {
    List<Found> chosen = new ArrayList<>();
    for (Found one : found) {
      if (wanted.test(one.line, one.type(0))) {
        chosen.add(one);
      }
    }
    // Imports follow from code, and comments use what is there then.
    chosen.sort(Comparator.comparing(Found::inJavadoc).thenComparing(Found::start));
    Set<ImportLines.Import> added = new TreeSet<>();
    Map<Found, Integer> replaced = new LinkedHashMap<>();
    List<Left> left = new ArrayList<>();
    for (Found one : chosen) {
      int depth = importedDepth(one);
      String reason = depth > 0 ? null : conflict(one);
      if (reason != null) {
        left.add(new Left(one.line + 1, one.type(0), reason));
        continue;
      }
      replaced.put(one, depth);
      String simple = one.segments.get(one.types);
      if (depth == 0 && !imported.containsKey(simple) && needsImport(one)) {
        imported.put(simple, one.type(0));
        added.add(ImportLines.Import.of(one.type(0)));
      }
    }
    StringBuilder result = new StringBuilder(text);
    replaced.entrySet().stream()
      .sorted(Comparator.comparing(entry -> -entry.getKey().start))
      .forEach(entry -> result.delete(entry.getKey().start,
        end(entry.getKey(), entry.getValue())));
    left.sort(Comparator.comparing(Left::line));
    return new Shortened(ImportLines.add(result.toString(), added), List.copyOf(left));
  }

  /** Returns how deep the nested type is that the file imports already, 0 if it imports none. */
  private int importedDepth(Found one) {
    for (int depth = one.segments.size() - one.types - 1; depth > 0; depth--) {
      String simple = one.segments.get(one.types + depth);
      if (
        one.type(depth).equals(imported.get(simple)) && !declared.contains(simple)
          && !inherited.contains(simple)
      ) {
        return depth;
      }
    }
    return 0;
  }

  /** Returns the offset of the simple name of the outermost type, or of one nested in it. */
  private int end(Found one, int depth) {
    int at = one.start;
    for (int i = 0; i < one.types + depth; i++) {
      at = text.indexOf('.', at) + 1;
    }
    while (Character.isWhitespace(text.charAt(at))) {
      at++;
    }
    return at;
  }

  private boolean needsImport(Found one) {
    String name = one.type(0);
    String of = name.substring(0, name.lastIndexOf('.'));
    return !of.equals(home) && !of.equals("java.lang");
  }

  private String conflict(Found one) {
    String name = one.type(0);
    String simple = one.segments.get(one.types);
    if (declared.contains(simple) && !isOwn(name)) {
      return "the file declares a type " + simple;
    }
    if (inherited.contains(simple)) {
      return "a supertype has a member type " + simple;
    }
    String other = imported.get(simple);
    if (other != null) {
      return other.equals(name) ? null : "the file imports " + other;
    }
    String of = name.substring(0, name.lastIndexOf('.'));
    if (of.equals(home)) {
      return null;
    }
    if (index.has(home + "." + simple)) {
      return "the package has a type " + simple;
    }
    if (of.equals("java.lang")) {
      return null;
    }
    if (used.contains(simple) || TypeIndex.isJavaLang(simple)) {
      return simple + " means another type here";
    }
    return one.inJavadoc ? "only a comment names it" : null;
  }

  private boolean isOwn(String name) {
    for (Object type : unit.types()) {
      String own = ((AbstractTypeDeclaration) type).getName().getIdentifier();
      if (name.equals(home + "." + own)) {
        return true;
      }
    }
    return false;
  }

  /** Returns the names that a file uses, without those of packages, types and members there. */
  static Set<String> simpleNames(CompilationUnit unit) {
    Set<String> names = new HashSet<>();
    unit.accept(new ASTVisitor(true) {
      @Override
      public boolean visit(ImportDeclaration node) {
        return false;
      }

      @Override
      public boolean visit(SimpleName node) {
        names.add(node.getIdentifier());
        return true;
      }
    });
    return names;
  }

  private final class Collector extends ASTVisitor {
    private Collector() {
      super(true);
    }

    @Override
    public boolean visit(ImportDeclaration node) {
      return false;
    }

    @Override
    public boolean visit(PackageDeclaration node) {
      return false;
    }

    @Override
    public boolean visit(SimpleName node) {
      used.add(node.getIdentifier());
      return true;
    }

    @Override
    public boolean visit(QualifiedName node) {
      List<String> segments = List.of(node.getFullyQualifiedName().split("\\."));
      int types = 0;
      while (types < segments.size() && PACKAGE.matcher(segments.get(types)).matches()) {
        types++;
      }
      if (
        types < 2 || types == segments.size() || !DOMAINS.contains(segments.get(0))
          || !TYPE.matcher(segments.get(types)).matches()
      ) {
        used.add(first(node));
        return false;
      }
      found.add(new Found(node.getStartPosition(), node.getLength(),
        unit.getLineNumber(node.getStartPosition()) - 1, segments, types, inJavadoc(node)));
      return false;
    }

    private String first(Name node) {
      return node instanceof QualifiedName qualified
        ? first(qualified.getQualifier())
        : node.getFullyQualifiedName();
    }

    private boolean inJavadoc(ASTNode node) {
      for (ASTNode at = node; at != null; at = at.getParent()) {
        if (at instanceof Javadoc) {
          return true;
        }
      }
      return false;
    }
  }
}
