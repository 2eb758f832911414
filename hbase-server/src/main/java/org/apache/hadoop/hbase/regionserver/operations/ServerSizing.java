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

import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.apache.hadoop.hbase.io.hfile.composite.CompositeBucketCacheSettings;
import org.apache.hadoop.hbase.io.hfile.segment.SegmentCacheSettings;
import org.apache.hadoop.hbase.regionserver.read.cache.RowCacheSettings;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Divides the memory of a machine between the heap, the tiers of the composite bucket cache and
 * everything else, for an L2 of segments. This is the arithmetic of the section Size in
 * docs/composite-bucket-cache.md and docs/segment-cache.md. All sizes are in bytes unless a name
 * says otherwise. Immutable.
 */
@InterfaceAudience.Private
final class ServerSizing {
  static final long MB = 1 << 20;
  static final long GB = 1 << 30;

  /** Above this, object pointers take 8 bytes. */
  private static final long MAX_HEAP = 31 * GB;
  /** Part of the memory for the kernel, the page cache, a DataNode and other processes. */
  private static final int SYSTEM_PART = 10;
  /** Part of the heap that its collector uses beside it, and what a JVM takes without a heap. */
  private static final int COLLECTOR_PART = 16;
  private static final long JVM_BYTES = 256 * MB;
  /** Direct memory of HDFS and Netty: 2 GB from 32 GB of memory on. */
  private static final int CLIENT_BUFFERS_PART = 16;
  private static final long MAX_CLIENT_BUFFERS = 2 * GB;

  /** Part of the devices that L2 uses: file systems and devices slow down when they are full. */
  private static final double DEVICE_USE = 0.9;
  /** Space for each byte of a block: its header and last cell, and 5 % of buckets unused. */
  private static final double L1_SPACE = 1.09;
  /** Space for each byte of a block: its header and last cell, and clean segments. */
  private static final double L2_SPACE = 1.05;
  /** An entry of a block index without the key, and the other fields of the key. */
  private static final int INDEX_ENTRY_BYTES = 28;
  private static final int COLUMN_BYTES = 12;
  /** Bytes of Bloom filter for a row, at an error rate of 0.01. */
  private static final double BLOOM_BYTES_PER_ROW = 1.2;
  private static final int META_BLOCK_BYTES = 128 << 10;
  private static final int HEAP_PER_META_BLOCK = 425;
  private static final int HEAP_PER_DATA_BLOCK = 700;
  private static final long MIN_L1 = 64 * MB;
  /** The row cache has this part of the memory that it shares with L1. */
  private static final int ROW_CACHE_PART = 4;
  /** More is the operator's decision, as only tables that say so use it. */
  private static final long MAX_ROW_CACHE = 8192 * MB;
  /** Memory of a row beside its cells and its key. */
  private static final int CACHED_ROW_BYTES = 45;

  final ServerLoad load;
  final long memory;
  /** The memory left to the kernel, the page cache and other processes. */
  final long system;
  final long heap;
  /** The memory of the JVM beside heap and direct memory. */
  final long jvm;
  /** The limit of direct memory, which contains the following parts. */
  final long direct;
  /** The direct memory of HDFS's and Netty's buffers. */
  final long clientBuffers;
  /** The direct memory of the RPC buffer pool. */
  final long pool;
  /** The direct memory of the segment cache's buffers and index. */
  final long segmentMemory;
  /** The direct memory that the index of the segment cache leaves to others. */
  final long reserve;
  final long l1;
  /** The memory of the row cache; 0 without one. */
  final long rowCache;
  final long l2;
  final long blocks;
  /** The size of the data's blocks. */
  final long data;
  private final long rows;
  /** The size of the block indexes. */
  final long indexBytes;
  /** The size of the row bloom filters. */
  final long bloomBytes;
  private final int blockBytes;
  private final int rowBytes;
  private final int keyBytes;
  private final Configuration settings = new Configuration(false);

