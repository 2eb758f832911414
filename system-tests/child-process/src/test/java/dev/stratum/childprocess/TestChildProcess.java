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

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.apache.hbase.thirdparty.com.google.gson.JsonElement;
import org.apache.hbase.thirdparty.com.google.gson.JsonNull;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;
import org.apache.hbase.thirdparty.com.google.gson.JsonPrimitive;
import org.junit.After;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/** No process outlives its parent, each wait has a limit, and each error has the child's log. */
public class TestChildProcess {
  private static final Duration SHORT = Duration.ofMillis(100);

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  private ChildProcess child;

  static final class Child {
    private Child() {
    }

    public static void main(String[] args) throws InterruptedException {
      System.out.println("arguments " + List.of(args));
      Conversation.hold(Child::answer);
    }

    private static JsonElement answer(JsonObject request, Conversation conversation)
      throws Exception {
      switch (request.get("do").getAsString()) {
        case "echo":
          return request.get("text");
        case "start":
          return new JsonPrimitive(
            launch("grandchild", Path.of(System.getProperty("java.io.tmpdir"))).handle().pid());
        case "steps":
          conversation.progress(0.5);
          conversation.progress(1);
          return null;
        case "wait":
          conversation.progress(0);
          while (!Files.exists(Path.of(request.get("file").getAsString()))) {
            Thread.sleep(10);
          }
          return new JsonPrimitive("late");
        case "exit":
          System.out.println("the last words");
          Runtime.getRuntime().halt(3);
          return null;
        case "fail":
          throw new IOException("outer", new IllegalStateException("the cause"));
        default:
          throw new ProcessException("It does not know\nthat request.", new IOException("inner"));
      }
    }
  }

  private static ChildProcess launch(String name, Path folder) throws IOException {
    return new ChildProcess(name, new JvmCommand(Child.class).options("-Xmx32m").tmpDir(folder)
      .arguments("a b"), folder.resolve(name + ".log"));
  }

  @Before
  public void start() throws IOException {
    child = launch("child", folder.getRoot().toPath());
  }

  @After
  public void end() {
    child.close();
    assertFalse(child.handle().isAlive());
  }

  private static JsonObject waitFor(Path file) {
    JsonObject request = ChildProcess.request("wait");
    request.addProperty("file", file.toString());
    return request;
  }

  private String ask(String what) throws ProcessException {
    return child.ask(ChildProcess.request(what)).getAsString();
  }

  @Test
  public void testRequestsAreAnsweredInOrderWithTheirProgress() throws Exception {
    JsonObject echo = ChildProcess.request("echo");
    echo.addProperty("text", "one\ntwo \u00e9");
    assertEquals("one\ntwo \u00e9", child.ask(echo).getAsString());
    List<Double> progress = new ArrayList<>();
    assertEquals(JsonNull.INSTANCE,
      child.ask(ChildProcess.request("steps"), ChildProcess.LIMIT, progress::add));
    assertEquals(List.of(0.5, 1.0), progress);
    Path log = folder.getRoot().toPath().resolve("child.log");
    assertEquals("", Files.readString(log));
    assertEquals("a b", child.command().get(child.command().size() - 1));
  }

  @Test
  public void testChildAndItsChildrenEndWithTheParentEvenIfThatIsKilled() throws Exception {
    ProcessHandle grandchild = ProcessHandle
      .of(child.ask(ChildProcess.request("start")).getAsLong()).orElseThrow();
    assertTrue(grandchild.isAlive());
    child.handle().destroyForcibly();
    awaitEnd(grandchild);
  }

  @Test
  public void testClosingEndsTheChildrenOfTheChild() throws Exception {
    ProcessHandle grandchild = ProcessHandle
      .of(child.ask(ChildProcess.request("start")).getAsLong()).orElseThrow();
    child.close();
    awaitEnd(grandchild);
  }

  private static void awaitEnd(ProcessHandle process) throws Exception {
    long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
    while (process.isAlive() && !isZombie(process)) {
      assertTrue("The grandchild has not ended", System.nanoTime() - end < 0);
      Thread.sleep(10);
    }
  }

