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
package dev.stratum.jmh;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.Test;

public class TestComparison {
  @Test
  public void testARowHoldsBothSidesAndTheRatioOfEachRound() throws IOException {
    Comparison.Row hit = Samples.comparison().rows().get(0);
    assertEquals(Samples.HIT, hit.trial());
    assertArrayEquals(new double[] { 29.507831 / 10.689910, 21.226974 / 23.507959 },
      hit.ratio().rounds(), 1e-6);
    assertEquals(9134, hit.stockAllocation().mean(), 1);
    assertEquals(9118, hit.forkAllocation().mean(), 1);
  }

  @Test
  public void testWhatOnlyTheForkRanHasNoRatio() throws IOException {
    Comparison.Row miss = Samples.comparison().rows().get(1);
    assertEquals(Samples.MISS, miss.trial());
    assertNull(miss.stock());
    assertNull(miss.ratio());
    assertNull(miss.stockAllocation());
    assertNotNull(miss.forkAllocation());
  }

  @Test
  public void testEveryQuantileIsARowAndOnlyTheScoreHasAllocation() throws IOException {
    List<Comparison.Row> rows = Samples.comparison().rows();
    assertEquals(List.of("BucketCacheInsertBenchmark.insert",
      "BucketCacheInsertBenchmark.insert:p50", "BucketCacheInsertBenchmark.insert:p99",
      "BucketCacheInsertBenchmark.insert:max"),
      rows.subList(2, 6).stream().map(Comparison.Row::name).toList());
    assertNotNull(rows.get(2).forkAllocation());
    assertNull(rows.get(5).forkAllocation());
    assertNotNull(rows.get(5).ratio());
  }

  @Test
  public void testTheVerdictCountsScoresOnly() throws IOException {
    assertEquals("0 better, 0 worse, 2 with no difference shown",
      Samples.comparison().verdict());
  }

  @Test
  public void testAFigureWhoseUnitDoesNotSayWhatIsBetterHasNoRatio() {
    Trial.Key trial = new Trial.Key("a.B.c", "Throughput", Map.of());
    ResultFile.Measured measured = new ResultFile.Measured(
      List.of(new ResultFile.Figure("", "ops/s", false, new Sample(new double[] { 2 })),
        new ResultFile.Figure("evictions", "#", null, new Sample(new double[] { 7 }))),
      null);
    Comparison comparison = new Comparison(Map.of(trial, measured), Map.of(trial, measured));
    assertEquals(1, comparison.rows().get(0).ratio().value(), 0);
    assertNull(comparison.rows().get(1).ratio());
    assertEquals(7, comparison.rows().get(1).stock().mean(), 0);
  }

  @Test
  public void testASideThatFailedInALaterRoundHasNoRatioAndCostsTheOthersNothing() {
    Trial.Key failed = new Trial.Key("a.B.failed", "Throughput", Map.of());
    Trial.Key good = new Trial.Key("a.B.good", "Throughput", Map.of());
    Map<Trial.Key, ResultFile.Measured> fork = new LinkedHashMap<>();
    fork.put(failed, measured(2, 3));
    fork.put(good, measured(2, 4));
    Comparison comparison =
      new Comparison(Map.of(failed, measured(2), good, measured(2, 4)), fork);
    assertNull(comparison.rows().get(0).ratio());
    assertEquals(1, comparison.rows().get(1).ratio().value(), 0);
  }

  private static ResultFile.Measured measured(double... perJvm) {
    return new ResultFile.Measured(
      List.of(new ResultFile.Figure("", "ops/s", false, new Sample(perJvm))), null);
  }

  @Test
  public void testWithoutStockThereIsNothingToCompare() throws IOException {
    assertTrue(Samples.comparison().hasStock());
    assertFalse(Samples.forkAlone().hasStock());
  }
}
