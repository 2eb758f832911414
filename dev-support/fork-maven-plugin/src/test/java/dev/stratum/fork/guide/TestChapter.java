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

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;

import dev.stratum.fork.ForkException;
import java.util.List;
import org.junit.Test;

public class TestChapter {

  private static String chapter(Markup markup, String guide) {
    String text = new Chapter("a-b", markup)
      .convert(Plain.blocks("# A b\n\nWhat it is.\n\n" + guide), List.of());
    return text.substring(text.indexOf("What it is.", text.indexOf("experimental")) + 11).strip();
  }

  private static String asciiDoc(String guide) {
    return chapter(new AsciiDoc(), guide);
  }

  private static String mdx(String guide) {
    String text = chapter(new Mdx(), guide);
    return text.substring(text.indexOf("What it is.") + 11).strip();
  }

  @Test
  public void testHeadingsAndReferences() {
    String guide = "## One two\n\nSee [that](#three).\n\n### Three\n\nText.\n";
    assertEquals("[[a.b.one.two]]\n== One two\n\nSee <<a.b.three,that>>.\n\n[[a.b.three]]\n"
      + "=== Three\n\nText.", asciiDoc(guide));
    assertEquals("## One two\n\nSee [that](#three).\n\n### Three\n\nText.", mdx(guide));
  }

  @Test
  public void testSectionsOfThisProjectAreLeftOut() {
    assertEquals("[[a.b.end]]\n== End\n\nSee there.",
      asciiDoc("## Benchmarks\n\nX.\n\n### More\n\nY.\n\n## End\n\nSee [there](#benchmarks).\n"));
  }

  @Test
  public void testListsAndCode() {
    String guide =
      "1. One\n   goes on.\n\n   ```xml\n   <a/>\n   ```\n2. Two:\n   - `a_b`\n   - c*d\n";
    assertEquals(". One goes on.\n+\n[source,xml]\n----\n<a/>\n----\n. Two:\n** ``+a_b+``\n"
      + "** c&#42;d", asciiDoc(guide));
    assertEquals("1. One goes on.\n\n   ```xml\n   <a/>\n   ```\n2. Two:\n   - `a_b`\n   - c\\*d",
      mdx(guide));
  }

  @Test
  public void testTables() {
    String guide = "| a | b |\n|---|---|\n| `x\\|y` | {1} < 2 |\n| `dropin` | z |\n";
    assertEquals("[cols=\"2*\", options=\"header\"]\n|===\n| a\n| b\n\n| ``x&#124;y``\n"
      + "| &#123;1} < 2\n\n|===", asciiDoc(guide));
    assertEquals("| a | b |\n|---|---|\n| `x\\|y` | \\{1\\} \\< 2 |", mdx(guide));
  }

  @Test
  public void testLinksToPagesThatUpstreamLacks() {
    assertEquals("The link:https://a.b/c[page] is kept. Only the text of another feature is.",
      asciiDoc("The [page](https://a.b/c) is kept. [c.md](c.md#x) has more "
        + "([results](results.md)). Only the [text](other.md#y) of another feature is\n"
        + "([results](results.md#z)).\n").replace('\n', ' '));
  }

  @Test
  public void testWhatNoChapterCanHaveIsRefused() {
    assertThrows(ForkException.class, () -> asciiDoc("> a quotation\n"));
    assertThrows(ForkException.class,
      () -> new Chapter("a", new Mdx()).convert(Plain.blocks("Text.\n"), List.of()));
  }

  @Test
  public void testWordsOfThisProject() {
    assertEquals(List.of("Without this feature, HBase waits.", "It is as without this feature.",
      "A server without this feature ignores it."),
      UpstreamWords.sentences("Stock waits. It is as in stock. A stock server ignores it. "
        + "Run dropin check first. TestOne compares them. OneBenchmark measures it."));
    assertEquals(List.of("It is kept."),
      UpstreamWords.sentences("It is kept (STRATUM-x keeps it)."));
    assertNull(UpstreamWords.line("this is the fork of it"));
    assertEquals("us, without this feature".replace(",", ""), UpstreamWords.line("us, stock"));
  }
}
