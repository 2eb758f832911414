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

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.apache.hadoop.hbase.HBaseIOException;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.composite.CompositeBucketCacheSettings;
import org.apache.hadoop.hbase.io.hfile.composite.TierSettings;
import org.apache.hadoop.hbase.metrics.MetricKind;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;

/**
 * The accesses of a {@link BucketCacheTier} to its device. A read must return bytes with the
 * checksum of what was written ({@link EntryChecksum}). Failures are counted, logged at most every
 * {@value #ERROR_LOG_INTERVAL_SECONDS} seconds, and reported to {@link DeviceHealth}; a device that
 * fails several times in a row is bypassed and probed ({@link DeviceProber}).
 * <p>
 * Thread-safe. A successful access costs what {@link DeviceHealth} says.
 */
@InterfaceAudience.Private
final class DeviceAccess {
  private static final int ERROR_LOG_INTERVAL_SECONDS = 10;
  private static final long ERROR_LOG_INTERVAL_NANOS =
    TimeUnit.SECONDS.toNanos(ERROR_LOG_INTERVAL_SECONDS);

  private final BucketCache cache;
  private final CacheDevice device;
  private final Logger log;
  private final DeviceHealth health;
  private final DeviceProber prober;
  /** Whether entries have checksums; not those of an engine in the memory of the process. */
  private final boolean checksums;
  private final SyncPace pace = new SyncPace(System::nanoTime);
  /** Writer threads that may be writing. */
  private final AtomicInteger writing = new AtomicInteger();
  private final LongAdder checksumFailures = new LongAdder();
  private final LongAdder ioErrors = new LongAdder();
  private final LongAdder bypassedReads = new LongAdder();
  private final LongAdder bypassedInserts = new LongAdder();
  private volatile long lastErrorLogged = System.nanoTime() - ERROR_LOG_INTERVAL_NANOS;

  /**
   * @param tier     with an open engine
   * @param settings checked settings of the tier
   * @param log      of the tier, whose log level operators set
   */
  <T extends BucketCache & CacheDevice> DeviceAccess(T tier, TierSettings settings, Logger log) {
    this.cache = tier;
    this.device = tier;
    this.log = log;
    this.checksums =
      settings.isChecksumEnabled() && tier.ioEngine instanceof PersistentIOEngine;
    this.health = new DeviceHealth(settings.getConfiguration().getInt(
      CompositeBucketCacheSettings.COMMON_PREFIX + CompositeBucketCacheSettings.ERRORS_TOLERATED,
      BucketCache.DEFAULT_ERROR_TOLERATION_DURATION), System::nanoTime);
    this.prober = new DeviceProber(tier, health, settings.getRetryIntervalMs(), writing::get,
      ioErrors::increment);
  }

  boolean isWorking() {
    return health.isWorking();
  }

  DeviceHealth.State state() {
    return health.state();
  }

  /** Returns a number that changes when the device has been bypassed. */
  int term() {
    return health.term();
  }

  boolean hasChecksums() {
    return checksums;
  }

  /** Ends the probes for good, and syncs what a restart is to find. */
  void stop() {
    prober.stop();
    if (cache.isCacheEnabled() && cache.isCachePersistent()) {
      try {
        sync();
      } catch (IOException e) {
        log.info("{} tier: some blocks may not be there after a crash of the operating system",
          device.getName(), e);
      }
    }
  }

  /**
   * Reads the block of an entry.
   * @throws HBaseIOException if the block must be evicted
   */
  Cacheable read(BucketEntry entry) throws IOException {
    int term = health.term();
    IOEngine engine = cache.ioEngine;
    Cacheable block = null;
    boolean read = false;
    try {
      block = readChecked(engine, entry);
      health.readSucceeded();
      read = true;
      return block;
    } catch (ClosedByInterruptException e) {
      // The reader was interrupted; neither the device nor the block has failed.
      throw e;
    } catch (IOException | RuntimeException | InternalError e) {
      throw readFailed(e, term);
    } finally {
      if (!read && block != null && !engine.usesSharedMemory()) {
        // The JVM reported a fault of mapped memory after the block was read.
        block.release();
      }
    }
  }

  /**
   * Reads the block of an entry. If mapped memory is not there, its bytes are wrong, which fails by
   * itself, and the JVM reports the fault at any later call. It is made to report it here, and not
   * while the failure is handled.
   * @throws InternalError if there was such a fault
   */
  private Cacheable readChecked(IOEngine engine, BucketEntry entry) throws IOException {
    try {
      return device.readFrom(engine, entry);
    } catch (HBaseIOException | RuntimeException e) {
      if (engine instanceof FileMmapIOEngine) {
        EntryChecksum.throwPendingFault();
      }
      throw e;
    }
  }

  private HBaseIOException readFailed(Throwable failure, int term) {
    if (failure instanceof HBaseIOException || failure instanceof RuntimeException) {
      checksumFailures.increment();
      if (mayLog()) {
        log.warn("{} tier: {} returned other bytes than were written, in {} reads by now; such a "
          + "block is evicted", device.getName(), cache.getIoEngine(), checksumFailures, failure);
      } else {
        log.debug("{} tier: an entry does not hold what was written", device.getName(), failure);
      }
      return new HBaseIOException(failure);
    }
    failed("read", failure, health.readFailed(term));
    return new HBaseIOException(failure);
  }

