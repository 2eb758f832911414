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

import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.compress.Compression.Algorithm;
import org.apache.hadoop.hbase.io.hfile.MemoryReads.WouldWaitException;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category({ IOTests.class, SmallTests.class })
public class TestMemoryReads {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestMemoryReads.class);

  @Rule
  public final StoreFileFixture files = new StoreFileFixture();

  private static HFileBlock read(HFile.Reader reader) throws IOException {
    return reader.readBlock(0, -1, true, true, false, true, BlockType.DATA, null);
  }

  private static HFileBlock readInMemory(HFile.Reader reader) throws IOException {
    MemoryReads reads = MemoryReads.begin(16);
    try {
      return read(reader);
    } finally {
      reads.end();
    }
  }

  private HFile.Reader open(Algorithm compression, boolean cacheCompressed) throws IOException {
    files.conf().setBoolean(CacheConfig.CACHE_DATA_BLOCKS_COMPRESSED_KEY, cacheCompressed);
    CacheConfig cacheConf = new CacheConfig(files.conf(), null,
      new LruBlockCache(1 << 20, 1024, false), ByteBuffAllocator.HEAP);
    Path path = files.write(cacheConf,
      new HFileContextBuilder().withBlockSize(1024).withCompression(compression).build());
    return HFile.createReader(files.fileSystem(), path, cacheConf, true, files.conf());
  }

  private void assertReadFromMemory(Algorithm compression, boolean cacheCompressed)
    throws IOException {
    try (HFile.Reader reader = open(compression, cacheCompressed)) {
      assertThrows(WouldWaitException.class, () -> readInMemory(reader));
      read(reader).release();
      HFileBlock block = readInMemory(reader);
      assertTrue(block.isUnpacked());
      block.release();
    }
  }

  @Test
  public void testCachedBlock() throws IOException {
    assertReadFromMemory(Algorithm.NONE, false);
    assertReadFromMemory(Algorithm.NONE, true);
    assertReadFromMemory(Algorithm.GZ, false);
  }

  /** It takes up to milliseconds, on a thread that others wait for. */
  @Test
  public void testNothingIsDecompressed() throws IOException {
    try (HFile.Reader reader = open(Algorithm.GZ, true)) {
      read(reader).release();
      assertThrows(WouldWaitException.class, () -> readInMemory(reader));
      read(reader).release();
    }
  }
}
