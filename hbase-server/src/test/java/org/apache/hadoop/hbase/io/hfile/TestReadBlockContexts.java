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
import static org.junit.Assert.assertNotSame;
import static org.junit.Assert.assertSame;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.fs.HFileSystem;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.ChecksumType;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** Tests that the blocks read from a file share their contexts, which say what they always did. */
@Category({ IOTests.class, SmallTests.class })
public class TestReadBlockContexts {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestReadBlockContexts.class);

  private static final int BLOCKS = 20;

  @Rule
  public final RefCntLeakRule leaks = new RefCntLeakRule();

  @Rule
  public final StoreFileFixture files = new StoreFileFixture();

  /** Returns the contexts of the first blocks of a file with these checksums. */
  private List<HFileContext> contexts(HFileContext file) throws IOException {
    Configuration conf = files.conf();
    Path path = files.write(CacheConfig.DISABLED, file);
    FileSystem fs = new HFileSystem(files.fileSystem());
    List<HFileContext> contexts = new ArrayList<>();
    try (HFile.Reader reader = HFile.createReader(fs, path, CacheConfig.DISABLED, true, conf)) {
      long offset = 0;
      for (int i = 0; i < BLOCKS; i++) {
        // The first block is as it is in the file, the second one as a get has it.
        HFileBlock read = reader.getUncachedBlockReader().readBlockData(offset, -1, true, false,
          true);
        HFileBlock block = reader.readBlock(offset, -1, false, true, false, false, null, null);
        HFileContext context = read.getHFileContext();
        assertEquals(file.getBytesPerChecksum(), context.getBytesPerChecksum());
        assertEquals(file.getChecksumType(), context.getChecksumType());
        contexts.add(context);
        assertIsForCache(context, block.getHFileContext());
        contexts.add(block.getHFileContext());
        offset += read.getOnDiskSizeWithHeader();
        read.release();
        block.release();
      }
    }
    return contexts;
  }

  private static void assertIsForCache(HFileContext read, HFileContext forCache) {
    HFileContext expected = BlockCacheUtil.cloneContext(read);
    assertNotSame(read, forCache);
    assertEquals(ChecksumType.NULL, forCache.getChecksumType());
    assertEquals(0, forCache.getBytesPerChecksum());
    assertEquals(expected.isUseHBaseChecksum(), forCache.isUseHBaseChecksum());
    assertEquals(expected.isIncludesMvcc(), forCache.isIncludesMvcc());
    assertEquals(expected.isIncludesTags(), forCache.isIncludesTags());
    assertEquals(expected.isCompressTags(), forCache.isCompressTags());
    assertEquals(expected.getCompression(), forCache.getCompression());
    assertEquals(expected.getDataBlockEncoding(), forCache.getDataBlockEncoding());
    assertEquals(expected.getBlocksize(), forCache.getBlocksize());
    assertArrayEquals(expected.getTableName(), forCache.getTableName());
    assertArrayEquals(expected.getColumnFamily(), forCache.getColumnFamily());
    assertSame(expected.getEncryptionContext(), forCache.getEncryptionContext());
  }

  private static void assertShared(List<HFileContext> contexts) {
    for (int i = 2; i < contexts.size(); i++) {
      assertSame(contexts.get(i % 2), contexts.get(i));
    }
  }

  @Test
  public void testChecksumsAsTheReaderExpectsThem() throws IOException {
    assertShared(contexts(new HFileContextBuilder().withBlockSize(1024).build()));
  }

  @Test
  public void testChecksumsOverOtherLengthsAndOfAnotherType() throws IOException {
    assertShared(contexts(
      new HFileContextBuilder().withBlockSize(1024).withBytesPerCheckSum(512).build()));
    assertShared(contexts(new HFileContextBuilder().withBlockSize(1024)
      .withChecksumType(ChecksumType.CRC32).withBytesPerCheckSum(2048).build()));
  }

  @Test
  public void testFilesDoNotShareTheirContexts() throws IOException {
    HFileContext one = new HFileContextBuilder().withTableName(Bytes.toBytes("one"))
      .withColumnFamily(Bytes.toBytes("f")).build();
    HFileContext other = new HFileContextBuilder().withTableName(Bytes.toBytes("other"))
      .withColumnFamily(Bytes.toBytes("g")).build();
    for (int i = 0; i < 3; i++) {
      assertArrayEquals(one.getTableName(), SharedBlockContexts.forCache(one).getTableName());
      assertArrayEquals(other.getTableName(), SharedBlockContexts.forCache(other).getTableName());
    }
  }

  @Test
  public void testEachOfManyFilesHasItsOwn() {
    List<HFileContext> contexts = new ArrayList<>();
    for (int i = 0; i < 3000; i++) {
      contexts.add(new HFileContextBuilder().withTableName(Bytes.toBytes(i)).build());
    }
    for (int round = 0; round < 2; round++) {
      for (int i = 0; i < contexts.size(); i++) {
        assertEquals(i,
          Bytes.toInt(SharedBlockContexts.forCache(contexts.get(i)).getTableName()));
      }
    }
  }

  /** A reader changes the context while it opens its file. */
  @Test
  public void testContextThatIsSetAfterwards() {
    HFileContext context = new HFileContextBuilder().build();
    HFileContext before = SharedBlockContexts.forCache(context);
    assertSame(before, SharedBlockContexts.forCache(context));
    context.setIncludesTags(true);
    assertIsForCache(context, SharedBlockContexts.forCache(context));
    context.setIncludesMvcc(!context.isIncludesMvcc());
    assertIsForCache(context, SharedBlockContexts.forCache(context));
    context.setCompressTags(true);
    assertIsForCache(context, SharedBlockContexts.forCache(context));
    assertNotSame(before, SharedBlockContexts.forCache(context));
  }
}
