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
package org.apache.hadoop.hbase.regionserver.writegroup;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.RegionTooBusyException;
import org.apache.hadoop.hbase.regionserver.ServerNonceManager;
import org.apache.hadoop.hbase.util.NonceKey;
import org.apache.hadoop.hbase.wal.WALKey;
import org.apache.hadoop.hbase.wal.WALKeyImpl;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The append of a group to the WAL. The nonces of all members are
 * written with the edit: a WAL key has one nonce, which is that of the first member; the others are
 * in an extended attribute of the key, sixteen bytes each, so that a server that replays the edit
 * has all of them. A stock server ignores it.
 * <p>
 * An instance belongs to the thread that appends, from {@link #begin} to {@link #end}.
 */
@InterfaceAudience.Private
public final class GroupAppend {

  /** The name of the attribute: pairs of longs, group and nonce, of all but the first. */
  public static final String ATTRIBUTE = "increment.group.nonces";

  private static final int PAIR = 2 * Long.BYTES;
  private static final ThreadLocal<GroupAppend> CURRENT = new ThreadLocal<>();

  /** What the thread appends as well, and has not synced yet; null if nothing. */
  private final GroupAppend outer;
  private final NonceKey first;
  private final byte[] others;
  private final boolean triesRegion;
  private final boolean triesUpdates;
  private final Runnable after;
  private boolean begun;
  private boolean wouldWait;

  private GroupAppend(NonceKey first, byte[] others, boolean triesRegion, boolean triesUpdates,
    Runnable after) {
    this.outer = CURRENT.get();
    this.first = first;
    this.others = others;
    this.triesRegion = triesRegion;
    this.triesUpdates = triesUpdates;
    this.after = after;
  }

  /**
   * Begins the append of a group.
   * @param triesRegion  whether it fails rather than waits for the lock of its region, which a bulk
   *                     load or a close may hold for seconds
   * @param triesUpdates whether it fails rather than waits for the region's lock of updates, which
   *                     the begin of a flush holds
   * @param after        called once the edit is appended, before the thread waits for its sync
   */
  static GroupAppend begin(List<PendingWrite> group, boolean triesRegion,
    boolean triesUpdates, Runnable after) {
    NonceKey first = null;
    ByteBuffer others = ByteBuffer.allocate(group.size() * PAIR);
    for (PendingWrite write : group) {
      if (write.nonce() == HConstants.NO_NONCE) {
        continue;
      }
      if (first == null) {
        first = new NonceKey(write.nonceGroup(), write.nonce());
      } else {
        others.putLong(write.nonceGroup()).putLong(write.nonce());
      }
    }
    byte[] bytes = new byte[others.position()];
    others.flip();
    others.get(bytes);
    GroupAppend append = new GroupAppend(first, bytes, triesRegion, triesUpdates, after);
    CURRENT.set(append);
    return append;
  }

  void end() {
    if (outer == null) {
      CURRENT.remove();
    } else {
      CURRENT.set(outer);
    }
  }

  /** Returns whether it failed as it would have waited for the region's lock of updates. */
  boolean wouldWait() {
    return wouldWait;
  }

  /**
   * Called before a region waits for one of its locks.
   * @param updates the region's lock of updates
   * @return whether the lock is held now; false if the region is to wait for it
   * @throws RegionTooBusyException if the lock is not free and must not be waited for
   */
  public static boolean tryLock(Lock lock, ReadWriteLock updates) throws IOException {
    GroupAppend current = CURRENT.get();
    boolean ofUpdates = lock == updates.readLock();
    if (
      current == null || current.begun
        || !(ofUpdates ? current.triesUpdates : current.triesRegion)
    ) {
      return false;
    }
    try {
      // With a timeout, since without one it would pass by a flush that waits.
      if (lock.tryLock(0, TimeUnit.MILLISECONDS)) {
        return true;
      }
    } catch (InterruptedException e) {
      throw (IOException) new InterruptedIOException("interrupted before the append").initCause(e);
    }
    current.wouldWait = ofUpdates;
    throw new RegionTooBusyException("The region is locked.");
  }

  /** Returns whether the edit may have reached the WAL. A failure before that changed nothing. */
  boolean isBegun() {
    return begun;
  }

  /**
   * Called when an edit is about to be appended.
   * @param own the nonce of the edit without this class
   * @return the nonce for the WAL key
   */
  public static NonceKey of(NonceKey own) {
    GroupAppend current = CURRENT.get();
    if (current == null) {
      return own;
    }
    current.begun = true;
    return current.first == null ? own : current.first;
  }

  /** Called when the edit is appended and its sync not yet requested. Does not throw. */
  public static void appended() {
    GroupAppend current = CURRENT.get();
    if (current != null) {
      current.after.run();
    }
  }

  /** Adds the nonces of all members but the first to the key of the edit. */
  public static void addTo(WALKeyImpl key) {
    GroupAppend current = CURRENT.get();
    if (current != null && current.others.length > 0) {
      key.addExtendedAttribute(ATTRIBUTE, current.others);
    }
  }

  /** Reports to the nonce manager what {@link #addTo} added, when the edit is replayed. */
  public static void report(WALKey key, ServerNonceManager manager) {
    byte[] others = key.getExtendedAttribute(ATTRIBUTE);
    if (others == null) {
      return;
    }
    ByteBuffer pairs = ByteBuffer.wrap(others);
    while (pairs.remaining() >= PAIR) {
      manager.reportOperationFromWal(pairs.getLong(), pairs.getLong(), key.getWriteTime());
    }
  }
}
