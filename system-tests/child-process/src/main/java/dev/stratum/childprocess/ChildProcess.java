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
package dev.stratum.childprocess;

import java.io.BufferedReader;
import java.io.Closeable;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.DoubleConsumer;
import org.apache.hbase.thirdparty.com.google.gson.JsonElement;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;
import org.apache.hbase.thirdparty.com.google.gson.JsonParser;

/**
 * A JVM that this one has started and sends requests to, see {@link Conversation}. Thread-safe: a
 * request waits until the one before it is answered.
 * <p>
 * Each wait has a limit. Each {@link ProcessException} has as its cause the end of the child's log,
 * and of a failed request the child's stack trace.
 */
public final class ChildProcess implements Closeable {
  /** The default time for an answer, from the request or the last progress on. */
  public static final Duration LIMIT = Duration.ofMinutes(10);

  /** The time limit for the JVM to load its main class on a busy machine. */
  private static final Duration START_LIMIT = Duration.ofMinutes(5);
  private static final int SECONDS_TO_EXIT = 30;
  private static final JsonObject END = new JsonObject();

  private final String name;
  private final Path log;
  private final List<String> command;
  private final Process process;
  private final Writer requests;
  private final BlockingQueue<JsonObject> lines = new LinkedBlockingQueue<>();
  private final ReentrantLock conversation = new ReentrantLock();
  private boolean ready;
  private long lastId;

  /**
   * Starts the JVM, and does not wait until it is ready.
   * @param name    for messages
   * @param command whose main class calls {@link Conversation#hold}
   * @param log     the file for the child's standard error
   */
  public ChildProcess(String name, JvmCommand command, Path log) throws IOException {
    this.name = name;
    this.log = log;
    this.command = command.line();
    process = command.builder().redirectError(log.toFile()).start();
    requests = process.outputWriter(StandardCharsets.UTF_8);
    Thread reader = new Thread(this::read, "answers of " + name);
    reader.setDaemon(true);
    reader.start();
  }

  private void read() {
    try (BufferedReader in = process.inputReader(StandardCharsets.UTF_8)) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        // Warnings of the JVM itself are on standard output, too.
        if (line.startsWith("{")) {
          lines.add(JsonParser.parseString(line).getAsJsonObject());
        }
      }
    } catch (IOException e) {
      // The process has ended, as at the end of its answers.
    } finally {
      lines.add(END);
    }
  }

  /** Returns the command line, without the class path. */
  public List<String> command() {
    return command;
  }

  public ProcessHandle handle() {
    return process.toHandle();
  }

  /** Returns a request without parameters, to which parameters can be added. */
  public static JsonObject request(String what) {
    JsonObject request = new JsonObject();
    request.addProperty("do", what);
    return request;
  }

  /** Asks like {@link #ask(JsonObject, Duration, DoubleConsumer)}, within {@link #LIMIT}. */
  public JsonElement ask(JsonObject request) throws ProcessException {
    return ask(request, LIMIT);
  }

  /** Asks like {@link #ask(JsonObject, Duration, DoubleConsumer)}, without progress. */
  public JsonElement ask(JsonObject request, Duration limit) throws ProcessException {
    return ask(request, limit, part -> {
    });
  }

  /**
   * Sends a request and waits for the answer.
   * @param request  as <code>do</code> its name
   * @param limit    for the requests of other threads, and then from this request, or the last
   *                 progress, to the answer; the start of the JVM does not count
   * @param progress is told how much of the work is done, 0 to 1
   * @return the answer, a JSON null if the child has nothing to say
   * @throws RequestFailedException if the child answers with a failure
   * @throws ProcessException       if the child has ended or does not answer in time, or this
   *                                thread is interrupted; the thread stays interrupted
   */
  public JsonElement ask(JsonObject request, Duration limit, DoubleConsumer progress)
    throws ProcessException {
    try {
      if (!conversation.tryLock(limit.toNanos(), TimeUnit.NANOSECONDS)) {
        throw late(request, limit);
      }
      try {
        awaitReady();
        return converse(request, limit, progress);
      } finally {
        conversation.unlock();
      }
    } catch (InterruptedException e) {
      // The log cannot be read by a thread that is interrupted.
      ProcessException failure = failure(name + ": interrupted during " + request.get("do"));
      Thread.currentThread().interrupt();
      throw failure;
    }
  }

  private void awaitReady() throws ProcessException, InterruptedException {
    if (!ready) {
      JsonObject line = next(START_LIMIT);
      if (line == null) {
        throw failure("The process of the " + name + " was not ready within "
          + START_LIMIT.toSeconds() + " s: see " + log);
      }
      ready = true;
    }
  }

  private JsonElement converse(JsonObject request, Duration limit, DoubleConsumer progress)
    throws ProcessException, InterruptedException {
    long id = ++lastId;
    JsonObject numbered = new JsonObject();
    numbered.addProperty("id", id);
    numbered.add("request", request);
    try {
      requests.write(numbered + "\n");
      requests.flush();
    } catch (IOException e) {
      // The process has ended, which the end of its answers says as well.
    }
    while (true) {
      JsonObject answer = next(limit);
      if (answer == null) {
        throw late(request, limit);
      } else if (answer.get("id").getAsLong() != id) {
        // The caller of this request no longer waits for the answer.
        continue;
      } else if (answer.has("progress")) {
        progress.accept(answer.get("progress").getAsDouble());
      } else if (answer.has("error")) {
        throw new RequestFailedException(name, answer.get("error").getAsString(),
          new ChildOutput(answer.get("trace").getAsString(), log));
      } else {
        return answer.get("ok");
      }
    }
  }

  /** Returns the next line, or null after the limit. */
  private JsonObject next(Duration limit) throws ProcessException, InterruptedException {
    JsonObject line = lines.poll(limit.toNanos(), TimeUnit.NANOSECONDS);
    if (line == END) {
      lines.add(END);
      String code =
        process.waitFor(1, TimeUnit.SECONDS) ? " with exit code " + process.exitValue() : "";
      throw failure("The process of the " + name + " has ended" + code + ": see " + log);
    }
    return line;
  }

  private ProcessException late(JsonObject request, Duration limit) {
    return failure("The process of the " + name + " has not answered " + request.get("do")
      + " within " + limit.toSeconds() + " s: see " + log);
  }

  private ProcessException failure(String message) {
    return new ProcessException(message, new ChildOutput("", log));
  }

  /** Closes the child's standard input, as the end of this process does: the child ends itself. */
  public void closeInput() throws IOException {
    requests.close();
  }

  /** Ends the child and the processes that it has started, as kill -9 does. */
  @Override
  public void close() {
    // The descendants end first: without their parent they cannot be found.
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
    try {
      process.waitFor(SECONDS_TO_EXIT, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
