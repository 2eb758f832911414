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

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.Before;
import org.junit.Rule;
import org.junit.rules.TemporaryFolder;

/** A kit and a folder of HBase, with jars that are a few bytes each. */
public abstract class DropinFixture {
  static final String BASE = "1.0";
  static final String VERSION = "1.0-stratum-1";

  /** The programs that change something. */
  static final List<String> CHANGING = List.of("cp", "ln", "mkdir", "mv", "rm", "sync");

  /** The last record of a zip file: of no entries, in a directory of no bytes, with no comment. */
  static final String END_OF_ZIP = "PK\005\006" + "\0".repeat(18);

  /** Replaces sync, which may wait for all that other processes write to the disk. */
  static final String NO_SYNC = "exit 0";

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  Path home;
  Path lib;
  Path tools;
  Path kit;
  Dropin dropin;
  Map<String, String> before;

  @Before
  public void makeKitAndHome() throws IOException {
    tools = folder.newFolder("tools").toPath();
    kit = kit("a kit", VERSION);
    dropin = new Dropin(kit.resolve("dropin"), tools);
    calm();
    home("an HBase");
  }

  void home(String name) throws IOException {
    home = folder.newFolder(name).toPath();
    lib = Files.createDirectory(home.resolve("lib"));
    Files.createDirectory(home.resolve("conf"));
    for (String module : Dropin.MODULES) {
      Files.writeString(jar(module), content("stock", module));
    }
    Files.writeString(lib.resolve("hbase-server-" + BASE + "-tests.jar"), END_OF_ZIP);
    Files.writeString(lib.resolve("hbase-http-" + BASE + ".jar"), END_OF_ZIP);
    before = Dropin.listing(lib);
  }

  Path kit(String name, String version) throws IOException {
    Path folder = this.folder.newFolder(name).toPath();
    Files.copy(Path.of(System.getProperty("stratum.kit"), "dropin"), folder.resolve("dropin"));
    Files.createDirectories(folder.resolve("jars"));
    Files.createDirectories(folder.resolve("patches"));
    StringBuilder build = new StringBuilder("base " + BASE + "\nversion " + version + "\n");
    StringBuilder sums = new StringBuilder();
    for (String module : Dropin.MODULES) {
      String jar = "jars/hbase-" + module + "-" + version + ".jar";
      Files.writeString(folder.resolve(jar), content(version, module));
      build.append("hbase-" + module + " " + version + " abc\n");
      sums.append(Dropin.sha256(folder.resolve(jar)) + "  " + jar + "\n");
    }
    Files.writeString(folder.resolve("BUILD"), build);
    Files.writeString(folder.resolve("SHA256SUMS"), sums);
    Files.writeString(folder.resolve("patches/base.sha256"), "");
    return folder;
  }

  static String content(String version, String module) {
    return version + " " + module + END_OF_ZIP;
  }

  Path jar(String module) {
    return lib.resolve("hbase-" + module + "-" + BASE + ".jar");
  }

  Path stock(String module) {
    return lib.resolve("hbase-" + module + "-" + BASE + ".jar.stock");
  }

  int install() throws Exception {
    return dropin.run("install", "--no-settings", home.toString());
  }

  int rollback() throws Exception {
    return dropin.run("rollback", "--no-settings", home.toString());
  }

  void assertInstalled(String version) throws IOException {
    Map<String, String> expected = new TreeMap<>(before);
    Map<String, String> actual = Dropin.listing(lib);
    for (String module : Dropin.MODULES) {
      assertEquals(content(version, module), Files.readString(jar(module)));
      assertEquals(content("stock", module), Files.readString(stock(module)));
      for (Path file : List.of(jar(module), stock(module))) {
        expected.put(file.getFileName().toString(), actual.get(file.getFileName().toString()));
      }
    }
    expected.put(".dropin", actual.get(".dropin"));
    assertEquals(expected, actual);
  }

  void assertRefused(int code, String... words) {
    assertRefusedWith(1, code, words);
  }

  void assertRefusedWith(int expected, int code, String... words) {
    assertEquals(dropin.output(), expected, code);
    for (String word : words) {
      assertTrue(word + " in " + dropin.output(), dropin.output().contains(word));
    }
  }

  void calm() throws IOException {
    for (String name : CHANGING) {
      Files.deleteIfExists(tools.resolve(name));
    }
    Dropin.tool(tools, "sync", NO_SYNC);
  }

  /** Puts a java that answers as SettingsCheck does, and prints its arguments to a file. */
  void fakeJava(String... answers) throws IOException {
    Path java = folder.newFolder().toPath().resolve("bin");
    Files.createDirectory(java);
    String lines = Arrays.stream(answers).map(answer -> "printf '%s\\n' '" + answer + "'; ")
      .collect(Collectors.joining());
    Dropin.tool(java, "java", "echo \"$@\" > \"" + tools + "/arguments\"",
      "if [ \"$1\" = -version ]; then", "echo 'openjdk version \"17.0.1\"' >&2; else",
      lines + "fi");
    dropin.with("JAVA_HOME", java.getParent().toString());
  }
}
