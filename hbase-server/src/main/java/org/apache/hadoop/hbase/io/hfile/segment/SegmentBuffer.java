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
package org.apache.hadoop.hbase.io.hfile.segment;

import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.apache.hadoop.hbase.nio.ByteBuff;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * A segment in memory, from when it is opened until it is on its device. Threads that insert take
 * a place each under a short lock, and copy side by side without it. Nobody reads an entry before
 * it is whole, since its place is not told before.
 * <p>
 * The memory is used again for another segment once the segment is written and the last reader is
 * done, which a count of references tells. Thread-safe.
 */
@InterfaceAudience.Private
final class SegmentBuffer {
  /** What {@link #reserve} returns when there is no room. */
  static final long NO_ROOM = -1;

  private final int segment;
  private final long sequence;
  private final ByteBuffer memory;
  private final Consumer<ByteBuffer> giveBack;
  private final SegmentFooter footer = new SegmentFooter();
  private final AtomicInteger references = new AtomicInteger(1);
  /** Of the entries; only the device's thread changes and reads it. */
  private int written;
  private int copies;
  private boolean sealed;

  /**
   * @param memory   as large as the segment
   * @param giveBack takes the memory when nobody uses it any more
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
   * Takes a place. Whoever gets one says {@link #copied} in any case.
   * @param onDiskSize as for {@link SegmentFooter#add}
   * @return the entry's number in the upper half and its place in the lower one, or
   *         {@link #NO_ROOM}
   */
  synchronized long reserve(String fileName, long blockOffset, int length, int category,
    int onDiskSize) {
    if (
      sealed
        || (long) footer.dataEnd() + length + footer.sizeWith(fileName) > memory.capacity()
    ) {
      return NO_ROOM;
    }
    int place = footer.dataEnd();
    copies++;
    int number = footer.add(fileName, blockOffset, length, category, onDiskSize);
    return (long) number << Integer.SIZE | place;
  }

  /**
   * Keeps that a file is complete.
   * @return false if there is no room for that
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

  static int place(long reserved) {
    return (int) reserved;
  }

  /** Returns the memory of an entry. */
  ByteBuffer entry(int place, int length) {
    ByteBuffer entry = memory.duplicate();
    entry.limit(place + length);
    entry.position(place);
    return entry.slice();
  }

  /**
   * An entry is complete, and known.
   * @param wanted false if it came to nothing
   */
  synchronized void copied(int number, boolean wanted) {
    if (!wanted) {
      footer.drop(number);
    }
    if (--copies == 0) {
      notifyAll();
    }
  }

  /** Gives no place any more. */
  synchronized void seal() {
    sealed = true;
  }

  /** Waits until the copies under way in a sealed segment are complete. */
  synchronized void awaitCopies() throws InterruptedException {
    while (copies > 0) {
      // Waits without a limit: a copy is from memory to memory, and ends whatever is thrown.
      wait();
    }
  }

  /** Returns what is in it; to be used when it is sealed and {@link #awaitCopies} is over. */
  SegmentFooter footer() {
    return footer;
  }

  /**
   * All up to a place was written, or is given up; as {@link #footer}.
   * @return how many bytes of entries that are more than was known to be written
   */
  int writtenTo(int place) {
    int more = Math.max(0, Math.min(place, footer.dataEnd()) - written);
    written += more;
    return more;
  }

  /** Returns all of the memory; as {@link #footer}. */
  ByteBuffer memory() {
    return memory.duplicate();
  }

  /**
   * Keeps the memory from being used for anything else.
   * @return false if it is too late for that
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

  /** Fills a buffer from its position to its limit; the caller has a reference. */
  void read(ByteBuff to, int place) {
    ByteBuffer from = memory.duplicate();
    from.position(place);
    for (ByteBuffer item : to.nioByteBuffers()) {
      from.limit(from.position() + item.remaining());
      item.put(from);
    }
  }
}
