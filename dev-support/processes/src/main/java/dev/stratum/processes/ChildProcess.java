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

/**
 * A JVM that this one has started and talks to, see {@link Conversation}. May be used by any
 * thread; a request waits until the one before it is answered.
 */
public final class ChildProcess implements Closeable {
  private static final int SECONDS_TO_DIE = 30;

  private final String name;
  private final Path log;
  private final List<String> command;
  private final Process process;
  private final Writer requests;
  private final BufferedReader answers;

  /**
   * Starts it, in the JVM that this one runs in.
   * @param name    for messages
   * @param main    holds a {@link Conversation}
   * @param options of the JVM
   * @param folder  its <code>java.io.tmpdir</code>, which has to exist
   * @param log     where standard error goes
   */
  public ChildProcess(String name, Class<?> main, String classPath, List<String> options,
    Path folder, Path log) throws IOException {
    this.name = name;
    this.log = log;
    this.command = command(main, options, folder);
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

  private static List<String> command(Class<?> main, List<String> options, Path folder) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(options);
    command.add("-Djava.net.preferIPv4Stack=true");
    command.add("-Djava.io.tmpdir=" + folder);
    command.add(main.getName());
    return command;
  }

  /** The command line, without the class path. */
  public List<String> command() {
    return command;
  }

  public ProcessHandle handle() {
    return process.toHandle();
  }

  /** @throws ProcessException if it says that it cannot, or has ended */
  public JsonElement ask(JsonObject request) throws ProcessException {
    return ask(request, part -> {
    });
  }

  /**
   * @param progress is told how much of the work is done, 0 to 1
   * @throws ProcessException if the process says that it cannot, or has ended
   */
  public synchronized JsonElement ask(JsonObject request, DoubleConsumer progress)
    throws ProcessException {
    try {
      requests.write(request + "\n");
      requests.flush();
      for (String line = answers.readLine(); line != null; line = answers.readLine()) {
        JsonObject answer = JsonParser.parseString(line).getAsJsonObject();
        if (answer.has("progress")) {
          progress.accept(answer.get("progress").getAsDouble());
        } else if (answer.has("error")) {
          throw new ProcessException(name + ": " + answer.get("error").getAsString());
        } else {
          return answer.get("ok");
        }
      }
    } catch (IOException e) {
      // The process is gone, which is what the end of its answers says as well.
    }
    throw new ProcessException("The process of the " + name + " has ended: see " + log);
  }

  /** Ends it as kill -9 does. */
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
