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

import java.io.BufferedReader;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
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

  /** Tells of the rows that a replication source has read from a WAL of such a process. */
  public static final class Teller extends BaseReplicationEndpoint {
    private static volatile boolean tells;

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
      if (tells) {
        for (WAL.Entry entry : context.getEntries()) {
          for (Cell cell : entry.getEdit().getCells()) {
            System.out.println("@shipped " + Bytes.toString(CellUtil.cloneRow(cell)) + " .");
          }
        }
        System.out.flush();
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

  private final Process process;
  private final OutputStream commands;
  private final Thread reader;
  private final CompletableFuture<ServerName> name = new CompletableFuture<>();
  private final Set<String> shipped = ConcurrentHashMap.newKeySet();
  private volatile Sample sample;

  private RegionServerProcess(Process process) {
    this.process = process;
    this.commands = process.getOutputStream();
    this.reader = new Thread(this::read, "reader of a RegionServer");
    reader.setDaemon(true);
    reader.start();
  }

  /** Starts a server with {@code conf}; what it logs goes to files in {@code folder}. */
  static RegionServerProcess start(Configuration conf, File folder, String label)
    throws IOException {
    File site = new File(folder, label + ".xml");
    try (OutputStream out = new FileOutputStream(site)) {
      conf.writeXml(out);
    }
    List<String> command = new ArrayList<>();
    command.add(Paths.get(System.getProperty("java.home"), "bin", "java").toString());
    for (String argument : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
      if (argument.startsWith("--add-")) {
        command.add(argument);
      }
    }
    command.add("-Xmx512m");
    command.add("-XX:TieredStopAtLevel=1");
    command.add("-Djava.net.preferIPv4Stack=true");
    command.add("-Djava.io.tmpdir=" + folder);
    command.add(RegionServerProcess.class.getName());
    command.add(site.getPath());
    ProcessBuilder builder = new ProcessBuilder(command).directory(folder)
      .redirectError(new File(folder, label + ".err"));
    builder.environment().put("CLASSPATH", System.getProperty("java.class.path"));
    return new RegionServerProcess(builder.start());
  }

  private void read() {
    try (BufferedReader in = new BufferedReader(
      new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      for (String line; (line = in.readLine()) != null;) {
        String[] words = line.split(" ");
        if (words[0].equals("@name")) {
          name.complete(ServerName.valueOf(words[1]));
        } else if (words[0].equals("@sample") && words.length == 8) {
          sample = new Sample(Long.parseLong(words[1]), Long.parseLong(words[2]),
            Long.parseLong(words[3]), Long.parseLong(words[4]), Long.parseLong(words[5]),
            Long.parseLong(words[6]));
        } else if (words[0].equals("@shipped") && words.length == 3) {
          shipped.add(words[1]);
        }
      }
    } catch (IOException e) {
      // The end of the process is the end of the stream.
    }
    name.completeExceptionally(new IOException("The server has ended"));
  }

  /** Returns the name of the server, as soon as it has one. */
  CompletableFuture<ServerName> name() {
    return name;
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
    commands.write('r');
    commands.flush();
  }

  /** As kill -9. Returns when the process is gone and all that it has said was read. */
  void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
    reader.join();
  }

  /**
   * The process itself.
   * @param args the path of its settings
   */
  public static void main(String[] args) throws Exception {
    Configuration conf = new Configuration();
    conf.addResource(new File(args[0]).toURI().toURL());
    Teller.tells = true;
    HRegionServer server = new HRegionServer(conf);
    Thread orders = new Thread(() -> obey(server), "orders");
    orders.setDaemon(true);
    orders.start();
    server.start();
    while (server.isAlive() && !server.isOnline()) {
      Thread.sleep(10);
    }
    System.out.println("@name " + server.getServerName());
    AsyncWalMetrics metrics = AsyncWalMetrics.get();
    long longest = 0;
    while (server.isAlive()) {
      // One that ends meanwhile is among those that have ended.
      long running = metrics.runningSyncNanos();
      longest = Math.max(longest, metrics.longestSyncMillis());
      long now = System.nanoTime();
      // The last word shows that the line is whole.
      System.out.println("@sample " + now + " " + metrics.oldestNanos() + " "
        + metrics.unsyncedBytes() + " " + metrics.endedCount() + " " + longest + " " + running
        + " .");
      System.out.flush();
      Thread.sleep(5);
    }
    Runtime.getRuntime().halt(1);
  }

  private static void obey(HRegionServer server) {
    try {
      while (System.in.read() >= 0) {
        for (WAL wal : server.getWALs()) {
          wal.rollWriter(true);
        }
      }
    } catch (IOException e) {
      e.printStackTrace();
    }
    Runtime.getRuntime().halt(2);
  }
}
