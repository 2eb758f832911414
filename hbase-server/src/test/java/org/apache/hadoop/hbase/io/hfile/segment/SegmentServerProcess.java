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
package org.apache.hadoop.hbase.io.hfile.segment;

import java.io.File;
import java.io.IOException;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.io.hfile.CombinedBlockCache;
import org.apache.hadoop.hbase.io.hfile.composite.OnlineFiles;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.regionserver.OnlineRegionFiles;
import org.apache.hadoop.hbase.regionserver.ServerProcess;

/**
 * A RegionServer with a tier of segments in a process of its own, which can be killed. It tells its
 * name, and again and again of its cache; it dies with the process that started it.
 */
final class SegmentServerProcess {
  private static final String NOTHING = "-";

  /** What the server has said of its cache last. */
  static final class Sample {
    /** Whether it still looks for what a former process has written. */
    final boolean recovering;
    final long blocks;
    /** Blocks that were read from segments. */
    final long reads;
    /** Segments that wait to be written. */
    final int waiting;
    final Set<String> completeFiles;
    /** Regions some bytes of which are cached, by their encoded names. */
    final Set<String> regions;
    /** How many files are cached that no region of this server reads. */
    final long orphans;
    /** Files of online regions all of which are cached, and all of those. */
    final long complete;
    final long online;
    /** The largest part of a region that counts as cached, in percent of its size. */
    final long largestCachedPercent;
    /** Reads that did not wait for a slow device. */
    final long bypassed;

    private Sample(String[] words) {
      recovering = Boolean.parseBoolean(words[1]);
      blocks = Long.parseLong(words[2]);
      reads = Long.parseLong(words[3]);
      waiting = Integer.parseInt(words[4]);
      completeFiles = set(words[5]);
      regions = set(words[6]);
      orphans = Long.parseLong(words[7]);
      complete = Long.parseLong(words[8]);
      online = Long.parseLong(words[9]);
      largestCachedPercent = Long.parseLong(words[10]);
      bypassed = Long.parseLong(words[11]);
    }

    private static Set<String> set(String word) {
      return new TreeSet<>(Arrays.asList(word.split(",")));
    }
  }

  private final ServerProcess process;
  private volatile Sample sample;

  private SegmentServerProcess(Configuration conf, File folder, String label) throws IOException {
    process = ServerProcess.start(SegmentServerProcess.class, conf, folder, label,
      words -> sample = new Sample(words));
  }

  /** Starts a server with {@code conf}; its log is written to files in {@code folder}. */
  static SegmentServerProcess start(Configuration conf, File folder, String label)
    throws IOException {
    return new SegmentServerProcess(conf, folder, label);
  }

  /** Returns the name of the server, as soon as it has one. */
  CompletableFuture<ServerName> name() {
    return process.name();
  }

  /** Returns null before there is a sample. */
  Sample sample() {
    return sample;
  }

  /** Kills the process like kill -9. Returns when it has exited and all its output was read. */
  void kill() throws InterruptedException {
    process.kill();
  }

  /**
   * The process itself.
   * @param args the path of its settings
   */
  public static void main(String[] args) throws Exception {
    HRegionServer server = ServerProcess.serve(args, told -> {
    });
    SegmentCache cache =
      (SegmentCache) ((CombinedBlockCache) server.getBlockCache().get()).getSecondLevelCache();
    while (server.isAlive()) {
      ServerProcess.say("@cache", cache.isRecovering(), cache.getBlockCount(),
        cache.metrics().reads.sum(), cache.pending(),
        word(cache.getFullyCachedFiles().get().keySet()),
        word(cache.getRegionCachedInfo().get().keySet()), orphans(server, cache),
        storeFiles(server, cache.getFullyCachedFiles().get()::containsKey),
        storeFiles(server, file -> true),
        largestCachedPercent(server, cache), cache.metrics().bypassedReads.sum());
      Thread.sleep(10);
    }
    Runtime.getRuntime().halt(1);
  }

  private static long orphans(HRegionServer server, SegmentCache cache) {
    OnlineFiles.Snapshot online = OnlineRegionFiles.of(server.getOnlineRegionsLocalContext());
    return cache.files().live().stream()
      .filter(file -> !online.isRead(file.name(), file.getRegion())).count();
  }

  private static long storeFiles(HRegionServer server, Predicate<String> condition) {
    return server.getOnlineRegionsLocalContext().stream()
      .flatMap(region -> region.getStores().stream())
      .flatMap(store -> store.getStorefiles().stream())
      .filter(file -> !file.isReference() && condition.test(file.getPath().getName())).count();
  }

  private static long largestCachedPercent(HRegionServer server, SegmentCache cache) {
    Map<String, Long> cached = cache.getRegionCachedInfo().get();
    long largest = 0;
    for (HRegion region : server.getOnlineRegionsLocalContext()) {
      // Compacted files have their blocks until they are archived, within two minutes.
      long size = region.getStores().stream()
        .mapToLong(store -> store.getStorefilesSize() + store.getCompactedFiles().stream()
          .mapToLong(file -> file.getFileInfo().getSize()).sum())
        .sum();
      long bytes = cached.getOrDefault(region.getRegionInfo().getEncodedName(), 0L);
      largest = size == 0 ? largest : Math.max(largest, 100 * bytes / size);
    }
    return largest;
  }

  private static String word(Set<String> names) {
    String word = String.join(",", names);
    return word.isEmpty() ? NOTHING : word;
  }
}
