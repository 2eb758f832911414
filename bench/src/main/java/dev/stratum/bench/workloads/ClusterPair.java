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

import dev.stratum.processes.LoopbackHdfs;
import java.io.Closeable;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;

/**
 * The clusters of both sides, which run all the time while one of them is measured. Used by one
 * thread, but for {@link #close} and {@link #processes}.
 */
final class ClusterPair implements Closeable {
  private static final List<String> SIDES = List.of("stock", "fork");

  /** An operation on one of the clusters. */
  interface Step {
    void run(ClusterUnderTest cluster) throws SuiteException;
  }

  private final SuiteOptions options;
  private final PrintStream out;
  private final Path tmp;
  private final List<ClusterUnderTest> clusters = new CopyOnWriteArrayList<>();
  /** HBase's keys that differ between the sides, by side. */
  private final Map<String, Map<String, String>> ownKeys = new HashMap<>();
  private int starts;
  private volatile boolean closed;

  ClusterPair(SuiteOptions options, PrintStream out) {
    this.options = options;
    this.out = out;
    this.tmp = options.directory().resolve("tmp");
  }

  /**
   * Starts all processes of both clusters.
   * @param servers what they have, see {@link WorkloadCase#servers}
   */
  void start(Map<String, String> servers) throws IOException, SuiteException {
    ServerSettings usual = new ServerSettings(options.sizes());
    ServerSettings settings = new ServerSettings(options.sizes(servers));
    starts++;
    // Logs of failed servers are not overwritten.
    Path logs = options.directory().resolve("logs");
    if (starts > 1) {
      logs = Files.createDirectories(logs.resolve("start-" + starts));
    }
    for (String side : SIDES) {
      Path folder =
        Files.createDirectories(tmp.resolve("start-" + starts).resolve(side));
      Path cacheFile = folder.resolve("l2.cache");
      Map<String, String> keys = new LinkedHashMap<>(settings.shared());
      keys.putAll(SuiteOptions.keys(servers));
      if (side.equals("fork")) {
        keys.putAll(settings.fork(cacheFile));
        keys.putAll(options.forkKeys(servers));
        ownKeys.put(side, usual.fork(cacheFile));
        ownKeys.get(side).putAll(options.forkKeys());
      } else {
        keys.putAll(settings.stock(cacheFile));
        ownKeys.put(side, usual.stock(cacheFile));
      }
      synchronized (this) {
        if (closed) {
          throw new SuiteException("The run was stopped.");
        }
        clusters.add(
          new ClusterUnderTest(side, options.classPath(side), keys, settings, folder, logs));
      }
    }
    both(ClusterUnderTest::start);
  }

  /** Stops both clusters and removes their data; {@link #start} may follow. */
  void stop() {
    clusters.forEach(ClusterUnderTest::close);
    clusters.clear();
    deleteData();
  }

  /** Returns stock's and the fork's cluster, in this order. */
  List<ClusterUnderTest> clusters() {
    return clusters;
  }

  /**
   * HBase's keys of a side that the other does not have or has with another value, without those
   * of the servers of single cases.
   */
  Map<String, String> ownKeys(String side) {
    return ownKeys.get(side);
  }

  /** Does one operation on both clusters at once. */
  void both(Step step) throws SuiteException {
    ExecutorService pool = Executors.newFixedThreadPool(clusters.size());
    try {
      List<Future<Void>> steps = new ArrayList<>();
      for (ClusterUnderTest cluster : clusters) {
        steps.add(pool.submit(() -> {
          step.run(cluster);
          return null;
        }));
      }
      for (Future<Void> one : steps) {
        one.get();
      }
    } catch (ExecutionException e) {
      throw e.getCause() instanceof SuiteException
        ? (SuiteException) e.getCause()
        : new SuiteException(String.valueOf(e.getCause()), e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new SuiteException("The run was interrupted.", e);
    } finally {
      pool.shutdown();
    }
  }

  /** Returns all processes of both clusters. May be called by any thread. */
  List<ProcessHandle> processes() {
    List<ProcessHandle> handles = new ArrayList<>();
    clusters.forEach(cluster -> handles.addAll(cluster.processes()));
    return handles;
  }

  /** Returns whether it was closed, after which an error of a cluster tells nothing. */
  boolean isClosed() {
    return closed;
  }

  /** Ends all processes and removes their data. May be called by any thread, several times. */
  @Override
  public void close() {
    synchronized (this) {
      closed = true;
    }
    clusters.forEach(ClusterUnderTest::close);
    deleteData();
  }

  private void deleteData() {
    try {
      LoopbackHdfs.removeAbandoned();
      delete(tmp);
    } catch (IOException | UncheckedIOException e) {
      out.println("Not all of " + tmp + " could be removed: " + e);
    }
  }

  private static void delete(Path folder) throws IOException {
    if (!Files.exists(folder)) {
      return;
    }
    try (Stream<Path> paths = Files.walk(folder)) {
      for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(path);
      }
    }
  }
}
