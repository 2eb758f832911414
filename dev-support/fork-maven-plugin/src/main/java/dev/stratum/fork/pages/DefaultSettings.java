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

import dev.stratum.fork.git.MailPatch;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.commonmark.ext.gfm.tables.TableBlock;
import org.commonmark.ext.gfm.tables.TableBody;
import org.commonmark.ext.gfm.tables.TablesExtension;
import org.commonmark.node.Code;
import org.commonmark.node.Node;
import org.commonmark.node.Text;
import org.commonmark.parser.Parser;

/**
 * Entries of hbase-default.xml, made from the tables of docs/configuration.md. Only a key whose
 * default is a literal has one: an entry with an empty value would replace a default that is the
 * value of another key. HDFS's own keys are HDFS's.
 */
public final class DefaultSettings {
  private static final int WIDTH = 76;
  private static final Pattern KEY = Pattern.compile("(?:hbase|dfs)(?:\\.[\\w-]+)+");

  private DefaultSettings() {
  }

  /** Returns the entries of all keys that can have one. */
  public static String of(String configuration) {
    Node page = Parser.builder().extensions(List.of(TablesExtension.create())).build()
      .parse(configuration);
    StringBuilder properties = new StringBuilder();
    for (Node block : children(page)) {
      if (block instanceof TableBlock) {
        for (Node part : children(block)) {
          if (part instanceof TableBody) {
            children(part).forEach(row -> properties.append(properties(children(row))));
          }
        }
      }
    }
    return properties.toString();
  }

  private static String properties(List<Node> cells) {
    if (!(cells.get(1).getFirstChild() instanceof Code code)
      || KEY.matcher(code.getLiteral()).matches()) {
      return "";
    }
    String value = code.getLiteral();
    String notes =
      text(cells.get(1)).strip().substring(value.length()).replaceFirst("^[:,;] *", "").strip();
    // The table of HDFS's keys has neither a range nor whether they can be changed at run time.
    boolean whole = cells.size() == 5;
    String range = whole ? text(cells.get(2)).strip() : "";
    String when = text(cells.get(cells.size() - 1)).strip();
    List<String> parts = new ArrayList<>();
    parts.add(range.isEmpty() ? "" : "Range: " + range);
    parts.add(notes.isEmpty() ? "" : "The default means: " + notes);
    parts.add(when.isEmpty() ? "" : "When to change: " + when);
    parts.add(whole && !text(cells.get(3)).strip().equals("no")
      ? "Can be changed at run time"
      : "A change needs a restart");
    String description = parts.stream().filter(part -> !part.isEmpty())
      .map(part -> part.matches("(?s).*[.!?]") ? part : part + ".")
      .collect(Collectors.joining(" "));
    return keys(cells.get(0)).stream().filter(key -> key.startsWith("hbase."))
      .map(key -> "  <property>\n    <name>" + key + "</name>\n    <value>" + escape(value)
        + "</value>\n"
        + MailPatch.wrap("<description>" + escape(description) + "</description>", WIDTH)
          .indent(4)
        + "  </property>\n")
      .collect(Collectors.joining());
  }

  /** Reads a cell such as {@code `hbase.a.l1.size`, `l2.…`}: the second key is hbase.a.l2.size. */
  private static List<String> keys(Node cell) {
    List<String> keys = new ArrayList<>();
    for (Node node : children(cell)) {
      String key = node instanceof Code code ? code.getLiteral() : "";
      if (key.endsWith(".…") && !keys.isEmpty()) {
        String last = keys.get(keys.size() - 1);
        String prefix = key.substring(0, key.length() - 1);
        int same = last.indexOf("." + prefix.charAt(0)) + 1;
        key = last.substring(0, same) + prefix + last.substring(same + prefix.length());
      }
      if (KEY.matcher(key).matches() && !key.endsWith("NAME")) {
        keys.add(key);
      }
    }
    return keys;
  }

  private static List<Node> children(Node parent) {
    List<Node> children = new ArrayList<>();
    for (Node child = parent.getFirstChild(); child != null; child = child.getNext()) {
      children.add(child);
    }
    return children;
  }

  private static String text(Node node) {
    StringBuilder all = new StringBuilder();
    if (node instanceof Text text) {
      all.append(text.getLiteral());
    } else if (node instanceof Code code) {
      all.append(code.getLiteral());
    }
    children(node).forEach(child -> all.append(text(child)));
    return all.toString();
  }

  private static String escape(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
  }
}
