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

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.Timeout;

/** An operation that hangs ends a run, unless something explains it. */
public class TestHangWatch {
  private static final Duration SHORT = Duration.ofMillis(50);
  private static final Duration GRACE = Duration.ofSeconds(2);
  private static final Path EVIDENCE = Path.of("evidence.txt");

  @Rule
  public final Timeout timeout = new Timeout(5, TimeUnit.MINUTES);

  private final long start = System.nanoTime();
  private final HangWatch watch = watch(HangWatch.LIMIT, List::of);

  private static HangWatch watch(Duration limit, HangWatch.Source source) {
    return new HangWatch(limit, GRACE, source, hanging -> List.of(EVIDENCE));
  }

  private long at(int seconds) {
    return start + TimeUnit.SECONDS.toNanos(seconds);
  }

  private Operation operation(int began, int ended) {
    return new Operation("client", "get", at(began), at(ended), true);
  }

  private void assertUnexplained(int seconds, Operation operation) {
    assertEquals(watch.describe(operation), TimeUnit.SECONDS.toNanos(seconds),
      watch.unexplainedNanos(operation));
  }

  @Test
  public void testTimeOfAnExcuseAndTheGracePeriodDoesNotCount() {
    watch.excuse("kill", at(10), at(20));
    assertUnexplained(5, operation(0, 5));
    assertUnexplained(10, operation(0, 10));
    assertUnexplained(10, operation(0, 15));
    assertUnexplained(10, operation(0, 22));
    assertUnexplained(13, operation(0, 25));
    assertUnexplained(0, operation(12, 22));
    assertUnexplained(3, operation(12, 25));
    assertUnexplained(1, operation(21, 23));
    assertUnexplained(7, operation(22, 29));
  }

  @Test
  public void testExcusesThatOverlapCountOnce() {
    watch.excuse("split", at(30), at(38));
    watch.excuse("kill", at(10), at(20));
    watch.excuse("move", at(12), at(14));
    watch.excuse("stop", at(21), at(28));
    assertUnexplained(15, operation(0, 45));
    assertUnexplained(0, operation(10, 40));
    watch.excuse("flush", at(50), at(51));
    assertUnexplained(25, operation(0, 58));
  }

  @Test
  public void testOpenExcuseLastsUntilItIsClosed() {
    HangWatch.Excuse excuse = watch.excuseFrom(at(1), "move");
    assertUnexplained(1, operation(0, 1_000));
    excuse.close();
    // It was closed in less than this.
    assertTrue(watch.unexplainedNanos(operation(0, 1_000)) > TimeUnit.SECONDS.toNanos(900));
    assertTrue(watch.describe(operation(0, 1_000)).endsWith("(explained by: move)"));
  }

  @Test
  public void testOperationThatIsInFlightEndsTheRunWithEvidence() {
    Operations operations = new Operations(SHORT);
    Operations.Client client = operations.client("client-3");
    AssertionError hung = assertThrows(AssertionError.class,
      () -> watch(SHORT, operations).run(() -> {
        client.begin("increment of a counter");
        // The client waits until the watch interrupts it.
        new CountDownLatch(1).await();
      }));
    assertTrue(hung.getMessage(),
      hung.getMessage().contains("client-3: increment of a counter has been in flight for"));
    assertTrue(hung.getMessage(), hung.getMessage().endsWith("Evidence: " + EVIDENCE));
    assertEquals(InterruptedException.class, hung.getSuppressed()[0].getClass());
    assertFalse(Thread.currentThread().isInterrupted());
  }

  @Test
  public void testOperationThatEndedTooLateEndsTheRun() {
    Operations operations = new Operations(Duration.ZERO);
    Operations.Client client = operations.client("client-3");
    AssertionError hung = assertThrows(AssertionError.class,
      () -> watch(Duration.ZERO, operations).run(() -> {
        client.begin("get");
        client.end();
      }));
    assertTrue(hung.getMessage(), hung.getMessage().contains("client-3: get ended after"));
  }

  @Test
  public void testRunWithoutAHangEndsAsItsBodyDoes() throws Exception {
    Operations operations = new Operations(HangWatch.LIMIT);
    Operations.Client client = operations.client("client-3");
    HangWatch patient = watch(HangWatch.LIMIT, operations);
    client.begin("get");
    AtomicInteger runs = new AtomicInteger();
    patient.run(runs::incrementAndGet);
    assertEquals(1, runs.get());
    client.end();
    IOException failure = new IOException();
    assertSame(failure, assertThrows(IOException.class, () -> patient.run(() -> {
      throw failure;
    })));
  }

  @Test
  public void testExplainedHangDoesNotEndTheRun() throws Exception {
    Operations operations = new Operations(SHORT);
    CountDownLatch looked = new CountDownLatch(3);
    HangWatch lenient = watch(SHORT, () -> {
      List<Operation> slow = operations.slow();
      if (!slow.isEmpty()) {
        looked.countDown();
      }
      return slow;
    });
    Operations.Client client = operations.client("client-3");
    lenient.run(() -> {
      HangWatch.Excuse excuse = lenient.excuse("kill -9");
      client.begin("get");
      assertTrue(looked.await(2, TimeUnit.MINUTES));
      client.end();
      excuse.close();
    });
  }

  @Test
  public void testLostEvidenceAndLostSourceAreErrors() {
    Operations operations = new Operations(Duration.ZERO);
    operations.client("client").begin("get");
    HangWatch blind = new HangWatch(Duration.ZERO, GRACE, operations, hanging -> {
      throw new IOException("no space");
    });
    AssertionError hung = assertThrows(AssertionError.class, () -> blind.run(() -> {
    }));
    assertTrue(hung.getMessage(), hung.getMessage().contains("no space"));
    AssertionError lost = assertThrows(AssertionError.class, () -> watch(SHORT, () -> {
      throw new IOException("gone");
    }).run(() -> new CountDownLatch(1).await()));
    assertTrue(lost.getMessage(), lost.getMessage().contains("gone"));
  }

  @Test
  public void testOperationSurvivesItsWayToAnotherProcess() {
    Operation operation = operation(1, 7);
    assertEquals(operation, Operation.of(operation.json()));
  }
}
