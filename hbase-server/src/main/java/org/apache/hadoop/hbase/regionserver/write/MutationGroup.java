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
package org.apache.hadoop.hbase.regionserver.write;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.apache.hadoop.hbase.NotServingRegionException;
import org.apache.hadoop.hbase.RegionTooBusyException;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Mutation;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.regionserver.GroupBatchOperation;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.MetricsRegion;
import org.apache.hadoop.hbase.regionserver.OperationStatus;
import org.apache.hadoop.hbase.regionserver.RegionLocks;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Puts and deletes to the regions of a WAL, with one edit for each region and one sync for all.
 * Each part, of one region, is appended within the append of the one before: all edits are in the
 * WAL when the thread waits for the sync of the last one, which is that of all. A part that fails
 * leaves the others as they are.
 * <p>
 * Invariant: while the thread waits for earlier sequence ids of a region, its own incomplete ones
 * are of regions that come before that; so two groups never wait for each other, nor a group and a
 * flush.
 */
@InterfaceAudience.Private
class MutationGroup extends CommitGroup {

  /** The writes to a region. */
  private final class Part {
    private final HRegion region;
    private final List<WriteCall> writes = new ArrayList<>();
    private int uncountedPuts;
    private int uncountedDeletes;

    private Part(HRegion region) {
      this.region = region;
    }

    private void write(List<WriteCall> some) {
      // A pending interrupt is that of another region's close, which must not end this part.
      boolean interrupted = Thread.interrupted();
      GroupAppend own = new GroupAppend(some, MutationGroup.this::partAppended);
      GroupAppend before = setAppend(own);
      try {
        apply(some);
      } catch (Throwable e) {
        if (some.size() > 1 && !own.isBegun() && !isOfRegion(e)) {
          // It has changed nothing. Whose fault it is shows one by one.
          some.forEach(write -> write(Collections.singletonList(write)));
        } else {
          fail(some, e);
        }
      } finally {
        setAppend(before);
        if (interrupted) {
          Thread.currentThread().interrupt();
        }
      }
    }

    /** Returns whether each write to the region would fail with it. */
    private boolean isOfRegion(Throwable e) {
      return e instanceof NotServingRegionException || e instanceof RegionTooBusyException;
    }

    private void apply(List<WriteCall> some) throws IOException {
      List<Mutation> all = new ArrayList<>(some.size());
      for (WriteCall write : some) {
        for (Mutation mutation : batch(write).mutations()) {
          GroupAppend.copyToHeap(mutation);
          all.add(mutation);
        }
      }
      OperationStatus[] statuses = batchMutate(region, all.toArray(new Mutation[0]));
      int next = 0;
      int withPuts = 0;
      int withDeletes = 0;
      for (WriteCall write : some) {
        MutationBatch batch = batch(write);
        next = batch.setStatuses(statuses, next);
        withPuts += batch.has(Put.class) ? 1 : 0;
        withDeletes += batch.has(Delete.class) ? 1 : 0;
        write.done(null, 0);
      }
      uncountedPuts += Math.max(0, withPuts - 1);
      uncountedDeletes += Math.max(0, withDeletes - 1);
    }

    /** The region has counted one put and one delete of each batch. */
    private void count() {
      MetricsRegion counters = region.getMetrics();
      for (int i = 0; counters != null && i < uncountedPuts; i++) {
        counters.updatePut();
      }
      for (int i = 0; counters != null && i < uncountedDeletes; i++) {
        counters.updateDelete();
      }
    }
  }

  private final BooleanSupplier mustWait;
  private final GroupMetrics metrics;
  private final Map<HRegion, RegionLocks> locks = new IdentityHashMap<>();
  private final List<Part> parts = new ArrayList<>(1);
  private int next;
  private boolean appended;

  /**
   * @param mustWait    whether any write has to wait now, because the memstores are full
   * @param afterAppend called once, when all is appended; does not throw
   */
  MutationGroup(BooleanSupplier mustWait, GroupMetrics metrics, Runnable afterAppend) {
    super(afterAppend);
    this.mustWait = mustWait;
    this.metrics = metrics;
  }

  @Override
  protected List<WriteCall> lock(List<WriteCall> taken) {
    List<WriteCall> ready = new ArrayList<>(taken.size());
    if (mustWait.getAsBoolean()) {
      return ready;
    }
    for (WriteCall write : taken) {
      RegionLocks region = locks.computeIfAbsent(write.region(), this::locks);
      if (region.enter() && region.tryShare(write.rows())) {
        ready.add(write);
      }
    }
    metrics.count(GroupMetrics.Count.Locked, taken.size() - ready.size());
    return ready;
  }

  /** Returns locks of a region that are not held yet. */
  RegionLocks locks(HRegion region) {
    return new RegionLocks(region);
  }

  /** Appends, syncs and inserts the mutations of a part. */
  OperationStatus[] batchMutate(HRegion region, Mutation[] mutations) throws IOException {
    return GroupBatchOperation.write(region, mutations);
  }

  @Override
  protected void unlock() {
    locks.values().forEach(RegionLocks::close);
    locks.clear();
  }

  @Override
  protected void write(List<WriteCall> arrived) {
    for (WriteCall write : arrived) {
      part(write.region()).writes.add(write);
    }
    if (parts.size() > 1) {
      parts.sort((a, b) -> a.region.getRegionInfo().compareTo(b.region.getRegionInfo()));
    }
    writeParts();
    metrics.group(arrived.size(), parts.size());
    parts.forEach(Part::count);
  }

  private Part part(HRegion region) {
    for (Part part : parts) {
      if (part.region == region) {
        return part;
      }
    }
    Part part = new Part(region);
    parts.add(part);
    return part;
  }

  /** Writes the parts that were not tried: of those that reach their append, only the first. */
  private void writeParts() {
    while (next < parts.size()) {
      Part part = parts.get(next++);
      part.write(part.writes);
    }
  }

  /** Called within the append of a part. Does not throw: the edit has a place in the WAL. */
  private void partAppended() {
    writeParts();
    if (!appended) {
      appended = true;
      appended();
    }
  }

  private static MutationBatch batch(WriteCall write) {
    return (MutationBatch) write.write();
  }
}
