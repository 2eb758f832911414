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
package dev.stratum.processes;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.util.SplittableRandom;
import java.util.function.IntToDoubleFunction;
import java.util.stream.IntStream;
import org.junit.Test;

/** What leaks is told from what only moves. */
public class TestFlatness {
  private static final int SAMPLES = 120;
  private static final double SLACK = 2;

  private final SplittableRandom random = new SplittableRandom(7);

  private static double[] series(IntToDoubleFunction at) {
    return IntStream.range(0, SAMPLES).mapToDouble(at).toArray();
  }

  private static boolean isFlat(IntToDoubleFunction at) {
    return Flatness.isFlat(series(at), SLACK);
  }

  @Test
  public void testWhatStaysIsFlat() {
    assertTrue(isFlat(i -> 100));
    assertTrue(isFlat(i -> 0));
    assertTrue("noise", isFlat(i -> 100 + random.nextInt(30)));
    assertTrue("a sawtooth, as of a memstore", isFlat(i -> 100 + i % 10));
    assertTrue("it shrinks", isFlat(i -> 200 - i));
  }

  @Test
  public void testWarmUpAndSinglePeaksDoNotCount() {
    assertTrue("warm-up", isFlat(i -> Math.min(i, SAMPLES / 4) * 10));
    assertTrue("a peak in ten", isFlat(i -> i % 10 == 9 ? 1_000 : 100));
    assertTrue("a peak at the end", isFlat(i -> i == SAMPLES - 1 ? 1_000 : 100));
    assertTrue("no more than the slack", isFlat(i -> i < SAMPLES / 2 ? 0 : SLACK));
  }

  @Test
  public void testWhatGrowsIsNotFlat() {
    assertFalse("a leak", isFlat(i -> 100 + i));
    assertFalse("a leak beneath noise", isFlat(i -> 100 + i + random.nextInt(20)));
    assertFalse("a leak beneath a sawtooth", isFlat(i -> 100 + i + 30 * (i % 10) / 10.0));
    assertFalse("a leak from nothing", isFlat(i -> i / 10.0));
    assertFalse("a step in the middle", isFlat(i -> i < SAMPLES / 2 ? 100 : 120));
    assertFalse("a leak that begins late", isFlat(i -> 100 + Math.max(0, i - SAMPLES / 2)));
  }

  @Test
  public void testMediansAreOfTheSecondAndTheLastQuarter() {
    double[] samples = series(i -> i);
    assertEquals(45, Flatness.secondQuarter(samples), 0);
    assertEquals(105, Flatness.lastQuarter(samples), 0);
    assertThrows(IllegalArgumentException.class, () -> Flatness.isFlat(new double[7], SLACK));
  }
}
