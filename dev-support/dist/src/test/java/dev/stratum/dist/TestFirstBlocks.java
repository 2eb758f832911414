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
import static org.junit.Assert.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.TemporaryFolder;

/** Has the settings check read the first settings of README and of each guide as they are. */
@Category(LargeTests.class)
public class TestFirstBlocks {
  private static final Path ROOT = Path.of(System.getProperty("stratum.root"));
  private static final Pattern BLOCK = Pattern.compile("(?s)\n```xml\n(.*?)\n```\n");
  private static final Pattern MEMORY =
    Pattern.compile("-Xmx\\d+[mg]|-XX:MaxDirectMemorySize=\\d+[mg]");

  @Rule
  public final TemporaryFolder temporary = new TemporaryFolder();

  /** @param section the text from the first block on, or around it if it has the memory */
  private void check(String name, String section) throws Exception {
    Matcher block = BLOCK.matcher(section);
    assertTrue(name, block.find());
    List<String> memory = new ArrayList<>(
      MEMORY.matcher(section).results().map(result -> result.group()).toList());
    if (memory.stream().noneMatch(option -> option.startsWith("-Xmx"))) {
      memory.add("-Xmx8g");
    }
    List<String> findings = CheckedSettings.findings(temporary.newFolder().toPath(),
      "<configuration>\n" + block.group(1) + "\n</configuration>\n", memory);
    assertEquals(name, List.of(), findings);
  }

  @Test
  public void testStartOfTheReadme() throws Exception {
    String readme = Files.readString(ROOT.resolve("README.md"));
    int start = readme.indexOf("**A start**");
    check("README.md", readme.substring(start, readme.indexOf("\n## ", start)));
  }

  @Test
  public void testEnableSectionOfEachGuide() throws Exception {
    Set<String> checked = new TreeSet<>();
    try (Stream<Path> guides = Files.list(ROOT.resolve("docs"))) {
      for (Path guide : guides.filter(file -> file.toString().endsWith(".md")).toList()) {
        String text = Files.readString(guide);
        int enable = text.indexOf("\n## Enable\n");
        if (enable >= 0) {
          check(guide.getFileName().toString(),
            text.substring(enable, text.indexOf("\n## ", enable + 1)));
          checked.add(guide.getFileName().toString());
        }
      }
    }
    assertTrue(checked.toString(), checked.size() >= 8);
  }
}
