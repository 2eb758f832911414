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

import java.util.EnumMap;
import java.util.Map;
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
  /** What is counted of writes; the names of the metrics are these, with the kind of writes. */
  public enum Count {
    /** Those in groups of several. */
    Grouped,
    /** Those that were a group of their own, or whose row is neither locked nor warm. */
    Single,
    /** Those that were left to handlers, because they would have waited for a lock. */
    Locked,
    /** Those that were dispatched to handlers because too many waited. */
    Refused,
    /** Those that are not grouped because of what they are or have. */
    Ungroupable,
    /** Those that are not grouped because of a coprocessor. */
    Coprocessor
  }

  private final Histogram groupSize;
  private final Counter edits;
  private final Map<Count, Counter> counts = new EnumMap<>(Count.class);

  private GroupMetrics(MetricRegistry registry, String writes) {
    groupSize = registry.histogram("GroupSize");
    edits = registry.counter("GroupEditCount");
    for (Count count : Count.values()) {
      counts.put(count, registry.counter(count + writes + "Count"));
    }
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
    count(size > 1 ? Count.Grouped : Count.Single, size);
  }

  public void count(Count count, int writes) {
    counts.get(count).increment(writes);
  }

  public long get(Count count) {
    return counts.get(count).getCount();
  }

  /** Returns how many groups there were, of one write or more. */
  public long groups() {
    return groupSize.getCount();
  }

  /** Returns how many edits the groups had. */
  public long edits() {
    return edits.getCount();
  }
}
