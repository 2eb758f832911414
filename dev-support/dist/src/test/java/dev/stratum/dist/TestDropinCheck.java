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
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;
import org.apache.hbase.thirdparty.com.google.gson.JsonParser;
import org.junit.Test;

/** What dropin says of jars, settings and arguments, and with which exit code. */
public class TestDropinCheck extends DropinFixture {
  private void truncate(Path jar) throws IOException {
    byte[] content = Files.readAllBytes(jar);
    Files.write(jar, Arrays.copyOf(content, content.length / 4));
  }

  @Test
  public void testTruncatedJarIsRefused() throws Exception {
    truncate(jar("client"));
    Files.createDirectory(lib.resolve("client-facing-thirdparty"));
    Path other = lib.resolve("client-facing-thirdparty/slf4j.jar");
    Files.write(other, new byte[0]);
    before = Dropin.listing(lib);
    assertRefused(dropin.run("check", home.toString()), "bad   " + jar("client")
      + " is truncated, or is not a jar; put the file of the original HBase in its place.",
      "bad   " + other + " is truncated", "are not checked");
    assertRefused(install(), jar("client") + " is truncated");
    assertEquals(before, Dropin.listing(lib));
  }

  /** Any of the last bytes may be missing, and a comment may follow them. */
  @Test
  public void testJarTruncatedAnywhereIsRefused() throws Exception {
    byte[] whole = ("0123456789" + END_OF_ZIP).getBytes(StandardCharsets.ISO_8859_1);
    Path jar = lib.resolve("some.jar");
    for (int missing = 1; missing <= 22; missing++) {
      Files.write(jar, Arrays.copyOf(whole, whole.length - missing));
      assertRefused(install(), jar + " is truncated");
    }
    byte[] comment = Arrays.copyOf(whole, whole.length + 300);
    comment[whole.length - 2] = (byte) (300 & 0xff);
    comment[whole.length - 1] = (byte) (300 >> 8);
    Files.write(jar, Arrays.copyOf(comment, comment.length - 1));
    assertRefused(install(), jar + " is truncated");
    Files.write(jar, comment);
    assertEquals(dropin.output(), 0, install());
  }

  private JsonObject json() {
    String output = dropin.output();
    return JsonParser
      .parseString(output.substring(output.indexOf('{'), output.lastIndexOf('}') + 1))
      .getAsJsonObject();
  }

  @Test
  public void testCheckAsJsonHasTheFindings() throws Exception {
    String warning = "a \"path\" with \\ in it";
    fakeJava("memory some", "warning " + warning);
    int code = dropin.run("check", "--json", home.toString());
    assertEquals(dropin.output(), 0, code);
    JsonObject json = json();
    assertTrue(json.get("ok").getAsBoolean());
    assertEquals(VERSION, json.get("version").getAsString());
    assertEquals(BASE, json.get("base").getAsString());
    JsonObject first = json.getAsJsonArray("findings").get(0).getAsJsonObject();
    assertEquals("ok", first.get("level").getAsString());
    assertEquals("HBase " + BASE + " in " + lib, first.get("text").getAsString());
    assertTrue(json.toString(), json.getAsJsonArray("findings").asList().stream()
      .anyMatch(each -> each.getAsJsonObject().get("text").getAsString().equals(warning)));
  }

  @Test
  public void testCheckAsJsonSaysWhatFails() throws Exception {
    fakeJava("memory some", "refused a.key is 1; must be 2. Set 2.");
    assertRefused(dropin.run("check", "--json", home.toString()), "1 of these");
    JsonObject json = json();
    assertFalse(json.get("ok").getAsBoolean());
    assertTrue(json.toString(), json.toString()
      .contains("{\"level\":\"bad\",\"text\":\"a.key is 1; must be 2. Set 2.\"}"));
    assertRefused(dropin.run("check", "--json", home + "/none"));
    assertTrue(dropin.output(), json().toString().contains("cannot be entered"));
  }