  private ServerSizing(Builder given) {
    load = given.load;
    memory = given.memory;
    blockBytes = given.blockBytes;
    rowBytes = given.rowBytes;
    keyBytes = given.keyBytes;
    system = floor(memory / SYSTEM_PART);
    heap = given.heap > 0 ? floor(given.heap) : floor(Math.min(MAX_HEAP, load.heap(memory)));
    jvm = floor(heap / COLLECTOR_PART + JVM_BYTES);
    direct = memory - system - heap - jvm;
    if (direct <= 0) {
      throw tooLittle(given);
    }
    clientBuffers = floor(Math.min(MAX_CLIENT_BUFFERS, memory / CLIENT_BUFFERS_PART));
    reserve = SegmentCacheSettings.reserveBytes(direct);
    int devices = given.paths.size();
    int blockKb = Math.max(1, blockBytes >> 10);
    // An index that takes more than half would leave too little for L1.
    long most = (long) (given.device * DEVICE_USE);
    while (SegmentCacheSettings.directMemory(most, devices, blockKb) > direct / 2) {
      most -= most / 16;
    }
    l2 = floor(most);
    segmentMemory = SegmentCacheSettings.directMemory(l2, devices, blockKb);
    data = given.data > 0 ? given.data : (long) (l2 / L2_SPACE);
    blocks = Math.max(1, data / blockBytes);
    rows = Math.max(1, data / rowBytes);
    indexBytes = blocks * (INDEX_ENTRY_BYTES + keyBytes + COLUMN_BYTES);
    bloomBytes = (long) (rows * BLOOM_BYTES_PER_ROW);
    fill(given.paths, blockKb);
    ByteBuffAllocator buffers = ByteBuffAllocator.create(withDefaults(), true);
    pool = (long) buffers.getTotalBufferCount() * buffers.getBufferSize();
    long both = floor(direct - clientBuffers - pool - segmentMemory - reserve);
    long forRows = load.cachesRows()
      ? Math.min(MAX_ROW_CACHE, floor(both / ROW_CACHE_PART))
      : 0;
    rowCache = both - forRows < MIN_L1 ? 0 : forRows;
    l1 = both - rowCache;
    if (l1 < MIN_L1) {
      throw tooLittle(given);
    }
    if (rowCache > 0) {
      settings.setLong(RowCacheSettings.SIZE_KEY, rowCache / MB);
    }
    settings.setLong(CompositeBucketCacheSettings.L1_PREFIX + CompositeBucketCacheSettings.SIZE,
      l1 / MB);
  }

  private static IllegalArgumentException tooLittle(Builder given) {
    return new IllegalArgumentException("a memory of " + given.memory / MB + " MB leaves no "
      + MIN_L1 / MB + " MB for L1" + (given.heap > 0
        ? " beside a heap of " + given.heap / MB + " MB"
        : ""));
  }

  private static long floor(long bytes) {
    return bytes / MB * MB;
  }

  private void fill(List<String> paths, int blockKb) {
    settings.setBoolean(CompositeBucketCacheSettings.ENABLED_KEY, true);
    settings.set(CompositeBucketCacheSettings.L2_PREFIX + CompositeBucketCacheSettings.IOENGINE,
      "segments:" + String.join(",", paths));
    settings.setLong(CompositeBucketCacheSettings.L2_PREFIX + CompositeBucketCacheSettings.SIZE,
      l2 / MB);
    settings.setInt(SegmentCacheSettings.EXPECTED_BLOCK_KB_KEY, blockKb);
    settings.setInt(HConstants.HFILE_BLOCK_CACHE_SIZE_KEY, 0);
    if (blockBytes != HConstants.DEFAULT_BLOCKSIZE) {
      settings.setInt(BlockCacheFactory.BLOCKCACHE_BLOCKSIZE_KEY, blockBytes);
    }
    load.set(settings, paths.size(), l2, data, blockBytes);
  }

