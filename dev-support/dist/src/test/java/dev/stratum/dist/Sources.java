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

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The files of this repository that are written by hand, in order. */
final class Sources {
  /** A link to a file or a heading, not to an address such as one of https: or mailto:. */
  private static final Pattern LINK = Pattern.compile("\\]\\((?![a-z]+:)([^)\\s]+)\\)");

  private Sources() {
  }

  /** Returns the folders of {@code root} that have a folder src: the modules. */
  static List<Path> modules(Path root) throws IOException {
    List<Path> modules = new ArrayList<>();
    for (Path folder : List.of(root, root.resolve("system-tests"), root.resolve("dev-support"))) {
      modules.addAll(list(folder).stream().filter(one -> Files.isDirectory(one.resolve("src")))
        .toList());
    }
    return modules;
  }

  /** Returns all Java sources, tests too. */
  static List<Path> java(Path root) throws IOException {
    List<Path> files = new ArrayList<>();
    for (Path module : modules(root)) {
      files.addAll(java(module, "src"));
    }
    return files;
  }

  /** Returns the Java sources of a folder of a module; none if it has no such folder. */
  static List<Path> java(Path module, String folder) throws IOException {
    if (!Files.exists(module.resolve(folder))) {
      return List.of();
    }
    return files(module.resolve(folder), ".java");
  }

  /** Returns the files in a folder, and in those within it, whose names end so. */
  static List<Path> files(Path folder, String end) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      return files.filter(file -> file.toString().endsWith(end)).sorted().toList();
    }
  }

  /**
   * Returns the pages of docs, and those beside it for readers of the repository. Of docs/upstream
   * only what is written by hand: the other pages are made from the headers of the patches.
   */
  static List<Path> pages(Path root) throws IOException {
    List<Path> pages = new ArrayList<>();
    for (String name : List.of("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md",
      "docs/upstream/README.md")) {
      pages.add(root.resolve(name));
    }
    pages.addAll(list(root.resolve("docs")).stream().filter(file -> file.toString().endsWith(".md"))
      .toList());
    return pages;
  }

  /** Returns the patches of the series. */
  static List<Path> patches(Path root) throws IOException {
    return list(root.resolve("patches")).stream()
      .filter(file -> file.toString().endsWith(".patch")).toList();
  }

  /**
   * Returns the links of pages to files as {@code page: target}, each with whether it leads to a
   * file within {@code root} and, if the target has one, to a heading of it.
   */
  static Map<String, Boolean> links(Path root, List<Path> pages) throws IOException {
    Map<String, Boolean> links = new TreeMap<>();
    for (Path page : pages) {
      Matcher link = LINK.matcher(Files.readString(page));
      while (link.find()) {
        String[] target = link.group(1).split("#", 2);
        Path file = target[0].isEmpty() ? page : page.resolveSibling(target[0]).normalize();
        links.put(root.relativize(page) + ": " + link.group(1),
          file.startsWith(root.normalize()) && Files.exists(file)
            && (target.length == 1 || anchors(file).contains(target[1])));
      }
    }
    return links;
  }

  /** Returns what headings are called in links, as GitHub makes it of them. */
  private static Set<String> anchors(Path page) throws IOException {
    return Files.readAllLines(page).stream().filter(line -> line.matches("#+ .*"))
      .map(line -> line.replaceFirst("^#+ ", "").toLowerCase(Locale.ROOT)
        .replaceAll("[^\\w\\- ]", "").replace(' ', '-'))
      .collect(Collectors.toSet());
  }

  private static List<Path> list(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.sorted().toList();
    }
  }
}
