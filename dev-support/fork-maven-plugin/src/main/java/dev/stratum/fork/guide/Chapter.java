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

import dev.stratum.fork.ForkException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import org.commonmark.ext.gfm.tables.TableBlock;
import org.commonmark.node.BulletList;
import org.commonmark.node.Code;
import org.commonmark.node.Emphasis;
import org.commonmark.node.FencedCodeBlock;
import org.commonmark.node.HardLineBreak;
import org.commonmark.node.Heading;
import org.commonmark.node.HtmlBlock;
import org.commonmark.node.HtmlInline;
import org.commonmark.node.Image;
import org.commonmark.node.IndentedCodeBlock;
import org.commonmark.node.Link;
import org.commonmark.node.ListItem;
import org.commonmark.node.Node;
import org.commonmark.node.OrderedList;
import org.commonmark.node.Paragraph;
import org.commonmark.node.SoftLineBreak;
import org.commonmark.node.StrongEmphasis;
import org.commonmark.node.Text;

/** Converts a guide into a chapter of HBase's reference guide. For one guide. */
final class Chapter {
  /** Headings of sections that are about this project. */
  private static final Set<String> OWN_SECTIONS = Set.of("benchmarks");
  /** Pages that have nothing for upstream's users. */
  private static final Pattern OWN_PAGES =
    Pattern.compile("(?:benchmarks|presets|validation|run-local|faq)\\.md.*");
  private static final Set<String> POINTERS =
    Set.of("results", "tests", "how to run it", "how to run them");

  private final String slug;
  private final Markup markup;
  private final StringBuilder out = new StringBuilder();
  /** The anchors that the chapter has. */
  private final Set<String> anchors = new HashSet<>();
  /** The level of the section that is left out, 0 for none. */
  private int skipped;

  Chapter(String slug, Markup markup) {
    this.slug = slug;
    this.markup = markup;
  }

  /**
   * Converts a guide.
   * @param guide    the page's blocks, of which the first is its title
   * @param settings the blocks that describe the keys
   */
  String convert(List<Node> guide, List<Node> settings) {
    if (!(guide.get(0) instanceof Heading title)) {
      throw new ForkException("docs/%s.md does not begin with a title; add one.", slug);
    }
    String about = guide.get(1) instanceof Paragraph first
      ? String.join(" ", UpstreamWords.sentences(Plain.of(first)))
      : "";
    out.append(markup.begin(slug, Plain.of(title), about));
    List<Node> blocks = guide.subList(1, guide.size());
    for (Node block : blocks) {
      if (block instanceof Heading heading && begins(heading)) {
        anchors.add(anchor(Plain.of(heading)));
      }
    }
    skipped = 0;
    blocks.forEach(this::block);
    if (!settings.isEmpty()) {
      skipped = 0;
      // Links within that page lead to its own headings.
      anchors.clear();
      out.append(markup.heading(2, slug, "configuration", "Configuration"));
      settings.forEach(this::block);
    }
    return out.toString().stripTrailing() + "\n";
  }

  private void block(Node node) {
    if (node instanceof Heading heading) {
      heading(heading);
    } else if (skipped == 0) {
      out.append(blockText(node, 0));
    }
  }

  private void heading(Heading heading) {
    if (begins(heading)) {
      out.append(markup.heading(heading.getLevel(), slug, anchor(Plain.of(heading)),
        UpstreamWords.line(inlines(heading))));
    }
  }

  /** Returns whether a heading begins a section that the chapter has. */
  private boolean begins(Heading heading) {
    if (skipped == 0 || heading.getLevel() <= skipped) {
      boolean own = OWN_SECTIONS.contains(Plain.of(heading).toLowerCase(Locale.ROOT))
        || UpstreamWords.line(Plain.of(heading)) == null;
      skipped = own ? heading.getLevel() : 0;
    }
    return skipped == 0;
  }

  /** Returns what a heading is called in links. */
  static String anchor(String heading) {
    return heading.toLowerCase(Locale.ROOT).replaceAll("[^\\w\\- ]", "").replace(' ', '-');
  }

