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
package dev.stratum.dist;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.Test;

/**
 * Each wait in the classes of this repository has a limit, or a comment directly above it that says
 * why it needs none. Looked for are calls by their names, so what waits under another name is not
 * found; nor are locks, which no thread may hold while it waits, nor loops around a sleep.
 */
public class TestUnboundedWaits {
  private static final String REASON = "Waits without a limit: ";

  /** Calls that another thread has to end, without a time. */
  private static final Pattern WAITS = Pattern.compile(
    "LockSupport\\.park\\(|Thread\\.(yield|onSpinWait)\\(\\)"
      + "|\\.(await|acquire|take|join)\\(\\)|\\.(await|sync|acquire)Uninterruptibly\\(\\)"
      + "|\\b(get|join|await|take|put)Uninterruptibly\\([^,;]*\\)"
      + "|\\bwait\\(\\)");
  private static final Pattern FUTURE = Pattern.compile("Future(?:Task)?<[^;=(]*>\\s+(\\w+)");
  private static final Pattern QUEUE =
    Pattern.compile("Blocking(?:Queue|Deque)<[^;=(]*>\\s+(\\w+)");
  private static final Pattern LITERAL = Pattern.compile("\"(?:[^\"\\\\]|\\\\.)*\"");

  private static boolean isComment(String line) {
    return line.startsWith("//") || line.startsWith("*") || line.startsWith("/*");
  }

  /** Returns the numbers of the lines, from 1 on, that wait without a limit and a reason. */
  private static List<Integer> unexplained(List<String> source) {
    String all = String.join("\n", source);
    StringBuilder names = new StringBuilder();
    for (Matcher future = FUTURE.matcher(all); future.find();) {
      names.append("|\\b").append(future.group(1)).append("\\.get\\(\\)");
    }
    for (Matcher queue = QUEUE.matcher(all); queue.find();) {
      names.append("|\\b").append(queue.group(1)).append("\\.put\\(");
    }
    Pattern waits = Pattern.compile(WAITS.pattern() + names);
    List<Integer> found = new ArrayList<>();
    for (int i = 0; i < source.size(); i++) {
      String line = source.get(i).strip();
      String code = LITERAL.matcher(line).replaceAll("\"\"").replaceFirst("//.*", "");
      if (!isComment(line) && waits.matcher(code).find() && !hasReason(source, i)) {
        found.add(i + 1);
      }
    }
    return found;
  }

  /** Returns whether the comment at a line, or above its statement, has the words. */
  private static boolean hasReason(List<String> source, int line) {
    StringBuilder comment = new StringBuilder(source.get(line));
    int above = line - 1;
    while (above >= 0 && !isComment(source.get(above).strip())
      && !source.get(above).strip().matches("|.*[;{}:]")) {
      above--;
    }
    for (; above >= 0 && isComment(source.get(above).strip()); above--) {
      comment.insert(0, source.get(above).strip().replaceFirst("[/*]+", "") + " ");
    }
    return comment.toString().replaceAll("\\s+", " ").contains(REASON);
  }

  @Test
  public void testEachWaitHasALimitOrAReason() throws Exception {
    List<String> found = new ArrayList<>();
    int sources = 0;
    for (String module : Dropin.MODULES) {
      Path root = Path.of(System.getProperty("stratum.root"), "hbase-" + module, "src/main/java");
      List<Path> files;
      try (Stream<Path> walk = Files.walk(root)) {
        files = walk.filter(file -> file.toString().endsWith(".java")).sorted()
          .collect(Collectors.toList());
      }
      for (Path file : files) {
        sources++;
        List<String> lines = Files.readAllLines(file);
        for (int line : unexplained(lines)) {
          found.add(file.getFileName() + ":" + line + " " + lines.get(line - 1).strip());
        }
      }
    }
    assertTrue("sources: " + sources, sources > 50);
    assertEquals("Give it a limit, or a comment above it: " + REASON + "...", "",
      String.join("\n", found));
  }

  @Test
  public void testEachKindOfWaitIsFound() {
    List<String> waits = List.of("LockSupport.park(this);", "latch.await();", "room.await();",
      "permits.acquire();", "buffer = queue.take();", "thread.join();", "wait();", "lock.wait();",
      "Thread.yield();", "Thread.onSpinWait();", "answer.get();", "work.put(task);",
      "Uninterruptibles.getUninterruptibly(answer);", "permits.acquireUninterruptibly();");
    for (String wait : waits) {
      List<String> source = new ArrayList<>(List.of("CompletableFuture<List<String>> answer;",
        "BlockingQueue<Runnable> work;", "void method() {", wait, "}"));
      assertEquals(wait, List.of(4), unexplained(source));
      source.set(3, "int before = " + wait);
      assertEquals(wait, List.of(4), unexplained(source));
      source.add(3, "// A comment of another kind.");
      assertEquals(wait, List.of(5), unexplained(source));
      source.set(3, "// " + REASON + "the other side always answers.");
      assertEquals(wait, List.of(), unexplained(source));
    }
  }

  @Test
  public void testAReasonMayBeginOnTheLineBeforeOrAboveALongStatement() {
    assertEquals(List.of(), unexplained(List.of("// So much for that. Waits without a",
      "// limit: the other side always answers.", "answers", "  .take();")));
    assertEquals(List.of(), unexplained(List.of("queue.take(); // " + REASON + "its own work.")));
    assertEquals("that of another", List.of(4), unexplained(List.of("// " + REASON + "it ends.",
      "first.take();", "", "second.take();")));
  }

  @Test
  public void testWaitsWithALimitAndWordsAreLeftAlone() {
    assertEquals(List.of(), unexplained(List.of("LockSupport.parkNanos(this, 1);",
      "latch.await(1, TimeUnit.SECONDS);", "thread.join(1000);", "queue.poll(1, SECONDS);",
      "files.acquire(name);", "AtomicLong count; count.get();", "map.put(key, value);",
      "// latch.await();", " * {@code queue.take()}", "log(\"thread.join()\");", "lock.lock();",
      "String.join(\",\", names);", "Uninterruptibles.awaitUninterruptibly(latch, 1, SECONDS);")));
  }
}
