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
import java.util.List;
import java.util.Objects;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellScannable;
import org.apache.hadoop.hbase.CellScanner;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Durability;
import org.apache.hadoop.hbase.client.Mutation;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.ipc.RequestInterceptor;
import org.apache.hadoop.hbase.ipc.RpcCall;
import org.apache.hadoop.hbase.ipc.RpcServerInterface;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.regionserver.HStore;
import org.apache.hadoop.hbase.regionserver.OperationStatus;
import org.apache.hadoop.hbase.regionserver.RegionCoprocessorHost;
import org.apache.hadoop.hbase.regionserver.RegionLocks;
import org.apache.hadoop.hbase.regionserver.throttle.StoreHotnessProtector;
import org.apache.hadoop.hbase.wal.WAL;
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
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutationProto.ColumnValue;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutationProto.ColumnValue.QualifierValue;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutationProto.DeleteType;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutationProto.MutationType;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.RegionAction;
import org.apache.hadoop.hbase.shaded.protobuf.generated.HBaseProtos.NameBytesPair;

/**
 * Groups concurrent puts and deletes that are acknowledged after a sync: one append for each region
 * and one sync for all of them, see {@link MutationGroup}. Which writes are in groups is decided
 * here, when a request was read: what this class does not name is dispatched as without it.
 * Thread-safe. Can be enabled and disabled while the server runs.
 */
@InterfaceAudience.Private
public final class MutationGroups implements RequestInterceptor {
  private static final Logger LOG = LoggerFactory.getLogger(MutationGroups.class);

  /** Mutation's attribute of its time to live, which the region makes tags of its cells of. */
  private static final String TTL = "_ttl";
  /** The maximum number of mutations of a batch, and the maximum size of a request in bytes. */
  private static final int MAX_BATCH = 100;
  private static final long MAX_REQUEST = 256 << 10;
  /** The number of CPUs whose threads one thread that forms groups keeps busy. */
  private static final int CPUS_PER_SHARE = 4;
  /** The number of groups of a share that are synced while the next one is appended. */
  private static final int MAX_SYNCING = 1;
  /** HBase's length of a call queue for each handler, and what may wait on small servers. */
  private static final int WAITING_PER_HANDLER = 10;
  private static final int MIN_WAITING = 1024;
  /** The number of cells of a put from which on HBase limits how many a store has at a time. */
  private static final int DENSE_CELLS = 100;

  /** The key that is common to writes which may be in one group. */
  private static final class Key {
    private final WAL wal;
    private final int share;
    private final Durability durability;
    /** Whether the calls are more urgent than usual ones. */
    private final boolean urgent;

    private Key(WAL wal, int share, Durability durability, boolean urgent) {
      this.wal = wal;
      this.share = share;
      this.durability = durability;
      this.urgent = urgent;
    }

    @Override
    public int hashCode() {
      return Objects.hash(System.identityHashCode(wal), share, durability, urgent);
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof Key && ((Key) other).wal == wal && ((Key) other).share == share
        && ((Key) other).durability == durability && ((Key) other).urgent == urgent;
    }

    @Override
    public String toString() {
      return wal + ", " + durability;
    }
  }

  private final HRegionServer server;
  /** The number of parts of a WAL's regions for which groups are formed concurrently. */
  private final int shares;
  private final Commits<Key> commits;
  /** Null until it is enabled for the first time. */
  private volatile GroupMetrics metrics;
  private volatile WriteGroupSettings settings;
  /** What stores limit is not in groups, where it would be refused more often than alone. */
  private volatile int maxCells;

  /** @throws IllegalArgumentException naming the key, its value and what to do */
  public MutationGroups(Configuration conf, HRegionServer server) {
    this.server = server;
    shares = Math.max(1, Runtime.getRuntime().availableProcessors() / CPUS_PER_SHARE);
    int handlers = conf.getInt(HConstants.REGION_SERVER_HANDLER_COUNT,
      HConstants.DEFAULT_REGION_SERVER_HANDLER_COUNT);
    commits = new Commits<>(Committer.pool("WriteCommitter", Integer.MAX_VALUE),
      Math.max(MIN_WAITING, WAITING_PER_HANDLER * handlers), MAX_SYNCING,
      calls -> metrics.count(GroupMetrics.Count.Refused, calls),
      appended -> new MutationGroup(this::mustWait, metrics, appended));
    configure(conf);
  }

  private void configure(Configuration conf) {
    WriteGroupSettings changed = WriteGroupSettings.of(conf);
    if (changed.isEnabled() && metrics == null) {
      metrics = GroupMetrics.ofMutations();
    }
    settings = changed;
    maxCells = conf.getInt(StoreHotnessProtector.PARALLEL_PUT_STORE_THREADS_LIMIT, 0) > 0
      ? conf.getInt(StoreHotnessProtector.PARALLEL_PUT_STORE_THREADS_LIMIT_MIN_COLUMN_COUNT,
        DENSE_CELLS)
      : Integer.MAX_VALUE;
  }

