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

import java.util.Locale;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.io.SizeClassByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.composite.CompositeBucketCacheSettings;
import org.apache.hadoop.hbase.io.hfile.load.HandoverSettings;
import org.apache.hadoop.hbase.io.hfile.load.PrefetchSettings;
import org.apache.hadoop.hbase.io.hfile.segment.SegmentCacheSettings;
import org.apache.hadoop.hbase.io.util.MemorySizeUtil;
import org.apache.hadoop.hbase.ipc.FlushConsolidationSettings;
import org.apache.hadoop.hbase.regionserver.multiget.MultigetSettings;
import org.apache.hadoop.hbase.regionserver.read.PointGetSettings;
import org.apache.hadoop.hbase.regionserver.wal.AsyncWalSettings;
import org.apache.hadoop.hbase.regionserver.write.WriteGroupSettings;
import org.apache.yetus.audience.InterfaceAudience;

/** The main use of a server, and the settings that follow from it. */
@InterfaceAudience.Private
enum ServerLoad {
  /** Gets and multigets with a low latency. */
  SERVING(4),

  /** Writes and counters; what is read once does not enter the cache. */
  INGEST(2.5),

  /** Both of them. */
  MIXED(3);

  /** Reads that an NVMe device serves in parallel at a low latency. */
  private static final int READS_PER_DEVICE = 16;
  private static final int MAX_THREADS = 64;

  /**
   * The number of gets in a row that a connection's thread may answer if there are many
   * connections.
   */
  private static final int GETS_IN_A_ROW = 16;

  private static final int PREFETCH_MB_PER_SEC = 200;

  /** An endurance that SSDs for mixed use have. */
  private static final int DRIVE_WRITES_A_DAY = 3;
  private static final long SECONDS_A_DAY = 86_400;

  private static final int SMALL_BLOCK = 16 << 10;
  private static final long MB = 1 << 20;

  private final double memoryToHeap;

  ServerLoad(double memoryToHeap) {
    this.memoryToHeap = memoryToHeap;
  }

  /** Returns the heap that suits a machine with this memory, in bytes, without an upper limit. */
  long heap(long memory) {
    return (long) (memory / memoryToHeap);
  }

  /** Returns whether single rows are read so often that a row cache pays. */
  boolean cachesRows() {
    return this != INGEST;
  }

  /**
   * Sets what follows from the load.
   * @param devices    number of devices
   * @param l2         capacity of L2 in bytes
   * @param data       data that the server stores, in bytes of blocks
   * @param blockBytes size of a block
   */
  void set(Configuration conf, int devices, long l2, long data, int blockBytes) {
    conf.setBoolean(FlushConsolidationSettings.ENABLED_KEY, true);
    if (blockBytes <= SMALL_BLOCK) {
      conf.setBoolean(SizeClassByteBuffAllocator.ENABLED_KEY, true);
    }
    conf.setBoolean(PointGetSettings.ENABLED_KEY, true);
    if (this != INGEST) {
      conf.setInt(PointGetSettings.ON_CONNECTION_THREAD_KEY, GETS_IN_A_ROW);
      conf.setBoolean(MultigetSettings.ENABLED_KEY, true);
      conf.setInt(MultigetSettings.THREADS_KEY,
        Math.min(MAX_THREADS, READS_PER_DEVICE * devices));
      conf.setBoolean(CacheConfig.CACHE_BLOCKS_ON_WRITE_KEY, true);
    }
    if (this != SERVING) {
      conf.setBoolean(WriteGroupSettings.ENABLED_KEY, true);
      conf.setInt(AsyncWalSettings.INTERVAL_KEY, 100);
      conf.setLong(AsyncWalSettings.BYTES_KEY, MB);
      conf.setLong(AsyncWalSettings.MAX_UNSYNCED_KEY, 16 * MB);
      conf.set(CompositeBucketCacheSettings.L2_ADMISSION_KEY, "second-miss");
    }
    if (this == SERVING && data <= l2) {
      conf.setBoolean(CacheConfig.PREFETCH_BLOCKS_ON_OPEN_KEY, true);
      conf.setInt(PrefetchSettings.LIMIT_KEY, PREFETCH_MB_PER_SEC);
      conf.set(PrefetchSettings.ORDER_KEY, "newest");
    } else if (this != INGEST) {
      // Prefetch brings all of a compaction's output.
      conf.setBoolean(HandoverSettings.ENABLED_KEY, true);
    }
    if (this == INGEST) {
      conf.set(MemorySizeUtil.MEMSTORE_SIZE_KEY, "0.5");
      conf.setLong(SegmentCacheSettings.WRITE_LIMIT_KEY,
        Math.max(1, DRIVE_WRITES_A_DAY * (l2 / MB) / SECONDS_A_DAY));
    }
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
