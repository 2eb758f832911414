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

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.util.Random;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseCommonTestingUtility;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.compress.Compression;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * Tests that a block that was read but cannot be decompressed gives its pooled buffer back.
 */
@Category({ IOTests.class, SmallTests.class })
public class TestFailedUnpackReleasesBlock {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestFailedUnpackReleasesBlock.class);

  @Rule
  public final RefCntLeakRule leakRule = new RefCntLeakRule();

  private final HBaseCommonTestingUtility util = new HBaseCommonTestingUtility();
  private final Configuration conf = util.getConfiguration();
  private ByteBuffAllocator allocator;
  private CacheConfig cacheConf;
  private FileSystem fs;
  private Path path;

  @Before
  public void setUp() throws IOException {
    conf.setInt(ByteBuffAllocator.BUFFER_SIZE_KEY, 4096);
    conf.setInt(ByteBuffAllocator.MAX_BUFFER_COUNT_KEY, 64);
    conf.setInt(ByteBuffAllocator.MIN_ALLOCATE_SIZE_KEY, 1);
    allocator = ByteBuffAllocator.create(conf, true);
    cacheConf = new CacheConfig(conf, null, null, allocator);
    fs = FileSystem.getLocal(conf).getRawFileSystem();
    path = new Path(util.getDataTestDir(), "file");
    // Neither checksum may find out what is wrong with the block before it is decompressed
    HFileContext context = new HFileContextBuilder().withBlockSize(8192)
      .withCompression(Compression.Algorithm.GZ).withHBaseCheckSum(false).build();
    byte[] value = new byte[512];
    Random random = new Random(17);
    try (HFile.Writer writer = new HFile.WriterFactory(conf, cacheConf).withPath(fs, path)
      .withFileContext(context).create()) {
      for (int i = 0; i < 64; i++) {
        random.nextBytes(value);
        writer.append(new KeyValue(Bytes.toBytes(String.format("row%08d", i)), Bytes.toBytes("f"),
          Bytes.toBytes("q"), value));
      }
    }
  }

  @After
  public void tearDown() {
    util.cleanupTestDir();
  }

  @Test
  public void testBlockThatCannotBeDecompressedIsReleased() throws IOException {
    try (HFile.Reader reader = HFile.createReader(fs, path, cacheConf, true, conf)) {
      reader.readBlock(0, -1, false, true, false, true, BlockType.DATA, null).release();
      assertAllBuffersReturned();
    }
    try (RandomAccessFile file = new RandomAccessFile(new File(path.toUri().getPath()), "rw")) {
      file.seek(HConstants.HFILEBLOCK_HEADER_SIZE);
      file.write(new byte[1024]);
    }
    conf.setBoolean(HConstants.HBASE_CHECKSUM_VERIFICATION, false);
    try (HFile.Reader reader = HFile.createReader(fs, path, cacheConf, true, conf)) {
      assertThrows(IOException.class,
        () -> reader.readBlock(0, -1, false, true, false, true, BlockType.DATA, null));
    }
    assertAllBuffersReturned();
  }

  private void assertAllBuffersReturned() {
    assertTrue("the pool was not used", allocator.getUsedBufferCount() > 0);
    assertEquals(allocator.getUsedBufferCount(), allocator.getFreeBufferCount());
  }
}