  /** Applies a changed configuration, or keeps the former one if a value is invalid. */
  public void onConfigurationChange(Configuration conf) {
    try {
      configure(conf);
    } catch (IllegalArgumentException e) {
      LOG.error("Puts and deletes are grouped as before: {}", e.getMessage());
    }
  }

  /** Returns whether memory is short, so that each write waits for a flush. */
  private boolean mustWait() {
    return RegionLocks.isMemoryShort(server);
  }

  /** Writes a put or delete, in the group of the calling committer or alone. */
  public void write(HRegion region, Mutation mutation) throws IOException {
    CommitGroup group = Committer.group();
    if (group != null) {
      permit(region, mutation);
      MutationBatch batch = new MutationBatch(mutation);
      group.arrive(batch);
      batch.throwIfFailed();
    } else if (mutation instanceof Put) {
      region.put((Put) mutation);
    } else {
      region.delete((Delete) mutation);
    }
  }

  /**
   * Writes the mutations of a batch, in the group of the calling committer or alone.
   * @return as {@link HRegion#batchMutate(Mutation[], boolean, long, long)}
   * @throws IOException as that does
   */
  public OperationStatus[] write(HRegion region, Mutation[] mutations, boolean atomic,
    long nonceGroup, long nonce) throws IOException {
    CommitGroup group = Committer.group();
    if (group == null) {
      return region.batchMutate(mutations, atomic, nonceGroup, nonce);
    }
    for (Mutation mutation : mutations) {
      permit(region, mutation);
    }
    MutationBatch batch = new MutationBatch(mutations);
    group.arrive(batch);
    return batch.statuses();
  }

  /** Checks the permissions of the caller whose call the thread runs. */
  private static void permit(HRegion region, Mutation mutation) throws IOException {
    RegionCoprocessorHost host = region.getCoprocessorHost();
    if (host == null) {
      return;
    }
    if (mutation instanceof Put) {
      host.prePut((Put) mutation, new WALEdit());
      return;
    }
    Delete delete = (Delete) mutation;
    if (delete.getFamilyCellMap().isEmpty()) {
      // The delete is of a whole row. Like the region, name all families before the hook is called.
      for (byte[] family : region.getTableDescriptor().getColumnFamilyNames()) {
        delete.addFamily(family, delete.getTimestamp());
      }
    }
    host.preDelete(delete, new WALEdit());
  }

  @Override
  public CellScanner cells(Message param, CellScanner cells) throws IOException {
    return settings.isEnabled() && hasDeletes(mutations(param))
      ? ReplayableCellScanner.read(cells)
      : cells;
  }

  private static boolean hasDeletes(List<MutationProto> mutations) {
    for (MutationProto mutation : mutations) {
      if (mutation.getMutateType() == MutationType.DELETE) {
        return true;
      }
    }
    return false;
  }

  /** Returns the puts and deletes of a request that has only such, of one region; else none. */
  private static List<MutationProto> mutations(Message param) {
    List<MutationProto> mutations = Collections.emptyList();
    if (param instanceof MutateRequest) {
      MutateRequest single = (MutateRequest) param;
      if (!single.hasCondition()) {
        mutations = Collections.singletonList(single.getMutation());
      }
    } else if (param instanceof MultiRequest) {
      MultiRequest multi = (MultiRequest) param;
      if (multi.getRegionActionCount() == 1 && !multi.hasCondition()) {
        mutations = mutations(multi.getRegionAction(0));
      }
    }
    for (MutationProto mutation : mutations) {
      MutationType type = mutation.getMutateType();
      if (type != MutationType.PUT && type != MutationType.DELETE) {
        return Collections.emptyList();
      }
    }
    return mutations;
  }

  private static List<MutationProto> mutations(RegionAction batch) {
    if (batch.getActionCount() > MAX_BATCH || batch.getAtomic() || batch.hasCondition()) {
      return Collections.emptyList();
    }
    List<MutationProto> mutations = new ArrayList<>(batch.getActionCount());
    for (Action action : batch.getActionList()) {
      if (!action.hasMutation()) {
        return Collections.emptyList();
      }
      mutations.add(action.getMutation());
    }
    return mutations;
  }

