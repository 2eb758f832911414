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
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertTrue;
import static org.mockito.Mockito.RETURNS_DEFAULTS;
import static org.mockito.Mockito.mock;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** Tests the keys of blocks that are cached while their file is written. */
@Category({ IOTests.class, SmallTests.class })
public class TestWrittenBlockKeys {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestWrittenBlockKeys.class);

  @Rule
  public final StoreFileFixture files = new StoreFileFixture();

  /** The key asks and is then cached; its name is the same string for all of them. */
  @Test
  public void testKeysShareTheNameAndHaveNoPathWhenCached() throws Exception {
    files.conf().setBoolean(CacheConfig.CACHE_BLOCKS_ON_WRITE_KEY, true);
    List<BlockCacheKey> asked = new ArrayList<>();
    List<Path> paths = new ArrayList<>();
    List<BlockCacheKey> cached = new ArrayList<>();
    BlockCache cache = mock(BlockCache.class, invocation -> {
      switch (invocation.getMethod().getName()) {
        case "shouldCacheBlock":
          asked.add(invocation.getArgument(0));
          paths.add(((BlockCacheKey) invocation.getArgument(0)).getFilePath());
          return Optional.of(true);
        case "cacheBlock":
          cached.add(invocation.getArgument(0));
          return null;
        default:
          return RETURNS_DEFAULTS.answer(invocation);
      }
    });
    Path path =
      files.write(new CacheConfig(files.conf(), null, cache, ByteBuffAllocator.HEAP));
    assertTrue("" + cached, cached.size() >= 3);
    assertEquals(asked.size(), cached.size());
    for (int i = 0; i < cached.size(); i++) {
      assertSame(asked.get(i), cached.get(i));
      assertSame(cached.get(0).getHfileName(), cached.get(i).getHfileName());
      assertEquals(path.getName(), cached.get(i).getHfileName());
      assertEquals(path, paths.get(i));
      // BucketCache would count it for a region named .tmp.
      assertNull(cached.get(i).getFilePath());
    }
  }
}
