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
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import dev.stratum.fork.OutputTree;
import dev.stratum.fork.series.PatchFile;
import dev.stratum.fork.series.Series;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.xml.parsers.DocumentBuilderFactory;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.junit.BeforeClass;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.w3c.dom.Document;
import org.w3c.dom.NodeList;

/** The guides and patches of this repository. */
@Category(LargeTests.class)
public class TestUpstreamDocs {
  private static final Path ROOT = Path.of("..", "..").toAbsolutePath().normalize();
  private static final String STOCK_KEY = "hbase.bucketcache.queue.addition.waittime";
  private static final Pattern CODE = Pattern.compile("`([^`\n]+)`");
  private static final Pattern KEY = Pattern.compile("hbase(?:\\.[a-z0-9-]+){2,}");

  private static final SortedMap<String, byte[]> LINE = new TreeMap<>();
  private static Series series;
  private static SettingsPage page;
  /** The guides of the features that have keys. */
  private static final Set<String> SLUGS = new TreeSet<>();

  @BeforeClass
  public static void read() throws Exception {
    series = Series.read(ROOT);
    page = new SettingsPage(Files.readString(ROOT.resolve("docs/configuration.md")));
    for (Path guide : OutputTree.files(ROOT.resolve("docs"))) {
      String slug = guide.getFileName().toString().replace(".md", "");
      if (!page.sections(slug).isEmpty()) {
        SLUGS.add(slug);
      }
    }
    assertTrue(SLUGS.toString(), SLUGS.size() >= 12);
    LINE.put("hbase-server/src/main/java/A.java",
      ("String KEY = \"" + STOCK_KEY + "\";").getBytes(StandardCharsets.UTF_8));
  }

  private static SortedMap<String, String> docs(String version, Map<String, byte[]> more)
    throws Exception {
    SortedMap<String, byte[]> line = new TreeMap<>(LINE);
    line.putAll(more);
    UpstreamDocs docs = new UpstreamDocs(ROOT, series, version);
    SortedMap<String, String> all = new TreeMap<>();
    for (PatchFile patch : series.patches()) {
      for (Map.Entry<String, byte[]> file : docs.of(patch, line).entrySet()) {
        String path = file.getKey().equals(UpstreamDocs.DEFAULTS)
          ? patch.stem() + "/" + file.getKey()
          : file.getKey();
        assertEquals(path, null,
          all.put(path, new String(file.getValue(), StandardCharsets.UTF_8)));
      }
    }
    return all;
  }

  private static void assertChapters(String version, Markup markup) throws Exception {
    SortedMap<String, String> docs = docs(version, Map.of());
    for (String slug : SLUGS) {
      String chapter = docs.get(markup.path(slug));
      assertTrue(slug + " in " + docs.keySet(), chapter != null);
      Matcher foreign = UpstreamWords.FOREIGN.matcher(chapter);
      assertFalse(slug + " has " + (foreign.reset().find() ? foreign.group() : ""),
        foreign.reset().find());
      for (SettingsPage.Entry entry : page.entries(slug)) {
        for (String key : entry.keys()) {
          // In the tables a second prefix stands for the rest of the key before it.
          assertTrue(slug + " has " + key, chapter.contains(key)
            || chapter.contains(key.replace(".l1.", ".l2."))
            || chapter.contains(key.replace(".l2.", ".l1.")));
        }
      }
      String guide = Files.readString(ROOT.resolve("docs").resolve(slug + ".md"));
      Matcher code = CODE.matcher(guide.replaceAll("(?s)```.*?```", ""));
      while (code.find()) {
        if (KEY.matcher(code.group(1)).matches()) {
          assertTrue(slug + " has " + code.group(1), chapter.contains(code.group(1)));
        }
      }
      assertTrue(slug + " is shorter than half of its guide",
        chapter.length() > guide.length() / 2);
    }
  }

