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
package org.apache.hadoop.hbase.util;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.hadoop.hbase.ByteBufferKeyValue;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hadoop.hbase.testclassification.MiscTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** The keys of cells in a Bloom filter, in arrays and in buffers, of all types and hashes. */
@Category({ MiscTests.class, SmallTests.class })
public class TestBloomKeys {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestBloomKeys.class);

  private static final int CELLS = 1_000;

  private final Random random = new Random(1);

  /** A cell in direct memory that counts how often a part of it is read. */
  private static class CountingCell extends ByteBufferKeyValue {
    private int reads;

    CountingCell(KeyValue cell) {
      super(inBuffer(cell), 3, cell.getLength());
    }

    @Override
    public ByteBuffer getRowByteBuffer() {
      reads++;
      return super.getRowByteBuffer();
    }

    @Override
    public ByteBuffer getQualifierByteBuffer() {
      reads++;
      return super.getQualifierByteBuffer();
    }
  }

  private static ByteBuffer inBuffer(KeyValue cell) {
    ByteBuffer buffer = ByteBuffer.allocateDirect(cell.getLength() + 3);
    buffer.position(3);
    buffer.put(cell.getBuffer(), cell.getOffset(), cell.getLength());
    return buffer;
  }

  private byte[] bytes(int least, int most) {
    byte[] bytes = new byte[least + random.nextInt(most - least + 1)];
    random.nextBytes(bytes);
    return bytes;
  }

  private KeyValue cell(int longest) {
    return new KeyValue(bytes(1, longest), Bytes.toBytes("f"), bytes(0, longest),
      random.nextInt(100), bytes(0, longest));
  }

  private static BloomFilterChunk chunk(BloomType type, int hash) {
    BloomFilterChunk chunk = BloomFilterUtil.createBySize(64 * 1024, 0.01, hash, 0, type);
    chunk.allocBloom();
    return chunk;
  }

  private static byte[] written(BloomFilterChunk chunk) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    chunk.writeBloom(new DataOutputStream(bytes));
    return bytes.toByteArray();
  }

  /** Returns the filter as it would be if all keys were read byte by byte. */
  private static byte[] byteByByte(Iterable<? extends Cell> cells, BloomType type, int hash)
    throws IOException {
    BloomFilterChunk chunk = chunk(type, hash);
    for (Cell cell : cells) {
      HashKey<Cell> key =
        type == BloomType.ROWCOL ? new RowColBloomHashKey(cell) : new RowBloomHashKey(cell);
      byte[] bytes = new byte[key.length()];
      for (int i = 0; i < bytes.length; i++) {
        bytes[i] = key.get(i);
      }
      chunk.add(bytes, 0, bytes.length);
    }
    return written(chunk);
  }

  private void testFilter(BloomType type, int hash, int longest) throws IOException {
    BloomFilterChunk chunk = chunk(type, hash);
    List<Cell> cells = new ArrayList<>();
    for (int i = 0; i < CELLS; i++) {
      KeyValue cell = cell(longest);
      cells.add(cell);
      chunk.add(i % 3 == 0 ? cell : new CountingCell(cell));
    }
    assertArrayEquals(byteByByte(cells, type, hash), written(chunk));
  }

  @Test
  public void testFiltersAreTheSame() throws IOException {
    for (BloomType type : new BloomType[] { BloomType.ROW, BloomType.ROWCOL,
      BloomType.ROWPREFIX_FIXED_LENGTH }) {
      for (int hash : new int[] { Hash.JENKINS_HASH, Hash.MURMUR_HASH, Hash.MURMUR_HASH3 }) {
        testFilter(type, hash, 1);
        testFilter(type, hash, 33);
        testFilter(type, hash, 1_000);
      }
    }
  }

  @Test
  public void testCellInBufferIsReadOnce() {
    for (BloomType type : new BloomType[] { BloomType.ROW, BloomType.ROWCOL }) {
      CountingCell cell = new CountingCell(cell(100));
      chunk(type, Hash.MURMUR_HASH).add(cell);
      assertTrue(type + ": " + cell.reads, cell.reads <= 2);
    }
  }
}
