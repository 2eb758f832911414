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

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import com.sun.management.ThreadMXBean;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellScanner;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.codec.CellCodec;
import org.apache.hadoop.hbase.codec.Codec;
import org.apache.hadoop.hbase.codec.KeyValueCodec;
import org.apache.hadoop.hbase.codec.KeyValueCodecWithTags;
import org.apache.hadoop.hbase.testclassification.ClientTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.io.compress.DefaultCodec;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category({ ClientTests.class, SmallTests.class })
public class TestResponseCells {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestResponseCells.class);

  private static final byte[] FAMILY = Bytes.toBytes("f");
  private static final int ROUNDS = 5;
  private static final int RESPONSES = 500;
  /** What a test allows each response besides its cells, in bytes. */
  private static final long SLACK = 256;

  private final ByteArrayPool arrays = new ByteArrayPool(64L << 20);

  private static List<Cell> cells(int count, int valueLength, int seed) {
    Random random = new Random(seed);
    List<Cell> cells = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      byte[] value = new byte[valueLength];
      random.nextBytes(value);
      cells.add(new KeyValue(Bytes.toBytes("row" + seed), FAMILY, Bytes.toBytes(i), seed, value));
    }
    return cells;
  }

  private static byte[] encoded(Codec codec, List<Cell> cells) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    Codec.Encoder encoder = codec.getEncoder(out);
    for (Cell cell : cells) {
      encoder.write(cell);
    }
    encoder.flush();
    return out.toByteArray();
  }

  private CellScanner read(Codec codec, byte[] block) throws IOException {
    return ResponseCells.read(new DataInputStream(new ByteArrayInputStream(block)), block.length,
      codec, arrays);
  }

  private static void assertIs(Cell expected, CellScanner scanner) throws IOException {
    assertTrue(scanner.advance());
    Cell cell = scanner.current();
    assertTrue(expected + " and " + cell, CellUtil.equals(expected, cell));
    assertArrayEquals(CellUtil.cloneValue(expected), CellUtil.cloneValue(cell));
  }

  private static void assertAre(List<Cell> expected, CellScanner scanner) throws IOException {
    for (Cell cell : expected) {
      assertIs(cell, scanner);
    }
    assertFalse(scanner.advance());
    assertFalse(scanner.advance());
  }

  @Test
  public void testCellsAreThoseOfTheBlockWithEachCodec() throws IOException {
    for (Codec codec : new Codec[] { new KeyValueCodec(), new KeyValueCodecWithTags(),
      new CellCodec(), new KeyValueCodec() {
      } }) {
      for (int count : new int[] { 0, 1, 2, 10, 100 }) {
        for (int length : new int[] { 0, 1, 950, 1000, 70_000 }) {
          List<Cell> cells = cells(count, length, count + length);
          byte[] block = encoded(codec, cells);
          assertAre(cells, read(codec, block));
          // The array has been used before.
          assertAre(cells, read(codec, block));
        }
      }
    }
  }

  @Test
  public void testBlocksOfEachLengthAboutThoseThatAreKept() throws IOException {
    Codec codec = new KeyValueCodec();
    int overhead = encoded(codec, cells(1, 0, 1)).length;
    for (int length = 1 << 10; length <= 1 << 22; length *= 4) {
      for (int size = length - 2; size <= length + 2; size++) {
        List<Cell> cells = cells(1, size - overhead, 1);
        byte[] block = encoded(codec, cells);
        assertEquals(size, block.length);
        assertAre(cells, read(codec, block));
      }
    }
  }

  /** The next response must not be read over cells that are still to be decoded. */
  @Test
  public void testArrayGoesBackWithTheLastCellAndNotBefore() throws IOException {
    for (Codec codec : new Codec[] { new KeyValueCodec(), new CellCodec() }) {
      List<Cell> first = cells(3, 1000, 1);
      List<Cell> second = cells(3, 1000, 2);
      byte[] firstBlock = encoded(codec, first);
      byte[] secondBlock = encoded(codec, second);
      CellScanner scanner = read(codec, firstBlock);
      assertIs(first.get(0), scanner);
      assertIs(first.get(1), scanner);
      long kept = arrays.bytes();
      CellScanner other = read(codec, secondBlock);
      assertIs(second.get(0), other);
      assertIs(first.get(2), scanner);
      assertTrue(arrays.bytes() + " after " + kept, arrays.bytes() > kept);
      CellScanner third = read(codec, firstBlock);
      assertIs(second.get(1), other);
      assertFalse(scanner.advance());
      assertIs(first.get(0), third);
      assertIs(second.get(2), other);
    }
  }

  /** What an application has is its own for good. */
  @Test
  public void testCellsDoNotChangeWhenTheirArrayIsUsedAgain() throws IOException {
    Codec codec = new KeyValueCodec();
    List<Cell> cells = cells(10, 100, 1);
    List<Cell> decoded = new ArrayList<>();
    CellScanner scanner = read(codec, encoded(codec, cells));
    while (scanner.advance()) {
      decoded.add(scanner.current());
    }
    for (int i = 2; i < 100; i++) {
      assertAre(cells(10, 100, i), read(codec, encoded(codec, cells(10, 100, i))));
    }
    assertEquals(cells.size(), decoded.size());
    for (int i = 0; i < cells.size(); i++) {
      assertArrayEquals(CellUtil.cloneValue(cells.get(i)), CellUtil.cloneValue(decoded.get(i)));
    }
  }

  @Test
  public void testBlockThatEndsInACell() throws IOException {
    List<Cell> cells = cells(2, 1000, 1);
    byte[] block = encoded(new KeyValueCodec(), cells);
    for (int missing : new int[] { 1, 2, 999, block.length / 2 - 1 }) {
      for (Codec codec : new Codec[] { new KeyValueCodec(), new KeyValueCodec() {
      } }) {
        CellScanner scanner = read(codec, Arrays.copyOf(block, block.length - missing));
        assertIs(cells.get(0), scanner);
        assertThrows(EOFException.class, scanner::advance);
      }
    }
    Bytes.putInt(block, 0, -1);
    assertThrows(IOException.class, read(new KeyValueCodec(), block)::advance);
  }

  @Test
  public void testConnectionThatEndsInTheBlock() throws IOException {
    byte[] block = encoded(new KeyValueCodec(), cells(2, 1000, 1));
    DataInputStream in = new DataInputStream(new ByteArrayInputStream(block));
    assertThrows(EOFException.class,
      () -> ResponseCells.read(in, block.length + 1, new KeyValueCodec(), arrays));
  }

  @Test
  public void testCompressedBlock() throws IOException {
    List<Cell> cells = cells(10, 1000, 1);
    DefaultCodec compressor = new DefaultCodec();
    compressor.setConf(new Configuration());
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (OutputStream compressed = compressor.createOutputStream(out)) {
      compressed.write(encoded(new KeyValueCodec(), cells));
    }
    byte[] block = out.toByteArray();
    assertAre(cells,
      ResponseCells.read(new DataInputStream(new ByteArrayInputStream(block)), block.length,
        new CellBlockBuilder(new Configuration()), new KeyValueCodec(), compressor));
  }

  /** One thread has the connection, some decode, as in a client. */
  @Test
  public void testResponsesAreDecodedByOtherThreads() throws Exception {
    Codec codec = new KeyValueCodec();
    int callers = 4;
    int responses = 8_000;
    List<List<Cell>> cells = new ArrayList<>();
    List<byte[]> blocks = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      cells.add(cells(5, 100 + 150 * i, i));
      blocks.add(encoded(codec, cells.get(i)));
    }
    BlockingQueue<Object[]> arrived = new ArrayBlockingQueue<>(16);
    ExecutorService pool = Executors.newFixedThreadPool(callers);
    try {
      List<Future<?>> all = new ArrayList<>();
      for (int t = 0; t < callers; t++) {
        all.add(pool.submit(() -> {
          for (int i = 0; i < responses / callers; i++) {
            Object[] response = arrived.take();
            assertAre(cells.get((Integer) response[0]), (CellScanner) response[1]);
          }
          return null;
        }));
      }
      for (int i = 0; i < responses; i++) {
        Object[] response = { i % 8, read(codec, blocks.get(i % 8)) };
        while (!arrived.offer(response, 1, TimeUnit.SECONDS)) {
          for (Future<?> one : all) {
            if (one.isDone()) {
              // The call rethrows what a thread has failed of.
              one.get();
            }
          }
        }
      }
      for (Future<?> one : all) {
        one.get();
      }
    } finally {
      pool.shutdownNow();
    }
  }

  @Test
  public void testResponseTakesNoArrayOfItsOwn() throws IOException {
    Codec codec = new KeyValueCodec();
    List<Cell> cells = cells(10, 6_500, 1);
    byte[] block = encoded(codec, cells);
    long cellBytes = 0;
    for (Cell cell : cells) {
      // A cell takes an array with its header, in multiples of 8 bytes, and its own object.
      cellBytes += 24 + ((KeyValue) cell).getLength() + 64;
    }
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long thread = Thread.currentThread().getId();
    long best = Long.MAX_VALUE;
    for (int round = 0; round < ROUNDS; round++) {
      long before = threads.getThreadAllocatedBytes(thread);
      for (int i = 0; i < RESPONSES; i++) {
        CellScanner scanner = read(codec, block);
        while (scanner.advance()) {
          continue;
        }
      }
      best = Math.min(best, (threads.getThreadAllocatedBytes(thread) - before) / RESPONSES);
    }
    // The test owns the stream that the block is read from.
    assertTrue(best + " bytes for a response with cells of " + cellBytes,
      best < cellBytes + SLACK + 512);
  }
}