  @Test
  public void testEachGuideIsAChapterInAsciiDoc() throws Exception {
    assertChapters("2.6.4-hadoop3", new AsciiDoc());
  }

  @Test
  public void testEachGuideIsAPageOfTheWebsite() throws Exception {
    assertChapters("3.0.0", new Mdx());
  }

  @Test
  public void testTheReferencesOfAChapterLeadToItsHeadings() throws Exception {
    SortedMap<String, String> docs = docs("2.6.6", Map.of());
    int references = 0;
    for (String slug : SLUGS) {
      String chapter = docs.get(new AsciiDoc().path(slug));
      Matcher reference = Pattern.compile("<<([^,>]+),").matcher(chapter);
      while (reference.find()) {
        references++;
        assertTrue(slug + ": " + reference.group(1),
          chapter.contains("[[" + reference.group(1) + "]]\n"));
      }
    }
    assertTrue("references: " + references, references > 5);
  }

  private static Document xml(String text) throws Exception {
    return DocumentBuilderFactory.newInstance().newDocumentBuilder()
      .parse(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)));
  }

  private static List<String> texts(Document document, String element) {
    NodeList nodes = document.getElementsByTagName(element);
    List<String> texts = new ArrayList<>();
    for (int i = 0; i < nodes.getLength(); i++) {
      texts.add(nodes.item(i).getTextContent());
    }
    return texts;
  }

  @Test
  public void testEachLiteralDefaultIsInOneEntry() throws Exception {
    Map<String, String> expected = new TreeMap<>();
    for (String slug : SLUGS) {
      for (SettingsPage.Entry entry : page.entries(slug)) {
        for (String key : entry.keys()) {
          if (DefaultSettings.canHave(entry, key) && !key.equals(STOCK_KEY)) {
            expected.put(key, entry.value());
          }
        }
      }
    }
    assertTrue(expected.toString(), expected.size() > 25);
    assertEquals("0", expected.get("hbase.wal.async.sync.bytes"));
    Map<String, String> found = new TreeMap<>();
    for (Map.Entry<String, String> file : docs("3.0.0", Map.of()).entrySet()) {
      if (file.getKey().endsWith(".xml")) {
        assertFalse(file.getKey(), file.getKey().contains("/"));
        assertFalse(file.getValue(), UpstreamWords.isForeign(file.getValue()));
        Document document = xml(file.getValue());
        List<String> names = texts(document, "name");
        List<String> values = texts(document, "value");
        assertEquals(names.size(), texts(document, "description").size());
        for (int i = 0; i < names.size(); i++) {
          assertEquals(null, found.put(names.get(i), values.get(i)));
        }
      }
    }
    assertEquals(expected, found);
  }

  @Test
  public void testEntriesAreInsertedAndNothingElseIsChanged() throws Exception {
    String before = "<?xml version=\"1.0\"?>\n<configuration>\n  <property >\n    "
      + "<name>hbase.wal.async.sync.bytes</name>\n    <value>0</value>\n  </property>\n";
    String after = "</configuration>\n<!-- end -->\n";
    String path = "HBASE-16689-bounded-async-wal/" + UpstreamDocs.DEFAULTS;
    String changed = docs("2.6.4",
      Map.of(UpstreamDocs.DEFAULTS, (before + after).getBytes(StandardCharsets.UTF_8))).get(path);
    assertTrue(changed, changed.startsWith(before) && changed.endsWith(after));
    List<String> names = texts(xml(changed), "name");
    assertTrue(names.toString(), names.contains("hbase.wal.async.sync.interval.ms"));
    assertEquals(names.toString(), names.size(), new TreeSet<>(names).size());
    assertTrue(changed, changed.lines().allMatch(line -> line.length() <= 100));
  }

  @Test
  public void testAFixHasNoDocumentation() throws Exception {
    PatchFile fix = series.named("STRATUM-replaced-heap-block").get(0);
    assertTrue(new UpstreamDocs(ROOT, series, "2.6.4").of(fix, LINE).isEmpty());
  }
}
