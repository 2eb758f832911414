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
import java.util.Collections;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.ipc.RequestInterceptor;
import org.apache.hadoop.hbase.ipc.RpcCall;
import org.apache.hadoop.hbase.ipc.RpcServerInterface;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.regionserver.RegionLocks;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.wal.WALEdit;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.apache.hadoop.hbase.shaded.protobuf.ProtobufUtil;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutateRequest;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutationProto;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutationProto.MutationType;
import org.apache.hadoop.hbase.shaded.protobuf.generated.HBaseProtos.NameBytesPair;

/**
 * Merges concurrent increments of the same columns of a row: one row lock, one read, one WAL edit
 * and one sync for all of them. An increment of a row without contention is dispatched as without
 * this class. Thread-safe. Can be enabled and disabled while the server runs.
 */
@InterfaceAudience.Private
public final class IncrementCoalescer implements RequestInterceptor {
  private static final Logger LOG = LoggerFactory.getLogger(IncrementCoalescer.class);

  /** Mutation's attribute of permissions, which AccessController makes tags of its cells of. */
  private static final String PERMISSIONS = "acl";
  private static final int WAITING_PER_HANDLER = 10;
  /**
   * How long a row is contended after a group of several increments, in nanoseconds. Their clients
   * are answered at the same time, and the first of their next increments finds no lock.
   */
  private static final long CONTENDED_NS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final int SLOTS = 1024;

  /** A row of a region. */
  private static final class RowKey {
    private final HRegion region;
    private final byte[] row;

    private RowKey(HRegion region, byte[] row) {
      this.region = region;
      this.row = row;
    }

    @Override
    public int hashCode() {
      return System.identityHashCode(region) * 31 + Bytes.hashCode(row);
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof RowKey && ((RowKey) other).region == region
        && Bytes.equals(((RowKey) other).row, row);
    }

    @Override
    public String toString() {
      return Bytes.toStringBinary(row) + " of " + region.getRegionInfo().getEncodedName();
    }
  }

  private final HRegionServer server;
  private final Commits<RowKey> commits;
  /** For the rows of each slot, when the last group of several increments was written. */
  private final AtomicLongArray lastGroups = new AtomicLongArray(SLOTS);
  /** Null until it is enabled for the first time. */
  private volatile GroupMetrics metrics;
  private volatile CoalescerSettings settings;

  /** @throws IllegalArgumentException naming the key, its value and what to do */
  public IncrementCoalescer(Configuration conf, HRegionServer server) {
    this.server = server;
    WriteNonces nonces = new WriteNonces(server);
    int handlers = conf.getInt(HConstants.REGION_SERVER_HANDLER_COUNT,
      HConstants.DEFAULT_REGION_SERVER_HANDLER_COUNT);
    commits = new Commits<>(Committer.pool("IncrementCommitter", handlers),
      WAITING_PER_HANDLER * handlers, 0, calls -> metrics.refused(calls),
      appended -> new IncrementGroup(server, nonces, metrics, settings.rowWaitMs(),
        this::contended));
    configure(conf);
  }

  private void configure(Configuration conf) {
    CoalescerSettings changed = CoalescerSettings.of(conf);
    if (changed.isEnabled() && metrics == null) {
      metrics = GroupMetrics.ofIncrements();
    }
    settings = changed;
  }

  /** Applies a changed configuration, or keeps the former one if a value is invalid. */
  public void onConfigurationChange(Configuration conf) {
    try {
      configure(conf);
    } catch (IllegalArgumentException e) {
      LOG.error("Increments are merged as before: {}", e.getMessage());
    }
  }

  /**
   * Applies an increment, in the group of the calling committer or alone.
   * @return as {@link HRegion#increment(Increment, long, long)}
   * @throws IOException as that does
   */
  public Result increment(HRegion region, Increment increment, long nonceGroup, long nonce)
    throws IOException {
    CommitGroup group = Committer.group();
    if (group == null) {
      return region.increment(increment, nonceGroup, nonce);
    }
    if (region.getCoprocessorHost() != null) {
      // The hook checks the permissions of the caller whose call this thread runs.
      region.getCoprocessorHost().preIncrement(increment, new WALEdit());
    }
    return group.arrive(increment);
  }

  @Override
  public Outcome dispatch(RpcServerInterface rpcServer, RpcCall call) {
    if (!settings.isEnabled() || !(call.getParam() instanceof MutateRequest)) {
      return Outcome.NOT_TAKEN;
    }
    MutateRequest request = (MutateRequest) call.getParam();
    MutationProto mutation = request.getMutation();
    if (mutation.getMutateType() != MutationType.INCREMENT || request.hasCondition()) {
      return Outcome.NOT_TAKEN;
    }
    HRegion region = region(request);
    if (region == null || !isMerged(region, mutation) || RegionLocks.isMemoryShort(server)) {
      return Outcome.NOT_TAKEN;
    }
    RowKey key = new RowKey(region, mutation.getRow().toByteArray());
    if (!isContended(key)) {
      metrics.uncontended();
      return Outcome.NOT_TAKEN;
    }
    WriteCall write = new WriteCall(rpcServer, call, region, Collections.singletonList(key.row),
      request.hasNonceGroup() ? request.getNonceGroup() : HConstants.NO_NONCE,
      mutation.hasNonce() ? mutation.getNonce() : HConstants.NO_NONCE);
    if (commits.add(key, write)) {
      return Outcome.ACCEPTED;
    }
    metrics.refused(1);
    return write.tryDispatch() ? Outcome.ACCEPTED : Outcome.REFUSED;
  }

  /** Returns null if the region is not online here. */
  private HRegion region(MutateRequest request) {
    try {
      return server.getOnlineRegion(request.getRegion().getValue().toByteArray());
    } catch (RuntimeException e) {
      // The handler reports it.
      return null;
    }
  }

  private boolean isMerged(HRegion region, MutationProto mutation) {
    boolean plain = region.getClass() == HRegion.class
      && region.getEffectiveDurability(
        ProtobufUtil.toDurability(mutation.getDurability())) != Durability.SKIP_WAL
      && !region.getTableDescriptor().getTableName().isSystemTable();
    for (NameBytesPair attribute : mutation.getAttributeList()) {
      plain = plain && !attribute.getName().equals(PERMISSIONS);
    }
    if (!plain) {
      metrics.irregular();
    } else if (WriteObservers.OF_INCREMENTS.observe(region)) {
      metrics.hooked();
      plain = false;
    }
    return plain;
  }

  /** Returns whether an increment of the row would probably wait for its lock. */
  private boolean isContended(RowKey key) {
    return commits.has(key) || RegionLocks.isLocked(key.region, key.row)
      || System.nanoTime() - lastGroups.get(slot(key)) < CONTENDED_NS;
  }

  private void contended(WriteCall write) {
    lastGroups.set(slot(new RowKey(write.region(), write.rows().get(0))), System.nanoTime());
  }

  private static int slot(RowKey key) {
    return Math.floorMod(key.hashCode(), SLOTS);
  }

  /** Returns how many increments wait for a committer. */
  int waiting() {
    return commits.waiting();
  }

  public void stop() {
    commits.stop();
  }
}
