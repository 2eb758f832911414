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
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Mutation;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.regionserver.write.CommitGroup;
import org.apache.hadoop.hbase.regionserver.write.GroupAppend;
import org.apache.hadoop.hbase.regionserver.write.GroupMetrics;
import org.apache.hadoop.hbase.regionserver.write.WriteCall;
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
final class MutationGroup extends CommitGroup {

  /** The writes to a region. */
  private final class Part {
    private final HRegion region;
    private final List<WriteCall> writes = new ArrayList<>();
    private int puts;
    private int deletes;

    private Part(HRegion region) {
      this.region = region;
    }

    private void write() {
      // Of another region's close, which must not end this part.
      boolean interrupted = Thread.interrupted();
      GroupAppend before = setAppend(new GroupAppend(writes, MutationGroup.this::partAppended));
      try {
        apply();
      } catch (Throwable e) {
        fail(writes, e);
      } finally {
        setAppend(before);
        if (interrupted) {
          Thread.currentThread().interrupt();
        }
      }
    }

    private void apply() throws IOException {
      List<Mutation> all = new ArrayList<>(writes.size());
      for (WriteCall write : writes) {
        for (Mutation mutation : batch(write).mutations()) {
          GroupAppend.copyToHeap(mutation);
          all.add(mutation);
        }
      }
      OperationStatus[] statuses =
        region.batchMutate(new GroupBatchOperation(region, all.toArray(new Mutation[0])));
      int next = 0;
      for (WriteCall write : writes) {
        MutationBatch batch = batch(write);
        next = batch.setStatuses(statuses, next);
        puts += batch.has(Put.class) ? 1 : 0;
        deletes += batch.has(Delete.class) ? 1 : 0;
        write.done(null, 0);
      }
    }

    /** The region has counted one put and one delete. */
    private void count() {
      MetricsRegion counters = region.getMetrics();
      for (int i = 1; counters != null && i < puts; i++) {
        counters.updatePut();
      }
      for (int i = 1; counters != null && i < deletes; i++) {
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
    // A close interrupts threads that have entered its region, which this one has not.
    Thread.interrupted();
    for (WriteCall write : taken) {
      RegionLocks region = locks.computeIfAbsent(write.region(), RegionLocks::new);
      if (region.enter() && region.tryShare(write.rows())) {
        ready.add(write);
      }
    }
    metrics.left(taken.size() - ready.size());
    return ready;
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
      parts.get(next++).write();
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
