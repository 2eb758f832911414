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
package dev.stratum.bench.workloads;

import dev.stratum.bench.PinnedJvm;
import java.io.BufferedReader;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.DoubleConsumer;
import org.apache.hbase.thirdparty.com.google.gson.JsonElement;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;
import org.apache.hbase.thirdparty.com.google.gson.JsonParser;
import org.openjdk.jmh.annotations.Fork;

/**
 * A JVM that the suite has started and talks to, see {@link Conversation}. Requests by one thread
 * at a time; {@link #close} by any.
 */
final class ChildProcess implements Closeable {
  private static final int SECONDS_TO_DIE = 30;

  private final String name;
  private final Path log;
  private final List<String> command;
  private final Process process;
  private final Writer requests;
  private final BufferedReader answers;

  /**
   * What a child is started with.
   * @param heapMb   its heap, all of it from the start, MB
   * @param directMb memory outside the heap at most, MB
   */
  record Memory(int heapMb, int directMb) {
  }

  /**
   * Starts it, in the JVM that this one runs in.
   * @param name   for messages
   * @param folder its <code>java.io.tmpdir</code>, which has to exist
   * @param log    where standard error goes
   */
  ChildProcess(String name, Class<?> main, String classPath, Memory memory, Path folder, Path log)
    throws IOException {
    this.name = name;
    this.log = log;
    this.command = command(main, memory, folder);
    ProcessBuilder builder = new ProcessBuilder(command);
    // Options from the environment would make the result depend on who ran it. The class path is
    // given there because a command line that long hides everything else in a list of processes.
    builder.environment().keySet()
      .removeAll(List.of("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"));
    builder.environment().put("CLASSPATH", classPath);
    builder.redirectError(log.toFile());
    process = builder.start();
    requests = new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8);
    answers =
      new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
  }

  private static List<String> command(Class<?> main, Memory memory, Path folder) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("-Xms" + memory.heapMb() + "m");
    command.add("-Xmx" + memory.heapMb() + "m");
    command.add("-XX:MaxDirectMemorySize=" + memory.directMb() + "m");
    command.add("-XX:+UseG1GC");
    // A read through HBase and HDFS is deeper than the 64 frames that a sample has by default.
    command.add("-XX:FlightRecorderOptions=stackdepth=256");
    command.add("-Djava.net.preferIPv4Stack=true");
    // SlowedReads changes a class of the JVM that it is in.
    command.add("-Djdk.attach.allowAttachSelf=true");
    command.add("-Djava.io.tmpdir=" + folder);
    // What HBase needs on this JDK is said once, where the JMH benchmarks have it.
    for (String argument : PinnedJvm.class.getAnnotation(Fork.class).jvmArgs()) {
      if (argument.startsWith("--add-") || argument.startsWith("-D")) {
        command.add(argument);
      }
    }
    command.add(main.getName());
    return command;
  }

  /** The command line, without the class path. */
  List<String> command() {
    return command;
  }

  ProcessHandle handle() {
    return process.toHandle();
  }

  /** @throws SuiteException if it says that it cannot, or has ended */
  JsonElement ask(JsonObject request) throws SuiteException {
    return ask(request, part -> {
    });
  }

  /**
   * @param progress is told how much of the work is done, 0 to 1
   * @throws SuiteException if the process says that it cannot, or has ended
   */
  JsonElement ask(JsonObject request, DoubleConsumer progress) throws SuiteException {
    try {
      requests.write(request + "\n");
      requests.flush();
      for (String line = answers.readLine(); line != null; line = answers.readLine()) {
        JsonObject answer = JsonParser.parseString(line).getAsJsonObject();
        if (answer.has("progress")) {
          progress.accept(answer.get("progress").getAsDouble());
        } else if (answer.has("error")) {
          throw new SuiteException(name + ": " + answer.get("error").getAsString());
        } else {
          return answer.get("ok");
        }
      }
    } catch (IOException e) {
      // The process is gone, which is what the end of its answers says as well.
    }
    throw new SuiteException("The process of the " + name + " has ended: see " + log);
  }

  /** Ends it, without a chance to do anything more. */
  @Override
  public void close() {
    process.destroyForcibly();
    try {
      process.waitFor(SECONDS_TO_DIE, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
