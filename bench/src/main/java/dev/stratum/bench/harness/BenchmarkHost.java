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

import dev.stratum.childprocess.Conversation;
import dev.stratum.childprocess.ProcessException;
import dev.stratum.processes.LoopbackHdfs;
import java.io.File;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.apache.commons.io.FileUtils;
import org.apache.hbase.thirdparty.com.google.gson.JsonArray;
import org.apache.hbase.thirdparty.com.google.gson.JsonElement;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;
import org.apache.hbase.thirdparty.com.google.gson.JsonPrimitive;
import org.openjdk.jmh.annotations.Group;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.infra.IterationParams;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.results.format.ResultFormatFactory;
import org.openjdk.jmh.results.format.ResultFormatType;
import org.openjdk.jmh.runner.BenchmarkList;
import org.openjdk.jmh.runner.BenchmarkListEntry;
import org.openjdk.jmh.runner.Defaults;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.WorkloadParams;
import org.openjdk.jmh.runner.format.OutputFormat;
import org.openjdk.jmh.runner.format.OutputFormatFactory;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * Runs benchmarks on the class path it was itself started with: one side of a comparison. The
 * plugin keeps one host per side alive and has them run alternately, so that one JVM works at a
 * time and whatever else the machine does falls on both sides alike. JMH starts every measured JVM
 * with this process's class path.
 * <p>
 * Requests, see {@link Conversation}:
 * <ul>
 * <li><code>list</code>: all benchmarks with their parameters and times;</li>
 * <li><code>run</code> with <code>benchmark</code>, <code>mode</code> and <code>params</code>: one
 * more JVM of that benchmark, with the given parameter values; answers its score. Optional are
 * <code>warmup</code> and <code>measurement</code>
 * (<code>{"iterations":n,"millis":n}</code>, without <code>millis</code> for iterations of the
 * benchmark's own length) instead of the benchmark's own, <code>warmUpWindows</code> as the limit
 * of {@link CompilerWarmUp}, and
 * <code>alternation</code> (<code>{"directory":…,"side":…,"other":…,"first":…}</code>), see
 * {@link AlternatingIterations};</li>
 * <li><code>write</code>: writes the result file, JMH's own JSON, with one entry per benchmark,
 * however many JVMs it was run in.</li>
 * </ul>
 * JMH's full output is on standard error.
 */
public final class BenchmarkHost implements Conversation.Answers {
  private final File resultFile;
  private final Path jvmsTmpDir;
  private final OutputFormat log;
  private final Map<String, BenchmarkParams> params = new LinkedHashMap<>();
  private final Map<String, List<BenchmarkResult>> results = new LinkedHashMap<>();

  private BenchmarkHost(File resultFile, Path jvmsTmpDir, PrintStream log) {
    this.resultFile = resultFile;
    this.jvmsTmpDir = jvmsTmpDir;
    this.log = OutputFormatFactory.createFormatInstance(log, VerboseMode.NORMAL);
  }

  /** @param args the result file to write, and where temporary files of measured JVMs go */
  public static void main(String[] args) throws InterruptedException {
    PrintStream log =
      new PrintStream(new FileOutputStream(FileDescriptor.err), true, StandardCharsets.UTF_8);
    Conversation.hold(new BenchmarkHost(new File(args[0]), Path.of(args[1]), log));
  }

  @Override
  public JsonElement answer(JsonObject request, Conversation conversation) throws Exception {
    switch (request.get("do").getAsString()) {
      case "list":
        return list();
      case "run":
        try {
          return run(request);
        } catch (RunnerException e) {
          throw new ProcessException(String.valueOf(firstCause(e)), e);
        }
      case "write":
        return new JsonPrimitive(write());
      default:
        throw new IllegalArgumentException("unknown request " + request);
    }
  }

  /** JMH wraps what a benchmark threw, whose message is what the reader wants to see. */
  private static Throwable firstCause(Throwable e) {
    Throwable cause = e;
    while (cause.getCause() != null || cause.getSuppressed().length > 0) {
      cause = cause.getCause() != null ? cause.getCause() : cause.getSuppressed()[0];
    }
    return cause;
  }

  private JsonArray list() throws ReflectiveOperationException {
    JsonArray list = new JsonArray();
    for (BenchmarkListEntry entry : new TreeSet<>(
      BenchmarkList.defaultList().getAll(log, Collections.<String> emptyList()))) {
      Class<?> type =
        Class.forName(entry.getUserClassQName(), false, BenchmarkHost.class.getClassLoader());
      String methodName = entry.getUsername().substring(entry.getUsername().lastIndexOf('.') + 1);
      boolean forkOnly = type.isAnnotationPresent(ForkOnly.class);
      Headline headline = null;
      // A group's name is not a method's: its annotations are read from the methods of the group.
      for (Method method : type.getMethods()) {
        Group group = method.getAnnotation(Group.class);
        String name = group != null ? group.value() : method.getName();
        if (name.equals(methodName)) {
          forkOnly |= method.isAnnotationPresent(ForkOnly.class);
          headline = headline != null ? headline : method.getAnnotation(Headline.class);
        }
      }
      JsonObject json = new JsonObject();
      json.addProperty("benchmark", entry.getUsername());
      json.addProperty("mode", entry.getMode().name());
      json.addProperty("forkOnly", forkOnly);
      if (headline != null) {
        JsonArray choices = new JsonArray();
        for (String choice : headline.value()) {
          choices.add(choice);
        }
        json.add("headline", choices);
        json.addProperty("feature", headline.feature());
        json.addProperty("headlineWarmup", headline.warmup());
        json.addProperty("headlineMeasurement", headline.measurement());
      }
      json.addProperty("forks", entry.getForks().orElse(Defaults.MEASUREMENT_FORKS));
      json.addProperty("millis", millisPerJvm(entry));
      JsonObject values = new JsonObject();
      if (entry.getParams().hasValue()) {
        // JMH has them in no order that means anything.
        new TreeMap<>(entry.getParams().get()).forEach((name, all) -> {
          JsonArray array = new JsonArray();
          for (String value : all) {
            array.add(value);
          }
          values.add(name, array);
        });
      }
      json.add("params", values);
      list.add(json);
    }
    return list;
  }

  /** Returns what warm-up and measurement take in one JVM, in ms; start and set-up come on top. */
  private static long millisPerJvm(BenchmarkListEntry entry) {
    boolean single = entry.getMode() == Mode.SingleShotTime;
    if (single) {
      return 0;
    }
    return entry.getWarmupIterations().orElse(Defaults.WARMUP_ITERATIONS)
      * entry.getWarmupTime().orElse(Defaults.WARMUP_TIME).convertTo(TimeUnit.MILLISECONDS)
      + entry.getMeasurementIterations().orElse(Defaults.MEASUREMENT_ITERATIONS)
        * entry.getMeasurementTime().orElse(Defaults.MEASUREMENT_TIME)
          .convertTo(TimeUnit.MILLISECONDS);
  }

  private JsonObject run(JsonObject request) throws RunnerException, IOException {
    Path tmpDir = Files.createTempDirectory(jvmsTmpDir, "jvm");
    try {
      return run(request, tmpDir);
    } finally {
      FileUtils.deleteQuietly(tmpDir.toFile());
      LoopbackHdfs.removeAbandoned();
    }
  }

  private JsonObject run(JsonObject request, Path tmpDir) throws RunnerException {
    String benchmark = request.get("benchmark").getAsString();
    Mode mode = Mode.valueOf(request.get("mode").getAsString());
    ChainedOptionsBuilder options = new OptionsBuilder()
      .include("^" + Pattern.quote(benchmark) + "$").mode(mode).forks(1).shouldFailOnError(true)
      .addProfiler(GCProfiler.class).addProfiler(CpuTime.class)
      // Appending would replace the arguments that the benchmark itself appends.
      .jvmArgsPrepend(jvmArguments(request, tmpDir));
    StringBuilder id = new StringBuilder(benchmark).append(':').append(mode);
    for (Map.Entry<String, JsonElement> param : request.getAsJsonObject("params").entrySet()) {
      options.param(param.getKey(), param.getValue().getAsString());
      id.append(':').append(param.getKey()).append('=').append(param.getValue().getAsString());
    }
    if (request.has("warmup")) {
      JsonObject warmup = request.getAsJsonObject("warmup");
      options.warmupIterations(warmup.get("iterations").getAsInt());
      if (warmup.has("millis")) {
        options.warmupTime(TimeValue.milliseconds(warmup.get("millis").getAsLong()));
      }
    }
    if (request.has("measurement")) {
      JsonObject measurement = request.getAsJsonObject("measurement");
      options.measurementIterations(measurement.get("iterations").getAsInt());
      if (measurement.has("millis")) {
        options.measurementTime(TimeValue.milliseconds(measurement.get("millis").getAsLong()));
      }
    }
    Collection<RunResult> runs = request.has("alternation")
      ? runAlternating(options, request.getAsJsonObject("alternation"))
      : new Runner(options.build(), log).run();
    if (runs.size() != 1) {
      throw new IllegalStateException(id + " gave " + runs.size() + " results instead of one");
    }
    RunResult run = runs.iterator().next();
    params.putIfAbsent(id.toString(), run.getParams());
    results.computeIfAbsent(id.toString(), key -> new ArrayList<>())
      .addAll(run.getBenchmarkResults());
    JsonObject score = new JsonObject();
    score.addProperty("score", run.getPrimaryResult().getScore());
    score.addProperty("unit", run.getPrimaryResult().getScoreUnit());
    return score;
  }

  private static String[] jvmArguments(JsonObject request, Path tmpDir) {
    List<String> arguments = new ArrayList<>();
    arguments.add("-Djava.io.tmpdir=" + tmpDir);
    arguments.add("-D" + MeasuredJvm.PROPERTY + "=true");
    // A JVM that has sent its results ends: threads of Netty's would keep it for three seconds.
    arguments.add("-Djmh.shutdownTimeout=0");
    arguments.add("-Djmh.shutdownTimeout.step=0");
    if (request.has("warmUpWindows")) {
      arguments
        .add("-D" + Headline.WARM_UP_PROPERTY + "=" + request.get("warmUpWindows").getAsInt());
    }
    return arguments.toArray(new String[0]);
  }

  private Collection<RunResult> runAlternating(ChainedOptionsBuilder options,
    JsonObject alternation) throws RunnerException {
    Path directory = Path.of(alternation.get("directory").getAsString());
    String side = alternation.get("side").getAsString();
    try {
      Files.createDirectories(directory);
      try {
        String argument = AlternatingIterations.argument(directory, side,
          alternation.get("other").getAsString(), alternation.get("first").getAsString());
        return new Runner(options.addProfiler(AlternatingIterations.class, argument).build(), log)
          .run();
      } finally {
        AlternatingIterations.markEnded(directory, side);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private int write() {
    List<RunResult> runs = new ArrayList<>();
    results.forEach(
      (id, jvms) -> runs.add(new RunResult(withForks(params.get(id), jvms.size()), jvms)));
    ResultFormatFactory.getInstance(ResultFormatType.JSON, resultFile.getPath()).writeOut(runs);
    return runs.size();
  }

  /** Returns the parameters of one JVM's run, saying how many JVMs there were in all. */
  private static BenchmarkParams withForks(BenchmarkParams one, int forks) {
    WorkloadParams workload = new WorkloadParams();
    int index = 0;
    for (String key : one.getParamsKeys()) {
      workload.put(key, one.getParam(key), index++);
    }
    IterationParams warmup = one.getWarmup();
    IterationParams measurement = one.getMeasurement();
    return new BenchmarkParams(one.getBenchmark(), one.generatedBenchmark(),
      one.shouldSynchIterations(), one.getThreads(), one.getThreadGroups(),
      one.getThreadGroupLabels(), forks, one.getWarmupForks(), warmup, measurement, one.getMode(),
      workload, one.getTimeUnit(), one.getOpsPerInvocation(), one.getJvm(), one.getJvmArgs(),
      one.getJdkVersion(), one.getVmName(), one.getVmVersion(), one.getJmhVersion(),
      one.getTimeout());
  }
}
