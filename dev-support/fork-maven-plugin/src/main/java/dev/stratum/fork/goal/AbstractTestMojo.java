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

import dev.stratum.fork.check.StateCompiler;
import dev.stratum.fork.check.TestProcess;
import dev.stratum.fork.series.Modules;
import dev.stratum.fork.series.PatchFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.maven.plugins.annotations.Parameter;

/** What the goals share that run tests of patches. */
abstract class AbstractTestMojo extends AbstractSeriesMojo {

  /** Whether to run each patch's own tests too. */
  @Parameter(property = "fork.tests", defaultValue = "false")
  private boolean runTests;

  /** What else the JVM of a test is given, as surefire gives it. */
  @Parameter(property = "test.jvm.opens")
  private String opens;

  /** The heap of a test's JVM. */
  @Parameter(property = "test.heap", defaultValue = "2g")
  private String heap;

  /** Returns whether tests are to be run. */
  final boolean runsTests() {
    return runTests;
  }

  /** Returns the test classes that a patch adds, with their packages. */
  static List<String> ownTests(PatchFile patch) {
    return StateCompiler.tests(patch.header().adds());
  }

  /**
   * Returns what runs tests, {@code null} if none are to be run.
   * @param classPath the published jars
   * @param folder    where the tests' output is kept
   */
  final TestProcess tests(List<Path> classPath, Path folder) throws IOException {
    if (!runTests) {
      return null;
    }
    List<Path> behind = new ArrayList<>();
    for (String module : Modules.ALL) {
      Path resources = root().resolve(module).resolve("src/test/resources");
      if (Files.isDirectory(resources)) {
        behind.add(resources);
      }
    }
    behind.addAll(classPath);
    List<String> options = new ArrayList<>(List.of("-Xmx" + heap, "-XX:MaxDirectMemorySize=1g",
      "-ea", "-XX:+IgnoreUnrecognizedVMOptions", "-Djava.awt.headless=true",
      "-Djava.net.preferIPv4Stack=true", "-Djava.security.egd=file:/dev/./urandom"));
    if (opens != null) {
      options.addAll(Arrays.stream(opens.split("\\s+")).filter(word -> !word.isEmpty()).toList());
    }
    return new TestProcess(behind, options, folder.resolve("tests"));
  }
}
