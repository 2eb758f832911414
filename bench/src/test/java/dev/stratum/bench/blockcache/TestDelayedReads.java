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
package dev.stratum.bench.blockcache;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import org.apache.hadoop.hbase.testclassification.LargeTests;
import org.junit.After;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category(LargeTests.class)
public class TestDelayedReads {
  private static final int LOOK_UPS = 500;
  private static final int MICROS = 2000;

  @Rule
  public final TemporaryFiles files = new TemporaryFiles();

  private final CompositeBucketCacheHotDataBenchmark benchmark =
    new CompositeBucketCacheHotDataBenchmark();
  private final CompositeBucketCacheGetBenchmark.Cursor cursor =
    new CompositeBucketCacheGetBenchmark.Cursor();

  @Before
  public void fill() throws Exception {
    benchmark.keys = "zipfian";
    benchmark.promotion = "frequency";
    benchmark.megabytes = 32;
    benchmark.fill();
  }

  @After
  public void close() throws Exception {
    benchmark.close();
  }

  @Test
  public void testEachReadOfTheFileWaitsAndNoOther() throws Exception {
    long before = l2Hits();
    try (DelayedReads slowed = new DelayedReads(MICROS)) {
      lookUp();
      assertEquals("one for each hit in L2", l2Hits() - before,
        slowed.count());
      assertTrue("some were slowed", slowed.count() > 0);
      // A busy machine wakes a thread up late, but none wakes up too early.
      assertTrue("mean " + slowed.meanMicros(), slowed.meanMicros() > MICROS / 2);
      long counted = slowed.count();
      slowed.pause();
      lookUp();
      assertEquals("not now", counted, slowed.count());
      slowed.resume();
      lookUp();
      assertTrue("again", slowed.count() > counted);
      counted = slowed.count();
      slowed.close();
      lookUp();
      assertEquals("not any more", counted, slowed.count());
    }
  }

  @Test
  public void testNothingWaitsIfNotAskedTo() throws Exception {
    try (DelayedReads slowed = new DelayedReads(0)) {
      lookUp();
      assertEquals(0, slowed.count());
    }
  }

  private void lookUp() {
    for (int i = 0; i < LOOK_UPS; i++) {
      benchmark.get(cursor);
    }
  }

  private long l2Hits() {
    return benchmark.cache.getSecondLevelCache().getStats().getHitCount();
  }
}
