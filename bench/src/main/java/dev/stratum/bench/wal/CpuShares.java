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
package dev.stratum.bench.wal;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;

/**
 * CPU time of this JVM's threads by component while a WAL is written to; the thread's name tells
 * the component. Not thread-safe.
 */
final class CpuShares {
  /** Prefix of the names of writing threads. */
  static final String HANDLER = "handler-";

  /** The components. */
  enum Part {
    HANDLERS,
    WAL,
    HDFS_CLIENT,
    DATA_NODES,
    OTHERS
  }

  private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
  private final OperatingSystemMXBean system =
    ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
  private final Map<Part, Long> nanos = new EnumMap<>(Part.class);
  private Map<Long, Long> atStart = Map.of();
  private long allAtStart;
  private long all;

  void clear() {
    nanos.clear();
    all = 0;
  }

  void start() {
    atStart = times();
    allAtStart = system.getProcessCpuTime();
  }

  /** Adds what was taken since the start. Threads that have ended since are not counted. */
  void stop() {
    all += system.getProcessCpuTime() - allAtStart;
    times().forEach((id, time) -> {
      ThreadInfo thread = threads.getThreadInfo(id);
      if (thread != null) {
        nanos.merge(part(thread.getThreadName()), time - atStart.getOrDefault(id, 0L), Long::sum);
      }
    });
  }

  private Map<Long, Long> times() {
    Map<Long, Long> times = new HashMap<>();
    for (long id : threads.getAllThreadIds()) {
      times.put(id, Math.max(0, threads.getThreadCpuTime(id)));
    }
    return times;
  }

  /** Returns what {@code part} has taken, in per cent of all that this JVM has. */
  double percent(Part part) {
    return all == 0 ? 0 : 100.0 * nanos.getOrDefault(part, 0L) / all;
  }

  static Part part(String thread) {
    if (thread.startsWith(HANDLER)) {
      return Part.HANDLERS;
    }
    // These are the consumers of AsyncFSWAL and FSHLog, and threads that wait for FSHLog's syncs.
    if (
      thread.contains("-prefix:") || thread.contains("append-pool") || thread.startsWith("sync.")
        || thread.startsWith("AsyncWalSyncer")
    ) {
      return Part.WAL;
    }
    // These are the event loop of AsyncFSWAL and the output stream of FSHLog.
    if (
      thread.startsWith("AsyncFSWAL") || thread.startsWith("DataStreamer")
        || thread.startsWith("ResponseProcessor")
    ) {
      return Part.HDFS_CLIENT;
    }
    if (thread.startsWith("DataXceiver") || thread.startsWith("PacketResponder")) {
      return Part.DATA_NODES;
    }
    return Part.OTHERS;
  }
}
