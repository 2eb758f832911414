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
package dev.stratum.bench.blockcache;

import static org.junit.Assert.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.apache.commons.io.FileUtils;
import org.junit.rules.ExternalResource;

/** Fails a test whose benchmark left a store file or a cache file behind. */
public final class TemporaryFiles extends ExternalResource {
  private static final Path FOLDER = Path.of(System.getProperty("java.io.tmpdir"));

  /** Makes the folder if this is the first build, and clears what a killed run left in it. */
  @Override
  protected void before() throws IOException {
    Files.createDirectories(FOLDER);
    for (Path file : ofBenchmarks()) {
      FileUtils.forceDelete(file.toFile());
    }
  }

  @Override
  protected void after() {
    try {
      assertEquals(List.of(), ofBenchmarks());
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static List<Path> ofBenchmarks() throws IOException {
    try (Stream<Path> files = Files.list(FOLDER)) {
      return files.filter(file -> file.getFileName().toString().startsWith("stratum-bench"))
        .toList();
    }
  }
}
