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

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.Test;

public class TestRatioTable {
  @Test
  public void testColumnsAreAligned() throws IOException {
    List<String> lines = new RatioTable(Samples.comparison(), Map.of()).lines();
    assertEquals(2 + 6, lines.size());
    int unit = lines.get(0).indexOf("unit");
    for (String line : lines.subList(2, lines.size())) {
      assertTrue(line, line.startsWith("us/op", unit));
      assertEquals(line, line.stripTrailing());
    }
    assertTrue(lines.get(1).matches("-+"));
  }

  @Test
  public void testARowShowsBothSidesRatioIntervalAndAllocation() throws IOException {
    String hit = new RatioTable(Samples.comparison(), Map.of()).lines().get(2);
    assertEquals("BucketCacheBenchmark.hit engine=file size=8192 us/op 25.4 ±999% 17.1 ±999% 1.58"
      + " 0.02 to 109.41 9,134 9,118", hit.replaceAll(" +", " "));
  }

  @Test
  public void testWhatOnlyTheForkRanSaysSo() throws IOException {
    String miss = new RatioTable(Samples.comparison(), Map.of()).lines().get(3);
    assertTrue(miss, miss.contains("fork only"));
  }

  @Test
  public void testWithoutStockThereAreNoColumnsForIt() throws IOException {
    assertEquals("benchmark parameters unit fork B/op",
      new RatioTable(Samples.forkAlone(), Map.of()).lines().get(0).replaceAll(" +", " "));
  }

  @Test
  public void testAnIntervalThatLeavesOutOneIsMarked() {
    assertEquals("1.50 to 2.50 +",
      RatioTable.interval(new Sample.Ratio(2, 1.5, 2.5, new double[] { 2 })));
    assertEquals("0.40 to 0.60 -",
      RatioTable.interval(new Sample.Ratio(.5, .4, .6, new double[] { .5 })));
    assertEquals("0.90 to 1.10  ",
      RatioTable.interval(new Sample.Ratio(1, .9, 1.1, new double[] { 1 })));
    assertEquals("-",
      RatioTable.interval(new Sample.Ratio(1, Double.NaN, Double.NaN, new double[] { 1 })));
  }

  @Test
  public void testMarkdownHasTheSameCells() throws IOException {
    List<String> lines = new RatioTable(Samples.comparison(), Map.of()).markdown().lines().toList();
    assertEquals("| benchmark | parameters | unit | stock | fork | ratio | 99 % interval |"
      + " B/op stock | B/op fork |", lines.get(0));
    assertEquals("|---|---|---|---:|---:|---:|---:|---:|---:|", lines.get(1));
    assertEquals(2 + 6, lines.size());
  }
}
