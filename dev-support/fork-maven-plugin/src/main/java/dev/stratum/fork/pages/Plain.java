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
package dev.stratum.fork.pages;

import java.util.ArrayList;
import java.util.List;
import org.commonmark.ext.gfm.tables.TablesExtension;
import org.commonmark.node.Code;
import org.commonmark.node.HardLineBreak;
import org.commonmark.node.Node;
import org.commonmark.node.SoftLineBreak;
import org.commonmark.node.Text;
import org.commonmark.parser.Parser;

/** Reads Markdown, and the text of its parts without markup. */
final class Plain {
  private static final Parser PARSER =
    Parser.builder().extensions(List.of(TablesExtension.create())).build();

  private Plain() {
  }

  /** Returns the blocks of a page. */
  static List<Node> blocks(String markdown) {
    return children(PARSER.parse(markdown));
  }

  static List<Node> children(Node parent) {
    List<Node> children = new ArrayList<>();
    for (Node child = parent.getFirstChild(); child != null; child = child.getNext()) {
      children.add(child);
    }
    return children;
  }

  /** Returns the text within a node. */
  static String of(Node node) {
    if (node instanceof Text text) {
      return text.getLiteral();
    } else if (node instanceof Code code) {
      return code.getLiteral();
    } else if (node instanceof SoftLineBreak || node instanceof HardLineBreak) {
      return " ";
    }
    StringBuilder all = new StringBuilder();
    children(node).forEach(child -> all.append(of(child)));
    return all.toString();
  }
}
