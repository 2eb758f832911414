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
package org.apache.hadoop.hbase.io.hfile.block;

import java.nio.ByteBuffer;
import java.util.zip.CRC32;
import java.util.zip.Checksum;
import org.apache.hadoop.hbase.nio.ByteBuff;
import org.apache.hadoop.hbase.nio.SingleByteBuff;
import org.apache.hadoop.util.DataChecksum;
import org.apache.hadoop.util.NativeCodeLoader;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * Verifies the checksums of a block in place, with the JDK's CRC, which accepts direct buffers.
 * Hadoop's DataChecksum, unless its native code is available, first copies them to the heap, into
 * an array of the size of a chunk, 16 KB by default, that it allocates for each block; a block in
 * several buffers is copied piece by piece through an array of 256 bytes.
 * <p>
 * Stateless.
 */
@InterfaceAudience.Private
public final class ChunkedChecksums {
  private ChunkedChecksums() {
  }

  /**
   * Returns whether {@link #verify} supports this checksum and Hadoop has no faster way for this
   * data.
   */
  public static boolean canVerify(DataChecksum checksum, ByteBuff data) {
    return canVerify(checksum.getChecksumType())
      && !(data instanceof SingleByteBuff && NativeCodeLoader.isNativeCodeLoaded());
  }

  static boolean canVerify(DataChecksum.Type type) {
    return type == DataChecksum.Type.CRC32
      || type == DataChecksum.Type.CRC32C && Crc32c.isInHardware();
  }

  /**
   * Compares the computed checksum of each chunk with the stored one.
   * @param data      from its position, which is 0, to its limit; a duplicate, whose buffers are
   *                  left at any position
   * @param checksums four bytes for each chunk, from its position
   * @return false if a checksum differs from the stored one, or is missing
   */
  public static boolean verify(DataChecksum checksum, ByteBuff data, ByteBuff checksums) {
    Checksum crc = checksum.getChecksumType() == DataChecksum.Type.CRC32
      ? new CRC32()
      : Crc32c.create();
    ByteBuffer[] buffers = data.nioByteBuffers();
    int buffer = 0;
    int end = buffers[0].limit();
    int rest = data.remaining();
    int stored = 0;
    while (rest > 0) {
      crc.reset();
      int chunk = Math.min(rest, checksum.getBytesPerChecksum());
      rest -= chunk;
      while (chunk > 0) {
        while (buffers[buffer].position() == end) {
          end = buffers[++buffer].limit();
        }
        int length = Math.min(chunk, end - buffers[buffer].position());
        buffers[buffer].limit(buffers[buffer].position() + length);
        Crc32c.update(crc, buffers[buffer]);
        chunk -= length;
      }
      if (
        checksums.remaining() < stored + Integer.BYTES
          || (int) crc.getValue() != checksums.getIntAfterPosition(stored)
      ) {
        return false;
      }
      stored += Integer.BYTES;
    }
    return true;
  }
}
