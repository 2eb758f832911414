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

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Runs JUnit test classes, each in a JVM and a folder of its own. */
public final class TestProcess implements StateCheck.Tests {
  /** The artifact that runs the tests of any JUnit, JUnit 5's and those before it. */
  public static final String PLATFORM = "org.junit.platform:junit-platform-console-standalone";
  private static final Pattern JUNIT_4 = Pattern.compile("\\d+\\) (\\w+)(?:\\[.*\\])?\\(.*");
  private static final Pattern JUNIT_5 =
    Pattern.compile(" +JUnit (?:Jupiter|Vintage):[^:]*:(\\w+).*");
  private static final String REASON = "    => ";
  private static final long LIMIT_MINUTES = 15;
  private static final int TAIL = 3;

  private final List<Path> classPath;
  private final List<String> options;
  private final Path folder;
  private final boolean platform;

  /**
   * @param classPath what stands behind the state's own classes
   * @param options   for the JVM
   * @param folder    where each class's folder is made, with its output
   * @param platform  whether {@link #PLATFORM} is on the class path and runs the tests; JUnit 4
   *                  runs them otherwise
   */
  public TestProcess(List<Path> classPath, List<String> options, Path folder, boolean platform) {
    this.classPath = classPath;
    this.options = options;
    this.folder = folder;
    this.platform = platform;
  }

  @Override
  public String run(List<Path> first, String test) throws IOException {
    Path work = folder.resolve(test);
    Files.createDirectories(work.resolve("tmp"));
    Path output = work.resolve("output.txt");
    List<String> command = new ArrayList<>();
    command.add(Paths.get(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(options);
    command.add("-Djava.io.tmpdir=" + work.resolve("tmp"));
    command.add("-Dtest.build.classes=" + first.get(0));
    Path arguments = work.resolve("classpath.txt");
    Files.writeString(arguments, "-cp \"" + Stream.concat(first.stream(), classPath.stream())
      .map(path -> path.toString().replace("\\", "\\\\"))
      .collect(Collectors.joining(System.getProperty("path.separator"))) + "\"\n");
    command.add("@" + arguments);
    if (platform) {
      command.addAll(List.of("org.junit.platform.console.ConsoleLauncher", "execute",
        "--select-class", test, "--details", "none", "--disable-banner",
        "--disable-ansi-colors", "--fail-if-no-tests"));
    } else {
      command.addAll(List.of("org.junit.runner.JUnitCore", test));
    }
    Process process = new ProcessBuilder(command).directory(work.toFile())
      .redirectErrorStream(true).redirectOutput(output.toFile()).start();
    try {
      if (!process.waitFor(LIMIT_MINUTES, TimeUnit.MINUTES)) {
        return "was not through after " + LIMIT_MINUTES + " minutes: " + output;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException();
    } finally {
      process.destroyForcibly();
    }
    return process.exitValue() == 0 ? null : failure(output);
  }

  /** Returns what failed and why, first of all the method if there is one. */
  static String failure(Path output) throws IOException {
    List<String> lines =
      List.of(new String(Files.readAllBytes(output), StandardCharsets.ISO_8859_1).split("\n"));
    for (int i = 0; i < lines.size(); i++) {
      if (JUNIT_4.matcher(lines.get(i)).matches()) {
        return String.join(" ", lines.subList(i, Math.min(lines.size(), i + 2))) + " (" + output
          + ")";
      }
      if (JUNIT_5.matcher(lines.get(i)).matches()) {
        String why = lines.subList(i, lines.size()).stream()
          .filter(line -> line.startsWith(REASON)).findFirst().orElse("").trim();
        return lines.get(i).trim() + " " + why + " (" + output + ")";
      }
    }
    return String.join(" ", lines.subList(Math.max(0, lines.size() - TAIL), lines.size())) + " ("
      + output + ")";
  }

  /** Returns the method that {@link #run} says failed, {@code null} if it names none. */
  static String method(String failure) {
    for (Pattern pattern : List.of(JUNIT_4, JUNIT_5)) {
      Matcher matcher = pattern.matcher(pattern == JUNIT_5 ? " " + failure : failure);
      if (matcher.matches()) {
        return matcher.group(1);
      }
    }
    return null;
  }
}
