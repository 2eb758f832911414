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
package org.apache.hadoop.hbase.regionserver.operations;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.hbase.regionserver.write.CoalescerSettings;
import org.apache.hadoop.util.StringUtils.TraditionalBinaryPrefix;
import org.apache.yetus.audience.InterfaceAudience;

import org.apache.hbase.thirdparty.org.apache.commons.cli.CommandLine;
import org.apache.hbase.thirdparty.org.apache.commons.cli.DefaultParser;
import org.apache.hbase.thirdparty.org.apache.commons.cli.HelpFormatter;
import org.apache.hbase.thirdparty.org.apache.commons.cli.Options;
import org.apache.hbase.thirdparty.org.apache.commons.cli.ParseException;

/**
 * Prints how the memory of a server is best divided, the expected hit ratios, and the settings:
 *
 * <pre>
 * bin/hbase org.apache.hadoop.hbase.regionserver.operations.SizingTool --memory 64g --device 1t
 * </pre>
 *
 * The exit code is 0, or 2 if an argument is invalid.
 */
@InterfaceAudience.Private
public final class SizingTool {
  private static final int WRONG_ARGUMENTS = 2;
  private static final long MB = ServerSizing.MB;
  private static final long GB = ServerSizing.GB;

  private static final Options OPTIONS = new Options()
    .addRequiredOption(null, "memory", true, "memory of the machine, such as 64g")
    .addRequiredOption(null, "device", true, "free space on each cache device, such as 1t")
    .addOption(null, "paths", true, "files on the devices; default: /ssd1/hbase.segments")
    .addOption(null, "data", true, "data of the server; default: as much as fits on the devices")
    .addOption(null, "load", true, "serving, ingest or mixed; default: mixed")
    .addOption(null, "block", true, "block size; default: 64k")
    .addOption(null, "row", true, "mean size of a row; default: 1k")
    .addOption(null, "key", true, "mean length of a row key in bytes; default: 24")
    .addOption(null, "heap", true, "heap; default: by load and memory, at most 31g")
    .addOption(null, "write", true, "folder for hbase-site.xml and hbase-env.sh");

  private SizingTool() {
  }

  public static void main(String[] args) throws IOException {
    System.exit(run(args));
  }

  /** Runs the tool, and returns its exit code. */
  public static int run(String... args) throws IOException {
    CommandLine line;
    ServerSizing sizing;
    try {
      line = new DefaultParser().parse(OPTIONS, args);
      if (!line.getArgList().isEmpty()) {
        throw new ParseException("Unrecognized argument: " + line.getArgList().get(0));
      }
      sizing = sizing(line);
    } catch (ParseException | IllegalArgumentException e) {
      System.err.println(e.getMessage());
      new HelpFormatter().printHelp("SizingTool --memory SIZE --device SIZE [OPTION ...]",
        OPTIONS);
      return WRONG_ARGUMENTS;
    }
    if (line.hasOption("write")) {
      Path folder = Files.createDirectories(new File(line.getOptionValue("write")).toPath());
      write(folder.resolve("hbase-site.xml"), site(sizing, args));
      write(folder.resolve("hbase-env.sh"), env(sizing));
    } else {
      System.out.print(report(sizing));
    }
    return 0;
  }

  private static void write(Path file, String text) throws IOException {
    Files.write(file, text.getBytes(StandardCharsets.UTF_8));
  }

  private static ServerSizing sizing(CommandLine line) {
    List<String> paths =
      Arrays.asList(line.getOptionValue("paths", "/ssd1/hbase.segments").split(","));
    ServerSizing.Builder builder = new ServerSizing.Builder(
      size(line, "memory", 0, ServerSizing.GB, 64L << 40),
      size(line, "device", 0, ServerSizing.GB, 64L << 40) * paths.size(), paths);
    return builder.load(load(line.getOptionValue("load", "mixed")))
      .data(size(line, "data", 0, MB, 1L << 50))
      .heap(size(line, "heap", 0, 128 * MB, 1L << 40))
      .block((int) size(line, "block", 64 << 10, 1 << 10, 8 << 20))
      .row((int) size(line, "row", 1 << 10, 1, 1 << 30))
      .key((int) size(line, "key", 24, 1, 32 << 10)).build();
  }

  private static long size(CommandLine line, String option, long missing, long min, long max) {
    String value = line.getOptionValue(option);
    if (value == null) {
      return missing;
    }
    long size;
    try {
      size = TraditionalBinaryPrefix.string2long(value);
    } catch (IllegalArgumentException e) {
      size = -1;
    }
    if (size < min || size > max) {
      throw new IllegalArgumentException("--" + option + " is " + value + "; must be from "
        + brief(min) + " to " + brief(max) + ", a number and k, m, g or t.");
    }
    return size;
  }

  private static String brief(long size) {
    return TraditionalBinaryPrefix.long2String(size, "", 0).replace(" ", "")
      .toLowerCase(Locale.ROOT);
  }

