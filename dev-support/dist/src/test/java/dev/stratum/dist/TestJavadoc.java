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

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/** The Javadoc of the classes that this repository adds; the base's own has thousands of errors. */
public class TestJavadoc {
  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  @Test
  public void testHasNoErrorsAndNoWarnings() throws Exception {
    List<Path> sources = new ArrayList<>();
    for (String module : Dropin.MODULES) {
      Path root = Path.of(System.getProperty("stratum.root"), "hbase-" + module, "src/main/java");
      try (Stream<Path> files = Files.walk(root)) {
        files.filter(file -> file.toString().endsWith(".java")).forEach(sources::add);
      }
    }
    assertTrue("sources: " + sources.size(), sources.size() > 50);
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
    try (StandardJavaFileManager files =
      compiler.getStandardFileManager(found, Locale.ROOT, StandardCharsets.UTF_8)) {
      List<String> options = List.of("--release", "8", "-proc:none", "-implicit:none", "-nowarn",
        "-Xdoclint:all,-missing", "-cp", System.getProperty("java.class.path"), "-d",
        folder.getRoot().toString());
      compiler.getTask(null, files, found, options, null,
        files.getJavaFileObjectsFromPaths(sources)).call();
    }
    assertEquals("", found.getDiagnostics().stream().filter(TestJavadoc::isOfJavadoc)
      .map(Object::toString).collect(Collectors.joining("\n")));
  }

  private static boolean isOfJavadoc(Diagnostic<?> diagnostic) {
    return diagnostic.getKind() == Diagnostic.Kind.ERROR
      || diagnostic.getCode() != null && diagnostic.getCode().contains("proc.messager");
  }
}
