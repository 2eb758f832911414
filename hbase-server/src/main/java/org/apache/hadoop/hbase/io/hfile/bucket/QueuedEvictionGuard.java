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

import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.yetus.audience.InterfaceAudience;

import org.apache.hbase.thirdparty.io.netty.util.IllegalReferenceCountException;

/**
 * Keeps a block for as long as it is written. An eviction releases the reference of the queue. If
 * that happens before the writer takes the block, there is nothing to write; if it happens during
 * the write, the buffer would be reused while it is copied.
 * <p>
 * Stateless.
 */
@InterfaceAudience.Private
final class QueuedEvictionGuard {

  private QueuedEvictionGuard() {
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
}