  private String blockText(Node node, int depth) {
    if (node instanceof Paragraph) {
      String text = String.join("\n", UpstreamWords.sentences(inlines(node)));
      return text.isEmpty() ? "" : text + "\n\n";
    } else if (node instanceof FencedCodeBlock code) {
      return code(code.getInfo() == null ? "" : code.getInfo(), code.getLiteral());
    } else if (node instanceof IndentedCodeBlock code) {
      return code("", code.getLiteral());
    } else if (node instanceof BulletList || node instanceof OrderedList) {
      String items = list(node, depth);
      return items.isEmpty() ? "" : items + "\n";
    } else if (node instanceof TableBlock) {
      return table(node);
    } else if (node instanceof HtmlBlock html && html.getLiteral().startsWith("<!--")) {
      return "";
    }
    throw new ForkException("docs/%s.md has a %s, which no chapter can have yet; write it in "
      + "another way, or add it to %s.", slug, node.getClass().getSimpleName(), getClass());
  }

  private String code(String language, String content) {
    StringBuilder kept = new StringBuilder();
    for (String line : content.split("\n")) {
      String shown = UpstreamWords.line(line);
      if (shown != null) {
        kept.append(shown.stripTrailing()).append('\n');
      }
    }
    return kept.toString().isBlank() ? "" : markup.codeBlock(language, kept.toString());
  }

  private String list(Node list, int depth) {
    StringBuilder items = new StringBuilder();
    int number = list instanceof OrderedList ? 1 : 0;
    for (Node item : Plain.children(list)) {
      String text = item((ListItem) item, depth, number);
      if (!text.isEmpty()) {
        items.append(text);
        number += number > 0 ? 1 : 0;
      }
    }
    return items.toString();
  }

  private String item(ListItem item, int depth, int number) {
    List<Node> blocks = Plain.children(item);
    if (blocks.isEmpty() || !(blocks.get(0) instanceof Paragraph first)) {
      return "";
    }
    List<String> sentences = UpstreamWords.sentences(inlines(first));
    if (sentences.isEmpty()) {
      return "";
    }
    StringBuilder text = new StringBuilder(markup.item(depth, number))
      .append(String.join(" ", sentences)).append('\n');
    for (Node block : blocks.subList(1, blocks.size())) {
      if (block instanceof BulletList || block instanceof OrderedList) {
        text.append(list(block, depth + 1));
      } else {
        String more = blockText(block, depth + 1);
        text.append(more.isEmpty() ? "" : markup.continuation(depth, more));
      }
    }
    return text.toString();
  }

  private String table(Node table) {
    List<List<String>> rows = new ArrayList<>();
    for (Node part : Plain.children(table)) {
      for (Node row : Plain.children(part)) {
        List<String> cells = new ArrayList<>();
        for (Node cell : Plain.children(row)) {
          cells.add(String.join(" ", UpstreamWords.sentences(inlines(cell))));
        }
        // A row without a name says nothing; that of an empty cell is empty.
        boolean dropped = cells.get(0).isEmpty() && !Plain.of(row.getFirstChild()).isBlank();
        if (!dropped) {
          rows.add(cells);
        }
      }
    }
    return rows.size() < 2 ? "" : markup.table(rows);
  }

  private String inlines(Node parent) {
    StringBuilder text = new StringBuilder();
    Plain.children(parent).forEach(node -> text.append(inline(node)));
    return text.toString();
  }

  private String inline(Node node) {
    if (node instanceof Text text) {
      return markup.text(text.getLiteral());
    } else if (node instanceof Code code) {
      return UpstreamWords.isForeign(code.getLiteral())
        ? UpstreamWords.NOWHERE
        : markup.code(code.getLiteral());
    } else if (node instanceof SoftLineBreak || node instanceof HardLineBreak) {
      return " ";
    } else if (node instanceof StrongEmphasis) {
      return markup.strong(inlines(node));
    } else if (node instanceof Emphasis) {
      return markup.emphasis(inlines(node));
    } else if (node instanceof Link link) {
      return link(link);
    } else if (node instanceof Image || node instanceof HtmlInline) {
      return "";
    }
    throw new ForkException("docs/%s.md has a %s, which no chapter can have yet; write it in "
      + "another way, or add it to %s.", slug, node.getClass().getSimpleName(), getClass());
  }

  private String link(Link link) {
    String target = link.getDestination();
    String text = inlines(link);
    String plain = Plain.of(link);
    if (target.contains("://")) {
      return markup.link(target, text);
    }
    if (target.startsWith("#") || target.startsWith(slug + ".md#")) {
      String anchor = target.substring(target.indexOf('#') + 1);
      boolean known = anchors.contains(anchor) || target.startsWith(slug);
      return known ? markup.reference(slug, anchor, text) : text;
    }
    return plain.contains(".md") || OWN_PAGES.matcher(target).matches()
      || POINTERS.contains(plain) ? UpstreamWords.NOWHERE : text;
  }
}
