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
package org.apache.hadoop.hbase.io;

import org.apache.hadoop.hbase.metrics.MetricKind;
import org.apache.hadoop.hbase.metrics.MetricRegistries;
import org.apache.hadoop.hbase.metrics.MetricRegistry;
import org.apache.hadoop.hbase.metrics.MetricRegistryInfo;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Counters of allocations that found the server's buffer pool empty, in JMX under
 * <code>Hadoop:service=HBase,name=RegionServer,sub=BufferPool</code>, and so at /jmx and
 * /prometheus. Size and use of the pool are among HBase's own RegionServer metrics. If one process
 * has several servers, as a test cluster does, these are of the one that was started last.
 */
@InterfaceAudience.Private
public final class BufferPoolMetrics {
  static final MetricRegistryInfo INFO = new MetricRegistryInfo("BufferPool",
    "The pool of buffers for blocks, requests and responses", "RegionServer,sub=BufferPool",
    "regionserver", false);

  private BufferPoolMetrics() {
  }

  /** Publishes the metrics of {@code allocator}, if it has a pool. */
  public static void register(ByteBuffAllocator allocator) {
    if (allocator == null || !allocator.isReservoirEnabled()) {
      return;
    }
    MetricRegistries.global().remove(INFO);
    MetricRegistry registry = MetricRegistries.global().create(INFO);
    HeapFallbackStats exhaustion = allocator.getExhaustion();
    MetricKind.COUNTER.register(registry, "ExhaustedCount", exhaustion::getCount);
    MetricKind.COUNTER.register(registry, "ExhaustedBytes", exhaustion::getBytes);
  }
}
