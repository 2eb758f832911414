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
package dev.stratum.bench.workloads;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

public class TestServerSettings {
  private static final double MEGABYTE = 1 << 20;

  @Rule
  public final TemporaryFolder folder = new TemporaryFolder();

  private static Properties sizes(String stockCache) throws Exception {
    Properties arguments = new Properties();
    arguments.setProperty("directory", "unused");
    arguments.setProperty("stock.cache", stockCache);
    return SuiteOptions.of(arguments).sizes();
  }

  /** @return the caches' classes by their sizes in MB */
  private Map<Long, String> stockCaches(String stockCache) throws Exception {
    Path file = folder.getRoot().toPath().resolve("l2.cache");
    Properties sizes = sizes(stockCache);
    // The settings are for a heap of that size, and this JVM's may be another.
    sizes.setProperty("regionserver.heap.mb",
      Long.toString(Math.round(Runtime.getRuntime().maxMemory() / MEGABYTE)));
    Configuration conf = HBaseConfiguration.create();
    new ServerSettings(sizes).stock(file).forEach(conf::set);
    BlockCache cache = BlockCacheFactory.createBlockCache(conf);
    try {
      Map<Long, String> classes = new TreeMap<>();
      BlockCache[] parts = cache.getBlockCaches();
      for (BlockCache part : parts == null ? new BlockCache[] { cache } : parts) {
        classes.put(Math.round(part.getMaxSize() / MEGABYTE), part.getClass().getSimpleName());
      }
      return classes;
    } finally {
      cache.shutdown();
    }
  }

  @Test
  public void testStockHasTwoTiersUnlessToldOtherwise() throws Exception {
    assertEquals(Map.of(48L, "LruBlockCache", 1536L, "BucketCache"), stockCaches("file"));
  }

  @Test
  public void testCachesInMemoryHaveAsMuchOfItAsL1() throws Exception {
    assertEquals(Map.of(48L, "LruBlockCache"), stockCaches("on-heap"));
    assertEquals(Map.of(8L, "LruBlockCache", 40L, "BucketCache"), stockCaches("off-heap"));
  }

  @Test
  public void testUnknownCacheIsNamed() throws IOException {
    Exception e = assertThrows(SuiteException.class, () -> sizes("none"));
    assertTrue(e.getMessage(), e.getMessage().contains("stock.cache=none is no cache"));
  }
}
