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

import org.apache.yetus.audience.InterfaceAudience;

/**
 * The share of gets that a cache of blocks answers if keys are drawn from YCSB's zipfian
 * distribution, rows of all popularities lie beside each other in blocks, and the cache has the
 * blocks with the most popular rows. This is an upper bound for a cache that has to learn them.
 */
@InterfaceAudience.Private
final class ZipfianHitRatio {
  /** YCSB's exponent. */
  private static final double EXPONENT = 0.99;

  private ZipfianHitRatio() {
  }

  /**
   * Returns the share of gets that are answered from cached blocks, 0 to 1.
   * @param rows   number of rows, at least 1
   * @param blocks number of blocks that the rows are stored in, at least 1
   * @param cached number of blocks in the cache
   */
  static double of(double rows, double blocks, double cached) {
    double fraction = Math.max(0, cached) / blocks;
    if (fraction >= 1) {
      return 1;
    }
    // This many of the most popular rows lie in different blocks, if each row lies anywhere.
    double rowsInBlock = Math.max(1, rows / blocks);
    double popular = -rows * Math.expm1(Math.log1p(-fraction) / rowsInBlock);
    double share = popular < 1 ? popular / weight(rows) : weight(popular) / weight(rows);
    // The other rows of the cached blocks are as popular as all others are on average.
    return share + (1 - share) * (fraction * rows - popular) / (rows - popular);
  }

  /** The sum of rank^-0.99 over this many ranks, by Euler and Maclaurin's formula. */
  private static double weight(double ranks) {
    double last = Math.pow(ranks, -EXPONENT);
    return (ranks * last - 1) / (1 - EXPONENT) + (1 + last) / 2
      + EXPONENT / 12 * (1 - last / ranks);
  }
}
