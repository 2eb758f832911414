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

import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Evicts meta blocks from a {@link L1BucketCache} that were not accessed during the configured idle
 * time: those of dropped tables, of regions that were moved and left their blocks behind, or of
 * data that is accessed once a day. They are evicted, and moved to the victim cache like other
 * victims, while data blocks lack space that meta blocks have.
 * <p>
 * A thread checks all blocks {@value #PERIODS} times during the idle time, so that a block is
 * evicted after that time at the earliest and a quarter of it later at the latest, except for the
 * limits: a sixteenth of the tier, until data has taken that, and 16 MB a second, which leaves the
 * victim cache's queue to others. Blocks that share a bucket with other idle ones are evicted
 * first, since an empty bucket can take blocks of any size. Thread-safe.
 */
@InterfaceAudience.Private
final class IdleMetaBlocks {
  private static final Logger LOG = LoggerFactory.getLogger(IdleMetaBlocks.class);

  static final int PERIODS = 4;
  /** One part of the tier in so many is evicted before a check whether data has taken its space. */
  private static final int PARTS = 16;
  private static final long RETRY_WAIT_MS = 1000;
  private static final long BYTES_PER_MS = 16 * 1024;
  private static final long STOP_WAIT_MS = 5000;

  private final BucketCacheTier cache;
  private final L1DataSpace dataSpace;
  private final LongAdder evicted = new LongAdder();
  /** The time of the cache's clock at the ends of the last periods, as a ring. */
  private final long[] clock = new long[PERIODS];
  private long periods;
  private long lookups;
  private volatile long idleMs;
  /** The evicting thread; a former one that still runs ends. Null if there is none. */
  private Thread thread;

  /**
   * @param cache     the tier that they are in
   * @param dataSpace the data blocks that may take their space
   */
  IdleMetaBlocks(BucketCacheTier cache, L1DataSpace dataSpace) {
    this.cache = cache;
    this.dataSpace = dataSpace;
  }

  /**
   * Sets the idle time after which a block is evicted. Does not wait for evictions in progress.
   * @param ms above 0; 0 for as long as no other meta block needs its place
   */
  synchronized void setIdleMs(long ms) {
    if (ms != idleMs) {
      idleMs = ms;
      periods = 0;
      thread = ms == 0 ? null : new Thread(this::run, cache.getName() + "-BucketCacheIdle");
      if (thread != null) {
        thread.setDaemon(true);
        thread.start();
      }
      notifyAll();
    }
  }

  /** Ends the evictions, and waits up to {@value #STOP_WAIT_MS} ms for the one in progress. */
  void stop() throws InterruptedException {
    Thread last;
    synchronized (this) {
      last = thread;
      setIdleMs(0);
    }
    if (last != null) {
      last.join(STOP_WAIT_MS);
    }
  }

  private void run() {
    try {
      while (pause(TimeUnit.MILLISECONDS.toNanos(idleMs) / PERIODS)) {
        try {
          periodEnds();
        } catch (RuntimeException | InternalError e) {
          // InternalError is what mapped memory throws that is not there any more.
          LOG.warn("{} tier: could not evict idle meta blocks this time", cache.getName(), e);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Returns whether this is still the thread to do it, at once if it is not. */
  private synchronized boolean pause(long nanos) throws InterruptedException {
    long end = System.nanoTime() + nanos;
    long left = nanos;
    while (thread == Thread.currentThread() && left > 0) {
      // An interrupt would have blocks dropped that are on their way to the victim cache.
      TimeUnit.NANOSECONDS.timedWait(this, left);
      left = end - System.nanoTime();
    }
    return thread == Thread.currentThread();
  }

  /** Ends a period: evicts what has been idle for {@value #PERIODS} periods. */
  void periodEnds() throws InterruptedException {
    long idleSince = nextPeriod();
    if (idleSince == Long.MIN_VALUE || !isSpaceWanted()) {
      return;
    }
    long part = cache.getAllocator().getTotalSize() / PARTS;
    long left = part;
    for (IdleInBucket bucket : idleByBucket(idleSince)) {
      long freed = bucket.evict(idleSince);
      dataSpace.adapt(0);
      left -= freed;
      if (!pause(TimeUnit.MILLISECONDS.toNanos(freed) / BYTES_PER_MS)) {
        return;
      }
      if (left <= 0) {
        if (!pause(TimeUnit.MILLISECONDS.toNanos(RETRY_WAIT_MS)) || !isSpaceWanted()) {
          return;
        }
        left = part;
      }
    }
  }

  /** Returns the clock of {@link #PERIODS} periods ago; at first the minimum of a long. */
  private synchronized long nextPeriod() {
    int slot = (int) (periods % PERIODS);
    long before = periods < PERIODS ? Long.MIN_VALUE : clock[slot];
    clock[slot] = cache.advanceClock();
    periods++;
    return before;
  }

  /** Returns whether meta blocks have space that data blocks could use. */
  private boolean isSpaceWanted() {
    long before = lookups;
    lookups = dataSpace.policy().getPromotedCount() + dataSpace.policy().getRejectedCount();
    return lookups != before && dataSpace.isBoundByMeta() && dataSpace.isFull();
  }

  /** Returns the idle blocks by bucket, those buckets first with the largest share of them. */
  private List<IdleInBucket> idleByBucket(long since) {
    BucketAllocator allocator = cache.getAllocator();
    Map<Integer, IdleInBucket> buckets = new HashMap<>();
    cache.backingMap.forEach((key, entry) -> {
      if (entry.metaBlock) {
        buckets.computeIfAbsent(allocator.getBucketIndex(entry.offset()), i -> new IdleInBucket())
          .add(key, entry, since);
      }
    });
    return buckets.values().stream().filter(bucket -> !bucket.idle.isEmpty())
      .sorted(Comparator.comparingDouble(IdleInBucket::busyShare)).collect(Collectors.toList());
  }

  /** The meta blocks of one bucket. */
  private final class IdleInBucket {
    private final Map<BlockCacheKey, BucketEntry> idle = new HashMap<>();
    private int all;

    void add(BlockCacheKey key, BucketEntry entry, long since) {
      all++;
      if (entry.getAccessCounter() < since) {
        idle.put(key, entry);
      }
    }

    double busyShare() {
      return 1 - (double) idle.size() / all;
    }

    /** Returns the bytes of the places that are free now. */
    long evict(long since) {
      long freed = 0;
      for (Map.Entry<BlockCacheKey, BucketEntry> block : idle.entrySet()) {
        BucketEntry entry = block.getValue();
        // It may have been accessed meanwhile.
        if (
          entry.getAccessCounter() < since
            && cache.evictBucketEntryIfNoRpcReferenced(block.getKey(), entry)
        ) {
          evicted.increment();
          freed += cache.bucketSizeFor(entry.getLength());
        }
      }
      return freed;
    }
  }

  /** Returns how many idle blocks were evicted. */
  long getEvictedCount() {
    return evicted.sum();
  }
}
