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
import org.apache.hadoop.hbase.metrics.MetricRegistries;
import org.apache.hadoop.hbase.metrics.MetricRegistry;
import org.apache.hadoop.hbase.metrics.MetricRegistryInfo;
import org.apache.yetus.audience.InterfaceAudience;

/** The metrics of groups of puts and deletes. docs/metrics.md says what each of them means. */
@InterfaceAudience.Private
public final class WriteGroupMetrics implements GroupMetrics {

  static final MetricRegistryInfo INFO = new MetricRegistryInfo("WriteGroup",
    "Puts and deletes that share appends", "RegionServer,sub=WriteGroup", "regionserver", false);

  private final Histogram groupSize;
  private final Counter grouped;
  private final Counter queued;
  private final Counter single;
  private final Counter attributes;
  private final Counter hooked;
  private final Counter alone;
  private final Counter failedGroup;
  private final Counter refused;

  private WriteGroupMetrics(MetricRegistry registry) {
    groupSize = registry.histogram("GroupSize");
    grouped = registry.counter("GroupedWriteCount");
    queued = registry.counter("QueuedWriteCount");
    single = registry.counter("SingleWriteCount");
    attributes = registry.counter("UngroupableWriteCount");
    hooked = registry.counter("CoprocessorWriteCount");
    alone = registry.counter("UngroupedRetryCount");
    failedGroup = registry.counter("FailedGroupCount");
    refused = registry.counter("RefusedCallCount");
  }

  public static WriteGroupMetrics register() {
    return new WriteGroupMetrics(MetricRegistries.global().create(INFO));
  }

  @Override
  public void group(int size, int withoutHandler) {
    groupSize.update(size);
    grouped.increment(size);
    queued.increment(withoutHandler);
  }

  @Override
  public void single() {
    single.increment();
  }

  /** Nothing: puts and deletes have no nonces. */
  @Override
  public void repeated() {
  }

  @Override
  public void alone() {
    alone.increment();
  }

  @Override
  public void failedGroup() {
    failedGroup.increment();
  }

  @Override
  public void refused() {
    refused.increment();
  }

  /** Counts a write that is not grouped because of what it is or has. */
  public void ungroupable() {
    attributes.increment();
  }

  /** Counts a write that is not grouped because of a coprocessor. */
  public void hooked() {
    hooked.increment();
  }

  public long groups() {
    return groupSize.getCount();
  }

  public long grouped() {
    return grouped.getCount();
  }

  public long singles() {
    return single.getCount();
  }
}
