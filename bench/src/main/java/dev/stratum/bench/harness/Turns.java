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
 * Two measured JVMs, one of each side, that live side by side and take turns iteration by
 * iteration. A machine that others use too is faster in one minute than in the next, by more than
 * what is to be told apart; of two seconds that follow each other that is seldom so. While one side
 * has its turn, which its set-up is part of, the other sleeps before its own next iteration.
 * <p>
 * Both look at files of one directory: <code>turn</code> has the name of the side whose turn it is,
 * and once there is a <code>SIDE.ended</code> the other side waits for that one no more. Used by
 * one thread.
 */
public final class Turns implements InternalProfiler {
  private static final long POLL_MILLIS = 5;

  private final Path turn;
  private final Path otherEnded;
  private final String side;
  private final String other;
  private final String first;

  /**
   * JMH makes one in the measured JVM.
   * @param line what {@link #line} returned
   */
  public Turns(String line) {
    String[] parts = line.split(";");
    if (parts.length != 4) {
      throw new IllegalArgumentException(line + " is not DIRECTORY;SIDE;OTHER;FIRST");
    }
    turn = Path.of(parts[0], "turn");
    otherEnded = ended(Path.of(parts[0]), parts[2]);
    side = parts[1];
    other = parts[2];
    first = parts[3];
  }

  /**
   * What to tell JMH of a side's JVM.
   * @param directory of this pair of JVMs and no other; empty in the beginning
   * @param side      the name of this side
   * @param other     the name of the other one
   * @param first     that of the two which has the first turn
   */
  static String line(Path directory, String side, String other, String first) {
    return String.join(";", directory.toString(), side, other, first);
  }

  /** Says that a side's JVM has ended, well or badly, so that the other goes on without it. */
  static void end(Path directory, String side) throws IOException {
    Files.writeString(ended(directory, side), "");
  }

  private static Path ended(Path directory, String side) {
    return directory.resolve(side + ".ended");
  }

  @Override
  public String getDescription() {
    return "Takes turns with a JVM of the other side";
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
