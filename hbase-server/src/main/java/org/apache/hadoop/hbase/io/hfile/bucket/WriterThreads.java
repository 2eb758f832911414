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

import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.yetus.audience.InterfaceAudience;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.apache.hbase.thirdparty.io.netty.util.IllegalReferenceCountException;

/**
 * What a bucket cache's writer threads hold. An eviction releases the reference of the queue. If
 * that happens before a writer takes the block, there is nothing to write; if it happens during the
 * write, the buffer would be reused while it is copied. So a writer thread holds the block that it
 * writes, and releases it afterwards; a cache that is shut down holds no buffer.
 */
@InterfaceAudience.Private
final class WriterThreads {
  private static final Logger LOG = LoggerFactory.getLogger(WriterThreads.class);

  /** Enough for a write in flight; a device that hangs does not keep a server from stopping. */
  static final long MAX_WAIT_MS = 5_000;

  private WriterThreads() {
  }

  /**
   * Takes a reference, which the caller gives back when the block is written.
   * @return false if the block was evicted before
   */
  static boolean retain(Cacheable block) {
    try {
      block.retain();
      return true;
    } catch (IllegalReferenceCountException e) {
      return false;
    }
  }

  /**
   * Waits at most {@value #MAX_WAIT_MS} ms until the threads, which were told to end, have ended.
   * An interrupted caller does not wait and stays interrupted.
   */
  static void await(Thread[] writers) {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(MAX_WAIT_MS);
    try {
      for (Thread writer : writers) {
        TimeUnit.NANOSECONDS.timedJoin(writer, deadline - System.nanoTime());
        if (writer.isAlive()) {
          LOG.warn("{} is still writing after {} ms", writer.getName(), MAX_WAIT_MS);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