  /** Writes a queued block. Returns null if it was dropped because of the device. */
  BucketEntry write(BucketCache.RAMQueueEntry queued, ByteBuffer metaBuff) throws IOException {
    if (!health.isWorking()) {
      return null;
    }
    int term = health.term();
    try {
      BucketEntry entry = device.store(queued, metaBuff);
      health.writeSucceeded();
      if (entry != null) {
        pace.written(entry.getLength());
      }
      return entry;
    } catch (CacheFullException | BucketAllocatorException e) {
      throw e;
    } catch (IOException | RuntimeException | InternalError e) {
      log.trace("{} is dropped", queued.getKey(), writeFailed(e, term));
      return null;
    }
  }

  /**
   * Reports a write that failed.
   * @param term the {@link #term} when it began
   * @return the exception to throw
   */
  IOException writeFailed(Throwable cause, int term) {
    // An interrupted thread is no failure of the device.
    if (!(cause instanceof ClosedByInterruptException)) {
      failed("write", cause, health.writeFailed(term));
    }
    return new IOException(cause);
  }

  /**
   * Returns the checksum for the entry of a block that was just written.
   * @param metadata the block's metadata as written, from 0 to its limit
   * @throws InternalError if the memory that it was written to is not there
   */
  int checksumOf(HFileBlock block, ByteBuffer metadata) {
    if (cache.ioEngine instanceof FileMmapIOEngine) {
      // Later, it would end the writer thread.
      EntryChecksum.throwPendingFault();
    }
    return checksums ? EntryChecksum.of(block, metadata) : EntryChecksum.NONE;
  }

  /** A writer has written a batch. Syncs the device if that is due and it is not bypassed. */
  void batchWritten() throws IOException {
    // Without checksums, an entry can be read only after the sync, as in HBase.
    if (!checksums || pace.isDue()) {
      sync();
    }
  }

  /** Syncs the device unless it is bypassed. */
  void sync() throws IOException {
    if (!health.isWorking()) {
      return;
    }
    int term = health.term();
    try {
      device.syncDevice();
      health.syncSucceeded();
    } catch (ClosedByInterruptException e) {
      throw e;
    } catch (IOException | RuntimeException | InternalError e) {
      pace.syncFailed();
      failed("sync", e, health.syncFailed(term));
      throw new IOException(e);
    }
  }

  private void failed(String access, Throwable cause, boolean bypass) {
    ioErrors.increment();
    if (bypass) {
      log.warn("{} tier is bypassed: {} accesses to {} failed in a row, the last was a {}",
        device.getName(), DeviceHealth.FAILURES_IN_A_ROW, cache.getIoEngine(), access, cause);
      prober.start(cause);
    } else if (mayLog()) {
      log.warn("{} tier: a {} of {} failed", device.getName(), access, cache.getIoEngine(), cause);
    } else {
      log.debug("{} tier: a {} of {} failed", device.getName(), access, cache.getIoEngine(), cause);
    }
  }

  /** Limits the warnings that every block can cause; the counters have all failures. */
  private boolean mayLog() {
    long now = System.nanoTime();
    if (now - lastErrorLogged < ERROR_LOG_INTERVAL_NANOS) {
      return false;
    }
    lastErrorLogged = now;
    return true;
  }

  void countBypassedRead() {
    bypassedReads.increment();
  }

  void countBypassedInsert() {
    bypassedInserts.increment();
  }

  /** A writer thread begins to write, if the device is not bypassed. */
  void writerBegins() {
    writing.incrementAndGet();
  }

  /** A writer thread has written. */
  void writerEnds() {
    writing.decrementAndGet();
  }

  /** Returns how many blocks were evicted because a read found other bytes than were written. */
  long getChecksumFailureCount() {
    return checksumFailures.sum();
  }

  /** Returns how many reads, writes and syncs the device has failed, probes included. */
  long getIoErrorCount() {
    return ioErrors.sum();
  }

  /** Returns how many lookups were misses because the device was bypassed. */
  long getBypassedReadCount() {
    return bypassedReads.sum();
  }

  /** Returns how many blocks were not cached because the device was bypassed. */
  long getBypassedInsertCount() {
    return bypassedInserts.sum();
  }

  /** Passes each metric of the device to the visitor. */
  void forEachMetric(MetricKind.Visitor visitor) {
    visitor.visit(COUNTER, "ChecksumFailureCount", this::getChecksumFailureCount);
    visitor.visit(COUNTER, "IoErrorCount", this::getIoErrorCount);
    visitor.visit(COUNTER, "BypassedReadCount", this::getBypassedReadCount);
    visitor.visit(COUNTER, "BypassedInsertCount", this::getBypassedInsertCount);
    // 0 while the device is in use, 1 while it is bypassed, 2 if it is disabled.
    visitor.visit(GAUGE, "DeviceState", () -> health.state().ordinal());
  }
}
