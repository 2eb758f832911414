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
package org.apache.hadoop.hbase.io.hfile.segment;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Where segments are kept: a file, a block device, or what a test makes of them. Thread-safe; what
 * is read while it is written may be old, new or part of each. An interrupt does not end an access
 * and stays pending.
 */
@InterfaceAudience.Private
interface SegmentDevice extends Closeable {

  /** Opens a device by its path. */
  @InterfaceAudience.Private
  interface Opener {
    /**
     * @param size what the device should have, in bytes
     * @throws IOException if it cannot have that or cannot be written
     */
    SegmentDevice open(String path, long size) throws IOException;

    /**
     * Opens a device that was bypassed. What is found at the path is the device or it is not, and
     * nothing of it grows before {@link #restoreSize}. A file that was removed is made anew, if the
     * file system is the one that it was on.
     * @param former the same device as it was opened before, null if it has never been
     * @throws IOException if the device is not there, is on another file system than
     *                     {@code former}, or cannot be written
     */
    default SegmentDevice reopen(String path, long size, SegmentDevice former)
      throws IOException {
      return open(path, size);
    }
  }

  /** Returns the number of bytes that can be used. */
  long size();

  /**
   * Reads into a buffer from its position to its limit, where its position is afterwards.
   * @throws IOException if not all of it can be had
   */
  void read(ByteBuffer to, long position) throws IOException;

  /** Writes from a buffer's position to its limit, where its position is afterwards. */
  void write(ByteBuffer from, long position) throws IOException;

  /** Brings to the device what was written. */
  void sync() throws IOException;

  /** Whether the device was made when it was opened: there was none. */
  default boolean isMade() {
    return false;
  }

  /** Gives a file that was cut the size that it had. Called when it is known to be the same. */
  default void restoreSize() throws IOException {
  }

  /**
   * Returns how many bytes can be written to places that were never written, at least.
   * {@link Long#MAX_VALUE} if all places have their space.
   */
  long usableSpace() throws IOException;
}
