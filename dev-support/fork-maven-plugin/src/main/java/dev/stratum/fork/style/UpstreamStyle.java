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
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.BiPredicate;
import org.eclipse.jdt.core.dom.CompilationUnit;

/**
 * Writes the Java files that a patch changes in HBase's style. Only what the patch brings is
 * changed: qualified names become imports, and changed lines and blocks with another nesting have
 * the formatter's layout. Not thread-safe.
 */
public final class UpstreamStyle {

  /**
   * Something that is left to do by hand.
   * @param path the file
   * @param line the line of the exported file's state before layout, from 1
   * @param text what is left and why
   */
  public record Note(String path, int line, String text) {
  }

  private final boolean junit5;
  private final UpstreamFormatter formatter = new UpstreamFormatter();
  private final List<Note> notes = new ArrayList<>();

  /**
   * @param junit5 whether tests that the patch adds are written for JUnit 5, and with the classes
   *               of 3.x
   */
  public UpstreamStyle(boolean junit5) {
    this.junit5 = junit5;
  }

  /** Returns what was left to do by hand by all calls so far. */
  public List<Note> notes() {
    return List.copyOf(notes);
  }

  /**
   * Returns a tree with its changed Java files in HBase's style.
   * @param before the tree before the patch, by repository path
   * @param after  the tree after the patch
   * @return {@code after} with other contents of the Java files that differ from {@code before}
   */
  public SortedMap<String, byte[]> apply(SortedMap<String, byte[]> before,
    SortedMap<String, byte[]> after) {
    SortedMap<String, byte[]> styled = new TreeMap<>(after);
    TypeIndex index = new TypeIndex(after);
    JUnitConversion tests = junit5 ? new JUnitConversion(after) : null;
    for (Map.Entry<String, byte[]> file : after.entrySet()) {
      String path = file.getKey();
      byte[] old = before.get(path);
      if (isWritten(path) && !Arrays.equals(old, file.getValue())) {
        String text = JavaText.text(file.getValue());
        if (old == null && tests != null && path.contains("/src/test/")) {
          text = converted(path, tests);
        }
        styled.put(path,
          JavaText.bytes(style(path, old == null ? null : JavaText.text(old), text, index)));
      }
    }
    return styled;
  }

  private String converted(String path, JUnitConversion tests) {
    JUnitConversion.Outcome outcome = tests.convert(path);
    if (!outcome.converted()) {
      notes.add(new Note(path, 1, "stays JUnit 4: " + String.join("; ", outcome.reasons())));
    }
    return RenamedTestClasses.replace(outcome.text());
  }

  /** Classes made from templates and pages have no style. */
  private static boolean isWritten(String path) {
    return path.endsWith(".java") && !path.endsWith("_jsp.java") && !path.contains("/tmpl/");
  }

  private String style(String path, String before, String after, TypeIndex index) {
    CompilationUnit unit = JavaText.parse(after);
    List<String> errors = JavaText.errors(unit);
    if (!errors.isEmpty()) {
      notes.add(new Note(path, unit.getProblems()[0].getSourceLineNumber(),
        "does not parse: " + errors.get(0)));
      return after;
    }
    QualifiedNames.Shortened shortened =
      new QualifiedNames(after, unit, index).shorten(introduced(before, after));
    shortened.left().forEach(left -> notes.add(new Note(path, left.line(),
      left.name() + " stays qualified: " + left.reason())));
    String used = removeUnused(before, shortened.text());
    if (before == null) {
      return path.endsWith("/package-info.java") ? used : formatter.format(used);
    }
    String braced = Braces.add(used, Braces.changed(LineDiff.between(before, used)));
    return formatter.format(before, braced);
  }

  /** Returns whether a line is the patch's, and a qualified name in it as well. */
  private static BiPredicate<Integer, String> introduced(String before, String after) {
    if (before == null) {
      return (line, name) -> true;
    }
    List<LineDiff.Hunk> hunks = LineDiff.between(before, after);
    return (line, name) -> hunks.stream().anyMatch(hunk -> hunk.newStart() <= line
      && line < hunk.newEnd() && !hunk.oldText().replaceAll("\\s+", "").contains(name));
  }

  /** Removes imports of which the patch removed the last use. */
  private static String removeUnused(String before, String after) {
    Set<String> names = QualifiedNames.simpleNames(JavaText.parse(after));
    Set<ImportLines.Import> kept = new HashSet<>();
    if (before != null) {
      CompilationUnit old = JavaText.parse(before);
      Set<String> oldNames = QualifiedNames.simpleNames(old);
      ImportLines.of(old).stream().filter(one -> !oldNames.contains(one.simple()))
        .forEach(kept::add);
    }
    return ImportLines.remove(after, one -> !one.simple().equals("*")
      && !names.contains(one.simple()) && !kept.contains(one));
  }
}
