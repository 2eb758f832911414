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

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.hbase.RegionTooBusyException;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs that a region refuses writes, at most once a second: clients repeat what is refused. Each
 * refusal is counted in the region's metric blockedRequestCount. Thread-safe. In this package,
 * since it is to go upstream with the base's class that calls it.
 */
@InterfaceAudience.Private
final class TooBusyLog {
  private static final Logger LOG = LoggerFactory.getLogger(TooBusyLog.class);
  private static final long INTERVAL_MS = 1000;

  private final AtomicLong next = new AtomicLong(Long.MIN_VALUE);

  void warn(RegionTooBusyException refusal) {
    // The wall clock may be set back.
    if (isDue(TimeUnit.NANOSECONDS.toMillis(System.nanoTime()))) {
      LOG.warn("Region is too busy, writes are refused: {}", refusal.getMessage());
    }
  }

  /** Returns whether the last line is a second old. Of callers at one time, one gets true. */
  boolean isDue(long now) {
    long due = next.get();
    return now >= due && next.compareAndSet(due, now + INTERVAL_MS);
  }
}
