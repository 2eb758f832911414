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
package dev.stratum.fork.base;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import dev.stratum.fork.OutputTree;
import dev.stratum.fork.Repo;
import dev.stratum.fork.series.FileEdit;
import dev.stratum.fork.series.Series;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.commons.codec.digest.DigestUtils;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;

/** Unpacking and patching one module, and not doing so again. */
public class TestModuleSources {
  private static final String VERSION = "package org.apache.hadoop.hbase;\npublic class Version {\n"
    + "  public static final String version = new String(\"1.0\");\n"
    + "  public static final String revision = \"abc\";\n"
    + "  public static final String user = \"someone\";\n"
    + "  public static final String date = \"then\";\n"
    + "  public static final String url = \"git://host/home\";\n"
    + "  public static final String srcChecksum = \"0\";\n}\n";
  private static final FileTime LONG_AGO = FileTime.fromMillis(1_000_000_000_000L);

  @Rule
  public final Repo repo = new Repo();
  private Path fork;
  private final Map<String, byte[]> sources = new TreeMap<>();
  private final Map<String, byte[]> classes = new TreeMap<>();

  @Before
  public void setUp() throws Exception {
    fork = repo.root.resolve("hbase-server/target/fork");
    sources.put("org/x/A.java", Repo.bytes(Repo.numbered("a", 5)));
    sources.put("org/x/B.java", Repo.bytes(Repo.numbered("b", 5)));
    sources.put("org/x/package-info.java", Repo.bytes("package org.x;\n"));
    sources.put("org/y/package-info.java", Repo.bytes("@Y package org.y;\n"));
    sources.put(ForkIdentity.VERSION_CLASS, Repo.bytes(VERSION));
    sources.put("conf.xml", Repo.bytes("<a/>\n<b/>\n"));
    sources.put("only-in-sources.txt", Repo.bytes("x\n"));
    sources.put("hbase-webapps/static/logo.png", new byte[] { (byte) 0x89, 0, '\r', '\n', 26 });
    sources.put("hbase-webapps/rs.jsp", Repo.bytes("old\n"));
    classes.put("conf.xml", sources.get("conf.xml"));
    classes.put("META-INF/NOTICE", Repo.bytes("Apache HBase\nCopyright\n\n"));
    classes.put("META-INF/MANIFEST.MF", Repo.bytes("Manifest-Version: 1.0\n"));
    classes.put("META-INF/maven/g/a/pom.xml", Repo.bytes("<project/>\n"));
    classes.put("org/x/A.class", new byte[] { 1 });
    classes.put("org/y/package-info.class", new byte[] { 1 });
    pin();
  }

  private BaseModule base() {
    return new BaseModule("hbase-server", repo.root.resolve("m2/hbase-server-1.0.jar"),
      repo.root.resolve("m2/hbase-server-1.0-sources.jar"));
  }

  private void pin() throws Exception {
    Repo.jar(base().jar(), classes);
    Repo.jar(base().sources(), sources);
    repo.write("patches/base.sha256", sum(base().jar()) + "  hbase-server-1.0.jar\n"
      + sum(base().sources()) + "  hbase-server-1.0-sources.jar\n");
  }

  private static String sum(Path file) throws Exception {
    return DigestUtils.sha256Hex(Files.readAllBytes(file));
  }

  private ModuleSources.Result prepare() throws Exception {
    return prepare("plugin 1");
  }

  private ModuleSources.Result prepare(String plugin) throws Exception {
    return new ModuleSources(base(), repo.root.resolve("hbase-server"), fork).prepare(
      repo.series(), repo.root,
      new ForkIdentity("1.0-stratum-1", Repo.TIME, "<s/>"), plugin);
  }

  private String generated(String path) throws Exception {
    return new String(Files.readAllBytes(fork.resolve(path)),
      StandardCharsets.ISO_8859_1);
  }

  private List<String> files(String sub) throws Exception {
    return OutputTree.files(fork.resolve(sub)).stream()
      .map(file -> OutputTree.slashed(fork.resolve(sub).relativize(file))).toList();
  }

  private String refused() {
    return Repo.assertRefused(this::prepare);
  }

  private void patch(String name, String path, int line, String old, String now) throws Exception {
    SortedMap<String, byte[]> tree = base().readTree();
    Series series = repo.series();
    series.patches().forEach(patch -> patch.apply(base().name(), tree));
    String file = "hbase-server/src/main/" + path;
    repo.patch(name, "", "", Repo.section(file, tree.get(file),
      "@@ -" + line + " +" + line + " @@\n-" + old + "\n+" + now + "\n"));
  }

