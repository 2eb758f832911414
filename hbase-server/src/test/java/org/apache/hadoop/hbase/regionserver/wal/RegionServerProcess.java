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
package org.apache.hadoop.hbase.regionserver.wal;

import java.io.File;
import java.io.IOException;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.ServerName;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.regionserver.ServerProcess;
import org.apache.hadoop.hbase.replication.BaseReplicationEndpoint;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.wal.WAL;

/**
 * A RegionServer in a process of its own, which can be killed. It tells its name, again and again
 * what it would lose, and what a replication source has read; it dies with the process that started
 * it.
 */
final class RegionServerProcess {
  /** What the server has said of itself last. Times are those of {@link System#nanoTime()}. */
  static final class Sample {
    /** When it was taken, or just before. */
    final long nanos;
    /** How old the oldest write was that is not synced. */
    final long oldest;
    final long unsyncedBytes;
    /** How many syncs of the bound had ended. */
    final long syncs;
    /** How many milliseconds the longest of them took. */
    final long longestMs;
    /** How long the one had taken that was on its way; 0 if none was. */
    final long running;

    private Sample(long nanos, long oldest, long unsyncedBytes, long syncs, long longestMs,
      long running) {
      this.nanos = nanos;
      this.oldest = oldest;
      this.unsyncedBytes = unsyncedBytes;
      this.syncs = syncs;
      this.longestMs = longestMs;
      this.running = running;
    }

    /** Returns the time of the longest sync until {@code end}, be it that it never ended. */
    long longest(long end) {
      return Math.max(TimeUnit.MILLISECONDS.toNanos(longestMs),
        running == 0 ? 0 : running + end - nanos);
    }
  }

  /** Is given the rows that a replication source has read from a WAL. */
  public abstract static class RowEndpoint extends BaseReplicationEndpoint {
    abstract void ship(String row);

    @Override
    public UUID getPeerUUID() {
      return new UUID(16, 689);
    }

    @Override
    public boolean canReplicateToSameCluster() {
      return true;
    }

    @Override
    public boolean replicate(ReplicateContext context) {
      for (WAL.Entry entry : context.getEntries()) {
        for (Cell cell : entry.getEdit().getCells()) {
          ship(Bytes.toString(CellUtil.cloneRow(cell)));
        }
      }
      return true;
    }

    @Override
    public void start() {
      startAsync();
    }

    @Override
    public void stop() {
      stopAsync();
    }

    @Override
    protected void doStart() {
      notifyStarted();
    }

    @Override
    protected void doStop() {
      notifyStopped();
    }
  }

  /** Tells of the rows that a replication source has read from a WAL of such a process. */
  public static final class Teller extends RowEndpoint {
    private static volatile boolean tells;

    @Override
    void ship(String row) {
      if (tells) {
        ServerProcess.say("@shipped", row);
      }
    }
  }

  private final Set<String> shipped = ConcurrentHashMap.newKeySet();
  private final ServerProcess process;
  private volatile Sample sample;

  private RegionServerProcess(Configuration conf, File folder, String label) throws IOException {
    process = ServerProcess.start(RegionServerProcess.class, conf, folder, label, this::heard);
  }

  /** Starts a server with {@code conf}; its log is written to files in {@code folder}. */
  static RegionServerProcess start(Configuration conf, File folder, String label)
    throws IOException {
    return new RegionServerProcess(conf, folder, label);
  }

  private void heard(String[] words) {
    if (words[0].equals("@sample")) {
      sample = new Sample(Long.parseLong(words[1]), Long.parseLong(words[2]),
        Long.parseLong(words[3]), Long.parseLong(words[4]), Long.parseLong(words[5]),
        Long.parseLong(words[6]));
    } else if (words[0].equals("@shipped")) {
      shipped.add(words[1]);
    }
  }

  /** Returns the name of the server, as soon as it has one. */
  CompletableFuture<ServerName> name() {
    return process.name();
  }

  Sample sample() {
    return sample;
  }

  /** Returns the rows that {@link Teller} has told of. */
  Set<String> shipped() {
    return shipped;
  }

  /** Lets the server roll its WALs, some time soon. */
  void roll() throws IOException {
    process.order();
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
    Teller.tells = true;
    HRegionServer server = ServerProcess.serve(args, RegionServerProcess::rollAll);
    AsyncWalMetrics metrics = AsyncWalMetrics.get();
    long longest = 0;
    while (server.isAlive()) {
      // A sync that ends meanwhile is among those that have ended.
      long running = metrics.runningSyncNanos();
      longest = Math.max(longest, metrics.maxSyncMillis());
      long now = System.nanoTime();
      ServerProcess.say("@sample", now, metrics.oldestNanos(), metrics.unsyncedBytes(),
        metrics.endedCount(), longest, running);
      Thread.sleep(5);
    }
    Runtime.getRuntime().halt(1);
  }

  private static void rollAll(HRegionServer server) throws IOException {
    for (WAL wal : server.getWALs()) {
      wal.rollWriter(true);
    }
  }
}
