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
import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellScanner;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.HConstants.OperationStatusCode;
import org.apache.hadoop.hbase.PrivateCellUtil;
import org.apache.hadoop.hbase.RegionTooBusyException;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Mutation;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Row;
import org.apache.hadoop.hbase.coprocessor.HookOverrides;
import org.apache.hadoop.hbase.coprocessor.RegionCoprocessor;
import org.apache.hadoop.hbase.ipc.RpcServerInterface;
import org.apache.hadoop.hbase.regionserver.writegroup.GroupKey;
import org.apache.hadoop.hbase.regionserver.writegroup.GroupMetrics;
import org.apache.hadoop.hbase.regionserver.writegroup.PendingWrite;
import org.apache.hadoop.hbase.regionserver.writegroup.WriteGroup;
import org.apache.hadoop.hbase.regionserver.writegroup.WriteGroupMetrics;
import org.apache.hadoop.hbase.regionserver.writegroup.WriteGroupSettings;
import org.apache.hadoop.hbase.regionserver.writegroup.WriteGroups;
import org.apache.hadoop.hbase.regionserver.writegroup.WriteKind;
import org.apache.hadoop.hbase.security.access.AccessController;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.wal.WALEdit;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.apache.hbase.thirdparty.com.google.protobuf.Message;

import org.apache.hadoop.hbase.shaded.protobuf.ProtobufUtil;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.Action;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MultiRequest;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutateRequest;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutationProto;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutationProto.MutationType;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.RegionAction;
import org.apache.hadoop.hbase.shaded.protobuf.generated.HBaseProtos.NameBytesPair;

/**
 * Groups concurrent puts and deletes of a region that are acknowledged after a sync: one append and
 * one sync for all of them. A group has at most one mutation of a row, since all its cells have the
 * same sequence id. Thread-safe. Can be enabled and disabled while the server runs.
 */
@InterfaceAudience.Private
public final class MutationGroups implements WriteKind {
  private static final Logger LOG = LoggerFactory.getLogger(MutationGroups.class);

  /** Mutation's attribute of its time to live, which the region makes tags of its cells of. */
  private static final String TTL = "_ttl";
  /** The maximum number of mutations of a batch; a larger one gains little. */
  private static final int MAX_BATCH = 100;
  /** The maximum size of the requests of a group. Its edit is about as large. */
  private static final long MAX_BYTES = 1 << 20;
  /** AccessController's attribute that has itself check the cells in the row. */
  private static final String CELLS_DECIDE = "check_covering_perm";

  private static final HookOverrides HAS_HOOKS = new HookOverrides("prePut", "postPut",
    "preDelete", "postDelete", "prePrepareTimeStampForDeleteVersion", "preBatchMutate",
    "postBatchMutate", "postBatchMutateIndispensably", "preWALAppend", "postStartRegionOperation",
    "postCloseRegionOperation");

  /** One thread that forms groups keeps the threads of so many CPUs busy. */
  private static final int CPUS_PER_SHARE = 4;

  private final WriteGroups groups;
  /** Of how many parts of a WAL's regions groups are formed at the same time. */
  private final int shares;
  /** Null in tests. */
  private final RegionServerServices server;
  /** Null until it is enabled for the first time. */
  private volatile WriteGroupMetrics metrics;
  private volatile WriteGroupSettings settings;

  /**
   * @param server for its metrics
   * @throws IllegalArgumentException naming the key, its value and what to do
   */
  public MutationGroups(Configuration conf, RegionServerServices server) {
    this(conf, server,
      Math.max(1, Runtime.getRuntime().availableProcessors() / CPUS_PER_SHARE));
  }

  MutationGroups(Configuration conf, RegionServerServices server, int shares) {
    this.server = server;
    this.shares = shares;
    groups = new WriteGroups(this, server);
    configure(conf);
  }

  private void configure(Configuration conf) {
    WriteGroupSettings changed = WriteGroupSettings.of(conf);
    if (changed.isEnabled() && metrics == null) {
      metrics = WriteGroupMetrics.register();
      groups.prepare();
    }
    settings = changed;
  }

