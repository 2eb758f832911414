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

import dev.stratum.report.HtmlPage;
import dev.stratum.childprocess.Conversation;
import java.io.IOException;
import java.io.PrintStream;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedMethod;
import jdk.jfr.consumer.RecordedStackTrace;
import jdk.jfr.consumer.RecordedThread;
import jdk.jfr.consumer.RecordingFile;
import one.convert.Arguments;
import one.profiler.AsyncProfiler;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A flame graph of this JVM's CPU time by kind of thread, as the HTML page of async-profiler's
 * converter, which can be searched and zoomed.
 * <p>
 * Sampled by async-profiler, kernel frames included where <code>kernel.perf_event_paranoid</code>
 * allows them, and by JFR where async-profiler does not run: that takes far fewer samples, and none
 * outside of the JVM.
 */
final class FlameGraph implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(FlameGraph.class);
  /** Narrower frames are left out, in per cent of all samples. */
  private static final double MIN_WIDTH = 0.05;
  private static final List<String> WAITS =
    List.of("wait", "epollWait", "accept", "poll", "park");
  private static final Duration PERIOD = Duration.ofMillis(10);
  /** The second where the system does not let a process count cycles. */
  private static final List<String> EVENTS = List.of("cpu", "itimer");

  private final AsyncProfiler profiler = profiler();
  private final Recording recording = profiler == null ? new Recording() : null;
  /** Samples by stack, in the collapsed format: thread and frames, the outermost one first. */
  private final Map<String, Long> stacks = new TreeMap<>();
  private boolean written;

  /** Samples from now on. */
  FlameGraph() {
    if (recording != null) {
      recording.enable("jdk.ExecutionSample").withPeriod(PERIOD);
      recording.enable("jdk.NativeMethodSample").withPeriod(PERIOD);
      recording.start();
    }
  }

  /** Returns a profiler that was started, or null if there is none for this machine. */
  private static AsyncProfiler profiler() {
    for (String event : EVENTS) {
      try {
        AsyncProfiler profiler = AsyncProfiler.getInstance();
        profiler.execute("start,threads,interval=1ms,event=" + event);
        return profiler;
      } catch (IOException | RuntimeException | UnsatisfiedLinkError e) {
        LOG.info("No samples of {} here: {}", event, e.toString());
      }
    }
    return null;
  }

  /**
   * Stops, and writes the samples.
   * @param title what was run
   */
  void write(String title, Path html) throws IOException {
    written = true;
    if (profiler != null) {
      for (String line : profiler.execute("stop,collapsed").split("\n")) {
        int frames = line.indexOf(';');
        int end = line.lastIndexOf(' ');
        if (frames > 0 && end > frames) {
          add(line.substring(0, frames), line.substring(frames, end),
            Long.parseLong(line.substring(end + 1)));
        }
      }
    } else {
      addRecorded();
    }
    Files.createDirectories(html.getParent());
    draw(title, html);
  }

  private void draw(String title, Path html) throws IOException {
    StringBuilder collapsed = new StringBuilder();
    stacks.forEach(
      (stack, samples) -> collapsed.append(stack).append(' ').append(samples).append('\n'));
    Arguments arguments = new Arguments();
    // The converter does not escape it.
    arguments.title = HtmlPage.escape(String.format(Locale.ROOT, "%s: %,d samples", title,
      stacks.values().stream().mapToLong(Long::longValue).sum()));
    arguments.minwidth = MIN_WIDTH;
    one.convert.FlameGraph graph = new one.convert.FlameGraph(arguments);
    graph.parseCollapsed(new StringReader(collapsed.toString()));
    try (PrintStream out =
      new PrintStream(Files.newOutputStream(html), false, StandardCharsets.UTF_8)) {
      graph.dump(out);
    }
  }

  private void addRecorded() throws IOException {
    recording.stop();
    Path dump = Files.createTempFile("stratum-bench", ".jfr");
    try {
      recording.dump(dump);
      for (RecordedEvent event : RecordingFile.readAllEvents(dump)) {
        RecordedStackTrace stack = event.getStackTrace();
        if (stack == null || stack.getFrames().isEmpty() || isWaiting(stack.getFrames())) {
          continue;
        }
        List<String> frames = new ArrayList<>();
        for (RecordedFrame frame : stack.getFrames()) {
          RecordedMethod method = frame.getMethod();
          frames.add(method.getType().getName().replace('.', '/') + '.' + method.getName());
        }
        Collections.reverse(frames);
        RecordedThread thread = event.getThread("sampledThread");
        add(String.valueOf(thread == null ? null : thread.getJavaName()),
          ";" + String.join(";", frames), 1);
      }
    } finally {
      Files.deleteIfExists(dump);
    }
  }

  /**
   * Answers the request of a process to draw.
   * @param request with <code>title</code> and <code>file</code>
   */
  static void finish(FlameGraph graph, JsonObject request) throws IOException {
    try (FlameGraph closing = graph) {
      closing.write(request.get("title").getAsString(),
        Path.of(request.get("file").getAsString()));
    }
  }

  /** @param frames each with a semicolon before it, the outermost one first */
  private void add(String thread, String frames, long samples) {
    stacks.merge('[' + kind(thread) + ']' + frames, samples, Long::sum);
  }

  /** Returns the name of a thread without what tells it from others of its kind. */
  private static String kind(String thread) {
    return thread.replaceAll(" tid=\\d+|[\\[\\];]|\\d+", "");
  }

  /** JFR samples a thread that waits in the kernel as one that runs. */
  private static boolean isWaiting(List<RecordedFrame> frames) {
    String name = frames.get(0).getMethod().getName();
    return WAITS.stream().anyMatch(name::startsWith)
      // This thread reads the suite's requests.
      || frames.stream().anyMatch(
        frame -> frame.getMethod().getType().getName().equals(Conversation.class.getName()));
  }

  @Override
  public void close() {
    if (recording != null) {
      recording.close();
    } else if (!written) {
      profiler.stop();
    }
  }
}
