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

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.segment.device.EntryTrailer;
import org.apache.hadoop.hbase.io.hfile.segment.device.Location;
import org.apache.hadoop.hbase.io.hfile.segment.index.CachedFile;
import org.apache.hadoop.hbase.io.hfile.segment.index.SegmentDirectory;
import org.apache.hadoop.hbase.nio.ByteBuff;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads blocks of a {@link SegmentStore}, from a segment in memory or from its device.
 * <p>
 * <b>Invariant.</b> A read takes no lock and holds nothing that keeps its segment from being
 * overwritten, except a reference to the memory of a segment in memory; so an entry is valid only
 * if its {@link EntryTrailer} proves that its bytes are those of the block. Every race with writers
 * and the cleaner, and any damage on the device, causes at worst a miss. An entry that is not the
 * block's, or that cannot be read, is removed from the directory, if the directory still has it at
 * that location, so that a damaged location is read once. Every buffer that a read allocates
 * belongs to the returned block or is released. Thread-safe.
 */
@InterfaceAudience.Private
public final class SegmentReader {
  private static final Logger LOG = LoggerFactory.getLogger(SegmentReader.class);

  /** Maximum number of adjacent blocks in one read, and maximum number of their bytes. */
  static final int MAX_JOINED_BLOCKS = 4;
  public static final int MAX_JOINED_BYTES = 256 << 10;
  /** Maximum number of concurrent joined reads; further blocks are read one by one. */
  public static final int MAX_JOINED_READS = 8;

  private final SegmentTable table;
  private final DeviceOutages outages;
  private final SegmentDirectory directory;
  private final SegmentStoreMetrics metrics;
  /** Direct memory for joined reads, allocated on first use. */
  private final Queue<ByteBuffer> joinedReads = new ArrayBlockingQueue<>(MAX_JOINED_READS);
  private final AtomicInteger joinedReadsMade = new AtomicInteger();

  SegmentReader(SegmentTable table, DeviceOutages outages, SegmentDirectory directory,
    SegmentStoreMetrics metrics) {
    this.table = table;
    this.outages = outages;
    this.directory = directory;
    this.metrics = metrics;
  }

  /**
   * Reads a block.
   * @param location the block's location in the directory
   * @return the block, with a reference for the caller; null if it cannot be read. If its bytes are
   *         not at the location, the entry was removed from the directory. The directory may have a
   *         newer location by then, if the entry was moved meanwhile.
   */
  Cacheable read(CachedFile file, long blockOffset, long location, ByteBuffAllocator allocator) {
    int segment = Location.segment(location);
    if (!table.has(segment)) {
      return null;
    }
    ByteBuff entry = allocator.allocate(Location.length(location));
    boolean returned = false;
    try {
      if (fetch(entry, segment, Location.offset(location), file, blockOffset, location)) {
        if (
          EntryTrailer.local().check(entry, file.hashHigh(), file.hashLow(), blockOffset)
        ) {
          Cacheable block = HFileBlock.BLOCK_DESERIALIZER.deserialize(entry, allocator);
          returned = true;
          metrics.reads.increment();
          return block;
        }
        bad(file.name(), blockOffset, location);
      }
    } catch (IOException | RuntimeException e) {
      // The checksum matches, yet it is not a valid block: it was not when it was written.
      LOG.warn("The stored entry of {} at {} is not a block", file.name(), blockOffset, e);
      bad(file.name(), blockOffset, location);
    } finally {
      if (!returned) {
        entry.release();
      }
    }
    return null;
  }

  /** The caller's view of the blocks that follow a block being read. */
  @InterfaceAudience.Private
  public interface Neighbours {
    /** Returns the directory's location of a block of the same file. */
    long locate(long blockOffset);

    /** Receives a block and its reference, even if this method throws. */
    void accept(long blockOffset, long location, Cacheable block);
  }

  /**
   * Reads a block as {@link #read} does, together with the following blocks of its file that are
   * adjacent in its segment. Each block is verified separately: if one was overwritten or is
   * damaged, it and the following ones are omitted.
   * @param neighbours receives up to {@value #MAX_JOINED_BLOCKS} - 1 of them
   */
  Cacheable readWithNext(CachedFile file, long blockOffset, long location,
    ByteBuffAllocator allocator, Neighbours neighbours) {
    int segment = Location.segment(location);
    int length = Location.length(location);
    // Blocks in memory are copied one by one.
    ByteBuffer joined = !table.has(segment) || table.memory(segment) != null
      || 2 * length > MAX_JOINED_BYTES ? null : takeJoined();
    if (joined == null) {
      return read(file, blockOffset, location, allocator);
    }
    try {
      int position = Location.offset(location);
      joined.clear();
      joined.limit(Math.min(table.devices().segmentSize() - position,
        Math.min(MAX_JOINED_BYTES, MAX_JOINED_BLOCKS * length)));
      Cacheable first = fetch(ByteBuff.wrap(joined), segment, position)
        ? copyOut(joined, 0, file, blockOffset, location, allocator)
        : null;
      if (first == null) {
        // The cause may be in the following blocks.
        return read(file, blockOffset, location, allocator);
      }
      boolean returned = false;
      try {
        readNext(joined, file, blockOffset, location, first, allocator, neighbours);
        returned = true;
        return first;
      } finally {
        if (!returned) {
          first.release();
        }
      }
    } finally {
      joinedReads.offer(joined);
    }
  }

