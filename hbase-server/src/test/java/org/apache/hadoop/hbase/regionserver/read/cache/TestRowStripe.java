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
package org.apache.hadoop.hbase.regionserver.read.cache;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.nio.ByteBuffer;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.io.hfile.composite.FrequencySketch;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.apache.hadoop.hbase.util.Bytes;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** The index of a stripe when there is no direct memory for a larger one. */
@Category({ RegionServerTests.class, SmallTests.class })
public class TestRowStripe {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestRowStripe.class);

  private static final int MEMORY = 1 << 20;
  private static final int ROWS = 10_000;

  private final CachedRegion region = new CachedRegion(1, 0);
  private final RowStripe stripe = new RowStripe(ByteBuffer.allocateDirect(MEMORY), 1000,
    new FrequencySketch(ROWS), number -> region, new RowCacheMetrics(MEMORY));

  private RowKey key(int row) {
    RowKey key = new RowKey();
    assertTrue(key.set(new Get(Bytes.toBytes(row)), region.number()));
    return key;
  }

  private void register(int row) {
    region.versions().register(key(row).rowHash(), () -> 0);
    region.growVersions();
  }

  private void put(int row) {
    register(row);
    stripe.put(key(row), region, 1, RowStripe.since(0), 0, Bytes.toBytes(row), Integer.BYTES, true);
  }

  /** Checks that all rows are cached but a few, which RowVersions has no space for. */
  private void assertCached() {
    int cached = 0;
    for (int row = 0; row < ROWS; row++) {
      byte[] cells = stripe.get(key(row), region, 1, true);
      if (cells != null) {
        assertEquals(row, Bytes.toInt(cells));
        cached++;
      }
    }
    assertTrue("" + cached, cached > 0.98 * ROWS);
  }

  /** The index is copied when it grows. */
  @Test
  public void testAThreadThatDoesNotWaitLeavesTheIndexAsItIs() {
    long before = stripe.indexBytes();
    for (int row = 0; row < ROWS; row++) {
      register(row);
      stripe.put(key(row), region, 1, RowStripe.since(0), 0, Bytes.toBytes(row), Integer.BYTES,
        false);
    }
    assertEquals(before, stripe.indexBytes());
    assertCached();
    put(ROWS);
    assertTrue(stripe.indexBytes() > before);
  }

  @Test
  public void testIndexGrows() {
    for (int row = 0; row < ROWS; row++) {
      put(row);
    }
    assertTrue("index: " + stripe.indexBytes(), stripe.indexBytes() >= ROWS * Integer.BYTES);
    assertCached();
  }
}