  @Test
  public void testSizeRunsTheToolWithTheLibrariesOfHbase() throws Exception {
    fakeJava("memory some");
    String[] options = { "--memory", "64g", "--device", "1t" };
    dropin.with("HBASE_HOME", home.toString());
    assertEquals(0, dropin.run("size", "--memory", "64g", "--device", "1t"));
    String arguments = Files.readString(tools.resolve("arguments"));
    assertTrue(arguments,
      arguments.endsWith("org.apache.hadoop.hbase.regionserver.operations.SizingTool "
        + String.join(" ", options) + "\n"));
    assertTrue(arguments, arguments.contains(kit + "/jars/*:" + lib + "/*"));
    dropin.with("HBASE_HOME", "/none");
    assertEquals(0, dropin.run("size", home.toString(), "--memory", "64g"));
    assertTrue(Files.readString(tools.resolve("arguments")).endsWith(" --memory 64g\n"));
  }

  @Test
  public void testWrongArgumentsGiveTheUsage() throws Exception {
    for (String[] wrong : new String[][] { { "remove", "x" }, { "install" }, { "check", "a", "b" },
      { "check", "--no-settings", "x" }, { "size" }, { "install", "--json", "x" },
      { "install", "--dry-run", "x" } }) {
      assertRefusedWith(2, dropin.run(wrong), "usage: dropin check [--json] HBASE_HOME");
    }
    assertEquals(0, dropin.run());
    String commands = List.of("check", "install", "verify", "rollback", "size").stream()
      .filter(command -> !dropin.output().contains("dropin " + command))
      .collect(Collectors.joining(" "));
    assertEquals("", commands);
  }

  @Test
  public void testCheckTellsAnInterruptedInstall() throws Exception {
    Dropin.tool(tools, "java", "[ \"$1\" = -version ] || echo 'memory some';",
      "echo 'openjdk version \"17.0.1\"' >&2");
    Path java = folder.newFolder("jdk", "bin").toPath();
    Files.move(tools.resolve("java"), java.resolve("java"));
    dropin.with("JAVA_HOME", java.getParent().toString());
    assertEquals(dropin.output(), 0, install());
    assertEquals(dropin.output(), 0, dropin.run("check", home.toString()));
    Files.move(stock("server"), jar("server"), StandardCopyOption.REPLACE_EXISTING);
    assertRefused(dropin.run("check", home.toString()), "was interrupted",
      "dropin install to complete it", "dropin rollback to undo it");
    assertEquals(dropin.output(), 0, install());
    assertInstalled(VERSION);
  }

  @Test
  public void testCheckShowsWarningsAndDoesNotFail() throws Exception {
    fakeJava("memory some", "warning one part + another part.");
    assertEquals(dropin.output(), 0, dropin.run("check", home.toString()));
    assertTrue(dropin.output(), dropin.output().contains("one part + another part."));
  }

  @Test
  public void testMisspeltKeyFailsTheCheckAndNotTheInstall() throws Exception {
    fakeJava("memory some", "misspelt a.kye is 1. Did you mean a.key?");
    assertRefused(dropin.run("check", home.toString()),
      "bad   a.kye is 1. Did you mean a.key?", "1 of these would have to be corrected");
    assertEquals(dropin.output(), 0, dropin.run("install", home.toString()));
    assertTrue(dropin.output(), dropin.output().contains("note  a.kye is 1. Did you mean a.key?"));
  }

  private static final String NO_CACHE =
    "hfile.block.cache.size is 0 in /conf/hbase-site.xml; set it to 0.4.";

  @Test
  public void testRollbackToAServerWithoutABlockCacheIsRefused() throws Exception {
    assertEquals(dropin.output(), 0, install());
    fakeJava("memory some", "rollback " + NO_CACHE);
    Map<String, String> installed = Dropin.listing(lib);
    assertRefused(dropin.run("rollback", home.toString()), "bad   " + NO_CACHE,
      "nothing has changed in " + lib, "--no-settings");
    assertRefused(dropin.run("rollback", "--dry-run", home.toString()), "bad   " + NO_CACHE);
    assertEquals(installed, Dropin.listing(lib));
    assertEquals(dropin.output(), 0, dropin.run("check", home.toString()));
    assertTrue(dropin.output(), dropin.output().contains("note  before a rollback: " + NO_CACHE));
    assertEquals(dropin.output(), 0, rollback());
    assertEquals(before, Dropin.listing(lib));
  }