  private static ServerLoad load(String value) {
    for (ServerLoad load : ServerLoad.values()) {
      if (load.toString().equals(value)) {
        return load;
      }
    }
    throw new IllegalArgumentException(
      "--load is " + value + "; must be serving, ingest or mixed.");
  }

  /** Returns the division of the memory, the hit ratios and the lines to paste. */
  static String report(ServerSizing sizing) {
    List<String> lines = summary(sizing);
    lines.add("");
    lines.add("hbase-site.xml:");
    properties(sizing, lines);
    lines.add("");
    lines.add("hbase-env.sh:");
    lines.addAll(options(sizing));
    return String.join("\n", lines) + "\n";
  }

  private static List<String> summary(ServerSizing sizing) {
    List<String> lines = new ArrayList<>();
    row(lines, "memory", sizing.memory, "for a load of the kind " + sizing.load);
    row(lines, "  system", sizing.system, "kernel, page cache, DataNode");
    row(lines, "  heap", sizing.heap, "the map of L1 takes up to " + mb(sizing.mapHeap()));
    row(lines, "  JVM", sizing.jvm, "collector, code, threads");
    row(lines, "  direct memory", sizing.direct, "");
    row(lines, "    L1", sizing.l1, sizing.metaBeyondL1() > 0
      ? "too small for " + mb(sizing.metaBeyondL1()) + " of index and bloom, which L2 holds"
      : "of which hot data " + mb(sizing.hotData()));
    if (sizing.rowCache > 0) {
      row(lines, "    row cache", sizing.rowCache, "for tables with ROW_CACHE_ENABLED");
    }
    row(lines, "    segments of L2", sizing.segmentMemory, "index and buffers");
    row(lines, "    RPC buffers", sizing.pool, "");
    row(lines, "    HDFS, Netty", sizing.clientBuffers, "");
    row(lines, "    reserve", sizing.reserve, "");
    row(lines, "L2", sizing.l2, "");
    row(lines, "data", sizing.data, sizing.blocks + " blocks");
    row(lines, "  block indexes", sizing.indexBytes, "");
    row(lines, "  row bloom filters", sizing.bloomBytes, "");
    lines.add(String.format(Locale.ROOT,
      "zipfian gets (0.99) that find their block, at best: %.0f %% in L1, %.0f %% in L1 or L2",
      100 * sizing.l1HitRatio(), 100 * sizing.hitRatio()));
    if (sizing.rowCache > 0) {
      lines.add(String.format(Locale.ROOT,
        "of tables with ROW_CACHE_ENABLED, at best: %.0f %% from the row cache",
        100 * sizing.rowHitRatio()));
    }
    return lines;
  }

  private static void row(List<String> lines, String name, long bytes, String note) {
    lines.add(
      String.format(Locale.ROOT, "%-21s%10s  %s", name, mb(bytes), note).replaceAll("\\s+$", ""));
  }

  /** Returns the size with three digits or more. */
  private static String mb(long bytes) {
    return bytes < 10 * GB
      ? (bytes + MB / 2) / MB + " MB"
      : String.format(Locale.ROOT, "%.1f GB", (double) bytes / GB);
  }

  private static void properties(ServerSizing sizing, List<String> lines) {
    Map<String, String> sorted = new TreeMap<>();
    sizing.settings().forEach(entry -> sorted.put(entry.getKey(), entry.getValue()));
    sorted.forEach((key, value) -> lines.add(property(key, value)));
    if (sizing.load != ServerLoad.SERVING) {
      lines.add("<!-- Enable counter coalescing last, when all servers run the fork:");
      lines.add(property(CoalescerSettings.ENABLED_KEY, "true"));
      lines.add("-->");
    }
  }

  private static String property(String key, String value) {
    return "<property><name>" + key + "</name><value>" + value + "</value></property>";
  }

  private static List<String> options(ServerSizing sizing) {
    return Arrays.asList("export HBASE_REGIONSERVER_OPTS=\"$HBASE_REGIONSERVER_OPTS \\",
      "  " + String.join(" ", sizing.jvmOptions()) + "\"");
  }

  /** Returns a complete hbase-site.xml of a RegionServer, but for the cluster's addresses. */
  static String site(ServerSizing sizing, String... args) {
    List<String> command = new ArrayList<>(Arrays.asList(args));
    int write = command.indexOf("--write");
    if (write >= 0) {
      command.subList(write, write + 2).clear();
    }
    List<String> lines = new ArrayList<>();
    lines.add("<?xml version=\"1.0\"?>");
    lines.add("<!--");
    lines.add("  dropin size " + String.join(" ", command).replace("--", ""));
    lines.add("");
    summary(sizing).forEach(line -> lines.add("  " + line));
    lines.add("-->");
    lines.add("<configuration>");
    properties(sizing, lines);
    lines.add("</configuration>");
    return String.join("\n", lines) + "\n";
  }

  private static String env(ServerSizing sizing) {
    return String.join("\n", options(sizing)) + "\n";
  }
}
