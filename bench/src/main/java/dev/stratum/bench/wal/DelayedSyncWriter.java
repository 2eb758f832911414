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
package dev.stratum.bench.wal;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.regionserver.wal.AsyncProtobufLogWriter;
import org.apache.hadoop.hbase.wal.AsyncFSWALProvider;
import org.apache.hbase.thirdparty.io.netty.channel.Channel;
import org.apache.hbase.thirdparty.io.netty.channel.EventLoopGroup;

/**
 * The writer of AsyncFSWAL, whose syncs may end later: as those of a DataNode that is far away. No
 * thread waits meanwhile. The delay is one for all WALs of the JVM, 0 at first. Thread-safe.
 */
public final class DelayedSyncWriter extends AsyncProtobufLogWriter {
  /** HBase's key of the class of the writer, which is to be this one. */
  public static final String KEY = AsyncFSWALProvider.WRITER_IMPL;

  private static final ScheduledExecutorService TIMER =
    Executors.newSingleThreadScheduledExecutor(task -> {
      Thread thread = new Thread(task, "delay");
      thread.setDaemon(true);
      return thread;
    });

  private static volatile int delayMillis;

  public DelayedSyncWriter(EventLoopGroup group, Class<? extends Channel> channelClass) {
    super(group, channelClass);
  }

  /**
   * Delays syncs that begin from now on.
   * @param millis by how much each of them ends later, in milliseconds; 0 for not at all
   */
  public static void delay(int millis) {
    delayMillis = millis;
  }

  @Override
  public CompletableFuture<Long> sync(boolean forceSync) {
    int delay = delayMillis;
    CompletableFuture<Long> sync = super.sync(forceSync);
    if (delay == 0) {
      return sync;
    }
    CompletableFuture<Long> later = new CompletableFuture<>();
    sync.whenComplete((length, error) -> TIMER.schedule(
      () -> error == null ? later.complete(length) : later.completeExceptionally(error), delay,
      TimeUnit.MILLISECONDS));
    return later;
  }
}
