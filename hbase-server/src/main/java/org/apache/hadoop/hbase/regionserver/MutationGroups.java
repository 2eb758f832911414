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
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellScanner;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.PrivateCellUtil;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Mutation;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
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

import org.apache.hadoop.hbase.shaded.protobuf.ProtobufUtil;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutateRequest;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutationProto;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutationProto.MutationType;

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
  /** AccessController's attribute that has itself check the cells in the row. */
  private static final String CELLS_DECIDE = "check_covering_perm";

  private static final HookOverrides HAS_HOOKS = new HookOverrides("prePut", "postPut",
    "preDelete", "postDelete", "prePrepareTimeStampForDeleteVersion", "preBatchMutate",
    "postBatchMutate", "postBatchMutateIndispensably", "preWALAppend", "postStartRegionOperation",
    "postCloseRegionOperation");

  private final WriteGroups groups;
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
    this.server = server;
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
    return (Put) groups.read(proto, cells);
  }

  /** Returns the delete of a request, which may have been read before a handler began it. */
  Delete readDelete(MutationProto proto, CellScanner cells) throws IOException {
    return (Delete) groups.read(proto, cells);
  }

  /** Applies a put or delete, in a group or alone. */
  void apply(HRegion region, Mutation mutation) throws IOException {
    groups.apply(region, mutation, HConstants.NO_NONCE, HConstants.NO_NONCE);
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
  public boolean joinsFromThreads() {
    return false;
  }

  @Override
  public boolean passesAfterAppend() {
    return true;
  }

  @Override
  public long rowWaitMs() {
    return settings.rowWaitMs();
  }

  @Override
  public boolean accepts(MutateRequest request) {
    MutationProto proto = request.getMutation();
    return (proto.getMutateType() == MutationType.PUT
      || proto.getMutateType() == MutationType.DELETE) && !request.hasCondition()
      && proto.getDurability() != MutationProto.Durability.ASYNC_WAL
      && proto.getDurability() != MutationProto.Durability.SKIP_WAL;
  }

  @Override
  public boolean accepts(HRegion region, MutationProto proto) {
    return mayGroup(region, ProtobufUtil.toDurability(proto.getDurability()));
  }

  private static boolean mayGroup(HRegion region, Durability durability) {
    Durability resolved = resolve(region, durability);
    return resolved != Durability.SKIP_WAL && resolved != Durability.ASYNC_WAL
      && !region.getTableDescriptor().getTableName().isSystemTable() && !isObserved(region);
  }

  private static Durability resolve(HRegion region, Durability durability) {
    Durability resolved = durability == Durability.USE_DEFAULT
      ? region.getTableDescriptor().getDurability()
      : durability;
    return resolved == Durability.USE_DEFAULT ? Durability.SYNC_WAL : resolved;
  }

  @Override
  public Mutation parse(MutationProto proto, CellScanner cells) throws IOException {
    return proto.getMutateType() == MutationType.PUT
      ? ProtobufUtil.toPut(proto, cells)
      : ProtobufUtil.toDelete(proto, cells);
  }

  @Override
  public GroupKey key(HRegion region, Mutation mutation) {
    GroupKey key = peek(region, mutation);
    if (key == null && isObserved(region)) {
      metrics.hooked();
    } else if (key == null) {
      metrics.ungroupable();
    }
    return key;
  }

  @Override
  public GroupKey peek(HRegion region, Mutation mutation) {
    return mayGroup(region, mutation.getDurability()) && isPlain(mutation)
      ? new MutationGroup.Key(region, resolve(region, mutation.getDurability()))
      : null;
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
  public boolean isPermitted(HRegion region, Mutation mutation) throws IOException {
    RegionCoprocessorHost host = region.getCoprocessorHost();
    if (host == null) {
      return true;
    }
    WALEdit edit = new WALEdit();
    if (mutation instanceof Put) {
      host.prePut((Put) mutation, edit);
    } else if (mutation.getFamilyCellMap().isEmpty()) {
      // The region has yet to name the families.
      return false;
    } else {
      host.preDelete((Delete) mutation, edit);
    }
    return mutation.getAttribute(CELLS_DECIDE) == null;
  }

  @Override
  public Predicate<PendingWrite> members(PendingWrite first) {
    Set<byte[]> rows = new TreeSet<>(Bytes.BYTES_COMPARATOR);
    rows.add(first.row());
    return write -> rows.add(write.row());
  }

  @Override
  public boolean isLocked(HRegion region, byte[] row) {
    return GroupBatchOperation.wouldWait(region, row);
  }

  @Override
  public Result alone(HRegion region, Mutation mutation, long nonceGroup, long nonce)
    throws IOException {
    if (mutation instanceof Put) {
      region.put((Put) mutation);
    } else {
      region.delete((Delete) mutation);
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
      for (int i = 1; i < mutations.written(Put.class); i++) {
        region.getMetrics().updatePut();
      }
      for (int i = 1; i < mutations.written(Delete.class); i++) {
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
