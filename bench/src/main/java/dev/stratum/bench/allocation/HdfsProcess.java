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
package dev.stratum.bench.allocation;

import dev.stratum.processes.LoopbackHdfs;
import java.io.BufferedReader;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;

/**
 * HDFS in a process of its own, with one DataNode, so that what its servers allocate is not counted
 * with what the client does in the measured JVM. It ends with this JVM, however that ends. Not
 * thread-safe.
 */
final class HdfsProcess implements Closeable {
  private static final String READY = "HDFS at ";
  private static final long STOP_SECONDS = 20;

  private final Process process;

  /** Starts it, and makes it the file system of {@code conf}. */
  HdfsProcess(Configuration conf) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(ProcessHandle.current().info().command().orElse("java"));
    for (String argument : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
      if (argument.startsWith("--add-") || argument.startsWith("-Dlog4j")) {
        command.add(argument);
      }
    }
    command.add("-Djava.io.tmpdir=" + System.getProperty("java.io.tmpdir"));
    command.add("-Xmx384m");
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(HdfsProcess.class.getName());
    process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    try {
      conf.set(FileSystem.FS_DEFAULT_NAME_KEY, awaitAddress());
    } catch (IOException | RuntimeException | Error e) {
      close();
      throw e;
    }
  }

  private String awaitAddress() throws IOException {
    BufferedReader out =
      new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    for (String line = out.readLine(); line != null; line = out.readLine()) {
      if (line.startsWith(READY)) {
        return line.substring(READY.length());
      }
    }
    throw new IOException("The process of HDFS ended before HDFS was there");
  }

  @Override
  public void close() throws IOException {
    process.getOutputStream().close();
    try {
      if (!process.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }

  /** Runs HDFS until standard input ends. */
  public static void main(String[] args) throws IOException {
    PrintStream out = System.out;
    System.setOut(System.err);
    Configuration conf = new Configuration();
    LoopbackHdfs hdfs = new LoopbackHdfs(conf, 1);
    try {
      out.println(READY + conf.get(FileSystem.FS_DEFAULT_NAME_KEY));
      out.flush();
      while (System.in.read() >= 0) {
        continue;
      }
    } finally {
      hdfs.close();
      // Threads of HDFS's that are no daemons.
      Runtime.getRuntime().halt(0);
    }
  }
}
