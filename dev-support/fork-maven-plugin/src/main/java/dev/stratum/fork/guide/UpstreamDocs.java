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

import dev.stratum.fork.series.PatchFile;
import dev.stratum.fork.series.PatchHeader;
import dev.stratum.fork.series.Series;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.commonmark.node.Node;

/**
 * The documentation of a feature for upstream: entries of hbase-default.xml, made from the tables
 * of docs/configuration.md, and a chapter of the reference guide, made from docs/SLUG.md. A feature
 * of several patches has its chapter in the patch that reads most of its keys, and each entry in
 * the patch that reads the key. Immutable; the files are read again by each call.
 */
public final class UpstreamDocs {
  /** The file with the defaults, in HBase's repository. */
  public static final String DEFAULTS = "hbase-common/src/main/resources/hbase-default.xml";
  private static final String MAIN = "/src/main/java/";

  private final Path root;
  private final Series series;
  private final Markup markup;

  /**
   * @param root    the repository's root
   * @param series  all patches
   * @param version the version of HBase that the documentation is for, such as {@code 2.6.4}; from
   *                3 on the chapters are pages of hbase-website, before that AsciiDoc
   */
  public UpstreamDocs(Path root, Series series, String version) {
    this.root = root;
    this.series = series;
    markup = Integer.parseInt(version.replaceFirst("\\D.*", "")) < 3 ? new AsciiDoc() : new Mdx();
  }

  /**
   * Returns the files to add to, or change in, an export of {@code patch}, by path. A path without
   * a folder is a file to put beside the export: entries of hbase-default.xml for a line that has
   * no such file, as its module is not published. Empty for a fix, a feature without a guide, and a
   * patch that reads no key.
   * @param lineTree the files of the line by path, without the patch
   */
  public SortedMap<String, byte[]> of(PatchFile patch, SortedMap<String, byte[]> lineTree)
    throws IOException {
    SortedMap<String, byte[]> files = new TreeMap<>();
    String slug = patch.header().feature();
    Path guide = root.resolve("docs").resolve(slug + ".md");
    if (slug.equals(PatchHeader.FIX) || !Files.exists(guide)) {
      return files;
    }
    SettingsPage page =
      new SettingsPage(Files.readString(root.resolve("docs").resolve("configuration.md")));
    List<Node> sections = page.sections(slug);
    if (sections.isEmpty()) {
      return files;
    }
    PatchFile main = main(slug, page);
    List<String> properties = properties(patch, patch == main, page, lineTree);
    if (!properties.isEmpty()) {
      byte[] defaults = lineTree.get(DEFAULTS);
      if (defaults == null) {
        put(files, "hbase-default-" + patch.stem() + ".xml", DefaultSettings.snippet(properties));
      } else {
        put(files, DEFAULTS, DefaultSettings.insert(
          new String(defaults, StandardCharsets.UTF_8), properties));
      }
    }
    if (patch == main) {
      put(files, markup.path(slug),
        new Chapter(slug, markup).convert(Plain.blocks(Files.readString(guide)), sections));
    }
    return files;
  }

  private static void put(SortedMap<String, byte[]> files, String path, String content) {
    files.put(path, content.getBytes(StandardCharsets.UTF_8));
  }

  /** Returns the patch of a feature that reads most of its keys, the last of several. */
  private PatchFile main(String slug, SettingsPage page) throws IOException {
    PatchFile main = null;
    long most = -1;
    for (PatchFile patch : series.patches()) {
      if (patch.header().feature().equals(slug)) {
        String source = source(patch);
        long reads = page.entries(slug).stream().flatMap(entry -> entry.keys().stream())
          .filter(key -> reads(source, key)).count();
        if (reads >= most) {
          main = patch;
          most = reads;
        }
      }
    }
    return main;
  }

  private List<String> properties(PatchFile patch, boolean isMain, SettingsPage page,
    SortedMap<String, byte[]> lineTree) throws IOException {
    Map<String, SettingsPage.Entry> candidates = new LinkedHashMap<>();
    String source = source(patch);
    for (SettingsPage.Entry entry : page.entries(patch.header().feature())) {
      for (String key : entry.keys()) {
        if (DefaultSettings.canHave(entry, key) && !hasDefault(lineTree, key)
          && (reads(source, key) || isMain && !isReadByAPatch(key))) {
          candidates.put(key, entry);
        }
      }
    }
    removeKeysOf(lineTree, candidates);
    List<String> properties = new ArrayList<>();
    candidates.forEach((key, entry) -> properties.add(DefaultSettings.property(entry, key)));
    return properties;
  }

  private static boolean hasDefault(SortedMap<String, byte[]> lineTree, String key) {
    byte[] defaults = lineTree.get(DEFAULTS);
    return defaults != null
      && new String(defaults, StandardCharsets.UTF_8).contains("<name>" + key + "</name>");
  }

  /** Returns whether a patch of the series has the key as a whole. */
  private boolean isReadByAPatch(String key) throws IOException {
    for (PatchFile patch : series.patches()) {
      if (reads(source(patch), key)) {
        return true;
      }
    }
    return false;
  }

  /** Removes keys that HBase itself has: that they have no default in the file is its choice. */
  private static void removeKeysOf(SortedMap<String, byte[]> lineTree,
    Map<String, SettingsPage.Entry> candidates) {
    for (Map.Entry<String, byte[]> file : lineTree.entrySet()) {
      if (file.getKey().contains(MAIN) && !candidates.isEmpty()) {
        String source = new String(file.getValue(), StandardCharsets.ISO_8859_1);
        candidates.keySet().removeIf(key -> reads(source, key));
      }
    }
  }

  private static boolean reads(String source, String key) {
    return source.contains('"' + key + '"');
  }

  private String source(PatchFile patch) throws IOException {
    StringBuilder source = new StringBuilder(new String(patch.content(), StandardCharsets.UTF_8));
    for (String path : patch.header().adds()) {
      if (path.contains(MAIN)) {
        source.append(Files.readString(root.resolve(path)));
      }
    }
    return source.toString();
  }
}
