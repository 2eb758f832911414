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
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.LongSupplier;
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
 * Applies concurrent increments together: those of the same columns of a row as one increment of
 * their sum, and those of several rows of a region as one WAL edit with one sync. Thread-safe. Can
 * be enabled and disabled while the server runs.
 * <p>
 * An increment waits in the queue of its row while others wait there, or an operation holds the
 * lock of the row. If its row is warm, it waits in the queue of the part of its region that has the
 * row. Any other increment is dispatched as without this class: its read may wait for a device, and
 * handlers read in parallel.
 */
@InterfaceAudience.Private
public final class IncrementCoalescer implements RequestInterceptor {
  private static final Logger LOG = LoggerFactory.getLogger(IncrementCoalescer.class);

  /** Mutation's attribute of permissions, which AccessController makes tags of its cells of. */
  private static final String PERMISSIONS = "acl";
  /** HBase's length of a call queue for each handler, and what may wait for a part of a region. */
  private static final int WAITING_PER_HANDLER = 10;
  private static final int MIN_WAITING_FOR_PART = 1024;
  /** The number of CPUs whose threads one committer of a region keeps busy. */
  private static final int CPUS_PER_PART = 4;
  /** How long a group that is not slow reads, and for how long a slow part has no groups. */
  private static final long SLOW_GROUP_NS = TimeUnit.MILLISECONDS.toNanos(20);
  private static final long SLOW_PART_NS = TimeUnit.SECONDS.toNanos(1);
  private static final int SLOW_SLOTS = 1024;

  private final HRegionServer server;
  private final WriteNonces nonces;
  private final ExecutorService committers;
  private final Commits<IncrementQueueKey> rows;
  private final Commits<IncrementQueueKey> parts;
  private final int partsOfRegion;
  private final LongSupplier nanos;
  private final WarmRows warmRows;
  /** For the parts of each slot, when a group was slow. */
  private final AtomicLongArray slowParts = new AtomicLongArray(SLOW_SLOTS);
  /** Null until it is enabled for the first time. */
  private volatile GroupMetrics metrics;
  private volatile CoalescerSettings settings;

  /** @throws IllegalArgumentException naming the key, its value and what to do */
  public IncrementCoalescer(Configuration conf, HRegionServer server) {
    this(conf, server,
      Math.max(1, Runtime.getRuntime().availableProcessors() / CPUS_PER_PART), System::nanoTime);
  }

  /**
   * @param partsOfRegion the number of parts of a region whose groups are formed concurrently
   * @param nanos         the time, as of {@link System#nanoTime}
   * @throws IllegalArgumentException naming the key, its value and what to do
   */
  public IncrementCoalescer(Configuration conf, HRegionServer server, int partsOfRegion,
    LongSupplier nanos) {
    this.server = server;
    this.nonces = new WriteNonces(server);
    this.partsOfRegion = partsOfRegion;
    this.nanos = nanos;
    this.warmRows = new WarmRows(nanos);
    for (int i = 0; i < SLOW_SLOTS; i++) {
      slowParts.set(i, nanos.getAsLong() - SLOW_PART_NS);
    }
    int handlers = conf.getInt(HConstants.REGION_SERVER_HANDLER_COUNT,
      HConstants.DEFAULT_REGION_SERVER_HANDLER_COUNT);
    committers = Committer.pool("IncrementCommitter", handlers);
    rows = new Commits<>(committers, WAITING_PER_HANDLER * handlers, 0,
      calls -> metrics.count(GroupMetrics.Count.Refused, calls), appended -> rowGroup());
    parts = new Commits<>(committers,
      Math.max(MIN_WAITING_FOR_PART, WAITING_PER_HANDLER * handlers), 0,
      calls -> metrics.count(GroupMetrics.Count.Refused, calls), appended -> partGroup());
    configure(conf);
  }

  private CommitGroup rowGroup() {
    return new RowIncrementGroup(server, nonces, metrics, settings.rowWaitMs(),
      call -> parts.add(call.partQueue(), call),
      call -> parts.has(call.partQueue()) && !isSlow(call.partQueue()));
  }

  private CommitGroup partGroup() {
    return new PartIncrementGroup(server, nonces, metrics, call -> rows.add(call.rowQueue(), call),
      nanos, SLOW_GROUP_NS, call -> slowParts.set(slowSlot(call.partQueue()), nanos.getAsLong()));
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
    byte[] row = mutation.getRow().toByteArray();
    IncrementQueueKey rowQueue = IncrementQueueKey.ofRow(region, row);
    IncrementQueueKey partQueue = partQueue(rowQueue, region, mutation, call);
    boolean isWarm = warmRows.touch(rowQueue.hashCode());
    IncrementQueueKey queue = null;
    if (rows.has(rowQueue)) {
      queue = rowQueue;
    } else if (isWarm && !isSlow(partQueue)) {
      queue = partQueue;
    } else if (RegionLocks.isLocked(region, row)) {
      queue = rowQueue;
    }
    if (queue == null) {
      metrics.count(GroupMetrics.Count.Single, 1);
      return Outcome.NOT_TAKEN;
    }
    IncrementCall write = new IncrementCall(rpcServer, call, region, rowQueue, partQueue);
    if ((queue == rowQueue ? rows : parts).add(queue, write)) {
      return Outcome.ACCEPTED;
    }
    metrics.count(GroupMetrics.Count.Refused, 1);
    return write.tryDispatch() ? Outcome.ACCEPTED : Outcome.REFUSED;
  }

  private IncrementQueueKey partQueue(IncrementQueueKey rowQueue, HRegion region,
    MutationProto mutation, RpcCall call) {
    return IncrementQueueKey.ofPart(region, Math.floorMod(rowQueue.hashCode(), partsOfRegion),
      durability(region, mutation), call.getPriority() > HConstants.NORMAL_QOS);
  }

  private static Durability durability(HRegion region, MutationProto mutation) {
    return region.getEffectiveDurability(ProtobufUtil.toDurability(mutation.getDurability()));
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
      && durability(region, mutation) != Durability.SKIP_WAL
      && !region.getTableDescriptor().getTableName().isSystemTable();
    for (NameBytesPair attribute : mutation.getAttributeList()) {
      plain = plain && !attribute.getName().equals(PERMISSIONS);
    }
    if (!plain) {
      metrics.count(GroupMetrics.Count.Ungroupable, 1);
    } else if (WriteObservers.OF_INCREMENTS.observe(region)) {
      metrics.count(GroupMetrics.Count.Coprocessor, 1);
      plain = false;
    }
    return plain;
  }

  private boolean isSlow(IncrementQueueKey part) {
    return nanos.getAsLong() - slowParts.get(slowSlot(part)) < SLOW_PART_NS;
  }

  private static int slowSlot(IncrementQueueKey part) {
    return Math.floorMod(part.hashCode(), SLOW_SLOTS);
  }

  /** Returns how many increments wait for a committer. */
  int waiting() {
    return rows.waiting() + parts.waiting();
  }

  /** Returns how many rows have a queue of their own. */
  public int contendedRows() {
    return rows.keys();
  }

  public void stop() {
    committers.shutdown();
  }
}
