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

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.hadoop.hbase.io.hfile.segment.device.EntryTrailer;
import org.apache.hadoop.hbase.io.hfile.segment.index.CachedFiles;
import org.apache.hadoop.hbase.io.hfile.segment.index.IndexedBlocks;
import org.apache.hadoop.hbase.io.hfile.segment.index.SegmentDirectory;
import org.apache.hadoop.hbase.io.hfile.segment.index.SegmentIndex;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The one lock of a {@link SegmentStore}, its two conditions, and the flag that the store is
 * stopped.
 * <p>
 * The lock guards the states of the segments ({@link SegmentTable}), the collections of segments in
 * each {@link StoreDevice}, which segment is open and the free buffers ({@link SegmentInserter}),
 * and the counts of segments in the write queues ({@link InsertionControl}). A segment changes its
 * state a few times in its life, so the lock is taken a few times per segment, not per block. The
 * lock is not held during I/O, nor during calls of the {@link SegmentDirectory}.
 * <p>
 * Read without the lock: sequence numbers, live bytes and the segments in memory
 * ({@link SegmentTable}), the open segment, the counts of waiting segments, and {@link #isStopped}.
 * A thread that acts on such a value either tolerates a stale one, as a read does, whose entry is
 * checked by its {@link EntryTrailer}, or checks again under the lock.
 * <p>
 * <b>Lock order.</b> {@link #lock} first, then the monitor of a {@link SegmentBuffer} or of a
 * {@link StoreDevice}, never both; with either monitor held, no other lock is taken. In particular
 * a buffer returns its memory, which takes {@link #lock}, without its monitor. The locks of the
 * directory ({@link IndexedBlocks}, {@link CachedFiles}, {@link SegmentIndex}) are never held
 * together with these: the store calls the directory without a lock, and the directory calls only
 * {@link SegmentStore#freed}, which takes none. The write rate limiter is called without a lock.
 */
@InterfaceAudience.Private
final class StoreMonitor {
  final ReentrantLock lock = new ReentrantLock();
  /**
   * Signalled when there may be space for insertions: a buffer is free, a segment is clean, the
   * backlog has shrunk, a device is bypassed, or the store is stopped.
   */
  final Condition space = lock.newCondition();
  /**
   * Signalled when there may be work for the cleaner: too few segments are clean, a segment can be
   * reclaimed, a device is bypassed, or the store is stopped. One thread waits for it, so one is
   * signalled.
   */
  final Condition work = lock.newCondition();

  private volatile boolean stopped;

  /** Returns whether insertions are refused, and failed reads no longer count against a device. */
  boolean isStopped() {
    return stopped;
  }

  /** Stops the store, irrevocably. Requires {@link #lock}. */
  void stop() {
    stopped = true;
    space.signalAll();
    work.signalAll();
  }
}
