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
package org.apache.hadoop.hbase.regionserver;

import java.io.File;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.coprocessor.CoprocessorHost;
import org.apache.hadoop.hbase.coprocessor.ObserverContext;
import org.apache.hadoop.hbase.coprocessor.RegionCoprocessor;
import org.apache.hadoop.hbase.coprocessor.RegionCoprocessorEnvironment;
import org.apache.hadoop.hbase.coprocessor.RegionObserver;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.CachedBlock;
import org.apache.hadoop.hbase.io.hfile.CombinedBlockCache;
import org.apache.hadoop.hbase.io.hfile.bucket.BucketCache;
import org.apache.hadoop.hbase.io.hfile.composite.CacheTier;
import org.apache.hadoop.hbase.regionserver.compactions.CompactionLifeCycleTracker;
import org.apache.hadoop.hbase.regionserver.compactions.CompactionRequest;

/**
 * A RegionServer in a process of its own, which can be killed while a compaction is in progress. It
 * tells its name, and again and again how many blocks of which file it has cached; it dies with the
 * process that started it.
 */
final class CompactingServerProcess {
  private static final String STOPPED = "@stopped";
  private static final String CACHED = "@cached";
  private static final String PERSISTED = "@persisted";
  private static final String ROWS_KEY = "test.compacted.rows";

  private final CompletableFuture<Void> stopped = new CompletableFuture<>();
  private final ServerProcess process;
  private volatile Map<String, Integer> cached = new TreeMap<>();
  private volatile boolean persisted;
  private volatile int said;

  private CompactingServerProcess(Configuration conf, File folder, String label)
    throws IOException {
    process = ServerProcess.start(CompactingServerProcess.class, conf, folder, label, this::heard);
  }

  /** Starts a server; its log is written to files in {@code folder}. */
  static CompactingServerProcess start(Configuration conf, File folder, String label)
    throws IOException {
    return new CompactingServerProcess(conf, folder, label);
  }

  /** Starts a server each of whose compactions stops for good after this many rows. */
  static CompactingServerProcess startStopping(Configuration conf, int rows, File folder,
    String label) throws IOException {
    Configuration own = new Configuration(conf);
    own.set(CoprocessorHost.USER_REGION_COPROCESSOR_CONF_KEY, Stopping.class.getName());
    own.setInt(ROWS_KEY, rows);
    return start(own, folder, label);
  }

  private void heard(String[] words) {
    if (words[0].equals(STOPPED)) {
      stopped.complete(null);
    } else if (words[0].equals(CACHED)) {
      Map<String, Integer> now = new TreeMap<>();
      for (int i = 1; i + 1 < words.length; i += 2) {
        now.put(words[i], Integer.valueOf(words[i + 1]));
      }
      cached = now;
    } else if (words[0].equals(PERSISTED)) {
      persisted = Boolean.parseBoolean(words[1]);
      said++;
    }
  }

  /** Returns the name of the server, as soon as it has one. */
  CompletableFuture<ServerName> name() {
    return process.name();
  }

  /** Is done once a compaction has stopped. */
  CompletableFuture<Void> stopped() {
    return stopped;
  }

  /** Returns how many blocks of a file the server has said last to have cached. */
  int cached(String file) {
    return cached.getOrDefault(file, 0);
  }

  /** Returns whether all that was cached outlives a kill, but for a segment that is not full. */
  boolean isPersisted() {
    return persisted;
  }

  /** Returns how often the server has said whether it is persisted. */
  int said() {
    return said;
  }

  /** Kills the process like kill -9. Returns when it has exited. */
  void kill() throws InterruptedException {
    process.kill();
  }

  /** Stops compactions. */
  public static final class Stopping implements RegionCoprocessor, RegionObserver {
    @Override
    public Optional<RegionObserver> getRegionObserver() {
      return Optional.of(this);
    }

    @Override
    public InternalScanner preCompact(ObserverContext<RegionCoprocessorEnvironment> context,
      Store store, InternalScanner scanner, ScanType scanType,
      CompactionLifeCycleTracker tracker, CompactionRequest request) {
      int rows = context.getEnvironment().getConfiguration().getInt(ROWS_KEY, 0);
      return new InternalScanner() {
        private int read;

        @Override
        public boolean next(List<Cell> result, ScannerContext limits) throws IOException {
          if (read++ == rows) {
            ServerProcess.say(STOPPED);
            waitToBeKilled();
          }
          return scanner.next(result, limits);
        }

        @Override
        public void close() throws IOException {
          scanner.close();
        }
      };
    }

    private static void waitToBeKilled() throws IOException {
      try {
        while (true) {
          Thread.sleep(1000);
        }
      } catch (InterruptedException e) {
        throw new IOException(e);
      }
    }
  }

  /**
   * The process itself.
   * @param args the path of its settings
   */
  public static void main(String[] args) throws Exception {
    HRegionServer server = ServerProcess.serve(args, told -> {
    });
    while (server.isAlive()) {
      Map<String, Integer> blocks = new HashMap<>();
      for (CachedBlock block : server.getBlockCache().get()) {
        blocks.merge(block.getFilename(), 1, Integer::sum);
      }
      StringBuilder words = new StringBuilder(CACHED);
      blocks.forEach((file, count) -> words.append(' ').append(file).append(' ').append(count));
      ServerProcess.say(words);
      ServerProcess.say(PERSISTED, isPersisted(
        ((CombinedBlockCache) server.getBlockCache().get()).getSecondLevelCache()));
      Thread.sleep(20);
    }
    Runtime.getRuntime().halt(1);
  }

  private static boolean isPersisted(BlockCache cache) {
    if (cache instanceof BucketCache) {
      return !((BucketCache) cache).isCacheInconsistent();
    }
    AtomicLong waiting = new AtomicLong();
    ((CacheTier) cache).forEachMetric((kind, name, value) -> {
      if (name.equals("WaitingSegmentCount")) {
        waiting.set(value.getAsLong());
      }
    });
    return waiting.get() == 0;
  }
}
