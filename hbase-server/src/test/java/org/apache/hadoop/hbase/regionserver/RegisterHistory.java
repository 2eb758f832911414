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
package org.apache.hadoop.hbase.regionserver;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The writes and reads of a register by several clients, and a check whether they are linearizable:
 * whether each may have taken effect at one moment between its invocation and its response. Written
 * values have to differ. Exact; by the zones of P. B. Gibbons and E. Korach, Testing Shared
 * Memories, SIAM Journal on Computing 26(4), 1997. Thread-safe.
 */
final class RegisterHistory {
  /** The response of a write that failed: it may have taken effect, or may yet. */
  static final long UNKNOWN = Long.MAX_VALUE;

  /** The write of a value and the reads that returned it. */
  private static final class Cluster {
    private final String value;
    private long invoked = UNKNOWN;
    private boolean written;
    private long firstResponse = UNKNOWN;
    private long lastInvocation = Long.MIN_VALUE;
    private long firstReadResponse = UNKNOWN;
    private boolean read;

    private Cluster(String value) {
      this.value = value;
    }

    private void add(long invocation, long response) {
      firstResponse = Math.min(firstResponse, response);
      lastInvocation = Math.max(lastInvocation, invocation);
    }

    private boolean isForward() {
      return firstResponse < lastInvocation;
    }

    @Override
    public String toString() {
      return value + " [" + firstResponse + ", " + lastInvocation + "]";
    }
  }

  private final Map<String, Cluster> clusters = new HashMap<>();

  /** The register is not set at first, which is read as null. */
  RegisterHistory() {
    wrote(null, Long.MIN_VALUE, Long.MIN_VALUE);
  }

  private Cluster cluster(String value) {
    return clusters.computeIfAbsent(value, Cluster::new);
  }

  synchronized void wrote(String value, long invoked, long responded) {
    Cluster cluster = cluster(value);
    cluster.written = true;
    cluster.invoked = invoked;
    cluster.add(invoked, responded);
  }

  synchronized void read(String value, long invoked, long responded) {
    Cluster cluster = cluster(value);
    cluster.read = true;
    cluster.firstReadResponse = Math.min(cluster.firstReadResponse, responded);
    cluster.add(invoked, responded);
  }

  synchronized int size() {
    return clusters.size();
  }

  /** Returns why the history is not linearizable, null if it is. */
  synchronized String contradiction() {
    List<Cluster> forward = new ArrayList<>();
    List<Cluster> backward = new ArrayList<>();
    for (Cluster cluster : clusters.values()) {
      if (!cluster.written) {
        return cluster.value + " was read and never written";
      }
      if (cluster.firstReadResponse < cluster.invoked) {
        return cluster.value + " was read before it was written";
      }
      if (cluster.isForward()) {
        forward.add(cluster);
      } else if (cluster.read || cluster.firstResponse != UNKNOWN) {
        backward.add(cluster);
      }
    }
    forward.sort(Comparator.comparingLong(cluster -> cluster.firstResponse));
    for (int i = 1; i < forward.size(); i++) {
      if (forward.get(i).firstResponse < forward.get(i - 1).lastInvocation) {
        return forward.get(i - 1) + " and " + forward.get(i) + " were current alternately";
      }
    }
    for (Cluster outer : forward) {
      for (Cluster inner : backward) {
        if (
          outer.firstResponse < inner.lastInvocation && inner.firstResponse < outer.lastInvocation
        ) {
          return inner + " was written while " + outer + " was current";
        }
      }
    }
    return null;
  }
}
