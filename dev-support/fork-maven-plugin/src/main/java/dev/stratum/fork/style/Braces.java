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

import java.util.List;
import java.util.function.IntPredicate;
import org.eclipse.jdt.core.dom.ASTVisitor;
import org.eclipse.jdt.core.dom.Block;
import org.eclipse.jdt.core.dom.CompilationUnit;
import org.eclipse.jdt.core.dom.DoStatement;
import org.eclipse.jdt.core.dom.EnhancedForStatement;
import org.eclipse.jdt.core.dom.ForStatement;
import org.eclipse.jdt.core.dom.IfStatement;
import org.eclipse.jdt.core.dom.Statement;
import org.eclipse.jdt.core.dom.WhileStatement;

/** Puts braces around the single statement that a hook made conditional. */
final class Braces {

  private Braces() {
  }

  /**
   * Returns a file with braces where they are missing.
   * @param text   a file that parses
   * @param wanted whether a line, from 0, may be changed
   */
  static String add(String text, IntPredicate wanted) {
    CompilationUnit unit = JavaText.parse(text);
    TextEdits edits = new TextEdits();
    unit.accept(new ASTVisitor() {
      @Override
      public boolean visit(IfStatement node) {
        wrap(node, node.getThenStatement());
        if (!(node.getElseStatement() instanceof IfStatement)) {
          wrap(node, node.getElseStatement());
        }
        return true;
      }

      @Override
      public boolean visit(ForStatement node) {
        wrap(node, node.getBody());
        return true;
      }

      @Override
      public boolean visit(EnhancedForStatement node) {
        wrap(node, node.getBody());
        return true;
      }

      @Override
      public boolean visit(WhileStatement node) {
        wrap(node, node.getBody());
        return true;
      }

      @Override
      public boolean visit(DoStatement node) {
        wrap(node, node.getBody());
        return true;
      }

      private void wrap(Statement around, Statement body) {
        if (
          body != null && !(body instanceof Block)
            && wanted.test(unit.getLineNumber(around.getStartPosition()) - 1)
        ) {
          edits.insert(body.getStartPosition(), "{\n");
          int end = TextEdits.end(body);
          int line = text.indexOf('\n', end);
          // A comment at the end of the line belongs to the statement.
          edits.insert(line < 0 || !text.substring(end, line).strip().startsWith("//") ? end : line,
            "\n}");
        }
      }
    });
    return edits.apply(text);
  }

  /** Returns whether a line is new in one of the differences of a file. */
  static IntPredicate changed(List<LineDiff.Hunk> hunks) {
    return line -> hunks.stream()
      .anyMatch(hunk -> hunk.newStart() <= line && line < hunk.newEnd());
  }
}