  private ByteBuffer takeJoined() {
    ByteBuffer joined = joinedReads.poll();
    if (
      joined == null && joinedReadsMade.get() < MAX_JOINED_READS
        && joinedReadsMade.getAndIncrement() < MAX_JOINED_READS
    ) {
      try {
        joined = ByteBuffer.allocateDirect(MAX_JOINED_BYTES);
      } catch (OutOfMemoryError e) {
        LOG.warn("No direct memory for joined reads; blocks are read one by one", e);
      }
    }
    return joined;
  }

  private void readNext(ByteBuffer joined, CachedFile file, long blockOffset, long location,
    Cacheable first, ByteBuffAllocator allocator, Neighbours neighbours) {
    long offset = blockOffset + SegmentInserter.onDiskSize(first);
    int at = Location.length(location);
    while (true) {
      long next = neighbours.locate(offset);
      Cacheable block =
        Location.isPresent(next) && Location.segment(next) == Location.segment(location)
          && Location.offset(next) == Location.offset(location) + at
          && at + Location.length(next) <= joined.limit()
            ? copyOut(joined, at, file, offset, next, allocator)
            : null;
      if (block == null) {
        return;
      }
      metrics.joinedReads.increment();
      long behind = offset + SegmentInserter.onDiskSize(block);
      neighbours.accept(offset, next, block);
      offset = behind;
      at += Location.length(next);
    }
  }

  /** Returns the block of an entry in a joined read, null if the entry is not the block's. */
  private Cacheable copyOut(ByteBuffer joined, int at, CachedFile file, long blockOffset,
    long location, ByteBuffAllocator allocator) {
    ByteBuffer bytes = joined.duplicate();
    bytes.limit(at + Location.length(location));
    bytes.position(at);
    bytes = bytes.slice();
    EntryTrailer tag = EntryTrailer.local();
    if (!tag.check(ByteBuff.wrap(bytes), file.hashHigh(), file.hashLow(), blockOffset)) {
      return null;
    }
    bytes.clear();
    ByteBuff data = allocator.allocate(tag.dataLength());
    boolean returned = false;
    try {
      for (ByteBuffer item : data.nioByteBuffers()) {
        bytes.limit(bytes.position() + item.remaining());
        item.put(bytes);
      }
      data.rewind();
      Cacheable block = HFileBlock.BLOCK_DESERIALIZER.deserialize(data, allocator);
      returned = true;
      metrics.reads.increment();
      return block;
    } catch (IOException | RuntimeException e) {
      LOG.debug("The stored entry of {} at {} is not a block", file.name(), blockOffset, e);
      return null;
    } finally {
      if (!returned) {
        data.release();
      }
    }
  }

  /** Returns whether a block at this location is readable, as far as is known without a read. */
  boolean isReadable(long location) {
    int segment = Location.segment(location);
    return table.has(segment)
      && (table.deviceOf(segment).isReadable() || table.memory(segment) != null);
  }

  /** The result of {@link #fetch}. */
  private enum Fetched {
    DONE,
    /** The device is bypassed or stalled. */
    NOT_TRIED,
    FAILED
  }

  /**
   * Fills a buffer with an entry, from memory or from the device. Removes the entry from the
   * directory if its location cannot be read.
   */
  private boolean fetch(ByteBuff to, int segment, int position, CachedFile file, long blockOffset,
    long location) {
    Fetched fetched = tryToFetch(to, segment, position);
    if (
      fetched == Fetched.FAILED
        && directory.removed(file.name(), blockOffset, location) != SegmentDirectory.NOT_HERE
    ) {
      metrics.unreadableEntries.increment();
      table.freed(location);
    }
    return fetched == Fetched.DONE;
  }

  /**
   * Fills a buffer, from memory or from the device. Returns false and counts the failure if it
   * cannot.
   */
  private boolean fetch(ByteBuff to, int segment, int position) {
    return tryToFetch(to, segment, position) == Fetched.DONE;
  }

  private Fetched tryToFetch(ByteBuff to, int segment, int position) {
    SegmentBuffer buffer = table.memory(segment);
    if (buffer != null && buffer.retain()) {
      try {
        buffer.read(to, position);
      } finally {
        buffer.release();
      }
      metrics.memoryReads.increment();
      return Fetched.DONE;
    }
    StoreDevice device = table.deviceOf(segment);
    if (!device.isReadable()) {
      metrics.bypassedReads.increment();
      outages.readStalled(device);
      return Fetched.NOT_TRIED;
    }
    int term = device.reads().term();
    try {
      int at = position;
      for (ByteBuffer item : to.nioByteBuffers()) {
        int length = item.remaining();
        device.read(item, segment, at);
        at += length;
      }
      device.reads().succeeded();
      return Fetched.DONE;
    } catch (IOException | RuntimeException e) {
      outages.readFailed(device, term, segment, e);
      return Fetched.FAILED;
    }
  }

  private void bad(String fileName, long blockOffset, long location) {
    if (directory.removed(fileName, blockOffset, location) == SegmentDirectory.NOT_HERE) {
      metrics.staleReads.increment();
    } else {
      metrics.badEntries.increment();
      table.freed(location);
    }
  }
}
