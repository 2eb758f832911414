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
  private static final Pattern FAILED = Pattern.compile("\\d+\\) (\\w+)(?:\\[.*\\])?\\(.*");
  private static final long LIMIT_MINUTES = 15;
  private static final int TAIL = 3;

  private final List<Path> classPath;
  private final List<String> options;
  private final Path folder;

  /**
   * @param classPath what stands behind the state's own classes
   * @param folder    where each class's folder is made, with its output
   */
  public TestProcess(List<Path> classPath, List<String> options, Path folder) {
    this.classPath = classPath;
    this.options = options;
    this.folder = folder;
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
    command.addAll(List.of("org.junit.runner.JUnitCore", test));
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
      if (FAILED.matcher(lines.get(i)).matches()) {
        return String.join(" ", lines.subList(i, Math.min(lines.size(), i + 2))) + " (" + output
          + ")";
      }
    }
    return String.join(" ", lines.subList(Math.max(0, lines.size() - TAIL), lines.size())) + " ("
      + output + ")";
  }

  /** Returns the method that {@link #run} says failed, {@code null} if it names none. */
  static String method(String failure) {
    Matcher matcher = FAILED.matcher(failure);
    return matcher.matches() ? matcher.group(1) : null;
  }
}
