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
import dev.stratum.fork.series.Modules;
import java.io.Closeable;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.stream.Stream;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.StandardLocation;
import javax.tools.ToolProvider;

/**
 * Compiles what a state of the series changes against jars that have everything else, in this JVM
 * and from memory. Not thread-safe.
 */
public final class StateCompiler implements Closeable {
  static final String MAIN = "/" + Modules.JAVA;
  static final String TESTS = "/src/test/java/";
  /** The Java that the base is compiled for. */
  public static final int RELEASE = 8;
  private static final String TEST_FILE = ".*/Test[^/]*\\.java";
  private static final int SHOWN = 5;

  private final List<Path> classPath;
  private final int release;
  private final JavaCompiler compiler;
  private final StandardJavaFileManager files;

  /**
   * @param classPath the jars that have all that is not compiled
   * @param release   the Java to compile for
   */
  StateCompiler(List<Path> classPath, int release) {
    this.classPath = List.copyOf(classPath);
    this.release = release;
    compiler = ToolProvider.getSystemJavaCompiler();
    if (compiler == null) {
      throw new ForkException("Java in %s has no compiler; run Maven with a JDK.",
        System.getProperty("java.home"));
    }
    files = compiler.getStandardFileManager(null, Locale.ROOT, StandardCharsets.UTF_8);
  }

  /**
   * Compiles the Java files below {@code src/main} of all modules, then those below
   * {@code src/test} with the result.
   * @param changed the files, by repository path; others than Java files are ignored
   * @param main    an empty folder for the classes
   * @param tests   an empty folder for the classes of the tests
   * @return the first errors, none if all was compiled
   */
  List<String> compile(SortedMap<String, byte[]> changed, Path main, Path tests)
    throws IOException {
    List<String> errors = compile(changed, MAIN, main, List.of());
    return errors.isEmpty() ? compile(changed, TESTS, tests, List.of(main)) : errors;
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

  /** Returns the test classes among files, with their packages. */
  public static List<String> tests(Collection<String> paths) {
    return paths.stream().filter(path -> path.contains(TESTS) && path.matches(TEST_FILE))
      .map(path -> path.substring(path.indexOf(TESTS) + TESTS.length(),
        path.length() - ".java".length()).replace('/', '.'))
      .sorted().toList();
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
