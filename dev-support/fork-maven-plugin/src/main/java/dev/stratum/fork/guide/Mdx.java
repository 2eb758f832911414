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
import java.util.stream.Collectors;

/** The format of the reference guide on master: Markdown with JSX, a page for each chapter. */
final class Mdx implements Markup {
  private static final String FOLDER = "hbase-website/app/pages/_docs/docs/_mdx/(multi-page)/";

  @Override
  public String path(String slug) {
    return FOLDER + slug + ".mdx";
  }

  @Override
  public String begin(String slug, String title, String description) {
    return "---\ntitle: \"" + title + "\"\ndescription: \"" + description.replace("\"", "'")
      + "\"\n---\n\n";
  }

  @Override
  public String heading(int level, String slug, String anchor, String text) {
    return "#".repeat(level) + " " + text + "\n\n";
  }

  @Override
  public String text(String plain) {
    return plain.replaceAll("([\\\\`*_{}<>|\\[\\]])", "\\\\$1");
  }

  @Override
  public String code(String plain) {
    String ticks = plain.contains("`") ? "``" : "`";
    return ticks + plain.replace("|", "\\|") + ticks;
  }

  @Override
  public String strong(String text) {
    return "**" + text + "**";
  }

  @Override
  public String emphasis(String text) {
    return "_" + text + "_";
  }

  @Override
  public String link(String url, String text) {
    return "[" + text + "](" + url + ")";
  }

  @Override
  public String reference(String slug, String anchor, String text) {
    return "[" + text + "](#" + anchor + ")";
  }

  @Override
  public String codeBlock(String language, String content) {
    return "```" + language + "\n" + content + "```\n\n";
  }

  @Override
  public String item(int depth, int number) {
    return "   ".repeat(depth) + (number > 0 ? number + ". " : "- ");
  }

  @Override
  public String continuation(int depth, String block) {
    return "\n" + block.stripTrailing().lines()
      .map(line -> line.isEmpty() ? line : "   ".repeat(depth + 1) + line)
      .collect(Collectors.joining("\n")) + "\n";
  }

  @Override
  public String table(List<List<String>> rows) {
    StringBuilder table = new StringBuilder();
    for (List<String> row : rows) {
      table.append("| ").append(String.join(" | ", row)).append(" |\n");
      if (row == rows.get(0)) {
        table.append("|---".repeat(row.size())).append("|\n");
      }
    }
    return table.append('\n').toString();
  }
}
