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

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.apache.yetus.audience.InterfaceAudience;

/** The queues of a kind of writes, and its writes in flight. Thread-safe. */
@InterfaceAudience.Private
final class WriteQueues {
  private final ConcurrentHashMap<GroupKey, WriteQueue> queues = new ConcurrentHashMap<>();
  /** Null until the kind is enabled for the first time. */
  private volatile WritesInFlight inFlight;

  void prepare() {
    if (inFlight == null) {
      inFlight = new WritesInFlight();
    }
  }

  WritesInFlight inFlight() {
    return inFlight;
  }

  ConcurrentMap<GroupKey, WriteQueue> map() {
    return queues;
  }

  WriteQueue get(GroupKey key) {
    return queues.get(key);
  }

  /** Returns the queue of a key, null if there was none and the given one is it now. */
  WriteQueue putIfAbsent(GroupKey key, WriteQueue queue) {
    return queues.putIfAbsent(key, queue);
  }

  void remove(GroupKey key, WriteQueue queue) {
    queues.remove(key, queue);
  }

  /** Passes the leadership of a call on, if it leads and has not passed it on. */
  void pass(WriteCall call) {
    WriteQueue queue = call.release();
    if (queue != null) {
      pass(call.key(), queue);
    }
  }

  /** Passes the leadership of a queue on to the next write, or removes the queue. */
  void pass(GroupKey key, WriteQueue queue) {
    PendingWrite next = queue.pass();
    if (next == null) {
      queues.remove(key, queue);
    } else {
      next.wake(queue);
    }
  }

  /** Returns how many keys have a write in flight. */
  int size() {
    return queues.size();
  }

  int waiting() {
    return queues.values().stream().mapToInt(WriteQueue::waiting).sum();
  }
}
