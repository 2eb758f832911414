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
 * Selects the batches that are sampled for device waits although the processors have no headroom:
 * all of them for a while after a batch has waited, otherwise one in {@value #PROBE}, because
 * sampling costs processor time that a saturated server does not have. Thread-safe.
 */
@InterfaceAudience.Private
final class DeviceWaitProbe {
  /** Number of batches that are sampled after one that has waited. */
  static final int LIKELY = 64;
  /** One in this many batches is sampled when none has waited. */
  static final int PROBE = 8;

  private final AtomicInteger likely = new AtomicInteger();
  private final AtomicInteger batches = new AtomicInteger();

  /** Returns whether the next batch is sampled. */
  boolean isExpected() {
    int left = likely.get();
    if (left > 0 && likely.compareAndSet(left, left - 1)) {
      return true;
    }
    return batches.getAndIncrement() % PROBE == 0;
  }

  /** Records a batch that has waited. */
  void recordWait() {
    likely.set(LIKELY);
  }
}
