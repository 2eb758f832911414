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
package dev.stratum.bench.workloads;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import org.apache.hbase.thirdparty.com.google.gson.JsonElement;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;

/**
 * What this JVM has used since it was started: <code>gcCount</code>, <code>gcMillis</code> (all
 * collectors together, as the throughput article counts them), <code>compileMillis</code> (all
 * compilers together, their waits for a processor included) and <code>cpuMillis</code>.
 */
final class JvmCounters {
  private JvmCounters() {
  }

  static JsonObject read() {
    long count = 0;
    long millis = 0;
    for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
      count += Math.max(0, collector.getCollectionCount());
      millis += Math.max(0, collector.getCollectionTime());
    }
    JsonObject counters = new JsonObject();
    counters.addProperty("gcCount", count);
    counters.addProperty("gcMillis", millis);
    counters.addProperty("compileMillis",
      ManagementFactory.getCompilationMXBean().getTotalCompilationTime());
    counters.addProperty("cpuMillis",
      ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getProcessCpuTime()
        / 1_000_000);
    return counters;
  }

  /** Returns each number of <code>after</code> less that of <code>before</code>, if it has one. */
  static JsonObject difference(JsonObject before, JsonObject after) {
    JsonObject difference = new JsonObject();
    after.entrySet().forEach(e -> {
      JsonElement then = before.get(e.getKey());
      difference.addProperty(e.getKey(),
        e.getValue().getAsLong() - (then == null ? 0 : then.getAsLong()));
    });
    return difference;
  }
}
