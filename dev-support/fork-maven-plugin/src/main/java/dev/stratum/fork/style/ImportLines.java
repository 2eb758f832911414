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
import java.util.Collection;
import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.eclipse.jdt.core.dom.CompilationUnit;
import org.eclipse.jdt.core.dom.ImportDeclaration;

/**
 * The imports of a file in HBase's order: static ones, all others, those of hbase-thirdparty, and
 * those of the generated protocol, each group sorted by name and followed by an empty line. Lines
 * that are there stay where they are.
 */
final class ImportLines {
  private static final Pattern LINE =
    Pattern.compile("import\\s+(static\\s+)?([\\w.]+(?:\\.\\*)?)\\s*;.*");
  private static final List<String> LAST =
    List.of("org.apache.hbase.thirdparty.", "org.apache.hadoop.hbase.shaded.");

  /**
   * One import.
   * @param name     the type's or the member's qualified name
   * @param isStatic whether it is of a member
   */
  record Import(String name, boolean isStatic) implements Comparable<Import> {
    static Import of(String name) {
      return new Import(name, false);
    }

    static Import ofStatic(String name) {
      return new Import(name, true);
    }

    /** Returns the name that the import makes known, {@code *} for all of a package or type. */
    String simple() {
      return name.substring(name.lastIndexOf('.') + 1);
    }

    int group() {
      if (isStatic) {
        return 0;
      }
      for (int i = 0; i < LAST.size(); i++) {
        if (name.startsWith(LAST.get(i))) {
          return i + 2;
        }
      }
      return 1;
    }

    String line() {
      return "import " + (isStatic ? "static " : "") + name + ";\n";
    }

    @Override
    public int compareTo(Import other) {
      int groups = Integer.compare(group(), other.group());
      return groups != 0 ? groups : name.compareTo(other.name);
    }
  }

  private ImportLines() {
  }

  /** Returns the imports of a parsed file. */
  static List<Import> of(CompilationUnit unit) {
    List<Import> imports = new ArrayList<>();
    for (Object one : unit.imports()) {
      ImportDeclaration declaration = (ImportDeclaration) one;
      imports.add(new Import(declaration.getName().getFullyQualifiedName()
        + (declaration.isOnDemand() ? ".*" : ""), declaration.isStatic()));
    }
    return imports;
  }

  /** Adds imports that a file does not have yet. */
  static String add(String text, Collection<Import> imports) {
    List<String> lines = new ArrayList<>(JavaText.lines(text));
    for (Import one : imports) {
      if (lines.stream().noneMatch(line -> one.equals(parse(line)))) {
        insert(lines, one);
      }
    }
    return String.join("", lines);
  }

  private static void insert(List<String> lines, Import added) {
    int before = -1;
    int last = -1;
    int group = -1;
    for (int i = 0; i < lines.size(); i++) {
      Import here = parse(lines.get(i));
      if (here != null) {
        if (before < 0 && here.group() == added.group() && here.compareTo(added) > 0) {
          before = i;
        }
        if (here.group() <= added.group()) {
          last = i;
          group = here.group();
        } else if (last < 0 && before < 0) {
          lines.addAll(i, List.of(added.line(), "\n"));
          return;
        }
      }
    }
    if (before >= 0) {
      lines.add(before, added.line());
    } else if (last >= 0) {
      lines.addAll(last + 1,
        group == added.group() ? List.of(added.line()) : List.of("\n", added.line()));
    } else {
      int at = packageLine(lines) + 1;
      lines.addAll(at,
        at == 0 ? List.of(added.line(), "\n") : List.of("\n", added.line()));
    }
  }

  private static int packageLine(List<String> lines) {
    for (int i = 0; i < lines.size(); i++) {
      if (lines.get(i).startsWith("package ")) {
        return i;
      }
    }
    return -1;
  }

  /** Removes imports, and the empty line after a group of which nothing is left. */
  static String remove(String text, Predicate<Import> unwanted) {
    List<String> lines = new ArrayList<>(JavaText.lines(text));
    for (int i = lines.size() - 1; i >= 0; i--) {
      Import here = parse(lines.get(i));
      if (here != null && unwanted.test(here)) {
        lines.remove(i);
        boolean alone = i > 0 && lines.get(i - 1).isBlank();
        if (alone && i < lines.size() && lines.get(i).isBlank()) {
          lines.remove(i);
        }
      }
    }
    return String.join("", lines);
  }

  /** Returns the text without its imports. */
  static String without(String text) {
    StringBuilder rest = new StringBuilder();
    for (String line : JavaText.lines(text)) {
      if (parse(line) == null) {
        rest.append(line);
      }
    }
    return rest.toString();
  }

  private static Import parse(String line) {
    if (!line.startsWith("import ")) {
      return null;
    }
    Matcher matcher = LINE.matcher(line.strip());
    return matcher.matches() ? new Import(matcher.group(2), matcher.group(1) != null) : null;
  }
}
