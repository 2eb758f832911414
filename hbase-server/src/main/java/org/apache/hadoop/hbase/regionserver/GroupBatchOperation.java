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

import java.io.IOException;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.HConstants.OperationStatusCode;
import org.apache.hadoop.hbase.RegionTooBusyException;
import org.apache.hadoop.hbase.client.Mutation;
import org.apache.hadoop.hbase.regionserver.Region.RowLock;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.EnvironmentEdgeManager;
import org.apache.hadoop.hbase.util.HashedBytes;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * A batch of puts and deletes of several calls. Differs from a batch of one call: coprocessors were
 * called before, for each mutation in its own call; and the lock of a row is tried, not waited for.
 * Invariant: after it, each mutation has its status, and all with success are in one edit.
 */
@InterfaceAudience.Private
final class GroupBatchOperation extends HRegion.MutationBatchOperation {

  /** Of a mutation that is not in the batch, since its row is locked or its store too busy. */
  static final OperationStatus LEFT_OUT =
    new OperationStatus(OperationStatusCode.STORE_TOO_BUSY, "not in the group");

  GroupBatchOperation(HRegion region, Mutation[] mutations) {
    super(region, mutations, false, HConstants.NO_NONCE, HConstants.NO_NONCE);
  }

  @Override
  public void checkAndPrepare() throws IOException {
    long now = EnvironmentEdgeManager.currentTime();
    for (int i = 0; i < size(); i++) {
      checkAndPrepareMutation(i, now);
    }
  }

  @Override
  public MiniBatchOperationInProgress<Mutation>
    lockRowsAndBuildMiniBatch(List<RowLock> acquiredRowLocks) throws IOException {
    int ready = 0;
    Set<byte[]> leftOut = Collections.emptySet();
    for (int i = 0; i < size(); i++) {
      if (isOperationPending(i)) {
        byte[] row = getMutation(i).getRow();
        // A batch may have several mutations of a row, which keep their order.
        if (!leftOut.contains(row) && tryStart(getMutation(i), acquiredRowLocks)) {
          ready++;
        } else {
          leftOut = leftOut.isEmpty() ? new TreeSet<>(Bytes.BYTES_COMPARATOR) : leftOut;
          leftOut.add(row);
          retCodeDetails[i] = LEFT_OUT;
        }
      }
    }
    return createMiniBatch(size(), ready);
  }

  private boolean tryStart(Mutation mutation, List<RowLock> locks) {
    try {
      region.storeHotnessProtector.start(mutation.getFamilyCellMap());
    } catch (RegionTooBusyException e) {
      region.storeHotnessProtector.finish(mutation.getFamilyCellMap());
      return false;
    }
    RowLock lock = tryLock(region, mutation.getRow());
    if (lock == null) {
      region.storeHotnessProtector.finish(mutation.getFamilyCellMap());
      return false;
    }
    locks.add(lock);
    return true;
  }

  /** Returns the lock that a put has of a row; null if it would wait for it. */
  private static RowLock tryLock(HRegion region, byte[] row) {
    HashedBytes key = new HashedBytes(row);
    HRegion.RowLockContext context;
    HRegion.RowLockImpl lock;
    do {
      context = region.getLockedRows().computeIfAbsent(key, any -> region.new RowLockContext(key));
      lock = context.newReadLock();
      // Null if the last holder has just removed it.
    } while (lock == null);
    boolean locked = false;
    try {
      // With a timeout, since without one it would pass by threads that wait.
      locked = lock.getLock().tryLock(0, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      // The region checks for interrupts before it continues.
      Thread.currentThread().interrupt();
    } finally {
      if (!locked) {
        context.cleanUp();
      }
    }
    if (!locked) {
      return null;
    }
    context.setThreadName(Thread.currentThread().getName());
    return lock;
  }

  /** Returns whether a put would wait for its region now, for a bulk load or a close. */
  static boolean wouldWait(HRegion region) {
    return region.lock.isWriteLocked() || region.lock.hasQueuedThreads();
  }

  /** Returns whether a put would wait for the lock of a row now. */
  static boolean wouldWait(HRegion region, byte[] row) {
    HRegion.RowLockContext context = region.getLockedRows().get(new HashedBytes(row));
    if (context == null) {
      return false;
    }
    ReentrantReadWriteLock lock = (ReentrantReadWriteLock) context.readWriteLock;
    return lock.isWriteLocked() || lock.hasQueuedThreads();
  }
}
