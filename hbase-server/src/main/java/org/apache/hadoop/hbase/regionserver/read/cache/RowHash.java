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
package org.apache.hadoop.hbase.regionserver.read.cache;

import java.nio.ByteBuffer;
import org.apache.hadoop.hbase.ByteBufferExtendedCell;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.util.ByteBufferUtils;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.yetus.audience.InterfaceAudience;

/** Hashes of rows, equal for equal rows in arrays and in buffers. */
@InterfaceAudience.Private
public final class RowHash {
  private static final long PRIME = 0x9E37_79B9_7F4A_7C15L;

  private RowHash() {
  }

  /** Returns the hash of the row of a cell. */
  public static int of(Cell cell) {
    if (cell instanceof ByteBufferExtendedCell) {
      ByteBufferExtendedCell buffered = (ByteBufferExtendedCell) cell;
      return of(buffered.getRowByteBuffer(), buffered.getRowPosition(), cell.getRowLength());
    }
    return of(cell.getRowArray(), cell.getRowOffset(), cell.getRowLength());
  }

  static int of(byte[] bytes, int offset, int length) {
    long hash = length;
    int at = offset;
    int left = length;
    for (; left >= Long.BYTES; left -= Long.BYTES, at += Long.BYTES) {
      hash = mix(hash, Bytes.toLong(bytes, at));
    }
    long rest = 0;
    for (; left > 0; left--, at++) {
      rest = rest << Byte.SIZE | bytes[at] & 0xff;
    }
    return end(mix(hash, rest));
  }

  static int of(ByteBuffer bytes, int offset, int length) {
    long hash = length;
    int at = offset;
    int left = length;
    for (; left >= Long.BYTES; left -= Long.BYTES, at += Long.BYTES) {
      hash = mix(hash, ByteBufferUtils.toLong(bytes, at));
    }
    long rest = 0;
    for (; left > 0; left--, at++) {
      rest = rest << Byte.SIZE | bytes.get(at) & 0xff;
    }
    return end(mix(hash, rest));
  }

  private static long mix(long hash, long value) {
    long mixed = (hash ^ value) * PRIME;
    return mixed ^ mixed >>> 32;
  }

  private static int end(long hash) {
    long mixed = hash * PRIME;
    return (int) (mixed >>> 32);
  }

  /** Returns a hash of two. */
  static int of(int hash, int other) {
    return end(mix(hash, other));
  }
}
