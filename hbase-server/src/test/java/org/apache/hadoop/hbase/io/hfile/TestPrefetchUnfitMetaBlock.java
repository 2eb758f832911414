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

import java.util.Optional;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
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
 * Index and bloom blocks may have another place than data blocks, and that place may be full. That
 * is no reason not to prefetch the data.
 */
@Category({ IOTests.class, MediumTests.class })
public class TestPrefetchUnfitMetaBlock {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestPrefetchUnfitMetaBlock.class);

  @Rule
  public final StoreFileFixture files = new StoreFileFixture();

  private BucketCache cache;

  @Before
  public void setUp() throws Exception {
    cache = new BucketCache("offheap", 32 << 20, 2048, null, 1, 8192, null) {
      @Override
      public Optional<Boolean> blockFitsIntoTheCache(HFileBlock block) {
        return isMetaBlock(block.getBlockType())
          ? Optional.of(false)
          : super.blockFitsIntoTheCache(block);
      }
    };
  }

  @After
  public void tearDown() {
    cache.shutdown();
  }

  @Test
  public void testDataIsPrefetchedThoughIndexBlocksDoNotFit() throws Exception {
    Path path = files.write(CacheConfig.DISABLED);
    files.prefetch(path, cache, () -> {
    });
    for (StoreFileFixture.Block block : files.blocks(path)) {
      if (block.type().isData()) {
        assertTrue("not prefetched: " + block, cache.isAlreadyCached(block.key()).get());
      }
    }
  }
}