  /** Applies a changed configuration, or keeps the former one if a value is invalid. */
  void onConfigurationChange(Configuration conf) {
    try {
      configure(conf);
    } catch (IllegalArgumentException e) {
      LOG.error("Puts and deletes are grouped as before: {}", e.getMessage());
    }
  }

  /** Has writes that this server reads from now on pass here before they are dispatched. */
  void intercept(RpcServerInterface rpcServer, HRegionServer regionServer) {
    groups.intercept(rpcServer, regionServer);
  }

  /** Returns the put of a request, which may have been read before a handler began it. */
  Put readPut(MutationProto proto, CellScanner cells) throws IOException {
    return (Put) ((MutationBatch) groups.read(proto, cells)).mutations()[0];
  }

  /** Returns the delete of a request, which may have been read before a handler began it. */
  Delete readDelete(MutationProto proto, CellScanner cells) throws IOException {
    return (Delete) ((MutationBatch) groups.read(proto, cells)).mutations()[0];
  }

  /** Applies a put or delete, in a group or alone. */
  void apply(HRegion region, Mutation mutation) throws IOException {
    groups.apply(region, MutationBatch.single(mutation), HConstants.NO_NONCE,
      HConstants.NO_NONCE);
  }

  /**
   * Applies the mutations of a batch, in a group or alone.
   * @return as {@link HRegion#batchMutate(Mutation[], boolean, long, long)}
   * @throws IOException as that does
   */
  OperationStatus[] batchMutate(HRegion region, Mutation[] mutations, boolean atomic,
    long nonceGroup, long nonce) throws IOException {
    if (atomic || !isEnabled() || mutations.length == 0) {
      return region.batchMutate(mutations, atomic, nonceGroup, nonce);
    }
    MutationBatch batch = MutationBatch.of(mutations);
    try {
      groups.apply(region, batch, HConstants.NO_NONCE, HConstants.NO_NONCE);
    } catch (RegionTooBusyException e) {
      OperationStatus[] others = new OperationStatus[batch.remaining().length];
      if (others.length == mutations.length) {
        throw e;
      }
      // The others are written, and a client is not to repeat them.
      Arrays.fill(others,
        new OperationStatus(OperationStatusCode.STORE_TOO_BUSY, e.getMessage()));
      batch.addStatuses(others);
    }
    return batch.statuses();
  }

  WriteGroups groups() {
    return groups;
  }

  @Override
  public boolean isEnabled() {
    return settings.isEnabled();
  }

  @Override
  public boolean groupsRows() {
    return true;
  }

  @Override
  public boolean groupsRegions() {
    return true;
  }

  @Override
  public int place(HRegion region) {
    return System.identityHashCode(region.getWAL()) * 31 + share(region);
  }

  private int share(HRegion region) {
    return Math.floorMod(region.getRegionInfo().hashCode(), shares);
  }

  @Override
  public boolean joinsFromThreads() {
    return false;
  }

  @Override
  public long rowWaitMs() {
    return settings.rowWaitMs();
  }

  @Override
  public boolean accepts(Message request) {
    if (request instanceof MutateRequest) {
      return !((MutateRequest) request).hasCondition()
        && isMutation(((MutateRequest) request).getMutation());
    }
    if (!(request instanceof MultiRequest)) {
      return false;
    }
    MultiRequest multi = (MultiRequest) request;
    // The batches of other regions would be applied while the calls of a group wait.
    return multi.getRegionActionCount() == 1 && !multi.hasCondition()
      && isBatch(multi.getRegionAction(0));
  }

  private static boolean isMutation(MutationProto proto) {
    MutationType type = proto.getMutateType();
    return (type == MutationType.PUT || type == MutationType.DELETE)
      && proto.getDurability() != MutationProto.Durability.ASYNC_WAL
      && proto.getDurability() != MutationProto.Durability.SKIP_WAL;
  }