  /**
   * Returns whether the process is a zombie, which it stays in a container whose first process does
   * not reap its children.
   */
  private static boolean isZombie(ProcessHandle process) throws IOException {
    Path stat = Path.of("/proc", Long.toString(process.pid()), "stat");
    return Files.exists(stat) && Files.readString(stat).contains(") Z ");
  }

  @Test
  public void testFailureIsOneSentenceWithTheStackTraceAsItsCause() throws Exception {
    RequestFailedException said =
      assertThrows(RequestFailedException.class, () -> ask("dance"));
    assertEquals("child: It does not know that request.", said.getMessage());
    assertEquals("It does not know that request.", said.reason());
    RequestFailedException failed =
      assertThrows(RequestFailedException.class, () -> ask("fail"));
    assertEquals("child: java.lang.IllegalStateException: the cause", failed.getMessage());
    String cause = failed.getCause().getMessage();
    assertTrue(cause, cause.contains("java.io.IOException: outer\n"));
    assertTrue(cause, cause.contains("at dev.stratum.childprocess.TestChildProcess$Child.answer("));
    assertTrue(cause, cause.contains("The end of " + folder.getRoot()));
  }

  @Test
  public void testTheEndOfTheProcessIsAnErrorWithTheEndOfItsLog() throws Exception {
    for (int i = 0; i < 2; i++) {
      ProcessException ended = assertThrows(ProcessException.class, () -> ask("exit"));
      assertTrue(ended.getMessage(), ended.getMessage().contains("has ended with exit code 3"));
      assertTrue(ended.getCause().getMessage(),
        ended.getCause().getMessage().endsWith("\nthe last words"));
    }
  }

  @Test
  public void testProcessThatCannotStartIsAnErrorWithItsLog() throws Exception {
    Path log = folder.getRoot().toPath().resolve("none.log");
    try (ChildProcess none = new ChildProcess("none", new JvmCommand("no.Such"), log)) {
      ProcessException ended = assertThrows(ProcessException.class,
        () -> none.ask(ChildProcess.request("echo")));
      assertTrue(ended.getMessage(), ended.getMessage().contains("has ended with exit code 1"));
      assertTrue(ended.getCause().getMessage(), ended.getCause().getMessage().contains("no.Such"));
    }
  }

  @Test
  public void testLateAnswerIsAnErrorAndNotTheAnswerToTheNextRequest() throws Exception {
    Path file = folder.getRoot().toPath().resolve("go on");
    ProcessException late = assertThrows(ProcessException.class,
      () -> child.ask(waitFor(file), SHORT));
    assertTrue(late.getMessage(), late.getMessage().contains("has not answered \"wait\" within"));
    Files.createFile(file);
    JsonObject echo = ChildProcess.request("echo");
    echo.addProperty("text", "next");
    assertEquals("next", child.ask(echo).getAsString());
  }

  @Test
  public void testWaitForTheRequestOfAnotherThreadHasALimit() throws Exception {
    CountDownLatch sent = new CountDownLatch(1);
    Path never = folder.getRoot().toPath().resolve("never");
    FutureTask<ProcessException> other =
      new FutureTask<>(() -> assertThrows(ProcessException.class,
        () -> child.ask(waitFor(never), ChildProcess.LIMIT, part -> sent.countDown())));
    Thread thread = new Thread(other);
    thread.start();
    assertTrue(sent.await(1, TimeUnit.MINUTES));
    ProcessException late = assertThrows(ProcessException.class,
      () -> child.ask(ChildProcess.request("echo"), SHORT));
    assertTrue(late.getMessage(), late.getMessage().contains("has not answered \"echo\""));
    thread.interrupt();
    assertEquals("child: interrupted during \"wait\"",
      other.get(1, TimeUnit.MINUTES).getMessage());
  }

  @Test
  public void testEndOfTheParentEndsAChildThatReadsNoRequests() throws Exception {
    Process waiting = new JvmCommand(Waiting.class).options("-Xmx32m").builder().start();
    waiting.outputWriter().close();
    assertTrue(waiting.waitFor(1, TimeUnit.MINUTES));
    assertEquals(4, waiting.exitValue());
  }

  static final class Waiting {
    private Waiting() {
    }

    public static void main(String[] args) throws InterruptedException {
      ParentWatch.atEnd(() -> System.exit(4));
      Thread.sleep(TimeUnit.DAYS.toMillis(1));
    }
  }
}
