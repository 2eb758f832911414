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
package dev.stratum.dist;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import dev.stratum.dist.Vocabulary.Use;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.Test;

/**
 * Comments, guides and the headers of patches do without the words of
 * src/main/vocabulary/words.txt. Those that are still to be cleaned are listed, with file and line,
 * in target/vocabulary.txt.
 */
public class TestVocabulary {
  private static final Path ROOT = Path.of(System.getProperty("stratum.root")).normalize();
  private static final String WORDS = "dev-support/dist/src/main/vocabulary/words.txt";

  private static List<Use> usesOfTheRepository(Vocabulary vocabulary) throws IOException {
    List<Use> uses = new ArrayList<>();
    for (Path file : Sources.java(ROOT)) {
      add(uses, vocabulary, file, Prose.ofJava(Files.readString(file)));
    }
    for (Path page : Sources.pages(ROOT)) {
      add(uses, vocabulary, page, Prose.ofPage(Files.readString(page)));
    }
    for (Path patch : Sources.patches(ROOT)) {
      add(uses, vocabulary, patch, Prose.ofPatch(Files.readString(patch)));
    }
    return uses;
  }

  private static void add(List<Use> uses, Vocabulary vocabulary, Path file, String prose) {
    uses.addAll(vocabulary.uses(ROOT.relativize(file).toString(), prose));
  }

  private static String lines(Stream<?> lines) {
    return lines.map(Object::toString).collect(Collectors.joining("\n"));
  }

  @Test
  public void testTheRepositoryUsesNoneOfTheWords() throws Exception {
    Vocabulary vocabulary = Vocabulary.parse(Files.readAllLines(ROOT.resolve(WORDS)));
    List<Use> uses = usesOfTheRepository(vocabulary);
    List<String> report = new ArrayList<>();
    for (Vocabulary.Word word : vocabulary.words()) {
      List<Use> open = uses.stream().filter(use -> use.word() == word && !word.fails()).toList();
      if (!word.fails()) {
        report.add("# " + open.size() + " " + word.first() + " | " + word.remedy());
        open.forEach(use -> report.add(use.toString()));
      }
    }
    Path written = Path.of(System.getProperty("stratum.kit")).resolveSibling("vocabulary.txt");
    Files.write(written, report);
    report.stream().filter(line -> line.startsWith("#")).forEach(System.out::println);
    assertEquals("Words of " + WORDS, "", lines(uses.stream().filter(use -> use.word().fails())));
  }

  @Test
  public void testAllKindsOfFilesAreRead() throws Exception {
    assertTrue(Sources.java(ROOT).contains(ROOT.resolve(
      "dev-support/dist/src/test/java/dev/stratum/dist/TestVocabulary.java")));
    assertTrue(Sources.java(ROOT).size() > 500);
    assertTrue(Sources.pages(ROOT).containsAll(List.of(ROOT.resolve("README.md"),
      ROOT.resolve("CHANGELOG.md"), ROOT.resolve("docs/metrics.md"))));
    assertTrue(Sources.patches(ROOT).size() > 20);
  }

  private static final Vocabulary SEEDED = Vocabulary.parse(List.of("# a comment", "",
    "furled | fixed", "rung up, rings up | requested", "? 7 turn, turns | epoch",
    "?comes | is inserted"));

  private static String javaUses(String source) {
    return lines(SEEDED.uses("A.java", Prose.ofJava(source)).stream());
  }

  private static String pageUses(String page) {
    return lines(SEEDED.uses("a.md", Prose.ofPage(page)).stream());
  }

  @Test
  public void testASeededWordIsNamedWithFileLineAndRemedy() {
    assertEquals("A.java:2 'furled', say: fixed", javaUses("class A {\n  // It was furled.\n}\n"));
    assertEquals("A.java:1 'Furled', say: fixed", javaUses("/** Furled. */ class A {}"));
    assertEquals("a.md:3 'furled', say: fixed", pageUses("# A\n\n| furled |\n"));
    assertEquals("p.patch:2 'furled', say: fixed", lines(SEEDED.uses("p.patch",
      Prose.ofPatch("Subject: A\nReason: what was furled\nNeeds: furled\nAdds:\n a/furled.java\n"
        + "\ndiff --git a/a b/a\n+furled\n")).stream()));
  }

  @Test
  public void testOnlyWholeWordsAreFound() {
    assertEquals("", javaUses("// return, returns, turned, overturn, turn_, sub.turn, #turn, turn()"
      + "\n// becomes, outcomes, incomes, rung upon, wrung up"));
    assertEquals(2, SEEDED.uses("a", "It comes at each turn.").size());
    assertEquals(2, SEEDED.uses("a", "(turn), turn-taking").size());
  }

  @Test
  public void testAPhraseMayGoOverTheEndOfALine() {
    assertEquals("A.java:2 'rung up', say: requested",
      javaUses("/**\n * What is rung\n * up is there.\n */"));
    assertEquals("A.java:1 'rung up', say: requested", javaUses("  // rung\n  // up"));
    assertEquals("a.md:1 'rings up', say: requested", pageUses("rings\nup"));
    assertEquals("", javaUses("// rung\nint a;\n// up"));
    assertEquals("", javaUses("// If rung. Up"));
    assertEquals("", pageUses("| rung | up |\n\nrung `x` up"));
  }

  @Test
  public void testCodeIsSkipped() {
    assertEquals("", javaUses("int turn = \"furled // furled\".length(); char c = '\"'; turn++;\n"
      + "String s = \"\"\"\n  // furled\n  \"\"\";\n"));
    assertEquals("", javaUses("/**\n * <code>turn</code> {@code a {turn} furled} `furled`\n"
      + " * {@link Wave#turn turn}\n * <pre>\n * furled\n * </pre>\n * @param turn the number\n"
      + " * @throws turn never\n */"));
    assertEquals("A.java:1 'turns', say: epoch", javaUses("/** @param turn how many turns */"));
    assertEquals("", pageUses("`furled` ``a `furled` b`` `rung\nup`\n```\nfurled\n```\n"
      + "[a](furled.md) <code>furled</code> <!-- furled --> https://a.b/turn"));
    assertEquals("a.md:4 'furled', say: fixed", pageUses("```\nturn\n```\nfurled `a`"));
  }

  @Test
  public void testAMarkedWordIsReportedAndDoesNotFail() {
    assertEquals(List.of(true, true, false, false),
      SEEDED.words().stream().map(Vocabulary.Word::fails).toList());
    assertEquals("A.java:1 'turn', say: epoch", javaUses("// turn"));
  }

  @Test
  public void testAListWithAMistakeIsRefused() {
    for (String line : List.of("furled", "| fixed", "furled |", "furled | a | b", "? 3 | fixed")) {
      assertThrows(line, IllegalArgumentException.class, () -> Vocabulary.parse(List.of(line)));
    }
    assertThrows(IllegalArgumentException.class,
      () -> Vocabulary.parse(List.of("turn | tick", "? 2 wave, Turn | tick")));
  }
}
