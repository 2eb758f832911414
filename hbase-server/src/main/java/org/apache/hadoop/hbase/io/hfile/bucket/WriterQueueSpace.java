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
package org.apache.hadoop.hbase.io.hfile.bucket;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.locks.LockSupport;
import org.apache.hadoop.hbase.io.hfile.BlockCacheKey;
import org.apache.yetus.audience.InterfaceAudience;

/** Waits for space in a writer queue of a bucket cache. */
@InterfaceAudience.Private
final class WriterQueueSpace {

  /** The interval between two checks of a full queue: the superclass signals to no one. */
  private static final long POLL_NANOS = 200_000;

  private WriterQueueSpace() {
  }

  /**
   * Waits until the queue of a key has space.
   * @param name of the cache, for the message
   * @return false if it has none when the time is over, or the cache is disabled or bypassed
   * @throws InterruptedException if the thread is interrupted while it waits
   */
  static boolean await(BucketCache cache, String name, BlockCacheKey key, long timeoutNanos)
    throws InterruptedException {
    // The superclass chooses this queue for the key.
    BlockingQueue<?> queue =
      cache.writerQueues.get((key.hashCode() & 0x7FFFFFFF) % cache.writerQueues.size());
    if (queue.remainingCapacity() > 0) {
      return cache.isCacheEnabled();
    }
    long deadline = System.nanoTime() + timeoutNanos;
    while (cache.isCacheEnabled() && System.nanoTime() < deadline) {
      if (Thread.interrupted()) {
        throw new InterruptedException("Interrupted while waiting for a writer of " + name);
      }
      LockSupport.parkNanos(POLL_NANOS);
      if (queue.remainingCapacity() > 0) {
        return cache.isCacheEnabled();
      }
    }
    return false;
  }
}
