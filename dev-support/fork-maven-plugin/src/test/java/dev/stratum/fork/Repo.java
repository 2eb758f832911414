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
package dev.stratum.fork;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import dev.stratum.fork.git.Export;
import dev.stratum.fork.git.ForkTree;
import dev.stratum.fork.git.GitStore;
import dev.stratum.fork.series.FileEdit;
import dev.stratum.fork.series.ForkHistory;
import dev.stratum.fork.series.Series;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.eclipse.jgit.lib.PersonIdent;
import org.hamcrest.Matcher;
import org.junit.function.ThrowingRunnable;
import org.junit.rules.ExternalResource;
import org.junit.rules.TemporaryFolder;
import org.junit.runner.JUnitCore;

/**
 * A small repository and base, new for each test, with the goals' work on them in one call each:
 * {@code @Rule public final Repo repo = new Repo();}.
 */
public final class Repo extends ExternalResource {
  public static final Instant TIME = Instant.parse("2025-11-04T00:00:00Z");
  public static final String JAVA = "hbase-server/src/main/java/org/x/";
  public static final String TESTS = "hbase-server/src/test/java/org/x/";
  public static final String RESOURCES = "hbase-server/src/main/resources/";
  public static final String A = JAVA + "A.java";
  public static final String B = JAVA + "B.java";

  public Path root;
  public Path tree;
  public final SortedMap<String, byte[]> base = new TreeMap<>();
  private final TemporaryFolder folder = new TemporaryFolder();

  @Override
  protected void before() throws IOException {
    folder.create();
    reset();
  }

  @Override
  protected void after() {
    folder.delete();
  }

  /** Starts another repository without patches on the plain base. */
  public void reset() throws IOException {
    root = newFolder();
    tree = root.resolve("target/forktree");
    base.clear();
    base(A, numbered("a", 30));
    base(B, numbered("b", 30));
    base("hbase-client/src/main/java/org/x/C.java", numbered("c", 10));
    write("patches/series", "# The order.\n");
  }

  /** Returns a new empty folder outside the repository, for the duration of the test. */
  public Path newFolder() throws IOException {
    return folder.newFolder().toPath();
  }

  /** Returns {@code count} lines {@code <word> <number>}. */
  public static String numbered(String word, int count) {
    StringBuilder text = new StringBuilder();
    for (int i = 1; i <= count; i++) {
      text.append(word).append(' ').append(i).append('\n');
    }
    return text.toString();
  }

  public void base(String path, String content) {
    base.put(path, bytes(content));
  }

  /** Returns a section of a strict patch: these hunks, made against this content. */
  public static String section(String path, byte[] before, String hunks) {
    return "diff --git a/" + path + " b/" + path + "\nindex " + FileEdit.blobId(before).name()
      + "..0123456789 100644\n--- a/" + path + "\n+++ b/" + path + "\n" + hunks;
  }

  /** Returns a git diff with one hunk that replaces lines of a file, from this one on. */
  public static String diff(String path, int line, String old, String replacement) {
    return "diff --git a/" + path + " b/" + path + "\n--- a/" + path + "\n+++ b/" + path
      + "\n@@ -" + line + "," + old.lines().count() + " +" + line + ","
      + replacement.lines().count() + " @@\n"
      + old.replaceAll("(?m)^(?=.)", "-") + replacement.replaceAll("(?m)^(?=.)", "+");
  }

  public static byte[] bytes(String text) {
    return text.getBytes(ISO_8859_1);
  }

  public void write(String path, String content) throws IOException {
    write(root.resolve(path), content);
  }

  public static void write(Path file, String content) throws IOException {
    Files.createDirectories(file.getParent());
    Files.write(file, bytes(content));
  }

  public String read(String path) throws IOException {
    return new String(Files.readAllBytes(root.resolve(path)), ISO_8859_1);
  }

  public boolean exists(String path) {
    return Files.exists(root.resolve(path));
  }

  /** Writes a file of the work tree. */
  public void edit(String path, String content) throws IOException {
    write(tree.resolve(path), content);
  }

  /** Replaces text in a file of the work tree. */
  public void edit(String path, String old, String replacement) throws IOException {
    String text = new String(Files.readAllBytes(tree.resolve(path)), ISO_8859_1);
    if (!text.contains(old)) {
      throw new AssertionError(path + " has no '" + old + "'");
    }
    edit(path, text.replace(old, replacement));
  }

  /** Renames a file of the work tree. */
  public void move(String from, String to) throws IOException {
    Files.createDirectories(tree.resolve(to).getParent());
    Files.move(tree.resolve(from), tree.resolve(to));
  }

  /** Commits everything in the work tree. */
  public void commit(String... message) throws Exception {
    git(tree, "add", "-A");
    git(tree, "commit", "-q", "--allow-empty", "-m", String.join("\n", message));
  }

