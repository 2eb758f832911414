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
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.yetus.audience.InterfaceAudience;

/** The backlog of a block cache's writers. */
@InterfaceAudience.Private
public final class WriterQueues {

  private WriterQueues() {
  }

  /**
   * Returns how full the fullest writer queue is of a cache and those it consists of, from 0 to 1;
   * 0 if there are none, or they are not in use. Costs a few reads of a queue's size.
   */
  public static double fill(BlockCache cache) {
    double fill = 0;
    if (cache instanceof BucketCache && ((BucketCache) cache).isCacheEnabled()) {
      for (BlockingQueue<?> queue : ((BucketCache) cache).writerQueues) {
        int waiting = queue.size();
        fill = Math.max(fill, (double) waiting / (waiting + queue.remainingCapacity()));
      }
    }
    BlockCache[] parts = cache.getBlockCaches();
    if (parts != null) {
      for (BlockCache part : parts) {
        if (part != cache) {
          fill = Math.max(fill, fill(part));
        }
      }
    }
    return fill;
  }
}
