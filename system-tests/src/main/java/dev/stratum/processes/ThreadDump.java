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
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** Writes the stacks of another JVM's threads. */
public final class ThreadDump {
  private static final long MAX_SECONDS = 30;

  private ThreadDump() {
  }

  /**
   * Writes them to a file, with the locks that threads hold and wait for.
   * @throws IOException if <code>jcmd</code>, of the JDK that this JVM runs in, cannot
   */
  public static Path write(long pid, Path file) throws IOException, InterruptedException {
    Path jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd");
    Process process =
      new ProcessBuilder(jcmd.toString(), Long.toString(pid), "Thread.print", "-l", "-e")
        .redirectErrorStream(true).redirectOutput(file.toFile()).start();
    if (!process.waitFor(MAX_SECONDS, TimeUnit.SECONDS)) {
      process.destroyForcibly();
      throw new IOException("jcmd did not write the threads of " + pid + " in " + MAX_SECONDS
        + " s");
    }
    if (process.exitValue() != 0) {
      throw new IOException("jcmd " + pid + ": " + Files.readString(file).trim());
    }
    return file;
  }
}
