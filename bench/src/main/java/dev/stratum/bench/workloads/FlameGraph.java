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

import static dev.stratum.bench.report.HtmlPage.escape;

import dev.stratum.processes.Conversation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
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
import one.profiler.AsyncProfiler;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where this JVM's processor time goes, drawn as a flame graph (Gregg, The Flame Graph, CACM 2016)
 * with the outermost frame on top, a kind of thread: the width of a frame is its share of the
 * samples. One SVG file; pointing at a frame shows its name and share.
 * <p>
 * Sampled by async-profiler, the system's calls included where it may look at them, and by JFR
 * where there is none: that takes far fewer samples, and none outside of the JVM.
 */
final class FlameGraph implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(FlameGraph.class);
  private static final int WIDTH = 1200;
  private static final int LINE = 17;
  private static final int HEAD = 26;
  /** Narrower ones are left out, pixels. */
  private static final double MIN_WIDTH = 0.6;
  private static final double CHARACTER = 6.6;
  private static final List<String> WAITS =
    List.of("wait", "epollWait", "accept", "poll", "park");
  private static final Duration PERIOD = Duration.ofMillis(10);
  /** The second where the system lets nobody count cycles. */
  private static final List<String> EVENTS = List.of("cpu", "itimer");

  private static final class Node {
    private final Map<String, Node> children = new TreeMap<>();
    private long samples;

    int depth() {
      return 1 + children.values().stream().mapToInt(Node::depth).max().orElse(0);
    }
  }

  private final AsyncProfiler profiler = profiler();
  private final Recording recording = profiler == null ? new Recording() : null;
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
   * Stops, and draws what was sampled.
   * @param title what was run
   */
  void write(String title, Path svg) throws IOException {
    Node root = new Node();
    written = true;
    if (profiler != null) {
      for (String line : profiler.execute("stop,collapsed").split("\n")) {
        int end = line.lastIndexOf(' ');
        if (end > 0) {
          add(root, Arrays.asList(line.substring(0, end).replace('/', '.').split(";")),
            Long.parseLong(line.substring(end + 1)));
        }
      }
    } else {
      addRecorded(root);
    }
    Files.createDirectories(svg.getParent());
    Files.writeString(svg, draw(root, title));
  }

  private void addRecorded(Node root) throws IOException {
    recording.stop();
    Path dump = Files.createTempFile("stratum-bench", ".jfr");
    try {
      recording.dump(dump);
      for (RecordedEvent event : RecordingFile.readAllEvents(dump)) {
        RecordedStackTrace stack = event.getStackTrace();
        if (stack == null || stack.getFrames().isEmpty() || isWaiting(stack.getFrames())) {
          continue;
        }
        RecordedThread thread = event.getThread("sampledThread");
        List<String> frames = new ArrayList<>();
        for (RecordedFrame frame : stack.getFrames()) {
          RecordedMethod method = frame.getMethod();
          frames.add(method.getType().getName() + '.' + method.getName());
        }
        frames.add(String.valueOf(thread == null ? null : thread.getJavaName()));
        Collections.reverse(frames);
        add(root, frames, 1);
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

  /** @param frames the thread's name, and then from the outermost one */
  private static void add(Node root, List<String> frames, long samples) {
    root.samples += samples;
    Node node = root;
    for (String frame : frames) {
      String name = node == root ? kind(frame) : frame;
      node = node.children.computeIfAbsent(name, key -> new Node());
      node.samples += samples;
    }
  }

  /** The name of a thread without what tells it from others of its kind. */
  private static String kind(String thread) {
    return thread.replaceAll(" tid=\\d+|[\\[\\]]|\\d+", "");
  }

  /** JFR takes a thread that waits in the kernel for one that runs. */
  private static boolean isWaiting(List<RecordedFrame> frames) {
    String name = frames.get(0).getMethod().getName();
    return WAITS.stream().anyMatch(name::startsWith)
      // The thread that reads what the suite says.
      || frames.stream().anyMatch(
        frame -> frame.getMethod().getType().getName().equals(Conversation.class.getName()));
  }

  private static String draw(Node root, String title) {
    int height = HEAD + (root.depth() - 1) * LINE + 4;
    StringBuilder svg = new StringBuilder();
    svg.append(String.format(Locale.ROOT,
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\""
        + " font-family=\"ui-monospace, monospace\" font-size=\"11\">%n"
        + "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>"
        + "<text x=\"4\" y=\"17\" font-size=\"13\">%s: %,d samples</text>%n",
      WIDTH, height, WIDTH, height, escape(title), root.samples));
    draw(svg, root, 0, HEAD, root.samples);
    return svg.append("</svg>\n").toString();
  }

  private static void draw(StringBuilder svg, Node parent, double left, int top, long all) {
    double at = left;
    for (Map.Entry<String, Node> entry : parent.children.entrySet()) {
      Node node = entry.getValue();
      double width = (double) WIDTH * node.samples / all;
      if (width >= MIN_WIDTH) {
        String name = entry.getKey();
        svg.append(String.format(Locale.ROOT,
          "<g><title>%s, %.1f %%</title><rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\""
            + " fill=\"%s\"/>",
          escape(name), 100.0 * node.samples / all, at, top, Math.max(0.3, width - 0.4), LINE - 1,
          colour(name)));
        String text = shortName(name, (int) ((width - 4) / CHARACTER));
        if (!text.isEmpty()) {
          svg.append(String.format(Locale.ROOT, "<text x=\"%.1f\" y=\"%d\">%s</text>", at + 2,
            top + LINE - 5, escape(text)));
        }
        svg.append("</g>\n");
        draw(svg, node, at, top + LINE, all);
      }
      at += width;
    }
  }

  /** Class and method, as much as there is room for. */
  private static String shortName(String name, int room) {
    int method = name.lastIndexOf('.');
    String text = name.substring(name.lastIndexOf('.', method - 1) + 1);
    if (room < 3) {
      return "";
    }
    return text.length() <= room ? text : text.substring(0, room - 1) + "…";
  }

  private static String colour(String name) {
    if (name.endsWith("_[k]")) {
      return "#e5989b";
    }
    if (name.startsWith("org.apache.hadoop.hbase.")) {
      return "#8ecae6";
    }
    if (name.startsWith("org.apache.hadoop.")) {
      return "#f4b183";
    }
    return name.contains(".netty.") ? "#c3b1e1" : "#d9e2c4";
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
