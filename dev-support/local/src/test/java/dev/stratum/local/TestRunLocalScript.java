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
package dev.stratum.local;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/**
 * The script in a tree of its own, under a path with spaces, with a Maven and a Java that only
 * note how they were called.
 */
public class TestRunLocalScript {
  private static final String JAR = "dev-support/local/target/stratum-local.jar";
  private static final String ARGS = "dev-support/local/target/java.args";

  @Rule
  public final TemporaryFolder temporary = new TemporaryFolder();

  private Path root;
  private Path tools;
  private String output;

  @Before
  public void makeTree() throws IOException {
    root = temporary.newFolder("a check out").toPath();
    tools = temporary.newFolder("tools").toPath();
    write("pom.xml", "");
    write("dev-support/module-parent/pom.xml", "");
    write("patches/series", "");
    for (String module : List.of("hbase-common", "hbase-client", "hbase-server",
      "dev-support/fork-maven-plugin", "dev-support/local")) {
      write(module + "/pom.xml", "");
      write(module + "/src/main/java/A.java", "");
    }
    Path script = root.resolve("dev-support/run-local.sh");
    Files.copy(Path.of(System.getProperty("stratum.root"), "dev-support", "run-local.sh"), script);
    tool("mvn", "echo \"mvn $*\" >> \"$CALLS\"",
      "echo '[INFO] Building Stratum: Apache HBase - Server 1                 [5/6]'",
      "echo 'noise'", "[ -z \"${BREAK:-}\" ] || { echo '[ERROR] it broke'; exit 1; }",
      "mkdir -p dev-support/local/target", "echo '-cp \"pom.xml:patches\"' > " + ARGS,
      "touch " + JAR);
    tool("java", "if [ \"$1\" = -version ]; then",
      "  echo \"openjdk version \\\"${JAVA_VERSION:-17}.0.1\\\"\" >&2; exit 0; fi",
      "printf '%s\\n' \"java in $PWD\" \"$@\" >> \"$CALLS\"");
    // What is written here is older than what the build will write.
    try (var files = Files.walk(root)) {
      for (Path file : (Iterable<Path>) files::iterator) {
        Files.setLastModifiedTime(file, FileTime.fromMillis(1_700_000_000_000L));
      }
    }
  }

  @Test
  public void testBuildsWhatIsMissingThenStartsTheProgram() throws Exception {
    assertEquals(0, run("--once", "--l1-mb", "100", "-Da=b c"));
    assertEquals(1, mavenCalls());
    assertTrue(output, output.contains("Stratum: Apache HBase - Server"));
    assertFalse(output, output.contains("noise"));
    List<String> calls = Files.readAllLines(calls());
    assertTrue(calls.toString(), calls.contains("java in " + root.toRealPath()));
    assertTrue(calls.toString(), calls.contains("@" + ARGS));
    assertTrue(calls.toString(), calls.contains("-XX:MaxDirectMemorySize=612m"));
    assertTrue(calls.toString(), calls.containsAll(List.of("-Dstratum.local.once=true",
      "-Dstratum.local.rows=200000", "-Dstratum.local.l1.mb=100", "-Dstratum.local.l2.mb=1024",
      "-Dstratum.local.folder=" + root.toRealPath().resolve("target/local"))));
    assertEquals(List.of("dev.stratum.local.RunLocal", "a=b c"),
      calls.subList(calls.size() - 2, calls.size()));
  }

  @Test
  public void testBuildsAgainOnlyWhenSomethingItIsMadeOfIsNewer() throws Exception {
    assertEquals(0, run());
    assertEquals(0, run());
    assertEquals(1, mavenCalls());
    int calls = 1;
    for (String changed : List.of("pom.xml", "dev-support/module-parent/pom.xml", "patches/series",
      "hbase-common/pom.xml", "hbase-server/src/main/java/A.java",
      "dev-support/fork-maven-plugin/src/main/java/A.java",
      "dev-support/local/src/main/java/A.java")) {
      age(JAR);
      Files.setLastModifiedTime(root.resolve(changed), FileTime.fromMillis(1_700_000_200_000L));
      assertEquals(0, run());
      assertEquals(changed, ++calls, mavenCalls());
      Files.setLastModifiedTime(root.resolve(changed), FileTime.fromMillis(1_700_000_000_000L));
    }
    age(JAR);
    Files.delete(root.resolve("hbase-client/src/main/java/A.java"));
    assertEquals(0, run());
    assertEquals("a deleted source", ++calls, mavenCalls());
  }

