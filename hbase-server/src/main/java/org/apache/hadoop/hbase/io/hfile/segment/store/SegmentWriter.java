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
import org.apache.hadoop.hbase.io.hfile.load.ByteRateLimiter;
import org.apache.hadoop.hbase.io.hfile.segment.index.SegmentDirectory;
import org.apache.hadoop.hbase.io.hfile.segment.store.SegmentBuffer.Outcome;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the full segments of one device of a {@link SegmentStore}, in FIFO order, in a thread of
 * its own.
 * <p>
 * <b>Invariants.</b> A segment is written after it was sealed and all copies into it have ended, so
 * its bytes do not change. Every segment that is taken from the queue is published, once, whatever
 * is thrown meanwhile, unless the thread is interrupted, as a stop does if the device hangs:
 * {@link #finish} leaves it on the device and readable from there, or removes its blocks from the
 * directory first; in both cases its waiting count, its backlog and its memory are released
 * together, under {@link StoreMonitor#lock}. A segment is tried {@value #MAX_ATTEMPTS} times; if it
 * cannot be written it is retired, which loses its blocks and no others. No lock is held during a
 * write.
 */
@InterfaceAudience.Private
final class SegmentWriter implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(SegmentWriter.class);

  /** Maximum bytes of a write, except for a segment's last one: if no insertion waits for it. */
  static final int MAX_WRITE = 4 << 20;
  /**
   * Maximum bytes of a write, except for a segment's last one: if insertions may wait for it, or
   * the write rate is limited.
   */
  static final int MAX_PACED_WRITE = 1 << 20;
  /** Maximum number of attempts to write a segment. */
  static final int MAX_ATTEMPTS = 2;

  /** Ends the thread. */
  private static final SegmentBuffer NO_MORE =
    new SegmentBuffer(-1, 0, ByteBuffer.allocate(0), memory -> {
    });

  private final StoreDevice device;
  private final SegmentTable table;
  private final InsertionControl control;
  private final DeviceOutages outages;
  private final StoreMonitor monitor;
  private final SegmentDirectory directory;
  private final SegmentStoreMetrics metrics;
  private final ByteRateLimiter rate;
  private final long syncBytes;
  /** Bytes written since the last sync. */
  private long unsynced;

  /** @param syncBytes bytes written after which the device is synced, 0 for never before the end */
  SegmentWriter(StoreDevice device, SegmentTable table, InsertionControl control,
    DeviceOutages outages, StoreMonitor monitor, SegmentDirectory directory,
    SegmentStoreMetrics metrics, ByteRateLimiter rate, long syncBytes) {
    this.device = device;
    this.table = table;
    this.control = control;
    this.outages = outages;
    this.monitor = monitor;
    this.directory = directory;
    this.metrics = metrics;
    this.rate = rate;
    this.syncBytes = syncBytes;
  }

  /** Makes {@link #run} return when the segments now in the queue are written. */
  void end() {
    device.toWrite.add(NO_MORE);
  }

  /** Writes the segments in the queue of the device until {@link #end}. */
  @Override
  public void run() {
    try {
      SegmentBuffer buffer;
      // Waits without a limit: for segments to write; a stop ends the wait.
      while ((buffer = device.toWrite.take()) != NO_MORE) {
        buffer.awaitCopies();
        finish(buffer, writeOrRetire(buffer));
      }
      sync();
    } catch (InterruptedException e) {
      // The device did not answer within the time limit of a stop.
      Thread.currentThread().interrupt();
    }
  }

  /** Forces written data to the device; a failure is logged. */
  private void sync() {
    if (device.isWorking()) {
      try {
        syncDevice();
      } catch (IOException | RuntimeException e) {
        LOG.warn("Cannot sync {}", device, e);
      }
    }
  }

  private void syncDevice() throws IOException {
    long start = System.nanoTime();
    device.sync();
    metrics.syncs.increment();
    metrics.syncNanos.add(System.nanoTime() - start);
  }

  private Outcome writeOrRetire(SegmentBuffer buffer) throws InterruptedException {
    try {
      return buffer.footer().count() == 0 ? Outcome.NOT_TRIED : tryToWrite(buffer);
    } catch (RuntimeException | Error e) {
      LOG.error("Cannot write a segment to {}: its blocks are lost", device, e);
      return Outcome.FAILED;
    }
  }

  private Outcome tryToWrite(SegmentBuffer buffer) throws InterruptedException {
    int start = buffer.footer().write(buffer.memory(), device.superblock(),
      buffer.segment() - device.first(), buffer.sequence(), directory::regionOf);
    Outcome outcome = Outcome.NOT_TRIED;
    for (int i = 0; i < MAX_ATTEMPTS && device.isWritable(); i++) {
      int term = device.writes().term();
      try {
        int end = buffer.footer().dataEnd();
        if (start - end < MAX_PACED_WRITE) {
          write(buffer, 0, table.devices().segmentSize(), 0);
        } else {
          write(buffer, 0, end, MAX_PACED_WRITE);
          write(buffer, start, table.devices().segmentSize(), 0);
        }
        device.writes().succeeded();
        metrics.segmentsWritten.increment();
        return Outcome.WRITTEN;
      } catch (IOException | RuntimeException e) {
        outages.writeFailed(device, term, buffer.segment(), e);
        outcome = Outcome.FAILED;
      }
    }
    return outcome;
  }

  /**
   * Writes a part of a segment in pieces. No piece is small: a small remainder is added to the last
   * one.
   * @param more additional size allowed for the last one, to make up for a small write that follows
   */
  private void write(SegmentBuffer buffer, int from, int to, int more)
    throws IOException, InterruptedException {
    ByteBuffer bytes = buffer.memory();
    int position = from;
    while (position < to) {
      // Pieces are small while more segments wait, since insertions may wait for each write.
      int piece = rate.isLimited() || device.waiting > 1 ? MAX_PACED_WRITE : MAX_WRITE;
      int left = to - position;
      int length = left <= piece + MAX_PACED_WRITE + more ? left : piece;
      if (!monitor.isStopped()) {
        rate.acquire(length);
      }
      bytes.clear();
      bytes.limit(position + length);
      bytes.position(position);
      device.write(bytes, buffer.segment(), position);
      metrics.writes.increment();
      metrics.writtenBytes.add(length);
      unsynced += length;
      if (syncBytes > 0 && unsynced >= syncBytes) {
        unsynced = 0;
        syncDevice();
      }
      position += length;
      control.wrote(device, buffer.writtenTo(position));
    }
  }

  /** Publishes the outcome of a segment. */
  private void finish(SegmentBuffer buffer, Outcome outcome) {
    try {
      if (outcome != Outcome.WRITTEN && buffer.footer().count() > 0) {
        metrics.segmentsNotWritten.increment();
        buffer.footer().removeFrom(directory, buffer.segment());
      }
    } catch (RuntimeException | Error e) {
      // Each remaining block causes a miss when it is read: the bytes at its location are not its
      // own.
      LOG.error("Cannot remove the blocks of a lost segment from the directory", e);
    } finally {
      monitor.lock.lock();
      try {
        table.written(device, buffer, outcome);
        control.dequeued(device, buffer.writtenTo(table.devices().segmentSize()));
        table.closed(buffer);
        monitor.work.signalAll();
        monitor.space.signalAll();
      } finally {
        monitor.lock.unlock();
      }
      buffer.release();
    }
  }
}
