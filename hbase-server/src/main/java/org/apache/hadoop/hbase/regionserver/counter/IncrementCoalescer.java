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
package org.apache.hadoop.hbase.regionserver.counter;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.CellScanner;
import org.apache.hadoop.hbase.client.Increment;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Row;
import org.apache.hadoop.hbase.ipc.RpcServerInterface;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.regionserver.RegionServerServices;
import org.apache.hadoop.hbase.regionserver.writegroup.GroupKey;
import org.apache.hadoop.hbase.regionserver.writegroup.GroupMetrics;
import org.apache.hadoop.hbase.regionserver.writegroup.PendingWrite;
import org.apache.hadoop.hbase.regionserver.writegroup.WriteGroup;
import org.apache.hadoop.hbase.regionserver.writegroup.WriteGroups;
import org.apache.hadoop.hbase.regionserver.writegroup.WriteKind;
import org.apache.hadoop.hbase.util.HashedBytes;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.apache.hbase.thirdparty.com.google.protobuf.Message;

import org.apache.hadoop.hbase.shaded.protobuf.ProtobufUtil;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutateRequest;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutationProto;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.MutationProto.MutationType;
import org.apache.hadoop.hbase.shaded.protobuf.generated.ClientProtos.RegionAction;

/**
 * Merges concurrent increments of the same columns of a row: one row lock, one read, one WAL edit
 * and one sync for all of them, and for each the value that it would have got in a sequence of
 * single increments. With the scope <code>region</code> increments of all rows of a region are
 * merged: one WAL edit and one sync for a group, one lock and one read for each of its rows.
 * {@link WriteGroups} forms the groups; an increment waits only where it would have waited for the
 * row lock.
 * <p>
 * Thread-safe. Can be enabled and disabled while the server runs.
 */
@InterfaceAudience.Private
public final class IncrementCoalescer implements WriteKind {
  private static final Logger LOG = LoggerFactory.getLogger(IncrementCoalescer.class);

  private final WriteGroups groups;
  /** Null in tests. */
  private final RegionServerServices server;
  /** Null until it is enabled for the first time. */
  private volatile CoalescerMetrics metrics;
  /** Null until it is enabled for the first time. */
  private volatile MergeEligibility eligibility;
  private volatile CoalescerSettings settings;

  /**
   * @param server for the nonces and metrics of single increments
   * @throws IllegalArgumentException naming the key, its value and what to do
   */
  public IncrementCoalescer(Configuration conf, RegionServerServices server) {
    this.server = server;
    groups = new WriteGroups(this, server);
    configure(conf);
  }

  private void configure(Configuration conf) {
    CoalescerSettings changed = CoalescerSettings.of(conf);
    if (changed.isEnabled() && metrics == null) {
      metrics = CoalescerMetrics.register();
      eligibility = new MergeEligibility(metrics);
      groups.prepare();
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

  /** Has increments that this server reads from now on pass here before they are dispatched. */
  public void intercept(RpcServerInterface rpcServer, HRegionServer regionServer) {
    groups.intercept(rpcServer, regionServer);
  }

  /**
   * Applies an increment, in a group or alone.
   * @return as {@link HRegion#increment(Increment, long, long)}
   * @throws IOException as that does
   */
  public Result increment(HRegion region, Increment increment, long nonceGroup, long nonce)
    throws IOException {
    return groups.apply(region, increment, nonceGroup, nonce);
  }

  /**
   * Returns the increment of a request, which may have been read before a handler began it.
   * @param mutation the request's own
   */
  public Increment read(MutationProto mutation, CellScanner cells) throws IOException {
    return (Increment) groups.read(mutation, cells);
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
    return settings.mergesRegion();
  }

  @Override
  public boolean joinsFromThreads() {
    return true;
  }

  @Override
  public boolean groupsRegions() {
    return false;
  }

  @Override
  public long rowWaitMs() {
    return settings.rowWaitMs();
  }

  @Override
  public boolean accepts(Message request) {
    return request instanceof MutateRequest
      && ((MutateRequest) request).getMutation().getMutateType() == MutationType.INCREMENT
      && !((MutateRequest) request).hasCondition();
  }

  @Override
  public boolean accepts(HRegion region, Message request) {
    return true;
  }

  @Override
  public Row parse(MutationProto proto, CellScanner cells) throws IOException {
    return ProtobufUtil.toIncrement(proto, cells);
  }

  /** Not called: no batch is accepted. */
  @Override
  public Row batch(RegionAction action) {
    throw new UnsupportedOperationException();
  }

  @Override
  public GroupKey key(HRegion region, Row write) {
    return eligibility.key(region, (Increment) write, groupsRows());
  }

  @Override
  public GroupKey peek(HRegion region, Row write) {
    return eligibility.peek(region, (Increment) write, groupsRows());
  }

  @Override
  public boolean isPermitted(HRegion region, Row write) throws IOException {
    return eligibility.isPermitted(region, (Increment) write);
  }

  @Override
  public Members members(PendingWrite first) {
    return any -> true;
  }

  /**
   * Returns whether a row is locked, or waited for. The holder is never a group of all rows, since
   * the caller leads those, and it must not delay the other rows.
   */
  @Override
  public boolean isLocked(HRegion region, Row write) {
    return region.getLockedRows().containsKey(new HashedBytes(write.getRow()));
  }

  @Override
  public Result alone(HRegion region, Row write, long nonceGroup, long nonce)
    throws IOException {
    return region.increment((Increment) write, nonceGroup, nonce);
  }

  /** The region has counted one write for each row, and one increment. */
  @Override
  public void count(HRegion region, WriteGroup group) {
    int others = group.size() - group.rows();
    if (others > 0) {
      region.addWriteRequestsCount(others);
      if (server != null && server.getMetrics() != null) {
        server.getMetrics().updateWriteQueryMeter(region, others);
      }
    }
    if (region.getMetrics() != null) {
      for (int i = 1; i < group.size(); i++) {
        region.getMetrics().updateIncrement();
      }
    }
  }

  @Override
  public GroupMetrics metrics() {
    return metrics;
  }

  @Override
  public String spanName() {
    return "Region.increment.merged";
  }
}
