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

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import dev.stratum.processes.HeldGets;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.junit.Test;
import org.junit.experimental.categories.Category;

import org.apache.hbase.thirdparty.com.google.gson.JsonArray;
import org.apache.hbase.thirdparty.com.google.gson.JsonElement;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;
import org.apache.hbase.thirdparty.com.google.gson.JsonParser;

/** A run of the suite when all is well, when servers are lost, and when one hangs. */
@Category(LargeTests.class)
public class TestWorkloadSuite extends WorkloadSuiteFixture {
  private static final String CASE = "throughput/get-zipfian-100us";
  private static final String OTHER_HANDLERS = "increment/increment-zipfian-128handlers";
  /** The state of a listening socket in /proc/net/tcp. */
  private static final String LISTENING = "0A";

  @Test
  public void testCasesRunOnBothSidesThoughServersAreLostAndNothingIsLeft() throws Exception {
    Path directory = folder.getRoot().toPath();
    Properties arguments = arguments(directory);
    arguments.setProperty("include", CASE + "|" + OTHER_HANDLERS);
    arguments.setProperty("fork.hbase.bucketcache.composite.promotion", "none");
    AtomicReference<WorkloadSuite> running = new AtomicReference<>();
    List<ProcessHandle> lost = new ArrayList<>();
    PrintStream out = new PrintStream(PrintStream.nullOutputStream()) {
      @Override
      public PrintStream printf(Locale locale, String format, Object... values) {
        if (lost.isEmpty() && values[1].toString().contains("rows loaded")) {
          lost.addAll(running.get().processes());
          lost.forEach(ProcessHandle::destroyForcibly);
        }
        return this;
      }
    };
    List<ProcessHandle> processes;
    try (WorkloadSuite suite = new WorkloadSuite(arguments, out)) {
      running.set(suite);
      int failures = suite.run();
      assertEquals(results(directory), 0, failures);
      assertEquals(6, lost.size());
      assertFalse(Files.exists(directory.resolve("tmp").resolve("start-1")));
      lost.forEach(process -> assertFalse(process.isAlive()));
      processes = suite.processes();
      assertEquals(6, processes.size());
      for (ProcessHandle process : processes) {
        assertTrue(process.isAlive());
        assertEquals(Set.of(), publicListeners(process.pid()));
      }
    }
    for (ProcessHandle process : processes) {
      process.onExit().get(1, TimeUnit.MINUTES);
    }
    assertFalse(Files.exists(directory.resolve("tmp")));

    JsonObject results = JsonParser.parseString(results(directory)).getAsJsonObject();
    assertEquals(System.getProperty("expected.version"), results.get("fork").getAsString());
    assertEquals("CombinedBlockCache", results.get("stockCache").getAsString());
    assertEquals("CompositeBucketCache", results.get("forkCache").getAsString());
    assertEquals("none", results.getAsJsonObject("forkSettings")
      .get("hbase.bucketcache.composite.promotion").getAsString());
    assertEquals(2, results.getAsJsonArray("cases").size());
    JsonObject other = results.getAsJsonArray("cases").get(1).getAsJsonObject();
    assertEquals(OTHER_HANDLERS, other.get("name").getAsString());
    assertEquals("on servers that began anew", 128, other.get("handlers").getAsInt());
    assertEquals(2, other.getAsJsonArray("runs").size());
    JsonObject result = results.getAsJsonArray("cases").get(0).getAsJsonObject();
    assertEquals(40, result.get("handlers").getAsInt());
    assertTrue(result.toString(), result.has("failedBefore"));
    assertTrue("hardly warmed up", result.getAsJsonArray("discarded").size() > 0);
    JsonArray runs = result.getAsJsonArray("runs");
    // Each side has a closed loop and a fixed rate.
    assertEquals(4, runs.size());
    for (JsonElement element : runs) {
      JsonObject run = element.getAsJsonObject();
      assertTrue(run.toString(), run.getAsJsonObject("all").get("count").getAsLong() > 0);
      assertTrue(run.toString(),
        run.getAsJsonObject("regionserver").get("cacheHits").getAsLong() > 0);
      assertTrue(run.toString(), run.getAsJsonObject("client").has("compileMillis"));
      // The data is so small that it fits into the fork's L1, which is not delayed.
      assertTrue(run.toString(), run.get("side").getAsString().equals("fork")
        || run.getAsJsonObject("slowed").get("micros").getAsDouble() > 0);
    }
    String report = Files.readString(directory.resolve("report.html"));
    assertTrue(report.contains(CASE));
  }

