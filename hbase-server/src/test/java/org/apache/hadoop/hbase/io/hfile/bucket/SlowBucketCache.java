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

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

/** A bucket cache outside the heap with one writer, which takes its time for each block. */
public class SlowBucketCache extends BucketCache {
  private final long millisPerBlock;
  private boolean stuck = true;

  /**
   * @param millisPerBlock below 0 if nothing is written before {@link #startWriting}
   */
  public SlowBucketCache(int queueLength, long millisPerBlock) throws IOException {
    super("offheap", 80 << 20, 64 << 10, null, 1, queueLength, null);
    this.millisPerBlock = millisPerBlock;
    if (millisPerBlock >= 0) {
      startWriting();
    }
  }

  public boolean isStuck() {
    return stuck;
  }

  public void startWriting() {
    stuck = false;
    super.startWriterThreads();
  }

  @Override
  protected void startWriterThreads() {
    // The superclass calls this before it is known how slow the cache is.
  }

  @Override
  void doDrain(List<RAMQueueEntry> entries, ByteBuffer metaBuff) throws InterruptedException {
    Thread.sleep(Math.max(0, millisPerBlock) * entries.size());
    super.doDrain(entries, metaBuff);
  }
}