  private void age() throws Exception {
    for (Path file : OutputTree.files(fork)) {
      Files.setLastModifiedTime(file, LONG_AGO);
    }
  }

  @Test
  public void testLayout() throws Exception {
    assertTrue(prepare().changed());
    assertEquals(List.of("org/apache/hadoop/hbase/Version.java", "org/x/A.java", "org/x/B.java",
      "org/y/package-info.java"), files("java"));
    assertEquals(List.of("META-INF/NOTICE", "conf.xml"), files("resources"));
    assertEquals(List.of("hbase-webapps/rs.jsp", "hbase-webapps/static/logo.png"),
      files("webapps"));
  }

  @Test
  public void testEditsOfClassesResourcesAndPages() throws Exception {
    patch("p.patch", "java/org/x/A.java", 2, "a 2", "A two");
    patch("q.patch", "java/org/x/A.java", 2, "A two", "A 2");
    patch("r.patch", "resources/conf.xml", 2, "<b/>", "<c/>");
    patch("s.patch", "resources/hbase-webapps/rs.jsp", 1, "old", "new");
    prepare();
    assertEquals("a 1\nA 2\na 3\na 4\na 5\n", generated("java/org/x/A.java"));
    assertEquals("<a/>\n<c/>\n", generated("resources/conf.xml"));
    assertEquals("new\n", generated("webapps/hbase-webapps/rs.jsp"));
    assertEquals("\u0089\0\r\n\u001a", generated("webapps/hbase-webapps/static/logo.png"));
  }

  @Test
  public void testPagesThatTheBaseHasInItsJar() throws Exception {
    classes.put("hbase-webapps/rs.jsp", sources.get("hbase-webapps/rs.jsp"));
    pin();
    patch("p.patch", "resources/hbase-webapps/rs.jsp", 1, "old", "new");
    prepare();
    assertEquals(List.of("META-INF/NOTICE", "conf.xml", "hbase-webapps/rs.jsp"),
      files("resources"));
    assertEquals("new\n", generated("resources/hbase-webapps/rs.jsp"));
    assertEquals("new\n", generated("webapps/hbase-webapps/rs.jsp"));
  }

  private String deletion(String path) {
    return "diff --git a/hbase-server/src/main/" + path + " b/hbase-server/src/main/" + path
      + "\ndeleted file mode 100644\nindex "
      + FileEdit.blobId(sources.get(path.replaceFirst("^\\w+/", ""))).name() + "..0000000\n";
  }

  @Test
  public void testAddedAndDeletedFiles() throws Exception {
    String added = "hbase-server/src/main/resources/new.xml";
    repo.patch("p.patch", "", "",
      "diff --git a/" + added + " b/" + added + "\nnew file mode 100644\n--- /dev/null\n+++ b/"
        + added + "\n@@ -0,0 +1 @@\n+<n/>\n" + deletion("java/org/x/A.java"));
    prepare();
    assertEquals(List.of("org/apache/hadoop/hbase/Version.java", "org/x/B.java",
      "org/y/package-info.java"), files("java"));
    assertEquals("<n/>\n", generated("resources/new.xml"));
  }

  @Test
  public void testVersionAndNoticeNameTheForkAndNoMachine() throws Exception {
    String checksum = prepare().sourceChecksum();
    String version = generated("java/" + ForkIdentity.VERSION_CLASS);
    assertTrue(version, version.contains("version = new String(\"1.0-stratum-1\");"));
    assertTrue(version, version.contains("revision = \"abc\";"));
    assertTrue(version, version.contains("user = \"stratum\";"));
    assertTrue(version, version.contains("date = \"Tue Nov  4 00:00:00 UTC 2025\";"));
    assertTrue(version, version.contains("srcChecksum = \"" + checksum + "\";"));
    assertFalse(version, version.contains("host"));
    String notice = generated("resources/META-INF/NOTICE");
    assertTrue(notice, notice.startsWith("Apache HBase\nCopyright\n\nThis is a modified version: "
      + "Stratum, a derived work of Apache HBase."));
  }

