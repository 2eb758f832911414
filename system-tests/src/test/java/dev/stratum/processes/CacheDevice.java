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
package dev.stratum.processes;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.commons.io.FileUtils;

/** What may happen to the files of L2 while a server uses them. */
final class CacheDevice {
  private static final int FLIPS = 2_000;

  private final Path folder;
  private final Random random;

  CacheDevice(Path folder, Random random) {
    this.folder = folder;
    this.random = random;
  }

  private List<Path> files() throws IOException {
    if (!Files.isDirectory(folder)) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(folder)) {
      return files.filter(file -> file.getFileName().toString().matches("l2b?(\\.segments)?"))
        .collect(Collectors.toList());
    }
  }

  /** Flips bits all over it. */
  void flipBits() throws IOException {
    for (Path path : files()) {
      try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
        for (int i = 0; i < FLIPS && file.length() > 0; i++) {
          long position = (long) (random.nextDouble() * file.length());
          file.seek(position);
          int before = file.read();
          file.seek(position);
          file.write(before ^ 1 << random.nextInt(8));
        }
      }
    }
  }

  /** Cuts it, or one of several, anywhere. */
  void truncate() throws IOException {
    List<Path> files = files();
    if (!files.isEmpty()) {
      Path path = files.get(random.nextInt(files.size()));
      try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
        file.setLength((long) (random.nextDouble() * file.length()));
      }
    }
  }

  void remove() throws IOException {
    // A server that makes a file in it meanwhile is in the way.
    FileUtils.deleteQuietly(folder.toFile());
  }

  /** Restores the removed folder, as an operator would. */
  void mend() throws IOException {
    Files.createDirectories(folder);
  }
}
