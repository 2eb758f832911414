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
package dev.stratum.fork.goal;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import dev.stratum.fork.OutputTree;
import dev.stratum.fork.Repo;
import dev.stratum.fork.base.BaseModule;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;

/** The built jar against the published one. */
public class TestCheckJar {
  private static final String POINT = "package org.x;\npublic class Point<T> {\n"
    + "  protected int at(T where) throws java.io.IOException { return 1; }\n"
    + "  Runnable later() { return new Runnable() { public void run() { } }; }\n"
    + "  static class Inner { }\n}\n";

  @Rule
  public final Repo repo = new Repo();
  private final Map<String, String> sources = new TreeMap<>();
  private BaseModule base;

  @Before
  public void setUp() throws Exception {
    sources.put("org/x/Point.java", POINT);
    Map<String, byte[]> entries = new TreeMap<>();
    sources.forEach((path, text) -> entries.put(path, Repo.bytes(text)));
    base = new BaseModule("hbase-server", jar("base.jar", sources),
      Repo.jar(repo.root.resolve("base-sources.jar"), entries));
  }

  private Path jar(String name, Map<String, String> files) throws Exception {
    Path source = Files.createTempDirectory(repo.root, "src");
    Path output = Files.createTempDirectory(repo.root, "out");
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    List<String> args = new ArrayList<>(List.of("-proc:none", "-d", output.toString()));
    for (Map.Entry<String, String> file : files.entrySet()) {
      Repo.write(source.resolve(file.getKey()), file.getValue());
      args.add(source.resolve(file.getKey()).toString());
    }
    assertEquals(0, compiler.run(null, null, null, args.toArray(new String[0])));
    Map<String, byte[]> entries = new TreeMap<>();
    for (Path file : OutputTree.files(output)) {
      entries.put(OutputTree.slashed(output.relativize(file)), Files.readAllBytes(file));
    }
    entries.put("conf.xml", Repo.bytes("<a/>\n"));
    return Repo.jar(repo.root.resolve(name), entries);
  }

  private String refused() {
    return Repo.assertRefused(this::check);
  }

  private int check() throws Exception {
    return CheckMojo.check(base, repo.series(), jar("built.jar", sources));
  }

  @Test
  public void testSameClassesAndMembers() throws Exception {
    assertEquals(4, check());
  }

  @Test
  public void testOwnClassesMayBeAdded() throws Exception {
    sources.put("org/x/Own.java", "package org.x;\nclass Own { }\n");
    assertEquals(4, check());
  }

  @Test
  public void testLostClass() throws Exception {
    sources.put("org/x/Point.java", POINT.replace("static class Inner { }", ""));
    assertEquals("built.jar lacks 1 entries of the published base.jar: org/x/Point$Inner.class; "
      + "run mvn clean, and see whether a patch removes them.", refused());
  }

  private void touchPoint() throws Exception {
    String path = "hbase-server/src/main/java/org/x/Point.java";
    repo.patch("p.patch", "", "",
      Repo.section(path, Repo.bytes("a\n"), "@@ -1 +1 @@\n-a\n+b\n"));
  }

  @Test
  public void testAnonymousClassMayGoWithAPatchOnly() throws Exception {
    sources.put("org/x/Point.java",
      POINT.replaceFirst("return new Runnable.*\n", "return null; }\n"));
    assertTrue(refused().contains("org/x/Point$1.class"));
    touchPoint();
    assertEquals(4, check());
  }
}
