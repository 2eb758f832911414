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
package org.apache.hadoop.hbase.regionserver.write;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category({ RegionServerTests.class, SmallTests.class })
public class TestWarmRows {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestWarmRows.class);

  private long now = -5;
  private final WarmRows rows = new WarmRows(() -> now);

  @Test
  public void testRowIsWarmForTenSecondsAfterEachTouch() {
    assertFalse(rows.touch(7));
    assertTrue(rows.touch(7));
    for (int i = 0; i < 3; i++) {
      now += TimeUnit.SECONDS.toNanos(9);
      assertTrue(rows.touch(7));
    }
    now += TimeUnit.SECONDS.toNanos(11);
    assertFalse(rows.touch(7));
    assertTrue(rows.touch(7));
  }

  /** The time in a slot has 32 bits. */
  @Test
  public void testTimeThatOverflowsKeepsRowsWarm() {
    now = (1L << (31 + 20)) - 1;
    rows.touch(7);
    now += TimeUnit.SECONDS.toNanos(5);
    assertTrue(rows.touch(7));
    now = (1L << (32 + 20)) - 1;
    rows.touch(7);
    now += TimeUnit.SECONDS.toNanos(5);
    assertTrue(rows.touch(7));
  }

  @Test
  public void testNoRowIsWarmBeforeItWasTouched() {
    for (int row = 1; row < 1_000_000; row++) {
      assertFalse("row " + row, rows.touch(row));
    }
  }

  @Test
  public void testMostOfThousandRowsAreWarm() {
    int warm = 0;
    for (int round = 0; round < 2; round++) {
      for (int row = 1; row <= 1000; row++) {
        warm += rows.touch(row) ? 1 : 0;
      }
    }
    // No two of these have the same slot.
    assertEquals(1000, warm);
  }
}
