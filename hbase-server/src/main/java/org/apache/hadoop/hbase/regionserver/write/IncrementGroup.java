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
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.IncrementBatch;
import org.apache.hadoop.hbase.regionserver.RegionLocks;
import org.apache.hadoop.hbase.regionserver.RegionServerServices;
import org.apache.hadoop.hbase.util.HashedBytes;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Increments of rows of a region whose locks the committer holds. Those of a row with the same
 * {@link CounterKey} are applied as one {@link IncrementSum}, and the first sums of all rows are
 * written as one edit. A row's other sums follow one by one, as they would under its lock.
 * <p>
 * Invariant: an increment is in one sum, and a sum is applied again only if an edit that had it has
 * failed before its append.
 */
@InterfaceAudience.Private
abstract class IncrementGroup extends CommitGroup {
  private static final Runnable NOTHING = () -> {
  };

  private final RegionServerServices server;
  private final WriteNonces nonces;
  private final GroupMetrics metrics;
  private final Predicate<IncrementCall> otherQueue;
  private final Set<WriteCall> passed = new HashSet<>();
  private RegionLocks locks;
  /** Those whose nonces were started and not ended. */
  private List<WriteCall> started = new ArrayList<>();
  private int edits;

  /** @param otherQueue has an increment wait elsewhere; false if it has no room */
  IncrementGroup(RegionServerServices server, WriteNonces nonces, GroupMetrics metrics,
    Predicate<IncrementCall> otherQueue) {
    // The next group of the rows waits for this one: it reads what this one writes.
    super(NOTHING);
    this.server = server;
    this.nonces = nonces;
    this.metrics = metrics;
    this.otherQueue = otherQueue;
  }

  /**
   * Locks the rows of the increments. Calls {@link #start} for those whose rows are locked, and
   * {@link #pass} for those that are to wait in another queue.
   */
  abstract void lock(RegionLocks region, List<WriteCall> taken);

  /** Overridden by tests. */
  RegionLocks locks(HRegion region) {
    return new RegionLocks(region);
  }

  @Override
  protected final List<WriteCall> lock(List<WriteCall> taken) {
    if (!RegionLocks.isMemoryShort(server)) {
      locks = locks(taken.get(0).region());
      lock(locks, taken);
    }
    metrics.count(GroupMetrics.Count.Locked, taken.size() - started.size() - passed.size());
    return new ArrayList<>(started);
  }

  final void start(WriteCall call) {
    if (nonces.tryStart(call)) {
      started.add(call);
    }
  }

  final void pass(WriteCall call) {
    passed.add(call);
  }

  @Override
  protected final boolean passOn(WriteCall call) {
    boolean waits = passed.contains(call) && otherQueue.test((IncrementCall) call);
    if (!waits && passed.contains(call)) {
      metrics.count(GroupMetrics.Count.Refused, 1);
    }
    return waits;
  }

  @Override
  protected final void unlock() {
    started.forEach(nonces::end);
    started = Collections.emptyList();
    if (locks != null) {
      locks.close();
    }
  }

  @Override
  protected void write(List<WriteCall> arrived) {
    HRegion region = arrived.get(0).region();
    List<IncrementSum> firsts = new ArrayList<>(arrived.size());
    List<IncrementSum> others = new ArrayList<>();
    Map<HashedBytes, List<IncrementSum>> rows = new HashMap<>();
    for (WriteCall call : arrived) {
      CounterKey key = CounterKey.of(region, (Increment) call.write());
      if (key == null) {
        metrics.count(GroupMetrics.Count.Ungroupable, 1);
      }
      List<IncrementSum> row = rows.computeIfAbsent(new HashedBytes(call.rows().get(0)),
        any -> new ArrayList<>(1));
      IncrementSum sum = find(row, key);
      if (sum == null) {
        sum = new IncrementSum(key);
        (row.isEmpty() ? firsts : others).add(sum);
        row.add(sum);
      }
      sum.add(call);
    }
    write(region, firsts);
    others.forEach(sum -> write(region, Collections.singletonList(sum)));
    metrics.group(arrived.size(), edits);
  }

  private static IncrementSum find(List<IncrementSum> row, CounterKey key) {
    for (IncrementSum sum : row) {
      if (sum.accepts(key)) {
        return sum;
      }
    }
    return null;
  }

  /** Writes sums of different rows as one edit. */
  private void write(HRegion region, List<IncrementSum> sums) {
    List<WriteCall> calls = new ArrayList<>();
    sums.forEach(sum -> calls.addAll(sum.calls()));
    GroupAppend append = new GroupAppend(calls, this::edited);
    setAppend(append);
    try {
      if (sums.size() == 1) {
        apply(region, sums.get(0));
      } else {
        apply(region, sums, append, calls.size());
      }
    } catch (Throwable e) {
      if (append.isBegun() || calls.size() == 1) {
        fail(calls, e);
        return;
      }
      // The edit has changed nothing. Each half shows which of the increments has failed it.
      halves(sums).forEach(half -> write(region, half));
    } finally {
      setAppend(null);
    }
  }

  /** Called when an edit is appended, before its sync. Does not throw. */
  void edited() {
    edits++;
  }

  /** Returns the halves of a list of sums, or of the only sum the single increments. */
  private static List<List<IncrementSum>> halves(List<IncrementSum> sums) {
    List<List<IncrementSum>> halves = new ArrayList<>();
    if (sums.size() > 1) {
      halves.add(sums.subList(0, sums.size() / 2));
      halves.add(sums.subList(sums.size() / 2, sums.size()));
    } else {
      for (WriteCall call : sums.get(0).calls()) {
        halves.add(Collections.singletonList(IncrementSum.of(call)));
      }
    }
    return halves;
  }

  private void apply(HRegion region, IncrementSum sum) throws IOException {
    Result result =
      region.increment(sum.increment(), HConstants.NO_NONCE, HConstants.NO_NONCE);
    count(region, sum.calls().size() - 1, sum.calls().size() - 1);
    sum.done(result, region.getMVCC().getReadPoint());
  }

  private void apply(HRegion region, List<IncrementSum> sums, GroupAppend append, int calls)
    throws IOException {
    Increment[] increments = new Increment[sums.size()];
    for (int i = 0; i < increments.length; i++) {
      increments[i] = sums.get(i).increment();
    }
    IncrementBatch batch = new IncrementBatch(region, increments);
    try {
      Result[] results = batch.write();
      long sequenceId = region.getMVCC().getReadPoint();
      for (int i = 0; i < results.length; i++) {
        sums.get(i).done(results[i], sequenceId);
      }
    } finally {
      if (!append.isBegun()) {
        batch.uncount();
      }
    }
    // The region has counted each increment of the batch as a request, and all as one increment.
    count(region, calls - increments.length, calls - 1);
  }

  /** Counts increments of which the region knows nothing. */
  private void count(HRegion region, int requests, int increments) {
    if (requests > 0) {
      region.addWriteRequestsCount(requests);
      if (server.getMetrics() != null) {
        server.getMetrics().updateWriteQueryMeter(region, requests);
      }
    }
    for (int i = 0; region.getMetrics() != null && i < increments; i++) {
      region.getMetrics().updateIncrement();
    }
  }
}
