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
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Runs dropin on a folder that looks like HBase, with programs before the system's if asked to. */
final class Dropin {
  static final List<String> MODULES = List.of("common", "client", "server");

  private final Path script;
  private final Path tools;
  private final Map<String, String> environment = new TreeMap<>();
  private String output = "";

  /**
   * @param script the program
   * @param tools  a folder that is searched for programs first
   */
  Dropin(Path script, Path tools) {
    this.script = script;
    this.tools = tools;
  }

  Dropin with(String variable, String value) {
    environment.put(variable, value);
    return this;
  }

  /**
   * Runs a command.
   * @return its exit code; negative if it was killed
   */
  int run(String... arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("sh", script.toString()));
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().remove("HBASE_CONF_DIR");
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder.environment().put("PATH", tools + ":" + System.getenv("PATH"));
    builder.environment().putAll(environment);
    Process process = builder.start();
    process.getOutputStream().close();
    output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (!process.waitFor(5, TimeUnit.MINUTES)) {
      process.destroyForcibly();
      throw new AssertionError("dropin " + List.of(arguments) + " does not end: " + output);
    }
    return process.exitValue();
  }

  /** Returns what the last run has printed. */
  String output() {
    return output;
  }

  /** Puts a program before the system's. */
  static void tool(Path folder, String name, String... lines) throws IOException {
    Path file = folder.resolve(name);
    Files.writeString(file, "#!/bin/sh\n" + String.join("\n", lines) + "\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  /** Returns where the system has a program. */
  static Path system(String name) {
    for (String folder : System.getenv("PATH").split(":")) {
      Path file = Path.of(folder, name);
      if (Files.isExecutable(file)) {
        return file;
      }
    }
    throw new AssertionError("no " + name + " in PATH");
  }

  /** Returns names and contents of a folder, which of links their targets. */
  static Map<String, String> listing(Path folder) throws IOException {
    Map<String, String> listing = new TreeMap<>();
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : (Iterable<Path>) files::iterator) {
        String link = Files.isSymbolicLink(file) ? "-> " + Files.readSymbolicLink(file) + " " : "";
        String content = Files.isDirectory(file) ? "" : sha256(file);
        listing.put(file.getFileName().toString(), link + content);
      }
    }
    return listing;
  }

  static String sha256(Path file) throws IOException {
    try {
      return HexFormat.of()
        .formatHex(MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(file)));
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError(e);
    }
  }
}
