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
import org.apache.hadoop.hbase.metrics.MetricRegistries;
import org.apache.hadoop.hbase.metrics.MetricRegistry;
import org.apache.hadoop.hbase.metrics.MetricRegistryInfo;
import org.apache.yetus.audience.InterfaceAudience;

/** The metrics of groups of puts and deletes. docs/metrics.md says what each of them means. */
@InterfaceAudience.Private
public final class WriteGroupMetrics extends GroupMetrics {

  static final MetricRegistryInfo INFO = new MetricRegistryInfo("WriteGroup",
    "Puts and deletes that share appends", "RegionServer,sub=WriteGroup", "regionserver", false);

  private final Counter attributes;
  private final Counter hooked;

  private WriteGroupMetrics(MetricRegistry registry) {
    super(registry, "GroupedWriteCount", "QueuedWriteCount", "SingleWriteCount",
      "GroupEditCount");
    attributes = registry.counter("UngroupableWriteCount");
    hooked = registry.counter("CoprocessorWriteCount");
  }

  /** Returns the metrics of this process. */
  public static WriteGroupMetrics register() {
    return new WriteGroupMetrics(MetricRegistries.global().create(INFO));
  }

  /** Counts a write that is not grouped because of what it is or has. */
  public void ungroupable() {
    attributes.increment();
  }

  /** Counts a write that is not grouped because of a coprocessor. */
  public void hooked() {
    hooked.increment();
  }
}
