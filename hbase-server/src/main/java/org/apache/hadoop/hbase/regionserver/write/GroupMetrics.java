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

import org.apache.hadoop.hbase.metrics.Counter;
import org.apache.hadoop.hbase.metrics.Histogram;
import org.apache.hadoop.hbase.metrics.MetricRegistries;
import org.apache.hadoop.hbase.metrics.MetricRegistry;
import org.apache.hadoop.hbase.metrics.MetricRegistryInfo;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The metrics of groups of a kind of writes. docs/metrics.md says what each of them means.
 * Thread-safe.
 */
@InterfaceAudience.Private
public final class GroupMetrics {
  private final Histogram groupSize;
  private final Counter edits;
  private final Counter grouped;
  private final Counter single;
  private final Counter left;
  private final Counter refused;
  private final Counter irregular;
  private final Counter hooked;

  private GroupMetrics(MetricRegistry registry, String writes) {
    groupSize = registry.histogram("GroupSize");
    edits = registry.counter("GroupEditCount");
    grouped = registry.counter("Grouped" + writes + "Count");
    single = registry.counter("Single" + writes + "Count");
    left = registry.counter("Locked" + writes + "Count");
    refused = registry.counter("Refused" + writes + "Count");
    irregular = registry.counter("Ungroupable" + writes + "Count");
    hooked = registry.counter("Coprocessor" + writes + "Count");
  }

  /** Returns the metrics of puts and deletes of this process. */
  public static GroupMetrics ofMutations() {
    return new GroupMetrics(MetricRegistries.global().create(new MetricRegistryInfo("WriteGroup",
      "Puts and deletes that share appends", "RegionServer,sub=WriteGroup", "regionserver",
      false)), "Write");
  }

  /** Returns the metrics of increments of this process. */
  public static GroupMetrics ofIncrements() {
    return new GroupMetrics(MetricRegistries.global().create(new MetricRegistryInfo("Counter",
      "Increments that are merged", "RegionServer,sub=Counter", "regionserver", false)),
      "Increment");
  }

  /**
   * Counts a group.
   * @param size    number of its calls
   * @param appends number of its edits
   */
  public void group(int size, int appends) {
    groupSize.update(size);
    edits.increment(appends);
    if (size > 1) {
      grouped.increment(size);
    } else {
      single.increment();
    }
  }

  /** Counts a write that is dispatched to a handler because its row is neither locked nor warm. */
  public void uncontended() {
    single.increment();
  }

  /** Counts writes that were left to handlers, because they would have waited for a lock. */
  public void left(int writes) {
    left.increment(writes);
  }

  /** Counts writes that were dispatched to handlers because too many waited. */
  public void refused(int writes) {
    refused.increment(writes);
  }

  /** Counts a write that is not grouped because of what it is or has. */
  public void irregular() {
    irregular.increment();
  }

  /** Counts a write that is not grouped because of a coprocessor. */
  public void hooked() {
    hooked.increment();
  }

  /** Returns how many groups there were, of one write or more. */
  public long groups() {
    return groupSize.getCount();
  }

  /** Returns how many edits the groups had. */
  public long edits() {
    return edits.getCount();
  }

  /** Returns how many writes were in groups of several. */
  public long grouped() {
    return grouped.getCount();
  }

  /** Returns how many writes were groups of their own, or had a row neither locked nor warm. */
  public long singles() {
    return single.getCount();
  }

  /** Returns how many writes were dispatched to handlers because too many waited. */
  public long refused() {
    return refused.getCount();
  }

  /** Returns how many writes were not grouped because of what they are. */
  public long ungroupable() {
    return irregular.getCount();
  }
}
