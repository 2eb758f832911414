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
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.PrivateCellUtil;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.encoding.DataBlockEncoding;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized;

/** Tests that going backwards keeps no block that was read again for longer than the scanner. */
@Category({ IOTests.class, SmallTests.class })
@RunWith(Parameterized.class)
public class TestSeekBeforeRelease {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestSeekBeforeRelease.class);

  @Rule
  public final StoreFileFixture files = new StoreFileFixture();
  @Rule
  public final RefCntLeakRule leakRule = new RefCntLeakRule();

  @Parameterized.Parameter
  public DataBlockEncoding encoding;

  @Parameterized.Parameters(name = "{0}")
  public static List<DataBlockEncoding> parameters() {
    return Arrays.asList(DataBlockEncoding.NONE, DataBlockEncoding.FAST_DIFF);
  }

  private static byte[] row(int i) {
    return Bytes.toBytes(String.format("row%08d", i));
  }

  @Test
  public void testBlocksThatAreReadAgainAreReleased() throws IOException {
    files.conf().setInt(ByteBuffAllocator.MIN_ALLOCATE_SIZE_KEY, 1);
    ByteBuffAllocator allocator = ByteBuffAllocator.create(files.conf(), true);
    Path path = files.write(CacheConfig.DISABLED, new HFileContextBuilder().withBlockSize(1024)
      .withDataBlockEncoding(encoding).build());
    CacheConfig cacheConf = new CacheConfig(files.conf(), null, null, allocator);
    try (HFile.Reader reader =
      HFile.createReader(files.fileSystem(), path, cacheConf, true, files.conf())) {
      HFileScanner scanner = reader.getScanner(files.conf(), false, true, false);
      // It is done twice: if the row begins a block, the block before is read again, where the
      // scanner is.
      for (int i = 1; i < 1000; i++) {
        for (int j = 0; j < 2; j++) {
          assertTrue(scanner.seekBefore(PrivateCellUtil.createFirstOnRow(row(i))));
          assertTrue(CellUtil.matchingRows(scanner.getCell(), row(i - 1)));
        }
        scanner.shipped();
      }
      scanner.close();
      assertTrue("the pool was not used", allocator.getUsedBufferCount() > 0);
      assertEquals(allocator.getUsedBufferCount(), allocator.getFreeBufferCount());
    }
  }
}