  @Test
  public void testRollbackThatChangesNothingSaysWhatItWouldDo() throws Exception {
    assertEquals(dropin.output(), 0, install());
    fakeJava("memory some");
    assertEquals(dropin.output(), 0, dropin.run("rollback", "--dry-run", home.toString()));
    assertTrue(dropin.output(), dropin.output().contains("the originals would be put back"));
    assertInstalled(VERSION);
    assertEquals(dropin.output(), 0, dropin.run("rollback", home.toString()));
    assertEquals(before, Dropin.listing(lib));
  }

  /** Without a valid JAVA_HOME, no part of HBase can start. */
  @Test
  public void testRollbackGoesOnWhereTheSettingsCannotBeRead() throws Exception {
    assertEquals(dropin.output(), 0, install());
    dropin.with("JAVA_HOME", folder.getRoot() + "/nowhere");
    assertEquals(dropin.output(), 0, dropin.run("rollback", home.toString()));
    assertTrue(dropin.output(), dropin.output().contains("note  the settings are not checked"));
    assertEquals(before, Dropin.listing(lib));
  }

  /** Answers as a server does whose block cache has these sizes. */
  private void server(String size, String free) throws IOException {
    Dropin.tool(tools, "curl", "case $* in *sub=Server*)", "echo '\"beans\"'",
      "echo '  \"blockCacheFreeSize\" : " + free + ",'", "echo '  \"blockCacheSize\" : " + size
        + ",' ;;", "*) echo '\"beans\"' ;; esac");
  }

  @Test
  public void testServerWithoutABlockCacheIsNotHealthy() throws Exception {
    server("0", "0");
    assertRefusedWith(6, dropin.run("verify", home.toString()), "has no block cache",
      "hfile.block.cache.size");
    server("0", "4096");
    assertEquals(dropin.output(), 0, dropin.run("verify", home.toString()));
  }

  @Test
  public void testKeyWithoutEffectFailsTheCheckAndNotTheInstall() throws Exception {
    String sentence = "a.size is 1; it has no effect, as a.enabled is not true.";
    fakeJava("memory some", "without-effect " + sentence);
    assertRefused(dropin.run("check", home.toString()), "bad   " + sentence,
      "1 of these would have to be corrected");
    assertEquals(dropin.output(), 0, dropin.run("install", home.toString()));
    assertTrue(dropin.output(), dropin.output().contains("note  " + sentence));
  }

  @Test
  public void testVerifyTakesThePortFromTheSettings() throws Exception {
    Dropin.tool(tools, "curl", "echo \"$@\" >> \"" + tools + "/asked\"", "echo '\"beans\"'");
    fakeJava("16099");
    assertEquals(dropin.output(), 0, dropin.run("verify", home.toString()));
    String asked = Files.readString(tools.resolve("asked"));
    assertTrue(asked, asked.contains("http://localhost:16099/jmx?"));
    String arguments = Files.readString(tools.resolve("arguments"));
    assertTrue(arguments, arguments.endsWith("HBaseConfTool hbase.regionserver.info.port\n"));
    fakeJava("-1");
    assertRefusedWith(4, dropin.run("verify", home.toString()),
      "hbase.regionserver.info.port is -1");
    dropin.with("JAVA_HOME", folder.getRoot() + "/nowhere");
    assertEquals(dropin.output(), 0, dropin.run("verify", home.toString()));
    asked = Files.readString(tools.resolve("asked"));
    assertTrue(asked, asked.contains("http://localhost:16030/jmx?"));
  }

  @Test
  public void testJavaTooOldIsNamed() throws Exception {
    Path java = folder.newFolder("jdk", "bin").toPath();
    Dropin.tool(java, "java", "echo 'java version \"1.7.0_80\"' >&2");
    dropin.with("JAVA_HOME", java.getParent().toString());
    assertRefused(dropin.run("check", home.toString()), "1.7.0_80", "Java 8 or later");
    dropin.with("JAVA_HOME", folder.getRoot() + "/nowhere");
    assertRefused(dropin.run("install", home.toString()), "there is no " + folder.getRoot());
    assertEquals(before, Dropin.listing(lib));
  }
}
