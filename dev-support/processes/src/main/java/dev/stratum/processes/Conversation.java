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
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.regex.Pattern;
import org.apache.hbase.thirdparty.com.google.gson.JsonElement;
import org.apache.hbase.thirdparty.com.google.gson.JsonNull;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;
import org.apache.hbase.thirdparty.com.google.gson.JsonParser;

/**
 * A started process's side of what it talks about with who started it: one JSON object per line
 * on standard input, answered by one per line on standard output, <code>{"ok":…}</code> or
 * <code>{"error":"one sentence"}</code>, and before it any number of
 * <code>{"progress":0.25}</code>. Whatever else the process prints goes to standard error.
 * <p>
 * The end of standard input ends the process at once, so that none outlives who started it, however
 * that ended.
 */
public final class Conversation {
  private static final Pattern LINE_BREAKS = Pattern.compile("\\s*\\R\\s*");

  private final PrintStream out;

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
    Conversation conversation = new Conversation(System.out);
    System.setOut(System.err);
    BlockingQueue<String> requests = new LinkedBlockingQueue<>();
    Thread reader = new Thread(() -> read(requests), "requests");
    reader.setDaemon(true);
    reader.start();
    while (true) {
      conversation.answer(requests.take(), answers);
    }
  }

  /** Reads ahead of the work, to notice the end of the input while something runs. */
  private static void read(BlockingQueue<String> requests) {
    try (BufferedReader in =
      new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        requests.add(line);
      }
    } catch (IOException e) {
      e.printStackTrace();
    } finally {
      Runtime.getRuntime().halt(0);
    }
  }

  private void answer(String line, Answers answers) {
    JsonObject answer = new JsonObject();
    try {
      JsonElement ok = answers.answer(JsonParser.parseString(line).getAsJsonObject(), this);
      answer.add("ok", ok == null ? JsonNull.INSTANCE : ok);
    } catch (Exception | Error e) {
      e.printStackTrace();
      answer.addProperty("error", sentence(e));
    }
    say(answer);
  }

  /** @param part of the work that is done, 0 to 1. May be called from any thread. */
  public void progress(double part) {
    JsonObject progress = new JsonObject();
    progress.addProperty("progress", part);
    say(progress);
  }

  private synchronized void say(JsonObject line) {
    out.println(line);
    out.flush();
  }

  private static String sentence(Throwable e) {
    Throwable cause = e;
    while (cause.getCause() != null) {
      cause = cause.getCause();
    }
    String text = cause instanceof ProcessException ? cause.getMessage() : String.valueOf(cause);
    return LINE_BREAKS.matcher(text).replaceAll(" ").trim();
  }
}