  private Configuration withDefaults() {
    Configuration conf = new Configuration(settings);
    conf.addResource("hbase-default.xml");
    return conf;
  }

  /** Returns the space that index and bloom blocks leave in L1 to data. */
  long hotData() {
    return Math.max(0, (long) (l1 / L1_SPACE) - indexBytes - bloomBytes);
  }

  /** Returns the size of the index and bloom blocks that L1 has no space for. */
  long metaBeyondL1() {
    return Math.max(0, indexBytes + bloomBytes - (long) (l1 / L1_SPACE));
  }

  /** Returns the heap of L1's map when L1 is full. */
  long mapHeap() {
    long meta = Math.min(indexBytes + bloomBytes, (long) (l1 / L1_SPACE));
    return meta / META_BLOCK_BYTES * HEAP_PER_META_BLOCK
      + Math.min(blocks, hotData() / blockBytes) * HEAP_PER_DATA_BLOCK;
  }

  /** Returns the share of zipfian gets whose block L1 has, 0 to 1, at best. */
  double l1HitRatio() {
    return ZipfianHitRatio.of(rows, blocks, (double) hotData() / blockBytes);
  }

  /** Returns the share of zipfian gets whose row the row cache has, 0 to 1, at best. */
  double rowHitRatio() {
    return ZipfianHitRatio.of(rows, rows,
      (double) rowCache / (rowBytes + keyBytes + CACHED_ROW_BYTES));
  }

  /** Returns the share of zipfian gets whose block L1 or L2 has, 0 to 1, at best. */
  double hitRatio() {
    return ZipfianHitRatio.of(rows, blocks, l2 / L2_SPACE / blockBytes);
  }

  /** Returns the settings, for hbase-site.xml, and nothing else. */
  Configuration settings() {
    return new Configuration(settings);
  }

  /** Returns the options of the server's JVM. */
  List<String> jvmOptions() {
    return Collections.unmodifiableList(Arrays.asList("-Xms" + heap / MB + "m",
      "-Xmx" + heap / MB + "m", "-XX:MaxDirectMemorySize=" + direct / MB + "m", "-XX:+UseG1GC",
      "-XX:+AlwaysPreTouch"));
  }

  /** The machine, the data and the load. Not thread-safe. */
  @InterfaceAudience.Private
  static final class Builder {
    private final long memory;
    private final long device;
    private final List<String> paths;
    private ServerLoad load = ServerLoad.MIXED;
    private long data;
    private long heap;
    private int blockBytes = HConstants.DEFAULT_BLOCKSIZE;
    private int rowBytes = 1024;
    private int keyBytes = 24;

    /**
     * @param memory of the machine
     * @param device free space on all devices together
     * @param paths  a file on each device
     */
    Builder(long memory, long device, List<String> paths) {
      this.memory = memory;
      this.device = device;
      this.paths = paths;
    }

    Builder load(ServerLoad load) {
      this.load = load;
      return this;
    }

    /** Sets the data that the server stores, as in its blocks; by default L2 holds all of it. */
    Builder data(long data) {
      this.data = data;
      return this;
    }

    /** Sets the heap; by default it follows from load and memory, with at most 31 GB. */
    Builder heap(long heap) {
      this.heap = heap;
      return this;
    }

    /** Sets the size of a block; 64 KB by default. */
    Builder block(int blockBytes) {
      this.blockBytes = blockBytes;
      return this;
    }

    /** Sets the mean size of a row; 1 KB by default. */
    Builder row(int rowBytes) {
      this.rowBytes = rowBytes;
      return this;
    }

    /** Sets the mean length of a row key; 24 by default. */
    Builder key(int keyBytes) {
      this.keyBytes = keyBytes;
      return this;
    }

    /** @throws IllegalArgumentException if the memory does not suffice */
    ServerSizing build() {
      return new ServerSizing(this);
    }
  }
}
