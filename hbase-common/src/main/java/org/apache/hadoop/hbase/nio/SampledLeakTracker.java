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
package org.apache.hadoop.hbase.nio;

import java.util.concurrent.ThreadLocalRandom;
import org.apache.yetus.audience.InterfaceAudience;

import org.apache.hbase.thirdparty.io.netty.util.ResourceLeakDetector;
import org.apache.hbase.thirdparty.io.netty.util.ResourceLeakTracker;

/**
 * Of something that the leak detector watches, records the first accesses and then one of many. A
 * record is a stack trace, which in a server takes some ten microseconds and more: nothing to a
 * buffer that is taken and given back, but the entry of a block that each get asks for would pay it
 * twice a get, for as long as it is cached, because the detector once chose to watch it.
 * <p>
 * Only at the detector's default level, {@link ResourceLeakDetector.Level#SIMPLE}: who raises it
 * wants every record. Thread-safe; a record more or less is no harm, so nothing is synchronized.
 * @param <T> what is watched
 */
@InterfaceAudience.Private
final class SampledLeakTracker<T> implements ResourceLeakTracker<T> {
  /** More than a block has between its reading and the end of the request that read it. */
  static final int FIRST = 16;
  /** As many as the detector passes over, by default, when it chooses what to watch. */
  static final int ONE_OF = 128;

  private final ResourceLeakTracker<T> tracker;
  private int first;

  private SampledLeakTracker(ResourceLeakTracker<T> tracker) {
    this.tracker = tracker;
  }

  /**
   * Returns what to record accesses with.
   * @param tracker the detector's, or null for what is not watched
   * @return null for null
   */
  static <T> ResourceLeakTracker<T> of(ResourceLeakTracker<T> tracker) {
    return tracker == null || ResourceLeakDetector.getLevel() != ResourceLeakDetector.Level.SIMPLE
      ? tracker
      : new SampledLeakTracker<>(tracker);
  }

  private boolean isDue() {
    if (first < FIRST) {
      first++;
      return true;
    }
    return ThreadLocalRandom.current().nextInt(ONE_OF) == 0;
  }

  @Override
  public void record() {
    if (isDue()) {
      tracker.record();
    }
  }

  @Override
  public void record(Object hint) {
    if (isDue()) {
      tracker.record(hint);
    }
  }

  @Override
  public boolean close(T trackedObject) {
    return tracker.close(trackedObject);
  }
}
