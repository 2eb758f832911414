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

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.Test;

/** The tests and packages that docs/architecture.md names are there. */
public class TestArchitecture {
  private static final Path ROOT = Path.of(System.getProperty("stratum.root")).normalize();
  private static final Pattern TEST = Pattern.compile("`(Test\\w+)`");

  private static String page() throws IOException {
    return Files.readString(ROOT.resolve("docs/architecture.md"));
  }

  @Test
  public void testEachPackageHasARow() throws Exception {
    String page = page();
    List<String> missing = new ArrayList<>();
    for (Path module : Sources.modules(ROOT)) {
      for (Path file : Sources.java(module, "src/main/java/org/apache/hadoop/hbase")) {
        if (file.endsWith("package-info.java")) {
          String name = module.resolve("src/main/java/org/apache/hadoop/hbase")
            .relativize(file.getParent()).toString().replace('/', '.');
          if (!page.contains("| `" + name + "` |")) {
            missing.add(name);
          }
        }
      }
    }
    assertEquals(List.of(), missing);
  }

  @Test
  public void testTestsOfTheProtocolsExist() throws Exception {
    Set<String> tests = new TreeSet<>();
    Matcher test = TEST.matcher(page());
    while (test.find()) {
      tests.add(test.group(1));
    }
    Sources.java(ROOT)
      .forEach(file -> tests.remove(file.getFileName().toString().replace(".java", "")));
    assertEquals(Set.of(), tests);
  }
}
