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

import dev.stratum.fork.ForkException;
import dev.stratum.fork.check.LeakReports;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/** Fails the build if a test of this module leaked a buffer; see {@link LeakReports}. */
@Mojo(name = "leaks", defaultPhase = LifecyclePhase.VERIFY, threadSafe = true)
public final class LeaksMojo extends AbstractForkMojo {

  /** The folder with the logs of the tests. */
  @Parameter(defaultValue = "${project.build.directory}/surefire-reports", required = true)
  private String reportsDirectory;

  /** What is expected to leak, and why. */
  @Parameter(
      defaultValue = "${maven.multiModuleProjectDirectory}/dev-support/test-leaks/expected.txt",
      required = true)
  private String expectedLeaks;

  /** Whether a leak fails the build; if not, it is a warning. */
  @Parameter(property = "fork.leaks.fail", defaultValue = "true")
  private boolean failOnLeaks;

  @Override
  void run() throws IOException {
    List<String> leaks = LeakReports.in(Path.of(reportsDirectory), Path.of(expectedLeaks));
    if (!failOnLeaks) {
      leaks.forEach(getLog()::warn);
      return;
    }
    leaks.forEach(getLog()::error);
    if (!leaks.isEmpty()) {
      throw new ForkException("Tests leaked %d buffers; %s has the logs. Release each on every "
        + "path; if a test means to leak, say so in %s; if the logs are of a build before, remove "
        + "the folder.", leaks.size(), reportsDirectory, expectedLeaks);
    }
  }
}
