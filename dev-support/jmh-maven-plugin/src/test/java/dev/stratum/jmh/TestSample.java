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
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import org.junit.Test;

public class TestSample {
  private static Sample of(double... perJvm) {
    return new Sample(perJvm);
  }

  @Test
  public void testTheErrorIsHalfOfStudentsInterval() {
    // The mean is 3, the standard deviation 1.5811, and t(4, 99.5 %) = 4.6041.
    assertEquals(3, of(1, 2, 3, 4, 5).mean(), 1e-9);
    assertEquals(4.6041 * 1.58114 / Math.sqrt(5), of(1, 2, 3, 4, 5).error(), 1e-4);
  }

  @Test
  public void testOneJvmHasNoError() {
    assertTrue(Double.isNaN(of(7).error()));
    Sample.Ratio ratio = Sample.ratio(of(8), of(4), true);
    assertEquals(2, ratio.value(), 1e-9);
    assertTrue(Double.isNaN(ratio.low()));
    assertEquals(Sample.Verdict.NOT_SHOWN, ratio.verdict());
  }

  @Test
  public void testLessTimeIsBetter() {
    Sample.Ratio ratio = Sample.ratio(of(2, 4, 8), of(1, 2, 4), true);
    assertArrayEquals(new double[] { 2, 2, 2 }, ratio.rounds(), 1e-9);
    assertEquals(2, ratio.value(), 1e-9);
    assertEquals(Sample.Verdict.BETTER, ratio.verdict());
  }

  @Test
  public void testMoreOperationsAreBetter() {
    Sample.Ratio ratio = Sample.ratio(of(2, 4, 8), of(1, 2, 4), false);
    assertEquals(0.5, ratio.value(), 1e-9);
    assertEquals(Sample.Verdict.WORSE, ratio.verdict());
  }

  @Test
  public void testAMachineThatSlowsDownForBothSidesDoesNotWidenTheInterval() {
    Sample.Ratio ratio = Sample.ratio(of(10, 20, 40), of(9.9, 20.2, 39.9), true);
    assertTrue(ratio.low() > 0.9 && ratio.high() < 1.1);
    assertEquals(Sample.Verdict.NOT_SHOWN, ratio.verdict());
  }

  @Test
  public void testTheIntervalIsThatOfTheLogarithms() {
    Sample.Ratio ratio =
      Sample.ratio(of(1, 1, 1), of(Math.E, Math.exp(2), Math.exp(3)), false);
    assertEquals(Math.exp(2), ratio.value(), 1e-9);
    // The logarithms are 1 to 3, their mean 2, the error 1 / sqrt 3, and t(2, 99.5 %) = 9.9248.
    assertEquals(2 - 9.9248 / Math.sqrt(3), Math.log(ratio.low()), 1e-3);
    assertEquals(2 + 9.9248 / Math.sqrt(3), Math.log(ratio.high()), 1e-3);
  }

  @Test
  public void testTheJvmsOfTwoRoundsAreTwoSamples() {
    Sample.Ratio ratio = Sample.ratio(of(1, 1), of(Math.E, Math.exp(3)), false);
    assertEquals(Math.exp(2), ratio.value(), 1e-9);
    // With logarithms 0 and 0, 1 and 3 the pooled variance and error are 1, and t(2, 99.5 %) =
    // 9.9248.
    assertEquals(2 - 9.9248, Math.log(ratio.low()), 1e-3);
    assertEquals(2 + 9.9248, Math.log(ratio.high()), 1e-3);
    // A machine that slows down for both sides does widen it.
    assertEquals(Sample.Verdict.NOT_SHOWN,
      Sample.ratio(of(10, 20), of(5, 10), true).verdict());
    assertEquals(Sample.Verdict.BETTER, Sample.ratio(of(10, 10.2), of(5, 5.1), true).verdict());
  }

  @Test
  public void testSidesOfDifferentLengthAreRefused() {
    assertEquals("stock was measured in 1 JVMs and the fork in 2",
      assertThrows(IllegalArgumentException.class, () -> Sample.ratio(of(1), of(1, 2), true))
        .getMessage());
  }
}
