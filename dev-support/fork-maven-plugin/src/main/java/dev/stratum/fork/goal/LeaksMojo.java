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
import dev.stratum.fork.OutputTree;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;

/**
 * Fails the build if a test of this module leaked a buffer: if the logs of the tests have a report
 * of Netty's leak detector, which says where a buffer was created that became garbage without
 * having been released.
 */
@Mojo(name = "leaks", defaultPhase = LifecyclePhase.VERIFY, threadSafe = true)
public final class LeaksMojo extends AbstractForkMojo {
  private static final String LOG = "-output.txt";
  /** Where the detector and the counter themselves are in the trace of every creation. */
  private static final int FRAMES_LOOKED_AT = 4;
  private static final Pattern LOG_LINE = Pattern.compile("\\d{4}-\\d\\d-\\d\\d[ T].*");

  /** The folder with the logs of the tests. */
  @Parameter(defaultValue = "${project.build.directory}/surefire-reports", required = true)
  private String reportsDirectory;

  /**
   * What is expected to leak, one in a line: the simple name of the test class or <code>*</code>, a
   * part of a frame of the creation, and the reason, with <code>|</code> between.
   */
  @Parameter(
      defaultValue = "${maven.multiModuleProjectDirectory}/dev-support/test-leaks/expected.txt",
      required = true)
  private String expectedLeaks;

  /** Whether a leak fails the build; if not, it is a warning. */
  @Parameter(property = "fork.leaks.fail", defaultValue = "true")
  private boolean failOnLeaks;

  @Override
  void run() throws IOException {
    List<String> leaks = leaks(Path.of(reportsDirectory), Path.of(expectedLeaks));
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

  private record Expected(String test, String frame) {
    static Expected of(String line, Path list) {
      String[] parts = line.split("\\|", -1);
      if (parts.length != 3 || Stream.of(parts).anyMatch(String::isBlank)) {
        throw new ForkException("In %s is \"%s\"; write \"test | frame | reason\".", list, line);
      }
      return new Expected(parts[0].trim(), parts[1].trim());
    }

    boolean covers(String name, List<String> frames) {
      return (test.equals("*") || name.substring(name.lastIndexOf('.') + 1).equals(test))
        && frames.stream().anyMatch(creation -> creation.contains(frame));
    }
  }

  /** Returns a sentence for each report, with the test's name and where the buffer was created. */
  static List<String> leaks(Path folder, Path list) throws IOException {
    List<Expected> expected = Files.readAllLines(list).stream()
      .filter(line -> !line.isBlank() && !line.startsWith("#"))
      .map(line -> Expected.of(line, list)).toList();
    List<String> leaks = new ArrayList<>();
    for (Path log : OutputTree.files(folder)) {
      String name = log.getFileName().toString();
      if (name.endsWith(LOG)) {
        String test = name.replace(LOG, "");
        for (List<String> created : reports(log)) {
          if (expected.stream().noneMatch(leak -> leak.covers(test, created))) {
            leaks.add(test + " leaked what was created at " + String.join(" < ", created));
          }
        }
      }
    }
    return leaks;
  }

  /** Returns the first frames of where each reported buffer was created. */
  private static List<List<String>> reports(Path log) throws IOException {
    List<List<String>> reports = new ArrayList<>();
    List<String> frames = null;
    boolean creation = false;
    // A test may have printed what is no UTF-8.
    try (Stream<String> lines = Files.lines(log, StandardCharsets.ISO_8859_1)) {
      for (String line : (Iterable<String>) lines::iterator) {
        if (line.contains("LEAK: ")) {
          frames = new ArrayList<>();
          reports.add(frames);
          creation = false;
        } else if (LOG_LINE.matcher(line).matches()) {
          frames = null;
        } else if (line.startsWith("Created at:")) {
          creation = true;
        } else if (frames != null && creation && frames.size() < FRAMES_LOOKED_AT) {
          frames.add(line.trim());
        }
      }
    }
    return reports;
  }
}