  private static boolean isBatch(RegionAction action) {
    if (
      action.getActionCount() == 0 || action.getActionCount() > MAX_BATCH || action.getAtomic()
        || action.hasCondition()
    ) {
      return false;
    }
    MutationProto first = action.getAction(0).getMutation();
    for (Action one : action.getActionList()) {
      MutationProto proto = one.getMutation();
      if (
        !one.hasMutation() || !isMutation(proto) || proto.getDurability() != first.getDurability()
      ) {
        return false;
      }
    }
    return true;
  }

  @Override
  public boolean accepts(HRegion region, Message request) {
    MutationProto proto = request instanceof MutateRequest
      ? ((MutateRequest) request).getMutation()
      : ((MultiRequest) request).getRegionAction(0).getAction(0).getMutation();
    return mayGroup(region, ProtobufUtil.toDurability(proto.getDurability()));
  }

  private static boolean mayGroup(HRegion region, Durability durability) {
    Durability resolved = region.getEffectiveDurability(durability);
    return resolved != Durability.SKIP_WAL && resolved != Durability.ASYNC_WAL
      && !region.getTableDescriptor().getTableName().isSystemTable() && !isObserved(region);
  }

  @Override
  public Row parse(MutationProto proto, CellScanner cells) throws IOException {
    return MutationBatch.single(proto.getMutateType() == MutationType.PUT
      ? ProtobufUtil.toPut(proto, cells)
      : ProtobufUtil.toDelete(proto, cells));
  }

  @Override
  public Row batch(RegionAction action) {
    List<byte[]> rows = new ArrayList<>(action.getActionCount());
    boolean plain = true;
    for (Action one : action.getActionList()) {
      rows.add(one.getMutation().getRow().toByteArray());
      for (NameBytesPair attribute : one.getMutation().getAttributeList()) {
        plain = plain && attribute.getName().equals(TTL);
      }
    }
    return MutationBatch.unread(rows,
      ProtobufUtil.toDurability(action.getAction(0).getMutation().getDurability()), plain);
  }

  @Override
  public GroupKey key(HRegion region, Row write) {
    GroupKey key = peek(region, write);
    if (key == null && isObserved(region)) {
      metrics.hooked();
    } else if (key == null) {
      metrics.ungroupable();
    }
    return key;
  }

  /** What is not read yet is looked at when its call has reached the region. */
  @Override
  public GroupKey peek(HRegion region, Row write) {
    MutationBatch batch = (MutationBatch) write;
    boolean plain = batch.mutations() == null ? batch.seemsPlain() : isPlain(batch);
    return plain && mayGroup(region, batch.durability())
      ? new MutationGroup.Key(region, share(region),
        region.getEffectiveDurability(batch.durability()))
      : null;
  }

  private static boolean isPlain(MutationBatch batch) {
    for (Mutation mutation : batch.mutations()) {
      if (mutation.getDurability() != batch.durability() || !isPlain(mutation)) {
        return false;
      }
    }
    return true;
  }

  /** Returns whether the cells are written as they are, with the same WAL key as others. */
  private static boolean isPlain(Mutation mutation) {
    for (String attribute : mutation.getAttributesMap().keySet()) {
      if (!attribute.equals(TTL)) {
        return false;
      }
    }
    for (List<Cell> cells : mutation.getFamilyCellMap().values()) {
      for (Cell cell : cells) {
        // The delete of the latest version reads the row.
        boolean reads = cell.getType() == Cell.Type.Delete
          && cell.getTimestamp() == HConstants.LATEST_TIMESTAMP;
        if (reads || PrivateCellUtil.tagsIterator(cell).hasNext()) {
          return false;
        }
      }
    }
    return true;
  }

  /** Returns whether a coprocessor other than AccessController sees each write. */
  private static boolean isObserved(HRegion region) {
    RegionCoprocessorHost host = region.getCoprocessorHost();
    if (host == null) {
      return false;
    }
    for (RegionCoprocessor coprocessor : host.findCoprocessors(RegionCoprocessor.class)) {
      Class<?> observer =
        coprocessor.getRegionObserver().<Class<?>> map(Object::getClass).orElse(null);
      if (
        observer != null && observer != AccessController.class && HAS_HOOKS.get(observer)
      ) {
        return true;
      }
    }
    return false;
  }