  @Override
  public Outcome dispatch(RpcServerInterface rpcServer, RpcCall call) {
    if (!settings.isEnabled()) {
      return Outcome.NOT_TAKEN;
    }
    List<MutationProto> mutations = mutations(call.getParam());
    if (mutations.isEmpty()) {
      return Outcome.NOT_TAKEN;
    }
    HRegion region = region(call.getParam());
    Key key = region == null ? null : key(region, mutations, call);
    if (key == null || mustWait()) {
      return Outcome.NOT_TAKEN;
    }
    List<byte[]> rows = new ArrayList<>(mutations.size());
    for (MutationProto mutation : mutations) {
      rows.add(mutation.getRow().toByteArray());
    }
    WriteCall write =
      new WriteCall(rpcServer, call, region, rows, HConstants.NO_NONCE, HConstants.NO_NONCE);
    if (commits.add(key, write)) {
      return Outcome.ACCEPTED;
    }
    metrics.count(GroupMetrics.Count.Refused, 1);
    return write.tryDispatch() ? Outcome.ACCEPTED : Outcome.REFUSED;
  }

  /** Returns null if the region is not online here. */
  private HRegion region(Message param) {
    try {
      return server.getOnlineRegion((param instanceof MutateRequest
        ? ((MutateRequest) param).getRegion()
        : ((MultiRequest) param).getRegionAction(0).getRegion()).getValue().toByteArray());
    } catch (RuntimeException e) {
      // The handler reports it.
      return null;
    }
  }

  /** Returns null if a write is not in a group, and counts why. */
  private Key key(HRegion region, List<MutationProto> mutations, RpcCall call) {
    MutationProto.Durability asked = mutations.get(0).getDurability();
    Durability durability = region.getEffectiveDurability(ProtobufUtil.toDurability(asked));
    if (
      durability.ordinal() <= Durability.ASYNC_WAL.ordinal()
        || region.getTableDescriptor().getTableName().isSystemTable()
    ) {
      return null;
    }
    if (WriteObservers.OF_MUTATIONS.observe(region)) {
      metrics.count(GroupMetrics.Count.Coprocessor, 1);
      return null;
    }
    boolean plain = region.getClass() == HRegion.class && call.getSize() <= MAX_REQUEST
      && !readsVersions(region);
    CellScanner cells = call.getCellScanner();
    CellScanner deletes =
      cells instanceof ReplayableCellScanner ? ((CellScannable) cells).cellScanner() : null;
    for (MutationProto mutation : mutations) {
      plain = plain && mutation.getDurability() == asked && isPlain(mutation, deletes)
        && cells(mutation) < maxCells;
    }
    if (!plain) {
      metrics.count(GroupMetrics.Count.Ungroupable, 1);
      return null;
    }
    return new Key(region.getWAL(), Math.floorMod(region.getRegionInfo().hashCode(), shares),
      durability, call.getPriority() > HConstants.NORMAL_QOS);
  }

  /** Returns whether what a read sees depends on the sequence ids of a family's cells. */
  private static boolean readsVersions(HRegion region) {
    for (HStore store : region.getStores()) {
      if (store.getColumnFamilyDescriptor().isNewVersionBehavior()) {
        return true;
      }
    }
    return false;
  }

  /**
   * Returns whether a mutation is written as it is, with the same WAL key as others.
   * @param cells those of the requests with deletes, at its first one; null if there are none
   */
  private static boolean isPlain(MutationProto mutation, CellScanner cells) {
    for (NameBytesPair attribute : mutation.getAttributeList()) {
      // One that is invalid fails behind the point where writes fail alone.
      if (!attribute.getName().equals(TTL) || attribute.getValue().size() != Long.BYTES) {
        return false;
      }
    }
    boolean delete = mutation.getMutateType() == MutationType.DELETE;
    try {
      for (int i = 0; cells != null && i < mutation.getAssociatedCellCount(); i++) {
        // The delete of the latest version reads the row.
        if (
          !cells.advance() || cells.current().getType() == Cell.Type.Delete
            && cells.current().getTimestamp() == HConstants.LATEST_TIMESTAMP
        ) {
          return false;
        }
      }
    } catch (IOException e) {
      // The handler reports it.
      return false;
    }
    for (ColumnValue column : mutation.getColumnValueList()) {
      for (QualifierValue value : column.getQualifierValueList()) {
        if (
          delete && value.getDeleteType() == DeleteType.DELETE_ONE_VERSION
            && (!value.hasTimestamp() || value.getTimestamp() == HConstants.LATEST_TIMESTAMP)
        ) {
          return false;
        }
      }
    }
    return true;
  }

  private static int cells(MutationProto mutation) {
    int cells = mutation.getAssociatedCellCount();
    for (ColumnValue column : mutation.getColumnValueList()) {
      cells += column.getQualifierValueCount();
    }
    return cells;
  }

  /** Returns how many writes wait for a committer. */
  public int waiting() {
    return commits.waiting();
  }

  public void stop() {
    commits.stop();
  }
}
