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
package org.apache.hadoop.hbase.ipc;

import java.io.DataInput;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellScanner;
import org.apache.hadoop.hbase.NoTagsKeyValue;
import org.apache.hadoop.hbase.codec.Codec;
import org.apache.hadoop.hbase.codec.KeyValueCodec;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.yetus.audience.InterfaceAudience;

/**
 * The cells of a response, in an array that is reused for another response as soon as the last cell
 * has been decoded. The connection's thread reads the array from the socket. The caller's thread
 * decodes it later, and copies each cell: a codec reads from a stream. If a response is not decoded
 * to its end, its array is garbage.
 * <p>
 * Stateless; a scanner is as little thread-safe as any.
 */
@InterfaceAudience.Private
final class ResponseCells {
  private static final long MAX_KEPT_BYTES = 16L << 20;

  /** At most this part of the heap is kept. */
  private static final int MAX_KEPT_PART_OF_HEAP = 128;

  private static final ByteArrayPool ARRAYS = new ByteArrayPool(
    Math.min(MAX_KEPT_BYTES, Runtime.getRuntime().maxMemory() / MAX_KEPT_PART_OF_HEAP));

  private ResponseCells() {
  }

  /**
   * Reads a cell block of {@code size} bytes.
   * @throws IOException if the stream ends in it, or it cannot be decompressed
   */
  static CellScanner read(DataInput in, int size, CellBlockBuilder builder, Codec codec,
    CompressionCodec compressor) throws IOException {
    if (compressor != null) {
      byte[] compressed = new byte[size];
      in.readFully(compressed);
      return builder.createCellScanner(codec, compressor, compressed);
    }
    return read(in, size, codec, ARRAYS);
  }

  static CellScanner read(DataInput in, int size, Codec codec, ByteArrayPool arrays)
    throws IOException {
    byte[] array = arrays.take(size);
    in.readFully(array, 0, size);
    OnceReadStream cells = new OnceReadStream(array, size, arrays);
    return codec.getClass() == KeyValueCodec.class
      ? new KeyValues(cells)
      : codec.getDecoder(cells);
  }

  /**
   * The cells that {@link KeyValueCodec} decodes, without an array for each length and the
   * stream's.
   */
  private static final class KeyValues implements CellScanner {
    private final OnceReadStream in;
    private Cell current;

    KeyValues(OnceReadStream in) {
      this.in = in;
    }

    @Override
    public boolean advance() throws IOException {
      if (in.left == 0) {
        return false;
      }
      int length = in.left < Bytes.SIZEOF_INT ? Integer.MAX_VALUE : in.readInt();
      if (length < 0) {
        throw new IOException("A cell of " + length + " bytes");
      }
      if (length > in.left) {
        throw new EOFException("Partial cell read");
      }
      byte[] bytes = new byte[length];
      in.fill(bytes);
      current = new NoTagsKeyValue(bytes, 0, length);
      return true;
    }

    @Override
    public Cell current() {
      return current;
    }
  }

  /** An array that is returned to the pool when its last byte has been read. */
  private static final class OnceReadStream extends InputStream {
    private final ByteArrayPool arrays;
    private byte[] array;
    private int position;
    private int left;

    OnceReadStream(byte[] array, int size, ByteArrayPool arrays) {
      this.arrays = arrays;
      this.array = array;
      this.left = size;
      consume(0);
    }

    private void consume(int count) {
      position += count;
      left -= count;
      if (left == 0 && array != null) {
        arrays.give(array);
        array = null;
      }
    }

    int readInt() {
      int value = Bytes.toInt(array, position);
      consume(Bytes.SIZEOF_INT);
      return value;
    }

    /** Fills an array that is no longer than what is left. */
    void fill(byte[] bytes) {
      if (bytes.length > 0) {
        System.arraycopy(array, position, bytes, 0, bytes.length);
        consume(bytes.length);
      }
    }

    @Override
    public int read() {
      if (left == 0) {
        return -1;
      }
      int value = array[position] & 0xff;
      consume(1);
      return value;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) {
      if (length == 0) {
        return 0;
      }
      if (left == 0) {
        return -1;
      }
      int count = Math.min(length, left);
      System.arraycopy(array, position, bytes, offset, count);
      consume(count);
      return count;
    }

    @Override
    public long skip(long count) {
      int skipped = (int) Math.max(0, Math.min(count, left));
      consume(skipped);
      return skipped;
    }

    @Override
    public int available() {
      return left;
    }
  }
}
