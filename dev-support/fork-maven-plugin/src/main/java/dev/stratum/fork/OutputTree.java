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
package dev.stratum.fork;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.commons.codec.digest.DigestUtils;

/**
 * A generated folder. Writing a new state touches only the files whose content differs, so that
 * the time stamps of the others still tell the compiler that nothing changed.
 */
public final class OutputTree {
  private final Path folder;

  public OutputTree(Path folder) {
    this.folder = folder;
  }

  /**
   * Makes the folder hold exactly {@code content}.
   * @param content bytes by path relative to the folder
   */
  public Changes write(Map<String, byte[]> content) throws IOException {
    Map<String, Path> stale = new TreeMap<>();
    for (Path file : files(folder)) {
      stale.put(name(file), file);
    }
    List<String> written = new ArrayList<>();
    for (Map.Entry<String, byte[]> entry : content.entrySet()) {
      Path file = stale.remove(entry.getKey());
      if (file == null || !Arrays.equals(Files.readAllBytes(file), entry.getValue())) {
        file = folder.resolve(entry.getKey());
        Files.createDirectories(file.getParent());
        Files.write(file, entry.getValue());
        written.add(entry.getKey());
      }
    }
    for (Path file : stale.values()) {
      Files.delete(file);
    }
    return new Changes(written, List.copyOf(stale.keySet()));
  }

  /** Returns a digest of the names, sizes and times of the files, to notice changes by hand. */
  public String listing() throws IOException {
    StringBuilder all = new StringBuilder();
    for (Path file : files(folder)) {
      all.append(name(file)).append(' ').append(Files.size(file)).append(' ')
        .append(Files.getLastModifiedTime(file).toMillis()).append('\n');
    }
    return DigestUtils.sha256Hex(all.toString());
  }

  /** Returns whether the folder has a file of that relative path. */
  public boolean has(String path) {
    return Files.isRegularFile(folder.resolve(path));
  }

  /** Returns all files below {@code folder} in the order of their paths; none if it is missing. */
  public static List<Path> files(Path folder) throws IOException {
    if (!Files.isDirectory(folder)) {
      return List.of();
    }
    try (Stream<Path> all = Files.walk(folder)) {
      return all.filter(Files::isRegularFile).sorted(Comparator.naturalOrder()).toList();
    }
  }

  private String name(Path file) {
    return slashed(folder.relativize(file));
  }

  /** Returns a relative path with slashes, whatever the platform's separator. */
  public static String slashed(Path path) {
    return path.toString().replace('\\', '/');
  }

  /**
   * What a write did.
   * @param written the paths written
   * @param deleted the paths deleted
   */
  public record Changes(List<String> written, List<String> deleted) {
  }
}
