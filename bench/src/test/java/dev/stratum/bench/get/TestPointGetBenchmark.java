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
package dev.stratum.bench.get;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import dev.stratum.bench.blockcache.CompositeBucketCacheGetBenchmark.Cursor;
import org.apache.hadoop.hbase.metrics.Counter;
import org.apache.hadoop.hbase.metrics.MetricRegistries;
import org.apache.hadoop.hbase.metrics.MetricRegistry;
import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.apache.hadoop.hbase.util.VersionInfo;
import org.junit.After;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category(LargeTests.class)
public class TestPointGetBenchmark {
  private static final int GETS = 2000;
  private static final int MIN_BYTES = 1500;

  private final PointGetBenchmark benchmark = new PointGetBenchmark();

  @After
  public void close() throws Exception {
    benchmark.close();
  }

  @Test
  public void testGetsAreServedWithoutScannersOnTheFork() throws Exception {
    benchmark.keys = "fits";
    benchmark.pointGet = true;
    benchmark.megabytes = 32;
    benchmark.fill();
    long before = pointGets();
    Cursor cursor = new Cursor();
    for (int i = 0; i < GETS; i++) {
      int bytes = benchmark.get(cursor);
      assertTrue("bytes " + bytes, bytes > MIN_BYTES);
    }
    boolean fork = VersionInfo.getVersion().contains("stratum");
    assertEquals("gets without scanners", fork ? GETS : 0, pointGets() - before);
  }

  private static long pointGets() {
    for (MetricRegistry registry : MetricRegistries.global().getMetricRegistries()) {
      if (registry.getMetricRegistryInfo().getMetricsName().equals("PointGet")) {
        return ((Counter) registry.get("PointGetCount").get()).getCount();
      }
    }
    return 0;
  }
}
