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

import java.io.DataOutputStream;
import java.io.File;
import java.io.FileOutputStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.HBaseCommonTestingUtility;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.After;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * Tests that a bucket cache starts from the map that a server has persisted whose cache was empty
 * (HBASE-29857): a header that announces no chunk, and nothing behind it.
 */
@Category({ IOTests.class, SmallTests.class })
public class TestBucketCacheEmptyPersistedMap {

  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestBucketCacheEmptyPersistedMap.class);

  private final HBaseCommonTestingUtility util = new HBaseCommonTestingUtility();

  @After
  public void tearDown() {
    util.cleanupTestDir();
  }

  @Test
  public void testStartsFromAMapWithoutAnyChunk() throws Exception {
    Configuration conf = util.getConfiguration();
    conf.setLong(CacheConfig.BUCKETCACHE_PERSIST_INTERVAL_KEY, Long.MAX_VALUE);
    File dir = new File(util.getDataTestDir().toUri().getPath());
    assertTrue(dir.mkdirs());
    File map = new File(dir, "map");
    try (DataOutputStream out = new DataOutputStream(new FileOutputStream(map))) {
      out.write(BucketProtoUtils.PB_MAGIC_V2);
      out.writeLong(BucketCache.DEFAULT_BACKING_MAP_PERSISTENCE_CHUNK_SIZE);
      out.writeLong(0);
    }

    BucketCache cache = new BucketCache("file:" + new File(dir, "cache"), 32 << 20, 2048, null, 1,
      64, map.getPath(), 60000, conf);
    try {
      assertTrue(cache.isCacheEnabled());
      assertTrue(cache.getBackingMapValidated().get());
      assertEquals(0, cache.backingMap.size());
    } finally {
      cache.shutdown();
    }
  }
}