  @Test
  public void testDefaultsNameTheForkAndHaveItsKeys() throws Exception {
    sources.put("hbase-default.xml",
      Repo.bytes("<configuration>\n<value>@@@VERSION@@@</value>\n</configuration>\n"));
    pin();
    prepare();
    assertEquals("<configuration>\n<value>1.0-stratum-1</value>\n<s/></configuration>\n",
      generated("resources/hbase-default.xml"));
  }

  @Test
  public void testNothingIsDoneTwice() throws Exception {
    String before = prepare().sourceChecksum();
    assertFalse(prepare().changed());
    assertEquals(List.of(), prepare().written());
    assertTrue(prepare("plugin 2").changed());
    repo.write("hbase-server/src/main/java/org/x/Own.java", "mine");
    assertFalse(before.equals(prepare().sourceChecksum()));
  }

  @Test
  public void testChangedPatchRewritesOnlyTheFilesItChanges() throws Exception {
    patch("p.patch", "java/org/x/A.java", 2, "a 2", "A 2");
    prepare();
    age();
    repo.write("patches/p.patch", repo.read("patches/p.patch").replace("+A 2", "+AA"));
    ModuleSources.Result second = prepare();
    assertEquals(List.of(ForkIdentity.VERSION_CLASS, "org/x/A.java"), second.written());
    assertEquals(LONG_AGO, Files.getLastModifiedTime(fork.resolve("java/org/x/B.java")));
    assertEquals(LONG_AGO, Files.getLastModifiedTime(fork.resolve("resources/conf.xml")));
    assertFalse(prepare().changed());
  }

  @Test
  public void testHeaderAndOtherModulesDoNotMatter() throws Exception {
    patch("p.patch", "java/org/x/A.java", 2, "a 2", "A 2");
    prepare();
    repo.write("patches/p.patch", repo.read("patches/p.patch").replace("because", "just so"));
    String other = "hbase-client/src/main/java/C.java";
    repo.patch("q.patch", "", "",
      Repo.section(other, Repo.bytes("c\n"), "@@ -1 +1 @@\n-c\n+d\n"));
    assertFalse(prepare().changed());
  }

  @Test
  public void testDeletedResourceIsToldAndRemovedPatchGivesBackTheBase() throws Exception {
    patch("p.patch", "java/org/x/A.java", 2, "a 2", "A 2");
    prepare();
    repo.patch("q.patch", "", "", deletion("resources/conf.xml"));
    assertEquals(List.of("conf.xml"), prepare().deletedResources());
    repo.write("patches/series", "q.patch\n");
    Files.delete(repo.root.resolve("patches/p.patch"));
    assertEquals(List.of(), prepare().deletedResources());
    assertEquals(Repo.numbered("a", 5), generated("java/org/x/A.java"));
    assertFalse(Files.exists(fork.resolve("resources/conf.xml")));
  }

  @Test
  public void testEditByHandIsUndone() throws Exception {
    prepare();
    Repo.write(fork.resolve("java/org/x/A.java"), "by hand\n");
    assertEquals(List.of("org/x/A.java"), prepare().written());
    assertEquals(Repo.numbered("a", 5), generated("java/org/x/A.java"));
  }

  @Test
  public void testWrongChecksumNamesFileAndSums() throws Exception {
    prepare();
    String expected = sum(base().sources());
    sources.put("org/x/A.java", Repo.bytes("evil\n"));
    Repo.jar(base().sources(), sources);
    String message = refused();
    assertTrue(message, message.contains("hbase-server-1.0-sources.jar has sha256 "
      + sum(base().sources()) + " but patches/base.sha256 pins " + expected));
    repo.write("patches/base.sha256", "");
    assertTrue(refused().startsWith("patches/base.sha256 has no line for hbase-server-1.0.jar"));
  }

  @Test
  public void testFileThatWouldHideTheBases() throws Exception {
    repo.write("hbase-server/src/main/java/org/x/A.java", "mine");
    assertEquals("hbase-server/src/main/java/org/x/A.java has the path of a file of the base and "
      + "would hide it; give it another name, or edit the base's file with a patch.", refused());
    assertTrue(refused().contains("would hide it"));
  }

  @Test
  public void testPatchThatDoesNotMatchLeavesNothingMarkedAsDone() throws Exception {
    prepare();
    patch("p.patch", "java/org/x/A.java", 2, "other", "A 2");
    assertTrue(refused().startsWith("patches/p.patch line "));
    assertTrue(refused().startsWith("patches/p.patch line "));
  }
}
