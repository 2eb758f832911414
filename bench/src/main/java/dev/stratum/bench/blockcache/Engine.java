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
package dev.stratum.bench.blockcache;

import dev.stratum.bench.harness.ForkClass;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;

/**
 * A place for a bucket cache by the name of its engine: the value for
 * <code>hbase.bucketcache.ioengine</code>, and the file behind it if there is one, which
 * {@link #close()} deletes. Files lie under <code>java.io.tmpdir</code> and, being smaller than
 * free memory, stay in the page cache: the engine is measured, not the device.
 */
public final class Engine implements Closeable {
  private static final long MAX_WAIT_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final String name;
  private final Path file;

  /** @param name <code>offheap</code>, <code>file</code>, <code>mmap</code> or <code>pmem</code> */
  public Engine(String name) throws IOException {
    this.name = name;
    this.file = name.equals("offheap") ? null : Files.createTempFile("stratum-bench", ".bucket");
  }

  /** Returns what <code>hbase.bucketcache.ioengine</code> is to be set to. */
  public String setting() {
    return file == null ? name : name + ":" + file;
  }

  /**
   * Makes this the engine of L2, of CompositeBucketCache on the fork and of CombinedBlockCache on
   * stock, with one queue that takes all the blocks of a file, read faster than they are written.
   * @param promotion   of data to L1 on the fork
   * @param l1Megabytes the size of L1 on the fork
   */
  void configure(Configuration conf, String promotion, int l1Megabytes, int l2Megabytes) {
    conf.setInt(BlockCacheFactory.BUCKET_CACHE_WRITER_QUEUE_KEY, 1 << 16);
    if (ForkClass.COMPOSITE_BUCKET_CACHE.isPresent()) {
      conf.setBoolean("hbase.bucketcache.composite.enabled", true);
      conf.set("hbase.bucketcache.composite.promotion", promotion);
      conf.setInt("hbase.bucketcache.l1.size", l1Megabytes);
      conf.set("hbase.bucketcache.l2.ioengine", setting());
      conf.setInt("hbase.bucketcache.l2.size", l2Megabytes);
    } else {
      conf.set(HConstants.BUCKET_CACHE_IOENGINE_KEY, setting());
      conf.setInt(HConstants.BUCKET_CACHE_SIZE_KEY, l2Megabytes);
    }
  }

  /** Deletes the file of the cache. Called after the cache was shut down. */
  @Override
  public void close() throws IOException {
    if (file != null) {
      awaitWriters();
      Files.deleteIfExists(file);
    }
  }

  /** Stock's shutdown does not wait for the cache's writers, and one may open the file again. */
  private static void awaitWriters() {
    long end = System.nanoTime() + MAX_WAIT_NANOS;
    for (Thread thread : Thread.getAllStackTraces().keySet()) {
      if (thread.getName().contains("BucketCacheWriter")) {
        try {
          TimeUnit.NANOSECONDS.timedJoin(thread, end - System.nanoTime());
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          return;
        }
      }
    }
  }
}
