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
import java.util.List;
import org.eclipse.jdt.core.dom.ASTNode;

/** Replacements in a text, collected in any order and applied at once. */
final class TextEdits {

  private record Edit(int start, int end, String text) {
  }

  private final List<Edit> edits = new ArrayList<>();

  void replace(int start, int end, String text) {
    edits.add(new Edit(start, end, text));
  }

  void replace(ASTNode node, String text) {
    replace(node.getStartPosition(), end(node), text);
  }

  void insert(int at, String text) {
    replace(at, at, text);
  }

  static int end(ASTNode node) {
    return node.getStartPosition() + node.getLength();
  }

  /** Removes the whole lines from one offset to another. */
  void deleteLines(String text, int start, int end) {
    int from = text.lastIndexOf('\n', start) + 1;
    int to = text.indexOf('\n', end) + 1;
    replace(from, to == 0 ? text.length() : to, "");
  }

  /**
   * Returns the text with all replacements.
   * @throws IllegalStateException if two of them overlap
   */
  String apply(String text) {
    List<Edit> sorted = new ArrayList<>(edits);
    sorted.sort(Comparator.comparing(Edit::start).thenComparing(Edit::end));
    StringBuilder result = new StringBuilder();
    int at = 0;
    for (Edit edit : sorted) {
      if (edit.start < at) {
        throw new IllegalStateException("Two edits overlap at " + text.substring(edit.start, at));
      }
      result.append(text, at, edit.start).append(edit.text);
      at = edit.end;
    }
    return result.append(text, at, text.length()).toString();
  }
}
