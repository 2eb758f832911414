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

import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.IOTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/**
 * The blocks of a file that is fully cached are evicted by two threads at once, as when a compacted
 * file is closed while a reader drops a block of it that it cannot use.
 */
@Category({ IOTests.class, SmallTests.class })
public class TestFullyCachedFileEvictedTwice {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestFullyCachedFileEvictedTwice.class);

  private static final int ROUNDS = 20_000;
  private static final String REGION = "region";
  private static final Path FILE = new Path("/table/" + REGION + "/family/file");
  private static final long SIZE = 1;
  private static final long OTHERS = 2;

  @Test
  public void testNeitherFailsAndItsSizeIsTakenOnce() throws Exception {
    BucketCache cache = new BucketCache("offheap", 32 << 20, 2048, null, 1, 64, null);
    CyclicBarrier together = new CyclicBarrier(2);
    ExecutorService another = Executors.newSingleThreadExecutor();
    try {
      for (int i = 0; i < ROUNDS; i++) {
        cache.fileCacheCompleted(FILE, SIZE);
        // The region has another file every other time.
        long others = i % 2 * OTHERS;
        cache.regionCachedSize.put(REGION, SIZE + others);
        Future<?> first = another.submit(() -> {
          together.await(1, TimeUnit.MINUTES);
          return cache.evictBlocksByHfileName(FILE.getName());
        });
        together.await(1, TimeUnit.MINUTES);
        cache.evictBlocksByHfileName(FILE.getName());
        first.get(1, TimeUnit.MINUTES);
        assertEquals(others == 0 ? null : (Long) others, cache.regionCachedSize.get(REGION));
        assertTrue(cache.fullyCachedFiles.isEmpty());
      }
    } finally {
      another.shutdownNow();
      cache.shutdown();
    }
  }
}
