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
package org.apache.hadoop.hbase.regionserver;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.apache.hadoop.hbase.util.HashedBytes;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The locks of a region that a thread holds for a group of writes. The base takes them once more,
 * which then never waits. For one thread. Not in {@code regionserver.write}, since the base's locks
 * of rows are package-private.
 */
@InterfaceAudience.Private
public class RegionLocks implements AutoCloseable {
  private final HRegion region;
  private final List<HRegion.RowLockImpl> rows = new ArrayList<>();
  private boolean tried;
  private boolean entered;
  private boolean updates;

  public RegionLocks(HRegion region) {
    this.region = region;
  }

  /** Returns whether memory is short, so that each write has to wait for a flush. */
  public static boolean isMemoryShort(RegionServerServices server) {
    return server.getRegionServerAccounting().isAboveHighWaterMark() != FlushType.NORMAL;
  }

  /** Returns whether an operation holds the lock of a row, or waits for it. */
  public static boolean isLocked(HRegion region, byte[] row) {
    return region.getLockedRows().containsKey(new HashedBytes(row));
  }

  /**
   * Locks the region for updates, once: until {@link #close} it is not closed or bulk loaded, and
   * no flush begins. Returns false if that would have to wait.
   */
  public boolean enter() {
    if (!tried) {
      tried = true;
      updates = enter(0) && tryLock(region.updatesLock.readLock(), 0);
    }
    return updates;
  }

  /** Locks the region against a close and a bulk load. */
  private boolean enter(long millis) {
    if (!entered && tryLock(region.lock.readLock(), millis)) {
      entered = true;
    }
    return entered && !region.isClosing() && !region.isClosed();
  }

  /** Tries to lock with a timeout, since tryLock() without one would overtake waiting threads. */
  private static boolean tryLock(Lock lock, long millis) {
    try {
      return lock.tryLock(millis, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      return false;
    }
  }

  /** Locks all rows as puts and deletes do, or none of them if that would have to wait. */
  public boolean tryShare(List<byte[]> all) {
    int before = rows.size();
    for (byte[] row : all) {
      if (!tryRow(row, true, 0)) {
        release(before);
        return false;
      }
    }
    return true;
  }

  /**
   * Locks the region and then a row as increments do, for which it waits.
   * @return false if that takes too long, or the region is closed
   */
  public boolean tryOwn(byte[] row, long millis) {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    return enter(millis)
      && tryRow(row, false, TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime()));
  }

  private boolean tryRow(byte[] row, boolean shared, long millis) {
    HashedBytes key = new HashedBytes(row);
    HRegion.RowLockContext context;
    HRegion.RowLockImpl lock;
    do {
      context = region.getLockedRows().computeIfAbsent(key, any -> region.new RowLockContext(key));
      lock = shared ? context.newReadLock() : context.newWriteLock();
      // The lock is null if the last holder has just removed it.
    } while (lock == null);
    boolean locked = false;
    try {
      locked = tryLock(lock.getLock(), millis);
    } finally {
      if (!locked) {
        context.cleanUp();
      }
    }
    if (locked) {
      context.setThreadName(Thread.currentThread().getName());
      rows.add(lock);
    }
    return locked;
  }

  private void release(int to) {
    while (rows.size() > to) {
      rows.remove(rows.size() - 1).release();
    }
  }

  /** Unlocks all. May be called again. */
  @Override
  public void close() {
    release(0);
    if (updates) {
      updates = false;
      region.updatesLock.readLock().unlock();
    }
    if (entered) {
      entered = false;
      region.lock.readLock().unlock();
    }
  }
}
