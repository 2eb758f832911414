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
package dev.stratum.fork.check;

import dev.stratum.fork.Digests;
import dev.stratum.fork.series.FileChange;
import dev.stratum.fork.series.Modules;
import java.io.Closeable;
import java.io.IOException;
import java.io.Reader;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.eclipse.jgit.util.FileUtils;

/**
 * Says of states of the series whether they compile and which of the tests pass. What was said of a
 * state once is kept in a folder under a digest of all that it was made from, so that only states
 * whose sources or jars changed are looked at again. Not thread-safe.
 */
public final class StateCheck implements Closeable {
  private static final String COMPILED = "compiled";
  private static final String TEST = "test ";
  private static final String PASSED = "passed";
  /** Has a place for the version that only a build fills in, and a key by which that is ignored. */
  private static final String DEFAULTS = "/hbase-default.xml";
  private static final Pattern UNCHECKED =
    Pattern.compile("(<name>hbase\\.defaults\\.for\\.version\\.skip</name>\\s*<value>)false");
  private static final String RESOURCES = "/" + Modules.RESOURCES;
  private static final String WEBAPPS = RESOURCES + "hbase-webapps/";

  /** Runs test classes. */
  interface Tests {
    /**
     * Runs one test class.
     * @param classPath where the state's classes and files are, first of all
     * @param test      the class's name
     * @return what failed, {@code null} if it passed
     */
    String run(List<Path> classPath, String test) throws IOException;
  }

  /**
   * What is known of a state.
   * @param errors   what the compiler said, none if it compiles
   * @param failures what failed by test class; those that passed are not in it
   * @param passed   how many test classes passed
   */
  public record Verdict(List<String> errors, SortedMap<String, String> failures, int passed) {
    boolean good() {
      return errors.isEmpty() && failures.isEmpty();
    }

    /** Returns one or two words for a table. */
    public String shown() {
      if (!errors.isEmpty()) {
        return "does not compile";
      }
      int all = passed + failures.size();
      return all == 0 ? "compiles" : passed + " of " + all + " pass";
    }
  }

  private final SortedMap<String, byte[]> base;
  private final Path folder;
  private final List<Path> classPath;
  private final int release;
  private final Tests tests;
  private StateCompiler compiler;
  private int compiled;
  private int ran;

  /**
   * @param base      the base's files, which the jars of the class path were compiled from
   * @param folder    where to keep what was said
   * @param classPath the jars that have all that a state does not change
   * @param release   the Java to compile for
   * @param tests     runs test classes, {@code null} to run none
   */
  public StateCheck(SortedMap<String, byte[]> base, Path folder, List<Path> classPath, int release,
    Tests tests) {
    this.base = base;
    this.folder = folder;
    this.classPath = classPath;
    this.release = release;
    this.tests = tests;
  }

  /** Returns how many states had to be compiled. */
  public int compiled() {
    return compiled;
  }

  /** Returns how many test classes had to be run. */
  public int ran() {
    return ran;
  }

  /**
   * Looks at a state.
   * @param tree  all of its files
   * @param names the test classes to be run in it
   */
  public Verdict check(SortedMap<String, byte[]> tree, List<String> names) throws IOException {
    SortedMap<String, byte[]> changed = new TreeMap<>();
    Digests digests = Digests.sha256();
    for (FileChange change : FileChange.between(base, tree)) {
      digests.add(change.path(), change.after() == null ? new byte[0] : change.after());
      if (change.after() != null) {
        changed.put(change.path(), change.after());
      }
    }
    digests.add("release", String.valueOf(release));
    classPath.forEach(jar -> digests.add("jar", jar.getFileName().toString()));
    Path file = folder.resolve("states").resolve(digests.hex() + ".properties");
    Properties known = new Properties();
    if (Files.exists(file)) {
      try (Reader in = Files.newBufferedReader(file, StandardCharsets.UTF_8)) {
        known.load(in);
      }
    }
    boolean toRun = tests != null && known.getProperty(COMPILED, "").isEmpty()
      && names.stream().anyMatch(name -> !PASSED.equals(known.getProperty(TEST + name)));
    if (toRun || known.getProperty(COMPILED) == null) {
      look(tree, changed, names, known, file);
    }
    return verdict(known, names);
  }

  private void look(SortedMap<String, byte[]> tree, SortedMap<String, byte[]> changed,
    List<String> names, Properties known, Path file) throws IOException {
    Path out = folder.resolve("classes");
    Path main = out.resolve("main");
    Path test = out.resolve("test");
    delete(out);
    if (compiler == null) {
      compiler = new StateCompiler(classPath, release);
    }
    compiled++;
    List<String> errors = compiler.compile(changed, main, test);
    known.setProperty(COMPILED, String.join("\n", errors));
    save(known, file);
    if (errors.isEmpty() && tests != null) {
      writeResources(tree, changed, main);
      for (String name : names) {
        if (!PASSED.equals(known.getProperty(TEST + name))) {
          ran++;
          String failure = tests.run(List.of(test, main), name);
          known.setProperty(TEST + name, failure == null ? PASSED : failure);
          save(known, file);
        }
      }
    }
    delete(out);
  }

  /** The web UI's pages are found as one folder, so all of them have to be there. */
  private static void writeResources(SortedMap<String, byte[]> tree,
    SortedMap<String, byte[]> changed, Path out) throws IOException {
    for (Map.Entry<String, byte[]> resource : tree.entrySet()) {
      String path = resource.getKey();
      if (path.contains(RESOURCES) && (path.contains(WEBAPPS) || changed.containsKey(path))) {
        Path file =
          out.resolve(path.substring(path.indexOf(RESOURCES) + RESOURCES.length()));
        Files.createDirectories(file.getParent());
        Files.write(file, path.endsWith(DEFAULTS)
          ? UNCHECKED.matcher(new String(resource.getValue(), StandardCharsets.UTF_8))
            .replaceFirst("$1true").getBytes(StandardCharsets.UTF_8)
          : resource.getValue());
      }
    }
  }

  private Verdict verdict(Properties known, List<String> names) {
    String errors = known.getProperty(COMPILED);
    SortedMap<String, String> failures = new TreeMap<>();
    int passed = 0;
    for (String name : tests != null && errors.isEmpty() ? names : List.<String>of()) {
      String outcome = known.getProperty(TEST + name);
      if (PASSED.equals(outcome)) {
        passed++;
      } else {
        failures.put(name, outcome);
      }
    }
    return new Verdict(errors.isEmpty() ? List.of() : List.of(errors.split("\n")), failures,
      passed);
  }

  private static void save(Properties known, Path file) throws IOException {
    Files.createDirectories(file.getParent());
    try (Writer out = Files.newBufferedWriter(file, StandardCharsets.UTF_8)) {
      known.store(out, null);
    }
  }

  private static void delete(Path folder) throws IOException {
    FileUtils.delete(folder.toFile(), FileUtils.RECURSIVE | FileUtils.SKIP_MISSING);
  }

  @Override
  public void close() throws IOException {
    if (compiler != null) {
      compiler.close();
    }
  }
}
