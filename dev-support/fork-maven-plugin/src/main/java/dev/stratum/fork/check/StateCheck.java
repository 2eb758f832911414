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

import dev.stratum.fork.ForkException;
import dev.stratum.fork.series.FileChange;
import dev.stratum.fork.series.Modules;
import java.io.Closeable;
import java.io.IOException;
import java.io.Reader;
import java.io.Writer;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.StandardLocation;
import javax.tools.ToolProvider;
import org.apache.commons.codec.digest.DigestUtils;
import org.eclipse.jgit.util.FileUtils;

/**
 * Says of states of the series whether they compile and which of the tests pass. What a state
 * changes is compiled against jars that have everything else, in this JVM and from memory. What was
 * said of a state once is kept in a folder under a digest of all that it was made from, so that
 * only states whose sources or jars changed are looked at again. Not thread-safe.
 */
public final class StateCheck implements Closeable {
  /** The Java that the base is compiled for. */
  public static final int RELEASE = 8;

  private static final String MAIN = "/" + Modules.JAVA;
  private static final String TESTS = "/src/test/java/";
  private static final String TEST_FILE = ".*/Test[^/]*\\.java";
  private static final int SHOWN = 5;
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
  private final JavaCompiler compiler;
  private final StandardJavaFileManager files;
  private int compiled;
  private int ran;

  /**
   * @param base      the base's files, which the jars of the class path were compiled from
   * @param classPath the jars that have all that a state does not change
   * @param tests     runs test classes, {@code null} to run none
   */
  public StateCheck(SortedMap<String, byte[]> base, Path folder, List<Path> classPath, int release,
    Tests tests) {
    this.base = base;
    this.folder = folder;
    this.classPath = classPath;
    this.release = release;
    this.tests = tests;
    compiler = ToolProvider.getSystemJavaCompiler();
    if (compiler == null) {
      throw new ForkException("Java in %s has no compiler; run Maven with a JDK.",
        System.getProperty("java.home"));
    }
    files = compiler.getStandardFileManager(null, Locale.ROOT, StandardCharsets.UTF_8);
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
   * @param names the test classes to be run in it
   */
  public Verdict check(SortedMap<String, byte[]> tree, List<String> names) throws IOException {
    SortedMap<String, byte[]> changed = new TreeMap<>();
    StringBuilder all = new StringBuilder("release ").append(release);
    for (FileChange change : FileChange.between(base, tree)) {
      all.append('\n').append(change.path()).append(' ')
        .append(change.after() == null ? "" : DigestUtils.sha256Hex(change.after()));
      if (change.after() != null) {
        changed.put(change.path(), change.after());
      }
    }
    classPath.forEach(jar -> all.append('\n').append(jar.getFileName()));
    Path file = folder.resolve("states")
      .resolve(DigestUtils.sha256Hex(all.toString()) + ".properties");
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
    compiled++;
    List<String> errors = compile(changed, MAIN, main, List.of());
    if (errors.isEmpty()) {
      errors = compile(changed, TESTS, test, List.of(main));
    }
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

  private List<String> compile(SortedMap<String, byte[]> changed, String folder, Path out,
    List<Path> before) throws IOException {
    List<Source> sources = new ArrayList<>();
    for (Map.Entry<String, byte[]> file : changed.entrySet()) {
      String path = file.getKey();
      if (path.contains(folder) && path.endsWith(".java")) {
        sources.add(new Source(path, new String(file.getValue(), StandardCharsets.UTF_8)));
      }
    }
    Files.createDirectories(out);
    if (sources.isEmpty()) {
      return List.of();
    }
    files.setLocationFromPaths(StandardLocation.CLASS_OUTPUT, List.of(out));
    files.setLocationFromPaths(StandardLocation.CLASS_PATH,
      Stream.concat(before.stream(), classPath.stream()).toList());
    files.setLocationFromPaths(StandardLocation.SOURCE_PATH, List.of());
    DiagnosticCollector<JavaFileObject> messages = new DiagnosticCollector<>();
    boolean compiled = compiler.getTask(null, files, messages,
      List.of("--release", String.valueOf(release), "-proc:none", "-nowarn", "-Xlint:none", "-g",
        "-implicit:none"), null, sources).call();
    List<String> errors = new ArrayList<>();
    for (Diagnostic<? extends JavaFileObject> message : messages.getDiagnostics()) {
      if (message.getKind() == Diagnostic.Kind.ERROR && errors.size() < SHOWN) {
        String text = message.getMessage(Locale.ROOT).replaceAll("\\s+", " ").trim();
        errors.add(message.getSource() instanceof Source source
          ? source.path + ":" + message.getLineNumber() + ": " + text
          : text);
      }
    }
    if (!compiled && errors.isEmpty()) {
      errors.add("the compiler failed without a message");
    }
    return errors;
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

  /** Returns the test classes among files, with their packages. */
  public static List<String> tests(Collection<String> paths) {
    return paths.stream().filter(path -> path.contains(TESTS) && path.matches(TEST_FILE))
      .map(path -> path.substring(path.indexOf(TESTS) + TESTS.length(),
        path.length() - ".java".length()).replace('/', '.'))
      .sorted().toList();
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
    files.close();
  }

  private static final class Source extends SimpleJavaFileObject {
    private final String path;
    private final String text;

    Source(String path, String text) {
      super(URI.create("memory:///" + path), Kind.SOURCE);
      this.path = path;
      this.text = text;
    }

    @Override
    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
      return text;
    }
  }
}
