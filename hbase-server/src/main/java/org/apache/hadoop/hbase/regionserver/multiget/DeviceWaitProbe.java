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
package org.apache.hadoop.hbase.regionserver.multiget;

import java.util.concurrent.atomic.AtomicInteger;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Which of the batches that the processors have no room for are looked at all the same, as they may
 * wait for a device: all for a while after one did, and else a few of them, since a look costs a
 * little and processors without room have none to give away. Thread-safe.
 */
@InterfaceAudience.Private
final class DeviceWaitProbe {
  /** How many batches one that has waited stands for. */
  static final int LIKELY = 64;
  /** One of so many batches is looked at when none has waited. */
  static final int PROBE = 8;

  private final AtomicInteger likely = new AtomicInteger();
  private final AtomicInteger turn = new AtomicInteger();

  /** Whether the batch that comes now is to be looked at. */
  boolean isExpected() {
    int left = likely.get();
    if (left > 0 && likely.compareAndSet(left, left - 1)) {
      return true;
    }
    return turn.getAndIncrement() % PROBE == 0;
  }

  /** To be told of a batch that waits. */
  void came() {
    likely.set(LIKELY);
  }
}
