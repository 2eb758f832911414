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
package org.apache.hadoop.hbase.io.hfile.segment.device;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Storage for segments: a file, a block device, or a test double. Thread-safe; a read concurrent
 * with a write may return old data, new data or a mix of both. An interrupt does not end an access
 * and stays pending.
 */
@InterfaceAudience.Private
public interface SegmentDevice extends Closeable {

  /** Opens a device by its path. */
  @InterfaceAudience.Private
  interface Opener {
    /**
     * Opens a device.
     * @param size the size that the device should have, in bytes
     * @throws IOException if it cannot have that size or cannot be written
     */
    SegmentDevice open(String path, long size) throws IOException;

    /**
     * Reopens a device that was bypassed. Nothing is extended before {@link #restoreSize}, since
     * the path may lead to another device. A file that was removed is created again, if its file
     * system is the former one.
     * @param former the device as it was opened before, null if it was never opened
     * @throws IOException if the device does not exist, is on another file system than
     *                     {@code former}, or cannot be written
     */
    default SegmentDevice reopen(String path, long size, SegmentDevice former)
      throws IOException {
      return open(path, size);
    }
  }

  /** Returns the usable size in bytes. */
  long size();

  /**
   * Reads into a buffer from its position to its limit, and moves its position to its limit.
   * @throws IOException if not all bytes can be read
   */
  void read(ByteBuffer to, long position) throws IOException;

  /** Writes a buffer from its position to its limit, and moves its position to its limit. */
  void write(ByteBuffer from, long position) throws IOException;

  /** Forces written data to the device. */
  void sync() throws IOException;

  /** Returns whether the device did not exist and was created when it was opened. */
  default boolean isMade() {
    return false;
  }

  /** Restores the size of a truncated file. Called when it is known to be the former file. */
  default void restoreSize() throws IOException {
  }

  /**
   * Returns the minimum number of bytes that can be written to locations never written before.
   * {@link Long#MAX_VALUE} if the space of all locations is allocated.
   */
  long usableSpace() throws IOException;
}
