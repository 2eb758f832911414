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

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.apache.hadoop.hbase.io.hfile.segment.index.CompleteFile;
import org.apache.hadoop.hbase.nio.ByteBuff;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * A segment in memory, from its opening until it is on its device. Each inserting thread reserves
 * space under a short lock, and the threads copy concurrently without it. No thread reads an
 * incomplete entry, since its location is published only when it is complete.
 * <p>
 * The memory is reused for another segment once the segment is written and the last reader is done,
 * which is tracked by a reference count. Thread-safe.
 */
@InterfaceAudience.Private
final class SegmentBuffer {
  /** Result of {@link #reserve} if there is no space. */
  static final long NO_SPACE = -1;

  /** The outcome of writing a segment. */
  enum Outcome {
    /** It is on the device. */
    WRITTEN,
    /** It was empty, or the device was not writable when the segment was dequeued. */
    NOT_TRIED,
    /** It could not be written. */
    FAILED
  }

  private final int segment;
  private final long sequence;
  private final ByteBuffer memory;
  private final Consumer<ByteBuffer> giveBack;
  private final SegmentFooter footer = new SegmentFooter();
  private final AtomicInteger references = new AtomicInteger(1);
  /** Bytes of entries written so far; accessed only by the device's thread. */
  private int written;
  private int copies;
  private boolean sealed;

  /**
   * @param memory   as large as the segment
   * @param giveBack receives the memory when it is no longer used
   */
  SegmentBuffer(int segment, long sequence, ByteBuffer memory, Consumer<ByteBuffer> giveBack) {
    this.segment = segment;
    this.sequence = sequence;
    this.memory = memory;
    this.giveBack = giveBack;
  }

  int segment() {
    return segment;
  }

  long sequence() {
    return sequence;
  }

  /**
   * Reserves space for an entry. A caller that gets space must call {@link #copied} in any case.
   * @return the number of the entry in the upper half and its offset in the lower half, or
   *         {@link #NO_SPACE}
   */
  synchronized long reserve(String fileName, long blockOffset, int length, int category) {
    if (
      sealed
        || (long) footer.dataEnd() + length + footer.sizeWith(fileName) > memory.capacity()
    ) {
      return NO_SPACE;
    }
    int position = footer.dataEnd();
    copies++;
    int number = footer.add(fileName, blockOffset, length, category);
    return (long) number << Integer.SIZE | position;
  }

  /**
   * Records that a file is complete.
   * @return false if there is no space for the record
   */
  synchronized boolean keep(CompleteFile file) {
    if (sealed || footer.dataEnd() + footer.sizeWith(file) > memory.capacity()) {
      return false;
    }
    footer.add(file);
    return true;
  }

  static int number(long reserved) {
    return (int) (reserved >>> Integer.SIZE);
  }

  static int position(long reserved) {
    return (int) reserved;
  }

  /** Returns the memory of an entry. */
  ByteBuffer entry(int position, int length) {
    ByteBuffer entry = memory.duplicate();
    entry.limit(position + length);
    entry.position(position);
    return entry.slice();
  }

  /**
   * Marks the copy of an entry as finished.
   * @param wanted false to discard the entry
   */
  synchronized void copied(int number, boolean wanted) {
    if (!wanted) {
      footer.drop(number);
    }
    if (--copies == 0) {
      notifyAll();
    }
  }

  /** Seals the segment: no more space is reserved. */
  synchronized void seal() {
    sealed = true;
  }

  /** Waits until the copies in progress in a sealed segment are finished. */
  synchronized void awaitCopies() throws InterruptedException {
    while (copies > 0) {
      // Waits without a limit: a copy is from memory to memory, and ends whatever is thrown.
      wait();
    }
  }

  /**
   * Returns the footer. Valid only when the segment is sealed and {@link #awaitCopies} has
   * returned.
   */
  SegmentFooter footer() {
    return footer;
  }

  /**
   * Records that everything up to an offset was written, or failed. Requires a sealed segment whose
   * copies have finished, as {@link #footer}.
   * @return the number of bytes of entries that were not recorded before
   */
  int writtenTo(int position) {
    int more = Math.max(0, Math.min(position, footer.dataEnd()) - written);
    written += more;
    return more;
  }

  /**
   * Returns all of the memory. Requires a sealed segment whose copies have finished, as
   * {@link #footer}.
   */
  ByteBuffer memory() {
    return memory.duplicate();
  }

  /**
   * Retains the memory, so that it is not reused.
   * @return false if it was released already
   */
  boolean retain() {
    int count = references.get();
    while (count > 0) {
      if (references.compareAndSet(count, count + 1)) {
        return true;
      }
      count = references.get();
    }
    return false;
  }

  void release() {
    if (references.decrementAndGet() == 0) {
      giveBack.accept(memory);
    }
  }

  /** Fills a buffer from its position to its limit; the caller must hold a reference. */
  void read(ByteBuff to, int position) {
    ByteBuffer from = memory.duplicate();
    from.position(position);
    for (ByteBuffer item : to.nioByteBuffers()) {
      from.limit(from.position() + item.remaining());
      item.put(from);
    }
  }
}
