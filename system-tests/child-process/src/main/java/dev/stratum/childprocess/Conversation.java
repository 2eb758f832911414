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
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.regex.Pattern;
import org.apache.hbase.thirdparty.com.google.gson.JsonElement;
import org.apache.hbase.thirdparty.com.google.gson.JsonNull;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;
import org.apache.hbase.thirdparty.com.google.gson.JsonParser;

/**
 * A child's side of its conversation with the parent, see {@link ChildProcess}. One JSON object per
 * line:
 * <ul>
 * <li>the child's first line is <code>{"ready":true}</code>;</li>
 * <li>a request on standard input is <code>{"id":1,"request":{"do":"name"}}</code>, with the
 * parameters beside the name;</li>
 * <li>its answer on standard output is <code>{"id":1,"ok":…}</code>, or
 * <code>{"id":1,"error":"one sentence","trace":"the stack trace"}</code>; before it there may be
 * any number of <code>{"id":1,"progress":0.25}</code>.</li>
 * </ul>
 * Other output of the process, and the stack trace of each failure, is on standard error.
 * <p>
 * The end of standard input ends the process and its descendants at once, so that none of them
 * outlives the parent, however that ended.
 */
public final class Conversation {
  private static final Pattern LINE_BREAKS = Pattern.compile("\\s*\\R\\s*");

  private final PrintStream out;
  private volatile long id;

  private Conversation(PrintStream out) {
    this.out = out;
  }

  /** What the process can do. Called by one thread. */
  public interface Answers {
    /** @return the answer, or null if there is nothing to say */
    JsonElement answer(JsonObject request, Conversation conversation) throws Exception;
  }

  /** Answers until standard input ends, and does not return. */
  public static void hold(Answers answers) throws InterruptedException {
    Conversation conversation =
      new Conversation(new PrintStream(System.out, true, StandardCharsets.UTF_8));
    System.setOut(System.err);
    BlockingQueue<String> requests = new LinkedBlockingQueue<>();
    Thread reader = new Thread(() -> read(requests), "requests");
    reader.setDaemon(true);
    reader.start();
    JsonObject ready = new JsonObject();
    ready.addProperty("ready", true);
    conversation.say(ready);
    while (true) {
      conversation.answer(requests.take(), answers);
    }
  }

  /** Reads ahead of the work, to notice the end of the input while a request is answered. */
  private static void read(BlockingQueue<String> requests) {
    try (BufferedReader in =
      new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        requests.add(line);
      }
    } catch (IOException e) {
      e.printStackTrace();
    } finally {
      ProcessHandle.current().descendants().forEach(ProcessHandle::destroyForcibly);
      Runtime.getRuntime().halt(0);
    }
  }

  private void answer(String line, Answers answers) {
    JsonObject numbered = JsonParser.parseString(line).getAsJsonObject();
    id = numbered.get("id").getAsLong();
    JsonObject answer = new JsonObject();
    answer.addProperty("id", id);
    try {
      JsonElement ok = answers.answer(numbered.getAsJsonObject("request"), this);
      answer.add("ok", ok == null ? JsonNull.INSTANCE : ok);
    } catch (Exception | Error e) {
      e.printStackTrace();
      answer.addProperty("error", sentence(e));
      answer.addProperty("trace", trace(e));
    }
    say(answer);
  }

  /** @param part of the work that is done, 0 to 1. May be called from any thread. */
  public void progress(double part) {
    JsonObject progress = new JsonObject();
    progress.addProperty("id", id);
    progress.addProperty("progress", part);
    say(progress);
  }

  private synchronized void say(JsonObject line) {
    out.println(line);
  }

  /** The message of the first ProcessException in the chain of causes, or the last cause. */
  private static String sentence(Throwable e) {
    Throwable cause = e;
    while (!(cause instanceof ProcessException) && cause.getCause() != null) {
      cause = cause.getCause();
    }
    String text = cause instanceof ProcessException ? cause.getMessage() : String.valueOf(cause);
    return LINE_BREAKS.matcher(text).replaceAll(" ").trim();
  }

  private static String trace(Throwable e) {
    StringWriter trace = new StringWriter();
    e.printStackTrace(new PrintWriter(trace, true));
    return trace.toString();
  }
}
