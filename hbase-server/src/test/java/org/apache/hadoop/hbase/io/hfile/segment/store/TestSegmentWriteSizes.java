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
package org.apache.hadoop.hbase.io.hfile.segment.store;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.io.hfile.BlockType;
import org.apache.hadoop.hbase.io.hfile.CachedBlockFixture;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.segment.device.FileSegmentDevice;
import org.apache.hadoop.hbase.io.hfile.segment.device.SegmentDevice;
import org.apache.hadoop.hbase.io.hfile.segment.device.Superblock;
import org.apache.hadoop.hbase.io.hfile.segment.index.CachedFile;
import org.apache.hadoop.hbase.io.hfile.segment.index.CachedFiles;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.rules.TemporaryFolder;
import org.mockito.Mockito;

/**
 * How large the writes are that a device gets under churn: 1 MB or more in the mean, with all
 * segments that are written from the start to the stop.
 */
@Category({ IOTests.class, MediumTests.class })
public class TestSegmentWriteSizes {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestSegmentWriteSizes.class);

  private static final int MB = 1 << 20;
  private static final int SEGMENT = 16 * MB;
  private static final int SEGMENTS = 6;
  private static final int CHURN = 14;
  /** A limit that no insertion reaches. */
  private static final long NO_HURDLE = 1L << 40;

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  private final AtomicLong writes = new AtomicLong();
  private final AtomicLong bytes = new AtomicLong();

  /** Returns a device that counts what reaches it of segments. */
  private SegmentDevice device(String path, long size) throws IOException {
    SegmentDevice device = new FileSegmentDevice(path, size);
    return Mockito.mock(SegmentDevice.class, Mockito.withSettings().stubOnly()
      .defaultAnswer(call -> {
        if (
          call.getMethod().getName().equals("write")
            && call.<Long> getArgument(1) >= Superblock.HEADER_SIZE
        ) {
          writes.incrementAndGet();
          bytes.addAndGet(call.<ByteBuffer> getArgument(0).remaining());
        }
        return call.getMethod().invoke(device, call.getArguments());
      }));
  }

  private void assertMeanWriteIsLarge(int blockSize, long writeLimit) throws Exception {
    ModelDirectory directory = new ModelDirectory();
    SegmentStore store = SegmentStore.open(
      new SegmentStoreSettings(
        Collections.singletonList(new File(folder.getRoot(), "device").getPath()),
        Superblock.HEADER_SIZE + (long) SEGMENTS * SEGMENT, SEGMENT, 4, 0.25, writeLimit, 0),
      directory, this::device);
    directory.attach(store);
    store.start("Test");
    CachedFile file = new CachedFiles().acquire("f");
    HFileBlock block = CachedBlockFixture.block(BlockType.DATA, 1, blockSize);
    SegmentStoreMetrics metrics = store.metrics();
    for (long i = 0; metrics.segmentsWritten.sum() < CHURN; i++) {
      assertTrue(store.insert(file, i * blockSize, block, 0, InsertSource.WRITE,
        TimeUnit.MINUTES.toNanos(2)));
    }
    store.stop();
    store.close();
    block.release();
    assertTrue("reclaimed meanwhile", metrics.segmentsReclaimed.sum() >= CHURN - SEGMENTS);
    assertEquals(writes.get(), metrics.writes.sum());
    assertEquals(bytes.get(), metrics.writtenBytes.sum());
    // The last write, at the stop, may be of any size.
    assertTrue(bytes.get() + " bytes in " + writes.get() + " writes",
      bytes.get() >= (writes.get() - 1) * MB);
  }

  @Test
  public void testUsualBlocks() throws Exception {
    assertMeanWriteIsLarge(32 << 10, 0);
  }

  @Test
  public void testUsualBlocksUnderALimit() throws Exception {
    assertMeanWriteIsLarge(32 << 10, NO_HURDLE);
  }

  /**
   * The end of a segment that stays free is so large that it is not written. The footer is a write
   * of its own.
   */
  @Test
  public void testBlocksThatLeaveSegmentsWithoutAnEndUnderALimit() throws Exception {
    assertMeanWriteIsLarge(7 * MB / 2, NO_HURDLE);
  }
}
