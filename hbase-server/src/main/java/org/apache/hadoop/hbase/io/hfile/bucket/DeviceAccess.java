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
package org.apache.hadoop.hbase.io.hfile.bucket;

import static org.apache.hadoop.hbase.metrics.MetricKind.COUNTER;
import static org.apache.hadoop.hbase.metrics.MetricKind.GAUGE;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;
import org.apache.hadoop.hbase.HBaseIOException;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.composite.CircuitBreaker;
import org.apache.hadoop.hbase.metrics.MetricKind;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;

/**
 * The accesses of a {@link BucketCacheTier} to its device: their checksums, their failures, and
 * when the device is synced. A read that fails is a miss, and its block is evicted; a block whose
 * write fails is dropped.
 * <p>
 * Reads and writes have a {@link CircuitBreaker} each, as those of a device of segments. After
 * {@value CircuitBreaker#FAILURES_IN_A_ROW} failed reads in a row the tier is bypassed; after as
 * many failed writes and syncs it gets no new blocks and is still read. The probe is the next
 * lookup or insertion after the pause. Blocks stay in the map meanwhile, since their checksums tell
 * whether the device still has them.
 * <p>
 * A device whose entries have checksums is synced once 16 MB were written, and otherwise once a
 * second while blocks are written. {@link BucketCache} syncs after each batch, often one block, so
 * that nothing is read before it is on the device. A checksum finds what a crash takes away; a sync
 * reports what the device could not keep, and keeps the operating system from collecting writes of
 * many seconds.
 * <p>
 * Thread-safe.
 */
@InterfaceAudience.Private
final class DeviceAccess {
  private static final int SYNC_BYTES = 16 << 20;
  private static final long SYNC_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final long LOG_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final BucketCacheTier tier;
  private final Logger log;
  /** Whether entries have checksums; not those of an engine in the memory of the process. */
  private final boolean checksums;
  private final CircuitBreaker reads;
  private final CircuitBreaker writes;
  /** Reads that found other bytes than were written. */
  final LongAdder checksumFailures = new LongAdder();
  /** Reads, writes and syncs that failed. */
  final AtomicLong ioErrors = new AtomicLong();
  /** Lookups that were misses because the tier is bypassed. */
  final LongAdder bypassedReads = new LongAdder();
  /** Blocks that were not inserted because of earlier failures. */
  final LongAdder bypassedInserts = new LongAdder();
  /** Whether the last sync failed: a write that ends in the page cache is no success then. */
  private volatile boolean syncFailing;
  private volatile long lastLog;
  private long unsyncedBytes;
  private long lastSync;

  /**
   * @param tier      with an open engine
   * @param checksums whether entries have checksums if the engine is a device
   * @param log       of the tier, whose log level operators set
   */
  DeviceAccess(BucketCacheTier tier, boolean checksums, Logger log) {
    this.tier = tier;
    this.log = log;
    this.checksums = checksums && tier.ioEngine instanceof PersistentIOEngine;
    this.reads = new CircuitBreaker(CircuitBreaker.FAILURES_IN_A_ROW, tier::nanoTime);
    this.writes = new CircuitBreaker(CircuitBreaker.FAILURES_IN_A_ROW, tier::nanoTime);
    this.lastLog = tier.nanoTime() - LOG_NANOS;
    this.lastSync = tier.nanoTime() - SYNC_NANOS;
  }

  boolean hasChecksums() {
    return checksums;
  }

  /** Returns whether a block may be read: the tier is not bypassed, or a probe is due. */
  boolean isReadable() {
    return reads.mayAttempt();
  }

  /** Returns whether a block may be inserted. */
  boolean isWritable() {
    return reads.mayAttempt() && writes.mayAttempt();
  }

  boolean isBypassed() {
    return !reads.isClosed();
  }

  /** Returns whether the device gets no new blocks, but is read. */
  boolean isReadOnly() {
    return reads.isClosed() && !writes.isClosed();
  }

