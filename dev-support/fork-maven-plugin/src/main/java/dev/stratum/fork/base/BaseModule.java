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
package dev.stratum.fork.base;

import dev.stratum.fork.ForkException;
import dev.stratum.fork.series.Modules;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Enumeration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.UnaryOperator;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.apache.commons.codec.digest.DigestUtils;

/**
 * One published module of the base.
 * @param name    the artifact, such as {@code hbase-server}
 * @param jar     the published classes
 * @param sources the published sources
 */
public record BaseModule(String name, Path jar, Path sources) {
  private static final String PINNED = "patches/base.sha256";

  /**
   * Reads the module's files in upstream's layout: Java and package.html below
   * {@code src/main/java}, all else below {@code src/main/resources}. The sources artifact is flat
   * and is read first; the published jar adds the resources that only it has.
   * @return content by repository path
   */
  public SortedMap<String, byte[]> readTree() throws IOException {
    SortedMap<String, byte[]> tree = new TreeMap<>();
    for (Path file : new Path[] { sources, jar }) {
      read(file, tree, entry -> {
        if (entry.endsWith(".class") || isMavens(entry)) {
          return null;
        }
        boolean java = entry.endsWith(".java") || entry.endsWith("/package.html");
        return name + "/" + (java ? Modules.JAVA : Modules.RESOURCES) + entry;
      });
    }
    return tree;
  }

  /**
   * Reads files of a jar.
   * @param tree  is given their content by path; what it has stays
   * @param rename returns the path of an entry, {@code null} to leave it out
   */
  static void read(Path jar, Map<String, byte[]> tree, UnaryOperator<String> rename)
    throws IOException {
    try (ZipFile zip = new ZipFile(jar.toFile())) {
      for (Enumeration<? extends ZipEntry> all = zip.entries(); all.hasMoreElements();) {
        ZipEntry entry = all.nextElement();
        String path = entry.isDirectory() ? null : rename.apply(entry.getName());
        if (path != null && !tree.containsKey(path)) {
          try (InputStream in = zip.getInputStream(entry)) {
            tree.put(path, in.readAllBytes());
          }
        }
      }
    }
  }

  private static boolean isMavens(String entry) {
    return entry.startsWith("META-INF/maven/") || entry.equals("META-INF/MANIFEST.MF");
  }

  /**
   * Compares the files with the checksums in patches/base.sha256, lines
   * {@code <sha256>  <file name>}.
   * @param root the repository's root
   * @return the checksums
   */
  public List<String> verify(Path root) throws IOException {
    if (!Files.exists(root.resolve(PINNED))) {
      throw new ForkException("%s is missing; restore it from version control.", PINNED);
    }
    List<String> pinned = Files.readAllLines(root.resolve(PINNED));
    List<String> sums = new ArrayList<>();
    for (Path file : List.of(jar, sources)) {
      String expected = pinned.stream().map(line -> line.trim().split("\\s+"))
        .filter(words -> words[words.length - 1].equals(file.getFileName().toString()))
        .map(words -> words[0]).findFirst()
        .orElseThrow(() -> new ForkException("%s has no line for %s; add its sha256 after checking "
          + "where the file is from.", PINNED, file.getFileName()));
      String actual = DigestUtils.sha256Hex(Files.readAllBytes(file));
      if (!actual.equals(expected)) {
        throw new ForkException("%s has sha256 %s but %s pins %s; delete the file so that it is "
          + "fetched again, and if the sum stays, do not trust the repository that it is from.",
          file, actual, PINNED, expected);
      }
      sums.add(actual);
    }
    return sums;
  }

  /** Returns the entries of the published jar, folders and Maven's own files left out. */
  public Set<String> published() throws IOException {
    return entries(jar);
  }

  /** Returns the entries of a jar, folders and Maven's own files left out. */
  public static Set<String> entries(Path jar) throws IOException {
    if (!Files.isRegularFile(jar)) {
      throw new ForkException("%s does not exist; run mvn package first.", jar);
    }
    Set<String> names = new TreeSet<>();
    try (ZipFile zip = new ZipFile(jar.toFile())) {
      zip.stream().filter(entry -> !entry.isDirectory()).map(ZipEntry::getName)
        .filter(entry -> !isMavens(entry)).forEach(names::add);
    }
    return names;
  }
}
