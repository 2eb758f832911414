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

import dev.stratum.fork.Digests;
import dev.stratum.fork.ForkException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/** The SHA-256 of every base artifact, as patches/base.sha256 pins them. Immutable. */
public final class PinnedChecksums {
  static final String FILE = "patches/base.sha256";

  private final Map<String, String> sums;

  private PinnedChecksums(Map<String, String> sums) {
    this.sums = sums;
  }

  /** Reads the file, whose lines are {@code <sha256>  <file name>}. */
  public static PinnedChecksums read(Path root) throws IOException {
    Map<String, String> sums = new HashMap<>();
    Path file = root.resolve(FILE);
    if (!Files.exists(file)) {
      throw new ForkException("%s is missing; restore it from version control.", FILE);
    }
    for (String line : Files.readAllLines(file, StandardCharsets.UTF_8)) {
      String[] words = line.trim().split("\\s+");
      if (words.length == 2) {
        sums.put(words[1], words[0]);
      } else if (!line.isBlank() && !line.startsWith("#")) {
        throw new ForkException("%s has the line '%s'; write '<sha256>  <file name>'.", FILE, line);
      }
    }
    return new PinnedChecksums(sums);
  }

  /**
   * Checks a file against its pinned sum.
   * @return the sum
   */
  public String verify(Path file) throws IOException {
    String name = file.getFileName().toString();
    String expected = sums.get(name);
    if (expected == null) {
      throw new ForkException("%s has no line for %s; add its sha256 after checking where the file "
        + "comes from.", FILE, name);
    }
    String actual = Digests.sha256(file);
    if (!actual.equals(expected)) {
      throw new ForkException("%s has sha256 %s but %s pins %s; delete the file so that it is "
        + "fetched again, and if the sum stays, do not trust the repository it comes from.", file,
        actual, FILE, expected);
    }
    return actual;
  }
}
