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
package dev.stratum.fork.guide;

import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The format of the reference guide on branch-2 and its releases. */
final class AsciiDoc implements Markup {
  private static final String FOLDER = "src/main/asciidoc/_chapters/";
  private static final String LICENCE = """
    ////
    /**
     *
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
    ////

    """;
  private static final Pattern SPECIAL =
    Pattern.compile("[*_`#^~+{|]|\\[\\[|<<|--|\\.\\.\\.|->|=>");
  private static final Map<String, String> INSTEAD = Map.ofEntries(Map.entry("*", "&#42;"),
    Map.entry("_", "&#95;"), Map.entry("`", "&#96;"), Map.entry("#", "&#35;"),
    Map.entry("^", "&#94;"), Map.entry("~", "&#126;"), Map.entry("+", "&#43;"),
    Map.entry("{", "&#123;"), Map.entry("|", "&#124;"), Map.entry("[[", "&#91;["),
    Map.entry("<<", "&#60;<"), Map.entry("--", "&#45;-"), Map.entry("...", "&#46;.."),
    Map.entry("->", "-&#62;"), Map.entry("=>", "=&#62;"));

  @Override
  public String path(String slug) {
    return FOLDER + slug.replace('-', '_') + ".adoc";
  }

  @Override
  public String begin(String slug, String title, String description) {
    return LICENCE + "[[" + id(slug) + "]]\n= " + title + "\n:doctype: book\n:numbered:\n"
      + ":toc: left\n:icons: font\n:experimental:\n\n";
  }

  private static String id(String name) {
    return name.replace('-', '.');
  }

  @Override
  public String heading(int level, String slug, String anchor, String text) {
    return "[[" + id(slug) + "." + id(anchor) + "]]\n" + "=".repeat(level) + " " + text + "\n\n";
  }

  @Override
  public String text(String plain) {
    Matcher special = SPECIAL.matcher(plain);
    return special.replaceAll(match -> Matcher.quoteReplacement(INSTEAD.get(match.group())));
  }

  @Override
  public String code(String plain) {
    // Nothing is replaced within plus signs, which cannot be within themselves.
    return plain.contains("+") || plain.contains("|")
      ? "``" + text(plain.replace("&", "&amp;").replace("<", "&lt;")) + "``"
      : "``+" + plain + "+``";
  }

  @Override
  public String strong(String text) {
    return "**" + text + "**";
  }

  @Override
  public String emphasis(String text) {
    return "__" + text + "__";
  }

  @Override
  public String link(String url, String text) {
    return "link:" + url + "[" + text.replace("]", "&#93;") + "]";
  }

  @Override
  public String reference(String slug, String anchor, String text) {
    return "<<" + id(slug) + "." + id(anchor) + "," + text + ">>";
  }

  @Override
  public String codeBlock(String language, String content) {
    return (language.isEmpty() ? "" : "[source," + language + "]\n") + "----\n" + content
      + "----\n\n";
  }

  @Override
  public String item(int depth, int number) {
    return (number > 0 ? "." : "*").repeat(depth + 1) + " ";
  }

  @Override
  public String continuation(int depth, String block) {
    return "+\n" + block.stripTrailing() + "\n";
  }

  @Override
  public String table(List<List<String>> rows) {
    StringBuilder table = new StringBuilder("[cols=\"" + rows.get(0).size() + "*\", "
      + "options=\"header\"]\n|===\n");
    for (List<String> row : rows) {
      row.forEach(cell -> table.append("| ").append(cell).append('\n'));
      table.append('\n');
    }
    return table.append("|===\n\n").toString();
  }
}