  /**
   * Reads the block of an entry.
   * @throws HBaseIOException if the block must be evicted
   */
  Cacheable read(BucketEntry entry) throws IOException {
    int term = reads.term();
    boolean probe = !reads.isClosed();
    if (!reads.claim()) {
      bypassedReads.increment();
      throw new IOException("Another read is the probe");
    }
    Cacheable block = null;
    boolean read = false;
    try {
      if (probe) {
        reopen();
      }
      block = readChecked(entry);
      succeeded(reads, "read");
      read = true;
      return block;
    } catch (ClosedByInterruptException e) {
      // The reader was interrupted; neither the device nor the block has failed.
      throw e;
    } catch (HBaseIOException | RuntimeException e) {
      // The device has answered.
      succeeded(reads, "read");
      checksumFailures.increment();
      log("returned other bytes than were written; the block is evicted", e);
      throw new HBaseIOException(e);
    } catch (IOException | InternalError e) {
      failed("read", e, reads, term);
      throw new HBaseIOException(e);
    } finally {
      if (!read && block != null && !tier.ioEngine.usesSharedMemory()) {
        // The JVM reported a fault of mapped memory after the block was read.
        block.release();
      }
    }
  }

  private Cacheable readChecked(BucketEntry entry) throws IOException {
    try {
      return tier.readFrom(tier.ioEngine, entry);
    } catch (HBaseIOException | RuntimeException e) {
      if (tier.ioEngine instanceof FileMmapIOEngine) {
        // Wrong bytes may be mapped memory that is not there, which the JVM reports later.
        EntryChecksum.throwPendingFault();
      }
      throw e;
    }
  }

  /**
   * Opens the files again before a probe, since the device may have been mounted again. A missing
   * file would be created on the file system below the mount point, and without checksums nothing
   * would tell another file from the former one.
   */
  private void reopen() throws IOException {
    if (!checksums || !(tier.ioEngine instanceof FileIOEngine)) {
      return;
    }
    FileIOEngine engine = (FileIOEngine) tier.ioEngine;
    String[] paths = engine.filePaths;
    if (Stream.of(paths).map(File::new).allMatch(file -> file.isFile() && file.canWrite())) {
      engine.closeFileChannels();
      for (int i = 0; i < paths.length; i++) {
        engine.refreshFileConnection(i, null);
      }
    }
  }

  /** Returns whether the calling thread writes its block; if so, it reports the outcome. */
  boolean claimWrite() {
    return writes.claim();
  }

  /** Writes a queued block. Returns null if it was dropped because of the device. */
  BucketEntry write(BucketCache.RAMQueueEntry queued, ByteBuffer metaBuff) throws IOException {
    boolean probe = !writes.isClosed();
    if (!claimWrite()) {
      bypassedInserts.increment();
      return null;
    }
    BucketEntry entry = null;
    boolean written = false;
    try {
      if (probe) {
        reopen();
      }
      entry = tier.store(queued, metaBuff);
      if (entry != null && queued.getData() instanceof HFileBlock) {
        entry.checksum = checksumOf((HFileBlock) queued.getData(), metaBuff);
      }
      if (probe) {
        tier.syncDevice();
        syncFailing = false;
      }
      writeSucceeded();
      count(entry == null ? 0 : entry.getLength());
      written = true;
      return entry;
    } catch (CacheFullException | BucketAllocatorException e) {
      throw e;
    } catch (IOException | RuntimeException | InternalError e) {
      log.trace("{} is dropped", queued.getKey(), writeFailed(e));
      return null;
    } finally {
      if (!written && entry != null) {
        entry.markAsEvicted();
      }
    }
  }

  void writeSucceeded() {
    if (!syncFailing) {
      succeeded(writes, "written");
    }
  }

