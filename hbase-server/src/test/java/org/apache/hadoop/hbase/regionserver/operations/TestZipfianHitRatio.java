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
package org.apache.hadoop.hbase.regionserver.operations;

import static org.junit.Assert.assertEquals;

import java.util.Arrays;
import java.util.Random;
import org.apache.hadoop.hbase.HBaseClassTestRule;
import org.apache.hadoop.hbase.testclassification.RegionServerTests;
import org.apache.hadoop.hbase.testclassification.SmallTests;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.experimental.categories.Category;

/** Compares the formula with rows that are put into blocks at random. */
@Category({ RegionServerTests.class, SmallTests.class })
public class TestZipfianHitRatio {
  @ClassRule
  public static final HBaseClassTestRule CLASS_RULE =
    HBaseClassTestRule.forClass(TestZipfianHitRatio.class);

  private static final int ROWS = 400_000;

  /** Returns the share of gets of the most popular blocks, by blocks. */
  private static double[] shares(int rowsInBlock) {
    int blocks = ROWS / rowsInBlock;
    double[] weights = new double[blocks];
    double sum = 0;
    Random random = new Random(5);
    int[] left = new int[blocks];
    Arrays.fill(left, rowsInBlock);
    for (int rank = 1; rank <= ROWS; rank++) {
      int block = random.nextInt(blocks);
      while (left[block] == 0) {
        block = (block + 1) % blocks;
      }
      left[block]--;
      double weight = Math.pow(rank, -0.99);
      weights[block] += weight;
      sum += weight;
    }
    Arrays.sort(weights);
    double[] shares = new double[blocks + 1];
    for (int i = 0; i < blocks; i++) {
      shares[i + 1] = shares[i] + weights[blocks - 1 - i] / sum;
    }
    return shares;
  }

  @Test
  public void testFormulaIsThatOfTheMostPopularBlocks() {
    for (int rowsInBlock : new int[] { 1, 5, 32, 64 }) {
      double[] shares = shares(rowsInBlock);
      int blocks = shares.length - 1;
      for (double fraction : new double[] { 0.001, 0.01, 0.1, 1 / 6.0, 0.5, 0.9 }) {
        int cached = (int) (blocks * fraction);
        // With many rows in a block, the hit ratio does not depend on the most popular row alone.
        assertEquals(rowsInBlock + " rows in a block, " + fraction + " cached", shares[cached],
          ZipfianHitRatio.of(ROWS, blocks, cached), 0.04);
      }
    }
  }

  @Test
  public void testLimits() {
    assertEquals(0, ZipfianHitRatio.of(1000, 100, 0), 0);
    assertEquals(1, ZipfianHitRatio.of(1000, 100, 100), 0);
    assertEquals(1, ZipfianHitRatio.of(1, 1, 5), 0);
    assertEquals(0, ZipfianHitRatio.of(1000, 100, -1), 0);
  }
}
