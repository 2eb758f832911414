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

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.InternalProfiler;
import org.openjdk.jmh.results.IterationResult;
import org.openjdk.jmh.results.Result;

/**
 * Alternates the iterations of two measured JVMs, one of the fork and one of stock, which are alive
 * at the same time. The speed of a shared machine drifts over minutes by more than the difference
 * between the sides; two consecutive iterations see nearly the same speed. While one JVM runs an
 * iteration or its set-up, the other sleeps before its own next iteration.
 * <p>
 * Both JVMs poll files in one directory: <code>turn</code> holds the name of the side that may run,
 * and once <code>SIDE.ended</code> exists the other side no longer waits for that one. Used by one
 * thread.
 */
public final class AlternatingIterations implements InternalProfiler {
  private static final long POLL_MILLIS = 5;

  private final Path turn;
  private final Path otherEnded;
  private final String side;
  private final String other;
  private final String first;

  /**
   * JMH makes one in the measured JVM.
   * @param argument what {@link #argument} returned
   */
  public AlternatingIterations(String argument) {
    String[] parts = argument.split(";");
    if (parts.length != 4) {
      throw new IllegalArgumentException(argument + " is not DIRECTORY;SIDE;OTHER;FIRST");
    }
    turn = Path.of(parts[0], "turn");
    otherEnded = ended(Path.of(parts[0]), parts[2]);
    side = parts[1];
    other = parts[2];
    first = parts[3];
  }

  /**
   * Returns the profiler's argument for the JVM of a side.
   * @param directory used by this pair of JVMs only; empty in the beginning
   * @param side      the name of this side
   * @param other     the name of the other one
   * @param first     the side that runs first
   */
  static String argument(Path directory, String side, String other, String first) {
    return String.join(";", directory.toString(), side, other, first);
  }

  /** Marks a side's JVM as ended, with or without an error, so that the other continues alone. */
  static void markEnded(Path directory, String side) throws IOException {
    Files.writeString(ended(directory, side), "");
  }

  private static Path ended(Path directory, String side) {
    return directory.resolve(side + ".ended");
  }

  @Override
  public String getDescription() {
    return "Alternates iterations with a JVM of the other side";
  }

  @Override
  public void beforeIteration(BenchmarkParams benchmark, IterationParams iteration) {
    try {
      while (!isMine() && !Files.exists(otherEnded)) {
        Thread.sleep(POLL_MILLIS);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean isMine() throws IOException {
    try {
      return Files.readString(turn).equals(side);
    } catch (NoSuchFileException e) {
      return first.equals(side);
    }
  }

  @Override
  public Collection<? extends Result<?>> afterIteration(BenchmarkParams benchmark,
    IterationParams iteration, IterationResult result) {
    try {
      Files.writeString(turn, other);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return List.of();
  }
}