  @Test
  public void testAHeldHandlerEndsTheRunWithItsCallAndTheOneBehindItAsEvidence() throws Exception {
    Path directory = folder.getRoot().toPath();
    Properties arguments = arguments(directory);
    arguments.setProperty("include", "throughput/get-zipfian$");
    arguments.setProperty("handlers", "1");
    arguments.setProperty("fork.hbase.coprocessor.user.region.classes", HeldGets.class.getName());
    HangException hung;
    try (WorkloadSuite suite =
      new WorkloadSuite(arguments, new PrintStream(PrintStream.nullOutputStream()))) {
      hung = assertThrows(HangException.class, suite::run);
    }
    String message = hung.getMessage();
    assertTrue(message, message.startsWith("throughput/get-zipfian hangs on the fork side: "));
    assertTrue(message, message.contains("load-0: READ has been in flight for"));
    Path evidence = directory.resolve("logs").resolve("hang-fork");
    for (String process : List.of("base", "regionserver", "client")) {
      Path threads = evidence.resolve("threads-of-" + process + ".txt");
      assertTrue(message, message.contains(threads.toString()));
      assertEquals(process.equals("regionserver"),
        Files.readString(threads).contains(HeldGets.class.getName() + ".preGetOp"));
    }
    String calls = Files.readString(evidence.resolve("calls-of-regionserver.txt"));
    // The warm-up of a case has as many threads as there are processors.
    int waiting = Runtime.getRuntime().availableProcessors() - 1;
    assertTrue(calls, calls.contains("calls in queues: general " + waiting));
    assertTrue(calls, calls.contains(waiting + " calls wait for a handler"));
    assertTrue(calls, calls.contains("1 calls are run by handlers"));
    assertTrue(calls, calls.contains("methodName: Get"));
    String operations = Files.readString(evidence.resolve("operations.txt"));
    assertTrue(operations, operations.contains("READ"));
    // There is a report of it, and no second attempt.
    JsonObject results = JsonParser.parseString(results(directory)).getAsJsonObject();
    JsonObject result = results.getAsJsonArray("cases").get(0).getAsJsonObject();
    assertTrue(result.toString(), result.get("failure").getAsString().contains(" hangs on "));
    assertFalse(result.toString(), result.has("failedBefore"));
    assertFalse(Files.exists(directory.resolve("logs").resolve("start-2")));
  }

  /** The addresses that a process listens on and that are not of the loopback interface. */
  private static Set<String> publicListeners(long pid) throws IOException {
    Set<String> sockets = new HashSet<>();
    try (Stream<Path> files = Files.list(Path.of("/proc/" + pid + "/fd"))) {
      for (Path file : files.toList()) {
        try {
          sockets.add(Files.readSymbolicLink(file).toString());
        } catch (IOException e) {
          // The file was closed meanwhile.
        }
      }
    }
    Set<String> listeners = new HashSet<>();
    for (String table : List.of("tcp", "tcp6")) {
      Path path = Path.of("/proc/net/" + table);
      for (String line : Files.exists(path) ? Files.readAllLines(path) : List.<String> of()) {
        String[] fields = line.trim().split("\\s+");
        if (fields[3].equals(LISTENING) && sockets.contains("socket:[" + fields[9] + "]")) {
          // The last of the address's bytes is first: 127.0.0.1.
          if (!fields[1].startsWith("0100007F:") && !fields[1].contains("FFFF00000100007F:")) {
            listeners.add(fields[1]);
          }
        }
      }
    }
    return listeners;
  }
}
