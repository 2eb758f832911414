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
package dev.stratum.fork.series;

import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/**
 * One patch of the series: a header and the edits of base files. Immutable.
 * @param name    the file's name in patches/
 * @param header  the {@code Key: value} lines
 * @param edits   the sections of the diff, in order; each path at most once
 * @param content the file's bytes
 */
public record PatchFile(String name, PatchHeader header, List<FileEdit> edits, byte[] content) {

  /** Where patches stand in the repository, with a slash at the end. */
  public static final String FOLDER = "patches/";
  static final String SUFFIX = ".patch";
  /** The order of the names. */
  public static final Comparator<PatchFile> BY_NAME = Comparator.comparing(PatchFile::name);
  private static final String DIFF = "(?m)^(?=diff --git )";

  /** Parses the bytes of the patch {@code name}, which must have zero lines of context. */
  public static PatchFile parse(String name, byte[] content) {
    PatchHeader header = PatchHeader.parse(FOLDER + name, head(content));
    header.checkTests(FOLDER + name);
    return new PatchFile(name, header, FileEdit.parse(FOLDER + name, content), content);
  }

  /** Returns what a file has above its first edit. */
  static String head(byte[] content) {
    String text = new String(content, StandardCharsets.UTF_8);
    return text.startsWith("diff --git ") ? "" : text.split(DIFF, 2)[0];
  }

  /**
   * Applies those edits whose module is {@code module}.
   * @param module the module's folder, {@code null} for all
   * @param tree   content by path; changed in place
   */
  public void apply(String module, Map<String, byte[]> tree) {
    edits.stream().filter(edit -> module == null || Modules.of(edit.path()).equals(module))
      .forEach(edit -> edit.apply(tree));
  }

  /** Returns the name without {@code .patch}. */
  public String stem() {
    return name.endsWith(SUFFIX) ? name.substring(0, name.length() - SUFFIX.length()) : name;
  }

  /** Returns the path to show in messages. */
  public String shown() {
    return FOLDER + name;
  }
}
