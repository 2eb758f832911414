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

import dev.stratum.childprocess.ChildProcess;
import dev.stratum.childprocess.JvmCommand;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.commons.io.FileUtils;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;

/**
 * The processes of a {@link Cluster}, with the folder that they and their settings are in: how they
 * are started, asked and ended.
 */
final class ClusterProcesses implements Closeable {
  private static final int PARALLEL = 8;

  private final Path folder;
  private final String label;
  private final long begin = System.nanoTime();
  private final Map<String, String> shared = Settings.shared();
  private final Map<ChildProcess, String> children = new ConcurrentHashMap<>();
  private int started;

  /** @param label of its folder and of the lines it prints */
  ClusterProcesses(String label) throws IOException {
    this.label = label;
    this.folder = Path.of(System.getProperty("stratum.processes"), label);
    FileUtils.deleteDirectory(folder.toFile());
    Files.createDirectories(folder);
  }

  Path folder() {
    return folder;
  }

  /** Returns the keys of all processes that are started from now on. */
  Map<String, String> shared() {
    return shared;
  }

  /** Returns those that run, and what each is called. */
  Map<ChildProcess, String> running() {
    return children;
  }

  /** Says how far it is. */
  void say(String format, Object... arguments) {
    System.out.printf("[%s %4d s] %s%n", label,
      TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - begin),
      String.format(format, arguments));
  }

  synchronized ChildProcess launch(String name, Class<?> main, Jars jars, int heapMb)
    throws IOException {
    List<String> options = new ArrayList<>();
    options.add("-Xmx" + heapMb + "m");
    options.add("-XX:MaxDirectMemorySize=256m");
    // They are not measured, there are many of them, and they live for seconds.
    options.add("-XX:+UseSerialGC");
    options.add("-XX:TieredStopAtLevel=1");
    // Verification is a third of what it takes to start one; javac's classes need no proof.
    options.add("-XX:+UnlockDiagnosticVMOptions");
    options.add("-XX:-BytecodeVerificationRemote");
    options.add("-XX:+ExitOnOutOfMemoryError");
    options.add("-Dlog4j2.configurationFile=stratum-processes-log4j2.xml");
    options.add("-Dstratum.log.level=INFO");
    // All buffers: a leak that needs two rare things at once is not to be missed.
    options.add("-Dorg.apache.hbase.thirdparty.io.netty.leakDetection.level=paranoid");
    options.add("-Djava.net.preferIPv4Stack=true");
    options.addAll(List.of(System.getProperty("test.jvm.opens").trim().split("\\s+")));
    String unique = name + "-" + started++;
    Path own = Files.createDirectories(folder.resolve(unique));
    JvmCommand command =
      new JvmCommand(main).classPath(jars.classPath()).options(options).tmpDir(own);
    ChildProcess child =
      new ChildProcess(label + "'s " + name, command, folder.resolve(unique + ".log"));
    children.put(child, unique);
    return child;
  }

  /** Writes the settings of one, on top of the shared ones. */
  Path site(String name, Map<String, String> keys) throws IOException {
    Path site = folder.resolve(name + ".xml");
    Map<String, String> all = new LinkedHashMap<>(shared);
    all.putAll(keys);
    SiteFile.write(site, all);
    return site;
  }

  /** Writes the settings of one, and returns the request to start with them. */
  JsonObject start(String name, Map<String, String> keys) throws IOException {
    return start(site(name, keys));
  }

  /** The request to start with these settings. */
  static JsonObject start(Path site) {
    JsonObject request = ChildProcess.request("start");
    request.addProperty("site", site.toString());
    return request;
  }

  static void inParallel(List<Callable<?>> tasks) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(PARALLEL);
    try {
      List<Future<?>> done = new ArrayList<>();
      tasks.forEach(task -> done.add(threads.submit(task)));
      for (Future<?> task : done) {
        task.get();
      }
    } finally {
      threads.shutdownNow();
    }
  }

  void end(ChildProcess child) {
    children.remove(child);
    child.close();
  }

  /** Returns where a process of the cluster listens that other machines could reach. */
  List<String> reachable() throws IOException {
    List<String> reachable = new ArrayList<>();
    for (ChildProcess child : children.keySet()) {
      for (String socket : ListeningSockets.beyondLoopback(child.handle().pid())) {
        reachable.add(child.command().get(child.command().size() - 1) + " at " + socket);
      }
    }
    return reachable;
  }

  @Override
  public void close() {
    children.keySet().forEach(this::end);
  }
}
