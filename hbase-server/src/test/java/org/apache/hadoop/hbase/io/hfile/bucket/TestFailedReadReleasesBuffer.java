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
package org.apache.hadoop.hbase.io.hfile.bucket;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseCommonTestingUtility;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.CacheTestUtils;
import org.apache.hadoop.hbase.io.hfile.Cacheable;
import org.apache.hadoop.hbase.io.hfile.HFileBlock;
import org.apache.hadoop.hbase.io.hfile.RefCntLeakRule;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * Tests that the engines that read into pooled buffers return them when what they have read is no
 * block, and when there is nothing to read at all.
 */
@Category({ IOTests.class, SmallTests.class })
public class TestFailedReadReleasesBuffer {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestFailedReadReleasesBuffer.class);

  private static final int CAPACITY = 1 << 20;
  private static final int BLOCK_SIZE = 2048;

  @Rule
  public final RefCntLeakRule leakRule = new RefCntLeakRule();

  private final HBaseCommonTestingUtility util = new HBaseCommonTestingUtility();
  private ByteBuffAllocator allocator;
  private String path;

  @Before
  public void setUp() {
    Configuration conf = util.getConfiguration();
    conf.setInt(ByteBuffAllocator.BUFFER_SIZE_KEY, 4096);
    conf.setInt(ByteBuffAllocator.MAX_BUFFER_COUNT_KEY, 8);
    // Nothing is too small for the pool
    conf.setInt(ByteBuffAllocator.MIN_ALLOCATE_SIZE_KEY, 1);
    allocator = ByteBuffAllocator.create(conf, true);
    File dir = new File(util.getDataTestDir().toUri().getPath());
    assertTrue(dir.mkdirs());
    path = new File(dir, "cache").getPath();
  }

  @After
  public void tearDown() {
    util.cleanupTestDir();
  }

  @Test
  public void testFileEngine() throws IOException {
    IOEngine engine = new FileIOEngine(CAPACITY, false, path);
    testBlockWithBadMagic(engine, 0);
    testOffsetBeyondTheEnd(engine);
    engine.shutdown();
  }

  @Test
  public void testFileEngineOfAPersistentCache() throws IOException {
    IOEngine engine = new FileIOEngine(CAPACITY, true, path);
    testBlockWithBadMagic(engine, Long.BYTES);
    testOffsetBeyondTheEnd(engine);
    engine.shutdown();
  }

  @Test
  public void testMmapEngine() throws IOException {
    IOEngine engine = new ExclusiveMemoryMmapIOEngine(path, CAPACITY);
    testBlockWithBadMagic(engine, 0);
    engine.shutdown();
  }

  @Test
  public void testValidationOfACachedTime() throws IOException {
    FileIOEngine engine = new FileIOEngine(CAPACITY, true, path);
    BucketEntry entry = entry(0, Long.BYTES + BLOCK_SIZE);
    ByteBuffer time = ByteBuffer.allocate(Long.BYTES);
    time.putLong(0, entry.getCachedTime());
    engine.write(time, entry.offset());
    engine.checkCacheTime(entry);
    assertAllBuffersReturned();

    time.clear();
    time.putLong(0, entry.getCachedTime() + 1);
    engine.write(time, entry.offset());
    assertThrows(IOException.class, () -> engine.checkCacheTime(entry));
    assertAllBuffersReturned();
    entry.release();
    engine.shutdown();
  }

  /**
   * Reads a block, and then the same one with its first byte changed.
   * @param prefix how many bytes for the time of caching precede the block
   */
  private void testBlockWithBadMagic(IOEngine engine, int prefix) throws IOException {
    HFileBlock block = CacheTestUtils.generateHFileBlocks(BLOCK_SIZE, 1)[0].getBlock();
    BucketEntry entry = entry(4096, prefix + block.getSerializedLength());
    ByteBuffer bytes = ByteBuffer.allocate(block.getSerializedLength());
    block.serialize(bytes, true);
    bytes.rewind();
    if (prefix > 0) {
      ByteBuffer time = ByteBuffer.allocate(prefix);
      time.putLong(0, entry.getCachedTime());
      engine.write(time, entry.offset());
    }
    engine.write(bytes, entry.offset() + prefix);
    Cacheable read = engine.read(entry);
    assertEquals(block, read);
    read.release();
    assertAllBuffersReturned();

    engine.write(ByteBuffer.wrap(new byte[] { 'X' }), entry.offset() + prefix);
    assertThrows(IOException.class, () -> engine.read(entry));
    assertAllBuffersReturned();
    entry.release();
  }

  private void testOffsetBeyondTheEnd(IOEngine engine) {
    BucketEntry entry = entry(CAPACITY, BLOCK_SIZE);
    assertThrows(RuntimeException.class, () -> engine.read(entry));
    assertAllBuffersReturned();
    entry.release();
  }

  private BucketEntry entry(long offset, int length) {
    BucketEntry entry = new BucketEntry(offset, length, length, 0, false,
      e -> ByteBuffAllocator.NONE, allocator);
    entry.deserializerIndex = (byte) HFileBlock.BLOCK_DESERIALIZER.getDeserializerIdentifier();
    return entry;
  }

  private void assertAllBuffersReturned() {
    assertTrue("the pool was not used", allocator.getUsedBufferCount() > 0);
    assertEquals(allocator.getUsedBufferCount(), allocator.getFreeBufferCount());
  }
}
