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
package org.apache.hadoop.hbase.io.hfile.segment.store;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.load.ByteRateLimiter;
import org.apache.hadoop.hbase.io.hfile.segment.device.Location;
import org.apache.hadoop.hbase.io.hfile.segment.device.Superblock;
import org.apache.hadoop.hbase.io.hfile.segment.index.CachedFile;
import org.apache.hadoop.hbase.io.hfile.segment.index.CachedFiles;

/**
 * A store on simulated devices with a model of a directory. The content of a block follows from
 * its file and offset, so that it can be checked wherever it is found.
 */
public final class StoredBlocksFixture {
  public static final int SEGMENT = 64 * 1024;
  static final int SEGMENTS = 16;
  static final int BUFFERS = 5;
  static final String PATH = "first";
  private static final int SMALLEST = 100;

  final SimulatedDevices devices;
  final ModelDirectory directory = new ModelDirectory();
  final CachedFiles files = new CachedFiles();
  final ByteBuffAllocator allocator;
  final SegmentStore store;

  StoredBlocksFixture(SimulatedDevices devices) throws IOException {
    this(devices, settings(Collections.singletonList(PATH), 0.25, 0));
  }

  StoredBlocksFixture(SimulatedDevices devices, SegmentStoreSettings settings)
    throws IOException {
    this(devices, settings, ByteRateLimiter.Clock.SYSTEM);
  }

  StoredBlocksFixture(SimulatedDevices devices, SegmentStoreSettings settings,
    ByteRateLimiter.Clock clock) throws IOException {
    this.devices = devices;
    Configuration conf = new Configuration(false);
    // Small buffers, so that blocks are in one, in several, and with an end on the heap
    conf.setInt(ByteBuffAllocator.BUFFER_SIZE_KEY, 4096);
    conf.setInt(ByteBuffAllocator.MAX_BUFFER_COUNT_KEY, 256);
    allocator = ByteBuffAllocator.create(conf, true);
    store = SegmentStore.open(settings, directory, devices, clock);
    directory.attach(store);
  }

  static SegmentStoreSettings settings(List<String> paths, double rewriteShare, long writeLimit) {
    return new SegmentStoreSettings(paths,
      paths.size() * (Superblock.HEADER_SIZE + (long) SEGMENTS * SEGMENT), SEGMENT, BUFFERS,
      rewriteShare, writeLimit, 0);
  }

  StoredBlocksFixture start() {
    store.start("Test");
    return this;
  }

  /** Starts, and waits until all that was there is found and there are clean segments. */
  StoredBlocksFixture recover() {
    start();
    CachedBlockFixture.await(() -> store.isRecovered());
    awaitQuiet();
    return this;
  }

  static int sizeOf(String file, long offset) {
    return SMALLEST + (int) Math.floorMod(seed(file, offset), 8000L);
  }

  private static long seed(String file, long offset) {
    return (file.hashCode() * 31L + offset) * 0x9E3779B97F4A7C15L >>> 7;
  }

  static HFileBlock block(String file, long offset) {
    return CachedBlockFixture.block(BlockType.DATA, seed(file, offset), sizeOf(file, offset));
  }

  /** Inserts and refuses to wait. */
  boolean offer(String file, long offset, InsertSource kind) {
    return insert(file, offset, kind, 0);
  }

  /** Inserts, and waits for room if need be. */
  void insert(String file, long offset) {
    assertTrue("Not stored: " + file + "@" + offset,
      insert(file, offset, InsertSource.WRITE, TimeUnit.MINUTES.toNanos(2)));
  }

  boolean insert(String file, long offset, InsertSource kind, long waitNanos) {
    return insert(file, offset, 0, kind, waitNanos);
  }

  /** Inserts a data block of an in-memory family, and waits for room if need be. */
  void insertInMemory(String file, long offset) {
    assertTrue("Not stored: " + file + "@" + offset, insert(file, offset, Location.IN_MEMORY,
      InsertSource.WRITE, TimeUnit.MINUTES.toNanos(2)));
  }

  private boolean insert(String file, long offset, int blockKind, InsertSource kind,
    long waitNanos) {
    CachedFile cached = files.acquire(file);
    HFileBlock block = block(file, offset);
    try {
      return store.insert(cached, offset, block, blockKind, kind, waitNanos);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    } finally {
      block.release();
      cached.release();
    }
  }

  /** Returns whether a block can be read. Fails if it is another block. */
  boolean isReadable(String file, long offset) {
    long location = directory.get(file, offset);
    return location != Location.ABSENT && isReadableAt(file, offset, location);
  }

  boolean isReadableAt(String file, long offset, long location) {
    CachedFile cached = files.acquire(file);
    try {
      Cacheable read = store.read(cached, offset, location, allocator);
      if (read == null) {
        return false;
      }
      try {
        assertArrayEquals(file + "@" + offset, CachedBlockFixture.content(block(file, offset)),
          CachedBlockFixture.content(read));
      } finally {
        read.release();
      }
      return true;
    } finally {
      cached.release();
    }
  }

  void assertReadable(String file, long offset) {
    assertTrue("Not there: " + file + "@" + offset, isReadable(file, offset));
  }

  /** Reads all that the directory knows. Returns how many blocks could be had. */
  int readAll() {
    int[] readable = new int[1];
    directory.all().forEach((key, location) -> {
      readable[0] += isReadable(key.file, key.offset) ? 1 : 0;
    });
    return readable[0];
  }

  /** Waits until all that is full is written and there are clean segments. */
  void awaitQuiet() {
    CachedBlockFixture.await(() -> store.pending() == 0 && store.table().isClean());
  }

  SimulatedDevices.Medium medium() {
    return devices.medium(PATH);
  }

  /** Stops and closes; nothing of the pool may be in use then. */
  void close() {
    store.stop();
    store.close();
  }

  static List<String> paths(String... paths) {
    return Arrays.asList(paths);
  }
}
