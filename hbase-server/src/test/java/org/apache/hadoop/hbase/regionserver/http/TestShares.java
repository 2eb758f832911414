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
package org.apache.hadoop.hbase.regionserver.http;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.Random;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

@Category({ RegionServerTests.class, SmallTests.class })
public class TestShares {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestShares.class);

  @Test
  public void testSharesOfThirdsAddUp() {
    assertArrayEquals(new String[] { "33.4 %", "33.3 %", "33.3 %" }, Shares.of(1, 1, 1));
  }

  @Test
  public void testOneMissIsNeverHidden() {
    assertArrayEquals(new String[] { "99.9 %", "0.0 %", "0.1 %" }, Shares.of(1_000_000, 0, 1));
    assertArrayEquals(new String[] { "100.0 %", "0.0 %", "0.0 %" }, Shares.of(1_000_000, 0, 0));
  }

  @Test
  public void testNoLookupsAreNoShares() {
    assertArrayEquals(new String[] { "\u2013", "\u2013", "\u2013" }, Shares.of(0, 0, 0));
  }

  @Test
  public void testSumIsAlwaysAHundred() {
    Random random = new Random(3);
    for (int i = 0; i < 100_000; i++) {
      long[] counts = new long[3];
      for (int j = 0; j < counts.length; j++) {
        counts[j] = (long) Math.pow(10, random.nextInt(19) - 1 + random.nextDouble());
      }
      if (counts[0] + counts[1] + counts[2] == 0) {
        continue;
      }
      long sum = 0;
      for (int j = 0; j < counts.length; j++) {
        String share = Shares.of(counts)[j];
        long tenths = Math.round(10 * Double.parseDouble(share.replace(" %", "")));
        assertTrue(share, counts[j] == 0 ? tenths == 0 : tenths > 0);
        sum += tenths;
      }
      assertEquals(1000, sum);
    }
  }
}
