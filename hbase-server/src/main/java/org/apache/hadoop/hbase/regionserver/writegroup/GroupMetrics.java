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
package org.apache.hadoop.hbase.regionserver.writegroup;

import org.apache.hadoop.hbase.metrics.Counter;
import org.apache.hadoop.hbase.metrics.Histogram;
import org.apache.hadoop.hbase.metrics.MetricRegistry;
import org.apache.yetus.audience.InterfaceAudience;

/** What {@link WriteGroups} counts of any kind of writes. Thread-safe. */
@InterfaceAudience.Private
public abstract class GroupMetrics {

  private final Histogram groupSize;
  /** Null of kinds whose groups are of one region. */
  private final Counter edits;
  private final Counter grouped;
  private final Counter queued;
  private final Counter single;
  private final Counter alone;
  private final Counter failedGroup;
  private final Counter refused;

  /**
   * @param grouped name of the counter of writes in groups
   * @param queued  name of that of those that waited without a handler
   * @param single  name of that of writes with no other one to be grouped with
   * @param edits   name of that of edits of groups, one for each region; null if that is one
   */
  protected GroupMetrics(MetricRegistry registry, String grouped, String queued, String single,
    String edits) {
    this.groupSize = registry.histogram("GroupSize");
    this.edits = edits == null ? null : registry.counter(edits);
    this.grouped = registry.counter(grouped);
    this.queued = registry.counter(queued);
    this.single = registry.counter(single);
    this.alone = registry.counter("UngroupedRetryCount");
    this.failedGroup = registry.counter("FailedGroupCount");
    this.refused = registry.counter("RefusedCallCount");
  }

  /**
   * Counts a group that was applied.
   * @param withoutHandler how many members waited without a handler
   * @param regions        of how many regions they are
   */
  final void group(int size, int withoutHandler, int regions) {
    groupSize.update(size);
    if (edits != null) {
      edits.increment(regions);
    }
    grouped.increment(size);
    queued.increment(withoutHandler);
  }

  /** Counts a write with no other one to be grouped with. */
  final void single() {
    single.increment();
  }

  /** Counts a write whose nonce had been used; nothing where writes have none. */
  protected void repeated() {
  }

  /** Counts a write that waited for a group and was then applied alone. */
  final void alone() {
    alone.increment();
  }

  /** Counts a group that failed before its edit was appended. */
  final void failedGroup() {
    failedGroup.increment();
  }

  /** Counts a call that had waited and that the scheduler does not accept. */
  final void refused() {
    refused.increment();
  }

  /** Returns how many groups there were, of one write or more. */
  public final long groups() {
    return groupSize.getCount();
  }

  /** Returns how many edits the groups had, one for each region. */
  public final long edits() {
    return edits == null ? groups() : edits.getCount();
  }

  /** Returns how many writes were in groups. */
  public final long grouped() {
    return grouped.getCount();
  }

  /** Returns how many writes were applied with no other one in flight. */
  public final long singles() {
    return single.getCount();
  }

  /** Returns how many calls the scheduler did not accept. */
  public final long refusedCalls() {
    return refused.getCount();
  }
}
