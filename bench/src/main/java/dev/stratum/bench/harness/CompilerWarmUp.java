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
package dev.stratum.bench.harness;

import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * Repeats an operation until the compilers have little left to do with it. To be called before what
 * is measured by more threads than there are processors: there the compilers get a share like any
 * other thread's and are not done in a warm-up of some seconds, so that one JVM is measured with
 * what another one still waits for.
 */
public final class CompilerWarmUp {
  private static final long WINDOW_MILLIS = 1000;
  /** The maximum compile time of a quiet window. */
  private static final long QUIET_MILLIS = 150;
  /**
   * The number of quiet windows in a row that end the warm-up. One is not enough, since a hot
   * method is compiled again after some time.
   */
  private static final int QUIET_WINDOWS = 2;
  /** The maximum number of windows; lower for the headline set, which has no time for more. */
  private static final int MAX_WINDOWS = Integer.getInteger(Headline.WARM_UP_PROPERTY, 25);

  /** An operation that is repeated, or run between two windows. */
  public interface Operation {
    void run() throws Exception;
  }

  private CompilerWarmUp() {
  }

  /**
   * Runs an operation by as many threads as there are processors, and then, if that is more, by
   * {@code threads}, each until the compilers are quiet; for 25 s at most, in the headline set 1 s.
   * @param threads   by how many it is run when it is measured
   * @param operation that any thread may run
   * @param between   is run each second while no thread runs the operation
   * @throws ExecutionException if the operation has failed
   * @throws Exception          what {@code between} throws
   */
  public static void run(int threads, Operation operation, Operation between) throws Exception {
    int processors = Runtime.getRuntime().availableProcessors();
    repeat(Math.min(threads, processors), operation, between);
    if (threads > processors) {
      repeat(threads, operation, between);
    }
  }

  private static void repeat(int threads, Operation operation, Operation between)
    throws Exception {
    ExecutorService workers = Executors.newFixedThreadPool(threads);
    try {
      untilQuiet(MAX_WINDOWS, () -> {
        repeatFor(WINDOW_MILLIS, workers, threads, operation);
        between.run();
      });
    } finally {
      workers.shutdownNow();
      workers.awaitTermination(1, TimeUnit.MINUTES);
    }
  }

  /**
   * Repeats something until the compilers are quiet.
   * @param most   how often at most
   * @param window a second or two of what is to be measured
   * @throws Exception what that throws
   */
  public static void untilQuiet(int most, Operation window) throws Exception {
    CompilationMXBean compilers = ManagementFactory.getCompilationMXBean();
    int quiet = 0;
    for (int i = 0; i < Math.min(most, MAX_WINDOWS) && quiet < QUIET_WINDOWS; i++) {
      long before = compilers.getTotalCompilationTime();
      window.run();
      quiet = compilers.getTotalCompilationTime() - before <= QUIET_MILLIS ? quiet + 1 : 0;
    }
  }

  private static void repeatFor(long millis, ExecutorService workers, int threads,
    Operation operation) throws InterruptedException, ExecutionException {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    List<Future<?>> all = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      all.add(workers.submit(() -> {
        while (System.nanoTime() - end < 0) {
          operation.run();
        }
        return null;
      }));
    }
    for (Future<?> each : all) {
      each.get();
    }
  }
}
