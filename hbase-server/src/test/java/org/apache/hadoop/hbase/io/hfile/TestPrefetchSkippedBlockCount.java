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

import static org.junit.Assert.assertTrue;

import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.Waiter;
import org.apache.hadoop.hbase.io.ByteBuffAllocator;
import org.apache.hadoop.hbase.io.hfile.bucket.BucketCache;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.MediumTests;
import org.junit.After;
import org.junit.Before;
import org.junit.ClassRule;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * Prefetch tells the cache how many data blocks the file has, and the cache takes the file for
 * fully cached if it holds as many. Index and bloom blocks that were found cached are not data.
 */
@Category({ IOTests.class, MediumTests.class })
public class TestPrefetchSkippedBlockCount {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestPrefetchSkippedBlockCount.class);

  @Rule
  public final StoreFileFixture files = new StoreFileFixture();

  private BucketCache cache;

  @Before
  public void setUp() throws Exception {
    cache = new BucketCache("offheap", 32 << 20, 2048, null, 1, 8192, null);
  }

  @After
  public void tearDown() {
    cache.shutdown();
  }

  @Test
  public void testFileFoundCachedWithItsIndexIsFullyCached() throws Exception {
    files.cacheAllOnWrite();
    Path path = files.write(new CacheConfig(files.conf(), null, cache, ByteBuffAllocator.HEAP));
    Waiter.waitFor(files.conf(), 120_000, () -> files.blocks(path).stream()
      .allMatch(block -> cache.getBackingMap().containsKey(block.key())));
    files.prefetch(path, cache, () -> {
    });
    assertTrue(cache.getFullyCachedFiles().get().containsKey(path.getName()));
  }
}