  @Test
  public void testBuildsAgainWhenAJarOfTheClassPathIsGone() throws Exception {
    assertEquals(0, run());
    Files.writeString(root.resolve(ARGS), "-cp \"pom.xml:/no/such/repository/a.jar\"\n");
    assertEquals(0, run());
    assertEquals(2, mavenCalls());
  }

  @Test
  public void testFailedBuildEndsTheRunWithItsErrorsAndTheLog() throws Exception {
    assertEquals(1, run("BREAK=1"));
    assertTrue(output, output.contains("[ERROR] it broke"));
    assertTrue(output, output.contains("run-local: the build failed; its log is "
      + root.toRealPath().resolve("target/local/logs/build.log")));
    assertFalse(Files.readString(calls()), Files.readString(calls()).contains("java in"));
  }

  @Test
  public void testWrongArgumentsGiveAUsageLineBeforeAnythingIsBuilt() throws Exception {
    refused("--rows takes a number of up to nine digits, not ''", "--rows");
    refused("--rows takes a number of up to nine digits, not 'x'", "--rows", "x");
    refused("--l1-mb takes a number of up to nine digits, not '-5'", "--l1-mb", "-5");
    refused("--l2-mb takes a number of up to nine digits, not '1000000000'", "--l2-mb",
      "1000000000");
    refused("--rows is 0; it takes at least 1", "--rows", "00");
    refused("--l1-mb is 8; it takes at least 32", "--l1-mb", "08");
    refused("--l2-mb is 31; it takes at least 32", "--once", "--l2-mb", "31");
    refused("unknown argument '--twice'", "--twice");
    refused("unknown argument '-Dkey'", "-Dkey");
    refused("unknown argument 'usertable'", "usertable");
    assertFalse(Files.exists(calls()));
  }

  private void refused(String reason, String... wrong) throws Exception {
    assertEquals(String.join(" ", wrong), 2, run(wrong));
    assertEquals("run-local: " + reason + "\n" + "usage: dev-support/run-local.sh [--once]"
      + " [--rows N] [--l1-mb N] [--l2-mb N] [-Dkey=value ...]\n", output);
  }

  @Test
  public void testHelpIsGivenWithoutBuilding() throws Exception {
    assertEquals(0, run("--help"));
    assertTrue(output, output.startsWith("usage: dev-support/run-local.sh [--once]"));
    assertFalse(Files.exists(calls()));
  }

  @Test
  public void testOlderJavaIsRefused() throws Exception {
    assertEquals(1, run("JAVA_VERSION=11"));
    assertTrue(output, output.contains("is version 11; JDK 17 is needed"));
  }

  /** Runs the script from a folder elsewhere; NAME=value arguments go to its environment. */
  private int run(String... args) throws Exception {
    List<String> command = new ArrayList<>(
      List.of("bash", root.resolve("dev-support/run-local.sh").toString()));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().keySet().removeAll(List.of("JAVA_HOME", "HBASE_OPTS"));
    builder.environment().put("PATH", tools + ":" + System.getenv("PATH"));
    builder.environment().put("CALLS", calls().toString());
    for (String arg : args) {
      if (arg.matches("[A-Z_]+=.*")) {
        builder.environment().put(arg.substring(0, arg.indexOf('=')),
          arg.substring(arg.indexOf('=') + 1));
      } else {
        command.add(arg);
      }
    }
    Process process =
      builder.directory(temporary.getRoot()).redirectErrorStream(true).start();
    output = new String(process.getInputStream().readAllBytes());
    assertTrue(process.waitFor(2, TimeUnit.MINUTES));
    return process.exitValue();
  }

  private long mavenCalls() throws IOException {
    return Files.readAllLines(calls()).stream().filter(line -> line.startsWith("mvn ")).count();
  }

  private Path calls() {
    return temporary.getRoot().toPath().resolve("calls");
  }

  /** Gives the built file a time between the tree's and the one of a change. */
  private void age(String file) throws IOException {
    Files.setLastModifiedTime(root.resolve(file), FileTime.fromMillis(1_700_000_100_000L));
  }

  private void write(String file, String content) throws IOException {
    Files.createDirectories(root.resolve(file).getParent());
    Files.writeString(root.resolve(file), content);
  }

  private void tool(String name, String... lines) throws IOException {
    Path tool = tools.resolve(name);
    Files.writeString(tool, "#!/usr/bin/env bash\nset -eu\n" + String.join("\n", lines) + "\n");
    assertTrue(tool.toFile().setExecutable(true));
  }
}