  /** Runs the real git and returns what it prints. */
  public static String git(Path folder, String... args) throws Exception {
    List<String> command = new ArrayList<>(List.of("git", "-c", "user.name=Tester", "-c",
      "user.email=tester@localhost", "-c", "core.autocrlf=false", "-c", "commit.gpgsign=false"));
    command.addAll(Arrays.asList(args));
    Process process =
      new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true).start();
    process.getOutputStream().close();
    String output;
    try (InputStream in = process.getInputStream()) {
      output = new String(in.readAllBytes(), ISO_8859_1);
    }
    if (process.waitFor() != 0) {
      throw new AssertionError(String.join(" ", command) + " failed: " + output);
    }
    return output;
  }

  public Series series() throws IOException {
    return Series.read(root);
  }

  public ForkHistory history() throws IOException {
    return ForkHistory.of(base, series(), root);
  }

  /** Does what fork:checkout does. */
  public void checkout() throws IOException {
    try (ForkTree forkTree = new ForkTree(tree, TIME)) {
      forkTree.refuseToLoseWork("first");
      forkTree.checkout(ForkHistory.of(base, series(), root, forkTree.store()::find), "Base",
        root);
    }
  }

  /** Does what fork:rebuild does. */
  public List<String> rebuild() throws IOException {
    try (ForkTree forkTree = new ForkTree(tree, TIME)) {
      return forkTree.rebuild(root);
    }
  }

  /** Does what fork:export does, for all patches; content by file name. */
  public Map<String, byte[]> export() throws IOException {
    try (GitStore store = GitStore.inMemory(TIME)) {
      Map<String, byte[]> files = new TreeMap<>();
      for (Export.Exported one : exporter(store).all()) {
        files.put(one.fileName(), one.content());
      }
      return files;
    }
  }

  public Export exporter(GitStore store) throws IOException {
    return new Export(store, history(), new PersonIdent("Tester", "tester@localhost"), TIME,
      "stratum 1", "2.6.4-hadoop3");
  }

  /** Adds a patch file to patches/ and the series, with every header key. */
  public void patch(String name, String needs, String adds, String diff) throws IOException {
    patch(name, Map.of("Needs", needs, "Adds", adds), diff);
  }

  /** Adds a patch file to patches/ and the series, with these values in its header. */
  public void patch(String name, Map<String, String> values, String diff) throws IOException {
    write("patches/" + name, header(name, values) + "\n" + diff);
    write("patches/series", read("patches/series") + name + "\n");
  }

  public static String header(String subject, String needs, String adds) {
    return header(subject, Map.of("Needs", needs, "Adds", adds));
  }

  /** Returns a header with every key; those that are not in {@code values} have some value. */
  public static String header(String subject, Map<String, String> values) {
    StringBuilder header = new StringBuilder("Subject: " + subject + "\n");
    Map<String, String> all = new LinkedHashMap<>();
    all.put("JIRA", "-");
    all.put("Feature", "fix");
    all.put("Reason", "because");
    all.put("Upstream", "none");
    for (String key : List.of("Component", "Test", "Lines", "Compatibility", "Release-note",
      "Reviews")) {
      all.put(key, "none");
    }
    all.put("Needs", "");
    all.put("Adds", "");
    all.putAll(values);
    all.forEach((key, value) -> header.append(key).append(": ").append(value).append('\n'));
    return header.toString();
  }

  /**
   * Asserts that the action fails with a sentence that has these parts.
   * @return the sentence
   */
  public static String assertRefused(ThrowingRunnable action, String... parts) {
    String message = assertThrows(ForkException.class, action).getMessage();
    for (String part : parts) {
      assertTrue(message + " has " + part, message.contains(part));
    }
    assertTrue(message, message.endsWith("."));
    return message;
  }

  /** Returns every file of patches/ and of the modules' source folders by path. */
  public SortedMap<String, String> snapshot() throws IOException {
    SortedMap<String, String> files = new TreeMap<>();
    for (String folder : List.of("patches", "hbase-common", "hbase-client", "hbase-server")) {
      for (Path file : OutputTree.files(root.resolve(folder))) {
        String path = OutputTree.slashed(root.relativize(file));
        files.put(path, read(path));
      }
    }
    return files;
  }

  /** Writes a tree of files to a folder and makes it a git repository with one commit. */
  public static void plant(Path folder, SortedMap<String, byte[]> files) throws Exception {
    for (Map.Entry<String, byte[]> file : files.entrySet()) {
      Path target = folder.resolve(file.getKey());
      Files.createDirectories(target.getParent());
      Files.write(target, file.getValue());
    }
    git(folder, "init", "-q");
    git(folder, "add", "-A");
    git(folder, "commit", "-q", "-m", "base");
  }

  /** Reads the files of a work tree. */
  public static SortedMap<String, String> harvest(Path folder) throws IOException {
    SortedMap<String, String> files = new TreeMap<>();
    for (Path file : OutputTree.files(folder)) {
      String path = OutputTree.slashed(folder.relativize(file));
      if (!path.startsWith(".git/")) {
        files.put(path, new String(Files.readAllBytes(file), ISO_8859_1));
      }
    }
    return files;
  }

  public static SortedMap<String, String> text(SortedMap<String, byte[]> files) {
    SortedMap<String, String> texts = new TreeMap<>();
    files.forEach((path, content) -> texts.put(path, new String(content, ISO_8859_1)));
    return texts;
  }

  /** Returns the jars that a test class needs to be compiled and run. */
  public static List<Path> junit() throws Exception {
    List<Path> jars = new ArrayList<>();
    for (Class<?> one : List.of(JUnitCore.class, Matcher.class)) {
      jars.add(Path.of(one.getProtectionDomain().getCodeSource().getLocation().toURI()));
    }
    return jars;
  }

  /** Returns the source of a JUnit class org.x.NAME that asserts that a value is 1. */
  public static byte[] test(String name, String value) {
    return bytes("package org.x; public class " + name + " { @org.junit.Test public void "
      + "testOne() { org.junit.Assert.assertEquals(1, " + value + "); } }");
  }

  /** Writes a jar with these entries. */
  public static Path jar(Path file, Map<String, byte[]> entries) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (ZipOutputStream zip = new ZipOutputStream(out)) {
      for (Map.Entry<String, byte[]> entry : entries.entrySet()) {
        zip.putNextEntry(new ZipEntry(entry.getKey()));
        zip.write(entry.getValue());
        zip.closeEntry();
      }
    }
    Files.createDirectories(file.getParent());
    return Files.write(file, out.toByteArray());
  }
}
