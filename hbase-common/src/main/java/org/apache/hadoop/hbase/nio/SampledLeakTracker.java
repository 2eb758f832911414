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
 * Samples the access records of an object that the leak detector tracks: records the first accesses
 * and then one in many. A record is a stack trace, which in a server takes ten microseconds or
 * more. That is negligible for a buffer that is taken and returned, but a cache entry read by every
 * get would pay it twice per get, for as long as it is cached, if the detector happened to sample
 * it.
 * <p>
 * Only at the detector's default level, {@link ResourceLeakDetector.Level#SIMPLE}: at a higher
 * level every record is wanted. Thread-safe; the count is approximate, so nothing is synchronized.
 * @param <T> the tracked type
 */
@InterfaceAudience.Private
final class SampledLeakTracker<T> implements ResourceLeakTracker<T> {
  /**
   * More than the accesses of a block between its reading and the end of the request that read it.
   */
  static final int FIRST = 16;
  /** Equal to the detector's default sampling interval. */
  static final int ONE_OF = 128;

  private final ResourceLeakTracker<T> tracker;
  private int first;

  private SampledLeakTracker(ResourceLeakTracker<T> tracker) {
    this.tracker = tracker;
  }

  /**
   * Returns the tracker with which to record accesses.
   * @param tracker the detector's, or null for an untracked object
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