  @Override
  public boolean isPermitted(HRegion region, Row write) throws IOException {
    MutationBatch batch = (MutationBatch) write;
    if (!batch.isSingle() && !isPlain(batch)) {
      metrics.ungroupable();
      return false;
    }
    RegionCoprocessorHost host = region.getCoprocessorHost();
    boolean permitted = true;
    for (Mutation mutation : batch.mutations()) {
      permitted = permitted && (host == null || isPermitted(region, host, mutation));
    }
    return permitted;
  }

  private static boolean isPermitted(HRegion region, RegionCoprocessorHost host,
    Mutation mutation) throws IOException {
    WALEdit edit = new WALEdit();
    if (mutation instanceof Put) {
      host.prePut((Put) mutation, edit);
    } else {
      Delete delete = (Delete) mutation;
      if (delete.getFamilyCellMap().isEmpty()) {
        // Of a whole row: the region names the families before the hook.
        for (byte[] family : region.getTableDescriptor().getColumnFamilyNames()) {
          delete.addFamily(family, delete.getTimestamp());
        }
      }
      host.preDelete(delete, edit);
    }
    return mutation.getAttribute(CELLS_DECIDE) == null;
  }

  @Override
  public Members members(PendingWrite first) {
    DifferentRows members = new DifferentRows();
    members.add(first);
    return members;
  }

  /** Writes of different rows, up to a size. */
  private static final class DifferentRows implements Members {
    /** Of each region, by identity. */
    private final Map<HRegion, Set<byte[]>> rows = new IdentityHashMap<>();
    private long bytes;
    private boolean full;

    @Override
    public boolean add(PendingWrite write) {
      List<byte[]> own = ((MutationBatch) write.write()).rows();
      Set<byte[]> taken = rows.getOrDefault(write.region(), Collections.emptySet());
      for (byte[] row : own) {
        if (taken.contains(row)) {
          return false;
        }
      }
      // A write that is too large for any group is one by itself.
      full = !rows.isEmpty() && bytes + write.size() > MAX_BYTES;
      if (!full) {
        rows.computeIfAbsent(write.region(), any -> new TreeSet<>(Bytes.BYTES_COMPARATOR))
          .addAll(own);
        bytes += write.size();
      }
      return !full;
    }

    @Override
    public boolean isFull() {
      return full;
    }
  }

  @Override
  public boolean isLocked(HRegion region, Row write) {
    if (GroupBatchOperation.wouldWait(region)) {
      return true;
    }
    for (byte[] row : ((MutationBatch) write).rows()) {
      if (GroupBatchOperation.wouldWait(region, row)) {
        return true;
      }
    }
    return false;
  }

  @Override
  public Result alone(HRegion region, Row write, long nonceGroup, long nonce)
    throws IOException {
    MutationBatch batch = (MutationBatch) write;
    if (!batch.isSingle()) {
      batch.addStatuses(region.batchMutate(batch.remaining(), false, nonceGroup, nonce));
    } else if (batch.mutations()[0] instanceof Put) {
      region.put((Put) batch.mutations()[0]);
    } else {
      region.delete((Delete) batch.mutations()[0]);
    }
    return null;
  }

  /** The region has counted a write for each, also if it was left out, and one put and delete. */
  @Override
  public void count(HRegion region, WriteGroup group) {
    MutationGroup mutations = (MutationGroup) group;
    int leftOut = mutations.leftOut();
    if (leftOut > 0) {
      region.addWriteRequestsCount(-leftOut);
      if (server != null && server.getMetrics() != null) {
        server.getMetrics().updateWriteQueryMeter(region, -leftOut);
      }
    }
    if (region.getMetrics() != null) {
      for (int i = 1; i < mutations.puts(); i++) {
        region.getMetrics().updatePut();
      }
      for (int i = 1; i < mutations.deletes(); i++) {
        region.getMetrics().updateDelete();
      }
    }
  }

  @Override
  public GroupMetrics metrics() {
    return metrics;
  }

  @Override
  public String spanName() {
    return "Region.mutate.grouped";
  }
}
