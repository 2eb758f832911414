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
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseCommonTestingUtility;
import org.apache.hadoop.hbase.Waiter;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.CacheTestUtils;
import org.apache.hadoop.hbase.io.hfile.CacheTestUtils.HFileBlockPair;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.After;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * Tests that the validation of a restored map, which runs beside the start of the cache, evicts
 * what it finds wrong however early it gets to it.
 */
@Category({ IOTests.class, SmallTests.class })
public class TestRestoredMapValidation {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestRestoredMapValidation.class);

  /** How often the two threads race for it. */
  private static final int STARTS = 200;
  private static final int BLOCK_SIZE = 2048;

  private final HBaseCommonTestingUtility util = new HBaseCommonTestingUtility();
  private final Configuration conf = util.getConfiguration();

  @After
  public void tearDown() {
    util.cleanupTestDir();
  }

  @Test
  public void testBlocksThatAreNotInTheFileAreEvicted() throws Exception {
    conf.setLong(CacheConfig.BUCKETCACHE_PERSIST_INTERVAL_KEY, Long.MAX_VALUE);
    File dir = new File(util.getDataTestDir().toUri().getPath());
    assertTrue(dir.mkdirs());
    File engine = new File(dir, "cache");
    File map = new File(dir, "map");
    BucketCache cache = create(engine, map);
    for (HFileBlockPair block : CacheTestUtils.generateHFileBlocks(BLOCK_SIZE, 1)) {
      Waiter.waitFor(conf, 120_000, 5, () -> {
        // Nothing is cached until the cache has looked for a persisted map.
        cache.cacheBlock(block.getBlockName(), block.getBlock());
        return cache.backingMap.containsKey(block.getBlockName())
          && !cache.ramCache.containsKey(block.getBlockName());
      });
    }
    cache.shutdown();
    byte[] persisted = Files.readAllBytes(map.toPath());

    for (int i = 0; i < STARTS; i++) {
      Files.write(map.toPath(), persisted);
      Files.delete(engine.toPath());
      BucketCache restored = create(engine, map);
      Waiter.waitFor(conf, 120_000, 1, () -> restored.getBackingMapValidated().get());
      int left = restored.backingMap.size();
      long used = restored.getCurrentSize();
      restored.shutdown();
      assertEquals("start " + i, 0, left);
      assertEquals("start " + i, 0, used);
    }
  }

  private BucketCache create(File engine, File map) throws IOException {
    return new BucketCache("file:" + engine, 1 << 20, BLOCK_SIZE, new int[] { BLOCK_SIZE + 1024 },
      1, 64, map.getPath(), 60000, conf);
  }
}
