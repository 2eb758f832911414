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
package org.apache.hadoop.hbase.io.hfile;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.SizeClassByteBuffAllocator;
import org.apache.hadoop.hbase.nio.ByteBuff;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;

/**
 * Reads of store files whose file system gives little, nothing or wrong bytes: the block is right
 * or the read fails, and all buffers come back to the pool.
 */
@RunWith(Parameterized.class)
@Category({ IOTests.class, SmallTests.class })
public class TestFailingFileReads {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestFailingFileReads.class);

  private static final int BLOCK_SIZE = 20 * 1024;

  @Rule
  public final RefCntLeakRule leaks = new RefCntLeakRule();

  @Rule
  public final StoreFileFixture files = new StoreFileFixture();

  private final boolean pread;
  private final boolean sizeClasses;
  private FileSystem fs;
  private ByteBuffAllocator pool;
  private HFile.Reader reader;
  private List<StoreFileFixture.Block> blocks;
  private List<byte[]> contents;
  /** Buffers that have been divided into pieces, all of which are free. */
  private int divided;

  public TestFailingFileReads(boolean pread, boolean sizeClasses) {
    this.pread = pread;
    this.sizeClasses = sizeClasses;
  }

  @Parameterized.Parameters(name = "pread {0}, size classes {1}")
  public static List<Object[]> parameters() {
    List<Object[]> parameters = new ArrayList<>();
    for (boolean pread : new boolean[] { true, false }) {
      for (boolean sizeClasses : new boolean[] { true, false }) {
        parameters.add(new Object[] { pread, sizeClasses });
      }
    }
    return parameters;
  }

  @Before
  public void open() throws IOException {
    Configuration conf = files.conf();
    Path path = files.write(CacheConfig.DISABLED,
      new HFileContextBuilder().withBlockSize(BLOCK_SIZE).build());
    blocks = files.blocks(path);
    conf.setBoolean(SizeClassByteBuffAllocator.ENABLED_KEY, sizeClasses);
    pool = ByteBuffAllocator.create(conf, true);
    fs = ByteBufferReads.over(conf);
    reader =
      HFile.createReader(fs, path, new CacheConfig(conf, null, null, pool), true, conf);
    assertTrue("no checksums", reader.getFileContext().isUseHBaseChecksum());
    contents = new ArrayList<>();
    for (StoreFileFixture.Block block : blocks) {
      HFileBlock read = read(block);
      contents.add(bytes(read));
      read.release();
    }
    divided = pool.getUsedBufferCount() - pool.getFreeBufferCount();
    assertTrue(divided + " buffers", sizeClasses || divided == 0);
    assertTrue("the pool was not used", pool.getUsedBufferCount() > 0);
  }

  @After
  public void close() throws IOException {
    ByteBufferReads.readAsUsual();
    reader.close();
    fs.close();
    assertWhole();
    pool.clean();
  }

  private HFileBlock read(StoreFileFixture.Block block) throws IOException {
    return reader.readBlock(block.offset(), block.size(), false, pread, !pread, false,
      block.type(), null);
  }

  /** Returns the bytes of a block without the size of the next one, which may follow it. */
  private static byte[] bytes(HFileBlock block) {
    ByteBuff buffer = block.getBufferReadOnly();
    byte[] bytes = new byte[buffer.limit()];
    buffer.get(0, bytes, 0, bytes.length);
    return bytes;
  }

  /** A divided buffer is not whole again before all of its pieces have come back and more. */
  private void assertWhole() {
    assertEquals("Buffers that are not back", divided,
      pool.getUsedBufferCount() - pool.getFreeBufferCount());
  }

  private void assertBlocksAreRight() throws IOException {
    for (int i = 0; i < contents.size(); i++) {
      HFileBlock read = read(blocks.get(i));
      assertArrayEquals(contents.get(i), bytes(read));
      read.release();
    }
    assertWhole();
  }

  private void assertAllReadsFail() {
    for (StoreFileFixture.Block block : blocks) {
      assertThrows(block.toString(), IOException.class, () -> read(block).release());
    }
    assertWhole();
  }

  @Test
  public void testShortReadsGiveWholeBlocks() throws IOException {
    for (int most : new int[] { 1, 7, 33, 4096, BLOCK_SIZE }) {
      ByteBufferReads.read((file, into, position) -> {
        ByteBuffer part = into.duplicate();
        part.limit(Math.min(part.limit(), part.position() + most));
        int bytes = file.read(part, position);
        into.position(part.position());
        return bytes;
      });
      assertBlocksAreRight();
    }
  }

  @Test
  public void testFileThatEndsInABlockFails() throws IOException {
    // The first bytes come, and then the end.
    ByteBufferReads.read((file, into, position) -> {
      if (isWithinABlock(position)) {
        return -1;
      }
      ByteBuffer part = into.duplicate();
      part.limit(Math.min(part.limit(), part.position() + 100));
      int bytes = file.read(part, position);
      into.position(part.position());
      return bytes;
    });
    assertAllReadsFail();
    ByteBufferReads.readAsUsual();
    assertBlocksAreRight();
  }

  private boolean isWithinABlock(long position) {
    return blocks.stream().noneMatch(block -> block.offset() == position);
  }

  @Test
  public void testReadThatFailsHalfWayIsAnError() throws IOException {
    AtomicInteger reads = new AtomicInteger();
    ByteBufferReads.read((file, into, position) -> {
      if (reads.incrementAndGet() % 2 == 0) {
        throw new IOException("The disk is gone");
      }
      ByteBuffer part = into.duplicate();
      part.limit(Math.min(part.limit(), part.position() + 100));
      int bytes = file.read(part, position);
      into.position(part.position());
      return bytes;
    });
    assertAllReadsFail();
    ByteBufferReads.readAsUsual();
    assertBlocksAreRight();
  }

  @Test
  public void testUncheckedExceptionOfAStreamLeavesThePoolWhole() throws IOException {
    ByteBufferReads.read((file, into, position) -> {
      throw new IllegalStateException("A bug in the file system's client");
    });
    for (StoreFileFixture.Block block : blocks) {
      // The exception is thrown as it is, or wrapped by the method that called it through
      // reflection.
      assertThrows(Exception.class, () -> read(block).release());
    }
    assertWhole();
    ByteBufferReads.readAsUsual();
    assertBlocksAreRight();
  }

  /**
   * A checksum that does not match has the block read again with the checksums of the file system,
   * of which this one has none, so that its word is taken. No buffer may be lost on the way.
   */
  @Test
  public void testChecksumThatDoesNotMatchLeavesThePoolWhole() throws IOException {
    ByteBufferReads.read((file, into, position) -> {
      int start = into.position();
      int bytes = file.read(into, position);
      if (bytes > 50) {
        into.put(start + 50, (byte) (into.get(start + 50) ^ 4));
      }
      return bytes;
    });
    long failuresBefore = HFile.getChecksumFailuresCount();
    for (StoreFileFixture.Block block : blocks) {
      try {
        read(block).release();
      } catch (IOException e) {
        assertNotNull(e.getMessage());
      }
      assertWhole();
    }
    assertTrue("no checksum was verified", HFile.getChecksumFailuresCount() > failuresBefore);
    ByteBufferReads.readAsUsual();
    assertBlocksAreRight();
  }

  @Test
  public void testClosedFileFails() throws IOException {
    ByteBufferReads.read((file, into, position) -> {
      file.close();
      return file.read(into, position);
    });
    assertAllReadsFail();
  }
}
