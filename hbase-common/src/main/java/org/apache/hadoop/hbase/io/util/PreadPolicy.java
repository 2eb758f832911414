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
package org.apache.hadoop.hbase.io.util;

import java.nio.ByteBuffer;
import org.apache.hadoop.hbase.nio.ByteBuff;
import org.apache.hadoop.hbase.nio.SingleByteBuff;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Decides when a positional read uses a thread-local array although the stream could fill the
 * buffers itself: when it would need one call for each of several buffers. HDFS sends a request to
 * a DataNode for each positional read, which costs more than the copy, and creates 13 KB of
 * garbage. A block of 128 KB spans two or three of the pool's buffers, and a block of 64 KB whose
 * last cell is a large one spans two. Thread-safe.
 */
@InterfaceAudience.Private
final class PreadPolicy {

  private PreadPolicy() {
  }

  /**
   * @param buff   the destination, from its position on
   * @param length the number of bytes to read
   * @return whether the bytes span several buffers, and fit into a thread's array
   */
  static boolean needsArray(ByteBuff buff, int length) {
    if (buff instanceof SingleByteBuff || length > ThreadLocalScratch.MAX_KEPT) {
      return false;
    }
    for (ByteBuffer each : buff.nioByteBuffers()) {
      if (each.hasRemaining()) {
        return each.remaining() < length;
      }
    }
    return false;
  }
}
