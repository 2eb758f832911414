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

import dev.stratum.bench.blockcache.TemporaryFiles;
import dev.stratum.bench.harness.RegionOnHdfs;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.After;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

import org.apache.hbase.thirdparty.com.google.gson.JsonArray;
import org.apache.hbase.thirdparty.com.google.gson.JsonElement;
import org.apache.hbase.thirdparty.com.google.gson.JsonObject;
import org.apache.hbase.thirdparty.com.google.gson.JsonParser;

@Category(LargeTests.class)
public class TestMaintenanceEvent {
  private static final int ROWS = 1000;
  private static final byte[] QUALIFIER = Bytes.toBytes("q");

  @Rule
  public final TemporaryFiles files = new TemporaryFiles();

  /** What the last sample waits for. */
  private final CountDownLatch done = new CountDownLatch(1);
  private volatile int samples;
  private BlockCache cache;
  private RegionOnHdfs region;

  @Before
  public void fill() throws Exception {
    Configuration conf = HBaseConfiguration.create();
    conf.set(HConstants.BUCKET_CACHE_IOENGINE_KEY, "offheap");
    conf.setInt(HConstants.BUCKET_CACHE_SIZE_KEY, 40);
    conf.setFloat(HConstants.HFILE_BLOCK_CACHE_SIZE_KEY, 0.1f);
    cache = BlockCacheFactory.createBlockCache(conf);
    region = new RegionOnHdfs(conf, "asyncfs", cache);
    for (int i = 0; i < ROWS; i++) {
      region.region()
        .put(new Put(Bytes.toBytes(i)).addColumn(RegionOnHdfs.FAMILY, QUALIFIER, new byte[1000]));
    }
    region.region().flush(true);
  }

  @After
  public void close() throws Exception {
    region.close();
    cache.shutdown();
  }

  private ReadMisses misses() {
    if (Thread.currentThread().getName().endsWith("-samples") && --samples == 0) {
      await(done);
    }
    return ReadMisses.of(cache.getStats());
  }

  private static void await(CountDownLatch latch) {
    try {
      assertTrue(latch.await(5, TimeUnit.MINUTES));
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private int storeFiles() {
    return region.region().getStore(RegionOnHdfs.FAMILY).getStorefilesCount();
  }

  @Test
  public void testCompaction() throws Exception {
    MaintenanceEvent event = event("compaction");
    event.prepare();
    assertEquals(2, storeFiles());
    samples = 3;
    event.begin(samples);
    for (int after = 0; after < ROWS; after += storeFiles() == 1 ? 1 : 0) {
      assertEquals(1, region.region().get(new Get(Bytes.toBytes(after))).size());
    }
    done.countDown();
    JsonObject result = event.end();
    assertEquals(1, storeFiles());
    assertEquals(3, result.getAsJsonArray("seconds").size());
    assertTrue(result.toString(),
      result.get("started").getAsDouble() < result.get("ended").getAsDouble());
    assertTrue(result.toString(), result.get("worstSecond").getAsDouble() > 0);
    assertTrue(result.toString(), result.get("since").getAsDouble() > 0
      && result.get("since").getAsDouble() <= result.get("worstSecond").getAsDouble());
    int data = 0;
    for (JsonElement second : result.getAsJsonArray("seconds")) {
      data += second.getAsJsonObject().get("dataMisses").getAsInt();
      assertTrue(second.toString(), second.getAsJsonObject().has("indexMisses"));
      assertTrue(second.toString(), second.getAsJsonObject().has("bloomMisses"));
    }
    assertTrue(result.toString(), data > 0);
  }

  @Test
  public void testFlush() throws Exception {
    MaintenanceEvent event = event("flush");
    event.prepare();
    assertEquals(1, storeFiles());
    event.begin(1);
    assertEquals(0, event.end().get("worstSecond").getAsDouble(), 0);
    assertEquals(2, storeFiles());
  }

  /** The reads of a region that is gone stay counted. */
  @Test
  public void testSplit() throws Exception {
    List<HRegion> regions = new ArrayList<>(List.of(region.region()));
    MaintenanceEvent event = new MaintenanceEvent(() -> {
      if (Thread.currentThread().getName().startsWith("maintenance-")) {
        await(done);
      }
      return List.copyOf(regions);
    }, this::misses, "split", regions::removeAll);
    event.prepare();
    event.begin(3);
    for (int i = 0; i < 100; i++) {
      assertEquals(1, region.region().get(new Get(Bytes.toBytes(i % ROWS))).size());
    }
    done.countDown();
    JsonObject result = event.end();
    assertEquals(List.of(), regions);
    int reads = 0;
    for (JsonElement second : result.getAsJsonArray("seconds")) {
      int ofSecond = second.getAsJsonObject().get("reads").getAsInt();
      assertTrue(result.toString(), ofSecond >= 0);
      reads += ofSecond;
    }
    assertEquals(100, reads);
  }

  private MaintenanceEvent event(String kind) throws SuiteException {
    return new MaintenanceEvent(() -> List.of(region.region()), this::misses, kind,
      split -> {
        throw new AssertionError("Nothing is to be split");
      });
  }

  @Test
  public void testUnknownEvent() {
    assertThrows(SuiteException.class,
      () -> event("crash"));
  }

  @Test
  public void testWorstSeconds() {
    JsonArray seconds = JsonParser.parseString("[{reads:10,misses:10},{reads:100,misses:0},"
      + "{reads:100,misses:8},{reads:300,misses:4}]").getAsJsonArray();
    assertEquals(100, MaintenanceEvent.worst(seconds, 0, 1), 0);
    assertEquals(8, MaintenanceEvent.worst(seconds, 1, 1), 0);
    assertEquals(4, MaintenanceEvent.worst(seconds, 1, 2), 0);
    assertEquals("of as many as there are", 2.4, MaintenanceEvent.worst(seconds, 1, 10), 0);
    assertEquals(0, MaintenanceEvent.worst(seconds, 4, 10), 0);
  }
}
