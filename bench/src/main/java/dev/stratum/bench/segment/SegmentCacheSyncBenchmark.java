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
package dev.stratum.bench.segment;

import dev.stratum.bench.PinnedJvm;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Look-ups of random blocks of which most are on the device and not in the page cache, by two
 * threads, in microseconds, beside one thread that inserts at a rate: what the kernel's writing of
 * dirty pages does to reads, and what it is when a segment cache syncs as it writes. The 99th
 * percentile matters.
 *
 * <pre>
 * mvn -pl bench jmh:run -Djmh.include=SegmentCacheSyncBenchmark
 * </pre>
 *
 * The file's clean pages are dropped from the page cache all the time, by dd of GNU coreutils.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Threads(2)
@Warmup(iterations = 1, time = 3)
@Measurement(iterations = 4, time = 5)
@Fork(jvmArgsAppend = { "-Xms2g", "-Xmx2g" })
public class SegmentCacheSyncBenchmark extends PinnedJvm {

  private static final int PAUSE_MILLIS = 20;

  /** What is inserted beside the look-ups, in MB per second. */
  @Param({ "0", "50" })
  public int insertMb;

  /** After how many MB a segment cache syncs what it has written, 0 for never. */
  @Param({ "16" })
  public int syncMb;

  /** The size of data blocks in bytes, before the last cell that makes them full. */
  int size = 65536;

  /** The bytes of blocks that are looked up, in MB. */
  int megabytes = 1024;

  private DeviceTier tier;
  private DataBlocks blocks;
  private DataBlocks others;
  private BlockCache cache;
  private long readable;
  private final List<Thread> threads = new ArrayList<>();
  private volatile boolean ended;

  @Setup(Level.Trial)
  public void fill() throws IOException, InterruptedException {
    blocks = new DataBlocks(size);
    others = new DataBlocks(size);
    tier = new DeviceTier(4L * megabytes << 20, blocks.largest());
    tier.set("hbase.segmentcache.sync.mb", Integer.toString(syncMb));
    cache = tier.open(blocks.allocator());
    for (long bytes = 0; bytes < (long) megabytes << 20; bytes += size) {
      blocks.insertNext(cache);
    }
    readable = blocks.inserted();
    blocks.awaitStored(cache);
    tier.dropPages(true);
    threads.add(new Thread(this::dropPages, "dropping pages"));
    if (insertMb > 0) {
      threads.add(new Thread(this::insert, "inserting"));
    }
    threads.forEach(Thread::start);
  }

  private void dropPages() {
    try {
      while (!ended) {
        tier.dropPages(false);
        TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void insert() {
    long start = System.nanoTime();
    for (long bytes = 0; !ended; bytes += size) {
      others.insertNext(cache);
      long due = start + TimeUnit.SECONDS.toNanos(bytes) / ((long) insertMb << 20);
      while (!ended && System.nanoTime() - due < 0) {
        try {
          TimeUnit.MILLISECONDS.sleep(1);
        } catch (InterruptedException e) {
          return;
        }
      }
    }
  }

  @TearDown(Level.Trial)
  public void close() throws IOException, InterruptedException {
    ended = true;
    for (Thread thread : threads) {
      thread.join();
    }
    cache.shutdown();
    tier.close();
    blocks.close();
    others.close();
  }

  /**
   * Looks up a block.
   * @return whether it is there
   */
  @Benchmark
  public boolean lookUp() {
    long number = ThreadLocalRandom.current().nextLong(readable);
    Cacheable block = cache.getBlock(blocks.key(number), true, false, true);
    if (block == null) {
      return false;
    }
    block.release();
    return true;
  }
}
