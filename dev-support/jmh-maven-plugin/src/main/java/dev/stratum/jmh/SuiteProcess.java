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
package dev.stratum.jmh;

import dev.stratum.childprocess.JvmCommand;
import java.io.File;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * The process of a suite that has servers of its own, see <code>WorkloadSuite</code> of the
 * benchmark module. It prints for itself, and ends when this JVM does.
 */
final class SuiteProcess implements AutoCloseable {
  static final String MAIN_CLASS = "dev.stratum.bench.workloads.WorkloadSuite";
  private static final int SECONDS_TO_CLEAN_UP = 30;

  private final Process process;

  /**
   * Starts it, in the JVM that Maven runs in.
   * @param mainClass which gets the name of a file with the arguments
   * @param arguments of the suite
   * @param directory where its results go
   */
  SuiteProcess(String mainClass, List<File> classPath, Properties arguments, Path directory)
    throws IOException {
    Files.createDirectories(directory);
    Path file = directory.resolve("arguments.properties");
    try (Writer out = Files.newBufferedWriter(file)) {
      arguments.store(out, null);
    }
    // It only waits while its children work: it must not compete for the cores.
    ProcessBuilder builder = new JvmCommand(mainClass).classPath(JvmCommand.path(classPath))
      .options("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
      .arguments(file.toString()).builder();
    // Its standard input stays open until it is to end.
    process = builder.redirectOutput(ProcessBuilder.Redirect.INHERIT)
      .redirectError(ProcessBuilder.Redirect.INHERIT).start();
  }

  /** @return 0 if all cases ran */
  int await() throws InterruptedException {
    return process.waitFor();
  }

  /** Returns it and what it has started. */
  List<ProcessHandle> processes() {
    return Stream.concat(Stream.of(process.toHandle()), process.descendants()).toList();
  }

  /** Ends it and what it has started. */
  @Override
  public void close() {
    // The normal way is first, since it removes its files.
    List<ProcessHandle> children = process.descendants().toList();
    process.destroy();
    try {
      if (!process.waitFor(SECONDS_TO_CLEAN_UP, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
    children.forEach(ProcessHandle::destroyForcibly);
  }
}
