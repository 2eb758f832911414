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
package dev.stratum.jmh;

import dev.stratum.childprocess.ChildProcess;
import dev.stratum.childprocess.JvmCommand;
import dev.stratum.childprocess.ProcessException;
import dev.stratum.childprocess.RequestFailedException;
import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.apache.hbase.thirdparty.com.google.gson.JsonArray;
import org.apache.hbase.thirdparty.com.google.gson.JsonElement;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;

/**
 * The process that runs one side's benchmarks, see <code>BenchmarkHost</code> of the benchmark
 * module for its requests. Not thread-safe, but for {@link #close()}.
 */
final class HostProcess implements AutoCloseable {
  private static final String MAIN_CLASS = "dev.stratum.bench.harness.BenchmarkHost";

  /** Beyond the time of warm-up and measurement: JMH ends an iteration that hangs earlier. */
  private static final Duration GRACE = Duration.ofHours(1);

  /** Limit of the seconds in which a benchmark of the headline set waits for the compilers. */
  private static final int HEADLINE_WARM_UP_WINDOWS = 1;

  private final String side;
  private final Path log;
  private final ChildProcess process;

  /** A benchmark, or the host itself, said why it could not go on. */
  static final class FailedException extends Exception {
    private static final long serialVersionUID = 1L;

    FailedException(RequestFailedException cause) {
      super(cause.reason(), cause);
    }
  }

  /**
   * Starts the process, in the JVM that Maven runs in.
   * @param side      <code>fork</code> or <code>stock</code>: the name of its files in the
   *                  directory
   * @param classPath of the host and of every JVM it measures in
   * @param directory where the result file and the log go
   * @param tmpDir    <code>java.io.tmpdir</code> of the measured JVMs
   * @param beside    whether JVMs of another host are to run at the same time, which JMH refuses
   *                  otherwise
   */
  HostProcess(String side, List<File> classPath, Path directory, Path tmpDir, boolean beside)
    throws IOException {
    this.side = side;
    this.log = directory.resolve(side + ".log");
    // The host only waits while its child measures: it must not compete for the cores. Memory it
    // takes for what that sends: the times of all operations of 64 threads, iteration by iteration.
    JvmCommand command = new JvmCommand(MAIN_CLASS).classPath(JvmCommand.path(classPath))
      .options("-Xmx1g", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
        "-Djmh.ignoreLock=" + beside)
      .arguments(resultFile(directory, side).toString(), tmpDir.toString());
    process = new ChildProcess(side + " side's host", command, log);
  }

  static Path resultFile(Path directory, String side) {
    return directory.resolve(side + ".json");
  }

  String side() {
    return side;
  }

  /** Returns JMH's full output, with every stack trace. */
  Path log() {
    return log;
  }

  List<BenchmarkEntry> list() throws IOException, FailedException {
    return BenchmarkEntry
      .parse((JsonArray) ask(ChildProcess.request("list"), ChildProcess.LIMIT));
  }

  /**
   * Measures in one more JVM.
   * @param times       the iterations instead of the benchmark's own, or null
   * @param alternation with a JVM of another host that runs at the same time, or null
   * @throws FailedException if the benchmark threw or its JVM died
   */
  Score run(Trial trial, Times times, Alternation alternation)
    throws IOException, FailedException {
    JsonObject request = ChildProcess.request("run");
    request.addProperty("benchmark", trial.benchmark());
    request.addProperty("mode", trial.mode());
    JsonObject params = new JsonObject();
    trial.params().forEach(params::addProperty);
    request.add("params", params);
    if (times != null) {
      request.add("warmup", times.json());
      request.add("measurement", times.json());
    } else if (trial.headline() != null) {
      request.addProperty("warmUpWindows", HEADLINE_WARM_UP_WINDOWS);
      addIterations(request, "warmup", trial.headline().warmup());
      addIterations(request, "measurement", trial.headline().measurement());
    }
    if (alternation != null) {
      request.add("alternation", alternation.json(side));
    }
    // Both sides' JVMs run when they alternate.
    Duration limit = GRACE.plusMillis(2 * trial.millis());
    JsonObject score = ask(request, limit).getAsJsonObject();
    return new Score(score.get("score").getAsDouble(), score.get("unit").getAsString());
  }

  private static void addIterations(JsonObject request, String what, int iterations) {
    if (iterations > 0) {
      JsonObject json = new JsonObject();
      json.addProperty("iterations", iterations);
      request.add(what, json);
    }
  }

  /** What a JVM has measured. */
  record Score(double value, String unit) {
    @Override
    public String toString() {
      return Figures.of(value) + " " + unit;
    }
  }

  /** How often and how long to warm up, and then again to measure. */
  record Times(int iterations, long millis) {
    private JsonObject json() {
      JsonObject json = new JsonObject();
      json.addProperty("iterations", iterations);
      json.addProperty("millis", millis);
      return json;
    }
  }

  /**
   * How two JVMs alternate, iteration by iteration.
   * @param directory of this pair of JVMs alone
   * @param first     the side that measures first
   * @param second    the other one
   */
  record Alternation(Path directory, String first, String second) {
    private JsonObject json(String side) {
      JsonObject json = new JsonObject();
      json.addProperty("directory", directory.toString());
      json.addProperty("side", side);
      json.addProperty("other", side.equals(first) ? second : first);
      json.addProperty("first", first);
      return json;
    }
  }

  /** Writes the result file. */
  void write() throws IOException, FailedException {
    ask(ChildProcess.request("write"), ChildProcess.LIMIT);
  }

  private JsonElement ask(JsonObject request, Duration limit)
    throws IOException, FailedException {
    try {
      return process.ask(request, limit);
    } catch (RequestFailedException e) {
      throw new FailedException(e);
    } catch (ProcessException e) {
      throw new IOException(e.getMessage(), e);
    }
  }

  /** Ends the process and the JVM it measures in. */
  @Override
  public void close() {
    process.close();
  }
}