  /**
   * Reports a write or sync that failed.
   * @return the exception to throw
   */
  IOException writeFailed(Throwable cause) {
    // An interrupted thread is no failure of the device.
    if (!(cause instanceof ClosedByInterruptException)) {
      failed("write", cause, writes, writes.term());
    }
    return new IOException(cause);
  }

  /**
   * Returns the checksum for the entry of a block that was just written.
   * @param metadata the block's metadata as written, from 0 to its limit
   * @throws InternalError if the memory that it was written to is not there
   */
  int checksumOf(HFileBlock block, ByteBuffer metadata) {
    if (tier.ioEngine instanceof FileMmapIOEngine) {
      // Later, it would end the writer thread.
      EntryChecksum.throwPendingFault();
    }
    return checksums ? EntryChecksum.of(block, metadata) : EntryChecksum.NONE;
  }

  private synchronized void count(int bytes) {
    unsyncedBytes += bytes;
  }

  /** Returns whether a sync is due. Bytes written after that count for the next one. */
  private synchronized boolean isSyncDue() {
    long now = tier.nanoTime();
    if (unsyncedBytes < SYNC_BYTES && now - lastSync < SYNC_NANOS) {
      return false;
    }
    unsyncedBytes = 0;
    lastSync = now;
    return true;
  }

  /** Syncs the device if that is due, or entries have no checksums, and it gets new blocks. */
  void batchWritten() throws IOException {
    if (!checksums || isSyncDue()) {
      sync();
    }
  }

  /** Syncs the device if it gets new blocks. */
  void sync() throws IOException {
    if (!writes.isClosed()) {
      return;
    }
    try {
      tier.syncDevice();
      syncFailing = false;
    } catch (ClosedByInterruptException e) {
      throw e;
    } catch (IOException | RuntimeException | InternalError e) {
      syncFailing = true;
      // The next batch is synced as well.
      count(SYNC_BYTES);
      throw writeFailed(e);
    }
  }

  private void succeeded(CircuitBreaker breaker, String access) {
    if (breaker.isClosed()) {
      breaker.succeeded();
    } else {
      breaker.close();
      log.info("{} tier: {} is {} again", tier.getName(), tier.getIoEngine(), access);
    }
  }

  private void failed(String access, Throwable cause, CircuitBreaker breaker, int term) {
    // Each counts, wherever it was: a bucket that fails is soon the place of another block.
    if (breaker.failed(term, ioErrors.incrementAndGet())) {
      log.error("{} tier: {} until a probe succeeds: {} accesses to {} failed in a row, the last "
        + "was a {}", tier.getName(),
        breaker == reads ? "bypassed" : "no blocks are inserted, those stored are still read",
        CircuitBreaker.FAILURES_IN_A_ROW, tier.getIoEngine(), access, cause);
    } else {
      log("failed to " + access, cause);
    }
  }

  /** Limits the warnings that every block can cause; the counters have all failures. */
  private void log(String failure, Throwable cause) {
    long now = tier.nanoTime();
    if (now - lastLog >= LOG_NANOS) {
      lastLog = now;
      log.warn("{} tier: {} {}", tier.getName(), tier.getIoEngine(), failure, cause);
    } else {
      log.debug("{} tier: {} {}", tier.getName(), tier.getIoEngine(), failure, cause);
    }
  }

  /** Passes each metric of the device to the visitor. */
  void forEachMetric(MetricKind.Visitor visitor) {
    visitor.visit(COUNTER, "ChecksumFailureCount", checksumFailures::sum);
    visitor.visit(COUNTER, "IoErrorCount", ioErrors::get);
    visitor.visit(COUNTER, "BypassedReadCount", bypassedReads::sum);
    visitor.visit(COUNTER, "BypassedInsertCount", bypassedInserts::sum);
    visitor.visit(GAUGE, "DeviceState", () -> isBypassed() ? 1 : 0);
    visitor.visit(GAUGE, "ReadOnlyDeviceCount", () -> isReadOnly() ? 1 : 0);
  }
}
