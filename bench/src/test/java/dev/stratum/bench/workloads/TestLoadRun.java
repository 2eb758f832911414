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
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import dev.stratum.processes.HangWatch;
import dev.stratum.processes.Operation;
import dev.stratum.processes.Operations;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;
import org.junit.Test;

public class TestLoadRun {
  /** Sleeps in its first operation, for a server that stalls. */
  private static final class StallsOnce implements LoadRun.Worker {
    private final long millis;
    private final AtomicInteger operations = new AtomicInteger();

    StallsOnce(long millis) {
      this.millis = millis;
    }

    @Override
    public String choose() {
      return operations.getAndIncrement() % 2 == 0 ? "READ" : "UPDATE";
    }

    @Override
    public void perform(String operation) {
      if (operations.get() == 1) {
        try {
          Thread.sleep(millis);
        } catch (InterruptedException e) {
          throw new IllegalStateException(e);
        }
      }
    }
  }

  private static LoadRun run(List<? extends LoadRun.Worker> workers, double seconds, double rate) {
    return new LoadRun(workers, seconds, rate, new Operations(HangWatch.LIMIT));
  }

  @Test
  public void testStalledOperationsAtAFixedRateCountFromTheirDueTime() throws Exception {
    // Twenty operations are due within the 200 ms, of which the first takes 400.
    JsonObject all =
      run(List.of(new StallsOnce(400)), 0.2, 100).run().getAsJsonObject("all");
    assertEquals(20, all.get("count").getAsInt());
    // The last was due 190 ms after the start.
    assertTrue(all.toString(), all.get("p50").getAsDouble() > 200_000);
  }

  @Test
  public void testLatenciesAreKeptByKindOfOperationAndInSlices() throws Exception {
    JsonObject result = run(List.of(new StallsOnce(0)), 0.2, 100).run();
    JsonObject operations = result.getAsJsonObject("operations");
    assertEquals(10, operations.getAsJsonObject("READ").get("count").getAsInt());
    assertEquals(10, operations.getAsJsonObject("UPDATE").get("count").getAsInt());
    assertTrue(result.getAsJsonArray("series").size() > 0);
  }

  @Test
  public void testSeveralThreadsShareTheRate() throws Exception {
    JsonObject result =
      run(Collections.nCopies(4, new StallsOnce(0)), 0.2, 200).run();
    assertEquals(40, result.getAsJsonObject("all").get("count").getAsInt());
  }

  @Test
  public void testAWorkerMayHaveARateOfItsOwn() throws Exception {
    LoadRun.Worker paced = new LoadRun.Worker() {
      @Override
      public String choose() {
        return "WRITE";
      }

      @Override
      public void perform(String operation) {
        // Takes no time.
      }

      @Override
      public double rate() {
        return 100;
      }
    };
    List<LoadRun.Worker> workers = List.of(paced, new StallsOnce(0), new StallsOnce(0));
    JsonObject shared = run(workers, 0.2, 200).run().getAsJsonObject("operations");
    assertEquals(20, shared.getAsJsonObject("WRITE").get("count").getAsInt());
    assertEquals(20, shared.getAsJsonObject("READ").get("count").getAsInt());
    assertEquals(20, shared.getAsJsonObject("UPDATE").get("count").getAsInt());
    JsonObject closed = run(workers, 0.2, 0).run().getAsJsonObject("operations");
    assertEquals(20, closed.getAsJsonObject("WRITE").get("count").getAsInt());
    assertTrue(closed.toString(), closed.getAsJsonObject("READ").get("count").getAsInt() > 0);
  }

  @Test
  public void testAnOperationThatHangsIsToldWhileItIsInFlight() throws Exception {
    Operations operations = new Operations(Duration.ofMillis(50));
    CountDownLatch release = new CountDownLatch(1);
    LoadRun.Worker held = new LoadRun.Worker() {
      @Override
      public String choose() {
        return "SCAN";
      }

      @Override
      public void perform(String operation) {
        try {
          release.await(5, TimeUnit.MINUTES);
        } catch (InterruptedException e) {
          throw new IllegalStateException(e);
        }
      }
    };
    FutureTask<JsonObject> run = new FutureTask<>(
      () -> new LoadRun(List.of(held), 0.01, 100, operations).run());
    new Thread(run).start();
    long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(2);
    List<Operation> slow = List.of();
    while (slow.isEmpty() && System.nanoTime() - end < 0) {
      slow = operations.slow();
      Thread.sleep(10);
    }
    assertEquals(slow.toString(), 1, slow.size());
    assertEquals("load-0", slow.get(0).client());
    assertEquals("SCAN", slow.get(0).what());
    assertTrue(slow.get(0).isInFlight());
    release.countDown();
    run.get(1, TimeUnit.MINUTES);
    // It is there as a slow one, and no longer as one in flight.
    assertEquals(List.of(false), operations.slow().stream().map(Operation::isInFlight).toList());
  }

  @Test
  public void testAFailedOperationFailsTheRun() {
    LoadRun.Worker failing = new LoadRun.Worker() {
      @Override
      public String choose() {
        return "READ";
      }

      @Override
      public void perform(String operation) {
        throw new IllegalStateException("no such row");
      }
    };
    SuiteException thrown = assertThrows(SuiteException.class,
      () -> run(List.of(failing, new StallsOnce(0)), 3600, 0).run());
    assertTrue(thrown.getMessage(), thrown.getMessage().contains("no such row"));
  }
}
