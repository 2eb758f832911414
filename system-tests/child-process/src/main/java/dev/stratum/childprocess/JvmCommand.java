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
package dev.stratum.childprocess;

import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The command that starts a JVM of the Java that this JVM has. By default the JVM has this one's
 * class path. Options from the environment do not reach it. Not thread-safe.
 */
public final class JvmCommand {
  private final String mainClass;
  private final List<String> options = new ArrayList<>();
  private final List<String> arguments = new ArrayList<>();
  private String classPath = System.getProperty("java.class.path");

  public JvmCommand(Class<?> mainClass) {
    this(mainClass.getName());
  }

  /** @param mainClass a class that the JVM has, and this one need not have */
  public JvmCommand(String mainClass) {
    this.mainClass = mainClass;
  }

  /** Joins files to a class path. */
  public static String path(List<File> files) {
    return files.stream().map(File::toString).collect(Collectors.joining(File.pathSeparator));
  }

  /** Sets the class path. */
  public JvmCommand classPath(String path) {
    this.classPath = path;
    return this;
  }

  /** Adds options of the JVM. */
  public JvmCommand options(List<String> more) {
    options.addAll(more);
    return this;
  }

  /** Adds options of the JVM. */
  public JvmCommand options(String... more) {
    return options(List.of(more));
  }

  /** @param folder the JVM's <code>java.io.tmpdir</code>, which has to exist */
  public JvmCommand tmpDir(Path folder) {
    return options("-Djava.io.tmpdir=" + folder);
  }

  /** Adds arguments of the main class. */
  public JvmCommand arguments(String... more) {
    arguments.addAll(List.of(more));
    return this;
  }

  /** Returns the command line, without the class path. */
  public List<String> line() {
    List<String> line = new ArrayList<>();
    line.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    line.addAll(options);
    line.add(mainClass);
    line.addAll(arguments);
    return line;
  }

  /** Returns a new builder of the process. */
  public ProcessBuilder builder() {
    ProcessBuilder builder = new ProcessBuilder(line());
    // Options from the environment would make a benchmark's result depend on the user's shell. The
    // class path is passed there because a command line that long hides everything else in a list
    // of processes.
    builder.environment().keySet()
      .removeAll(List.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"));
    builder.environment().put("CLASSPATH", classPath);
    return builder;
  }
}
